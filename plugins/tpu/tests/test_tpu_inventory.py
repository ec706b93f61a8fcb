from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

import drakit_tpu
from drakit import Device, InvalidObject, Plugins
from drakit.hooks import Expansion, expand
from drakit.topology import DesiredPool, pack

DRIVER: Final = "tpu.google.com"


def plugins() -> Plugins:
    made = Plugins()
    made.register(drakit_tpu, "tpu")
    return made


def document(*domains: Mapping[str, Any]) -> Mapping[str, Any]:
    head = {"apiVersion": "drakit/v1alpha1", "kind": "Inventory", "metadata": {"name": "tpus"}, "plugin": "tpu"}
    return {**head, "domains": list(domains)}


def expansion(topology: str, generation: str = "v6e", **fields: Any) -> Expansion:
    return expand(plugins(), document({"name": "m", "topology": topology, "generation": generation, **fields}))


def mesh(topology: str, generation: str = "v6e", **fields: Any) -> DesiredPool:
    (pool,) = expansion(topology, generation, **fields).pools
    return pool


def value(device: Device, name: str) -> object:
    found = device.attribute(f"{DRIVER}/{name}", DRIVER)
    return found and found.value


def nodes_of(device: Device) -> tuple[str, ...]:
    """The nodes a device is for: one by name, several by a selector with one term."""
    if device.node_selector is None:
        assert device.node_name is not None
        return (device.node_name,)
    (term,) = device.node_selector.node_selector_terms
    (requirement,) = term.match_expressions
    assert (requirement.key, requirement.operator) == ("kubernetes.io/hostname", "In")
    return requirement.values


def counters_of(device: Device) -> list[tuple[str, str]]:
    return [(consumption.counter_set, name) for consumption in device.consumes_counters for name in consumption.counters]


# -- what is published -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topology", "generation", "hosts", "devices", "references", "sets", "slices"),
    [
        ("2x2", "v6e", 1, 1, 1, 1, 2),
        ("4x4", "v6e", 4, 7, 12, 1, 2),
        ("8x8", "v5e", 16, 31, 80, 1, 2),
        ("8x16", "v6e", 32, 63, 192, 1, 2),
        ("16x16", "v6e", 64, 127, 448, 2, 3),
        ("4x4x4", "v5p", 16, 31, 80, 1, 2),
        ("4x4x4", "v4", 16, 31, 80, 1, 2),
        ("2x2x1", "tpu7x", 1, 1, 1, 1, 2),
    ],
)
def test_a_mesh_is_every_aligned_sub_slice_with_a_counter_for_each_host(
    topology: str, generation: str, hosts: int, devices: int, references: int, sets: int, slices: int
) -> None:
    expanded = expansion(topology, generation)
    (pool,) = expanded.pools
    assert (pool.driver, pool.name, pool.node_name) == (DRIVER, f"{DRIVER}/m", None)
    assert len(expanded.nodes) == hosts
    assert len(pool.devices) == devices
    assert sum(len(counters_of(device)) for device in pool.devices) == references
    assert len(pool.counter_sets) == sets
    assert sum(len(each.counters) for each in pool.counter_sets) == hosts
    assert len(pack(pool)) == slices


def test_two_devices_overlap_exactly_if_they_share_a_counter() -> None:
    devices = mesh("8x8").devices
    for one in devices:
        for other in devices:
            shared = set(counters_of(one)) & set(counters_of(other))
            assert bool(shared) == bool(set(nodes_of(one)) & set(nodes_of(other)))


def test_the_names_say_shape_and_origin_and_the_smallest_come_first() -> None:
    names = [device.name for device in mesh("4x4").devices]
    assert sorted(names[:4]) == ["ss-2x2-0-0", "ss-2x2-0-2", "ss-2x2-2-0", "ss-2x2-2-2"]
    assert names[4:] == ["ss-2x4-0-0", "ss-2x4-2-0", "ss-4x4-0-0"]


def test_the_class_selects_the_driver_and_nothing_else() -> None:
    (device_class,) = expansion("4x4").classes
    assert device_class.name == DRIVER
    assert [s.cel.expression for s in device_class.spec.selectors if s.cel] == [f'device.driver == "{DRIVER}"']


@pytest.mark.parametrize(
    ("topology", "generation", "tpu_gen", "types"),
    [
        ("16x16", "v6e", "v6e", {"2x2": "v6e-4", "2x4": "v6e-8", "4x4": "v6e-16", "8x16": "v6e-128", "16x16": "v6e-256"}),
        ("8x8", "v5e", "v5litepod", {"2x2": "v5litepod-4", "4x8": "v5litepod-32", "8x8": "v5litepod-64"}),
        ("4x4x4", "v4", "v4", {"2x2x1": "v4-8", "2x2x2": "v4-16", "4x4x4": "v4-128"}),
        ("4x4x4", "v5p", "v5p", {"2x2x4": "v5p-32", "2x4x4": "v5p-64", "4x4x4": "v5p-128"}),
        ("2x2x4", "tpu7x", "tpu7x", {"2x2x1": "tpu7x-8", "2x2x2": "tpu7x-16", "2x2x4": "tpu7x-32"}),
        ("4x4x8", "v4", "v4", {"4x4x8": "v4-256"}),
    ],
)
def test_accelerator_types_count_cores_as_the_generation_does(
    topology: str, generation: str, tpu_gen: str, types: Mapping[str, str]
) -> None:
    devices = mesh(topology, generation).devices
    assert {value(device, "tpuGen") for device in devices} == {tpu_gen}
    found = {value(device, "topology"): value(device, "acceleratorType") for device in devices}
    assert {shape: found[shape] for shape in types} == types


def test_every_device_says_where_it_lies_and_how_big_it_is() -> None:
    by_name = {device.name: device for device in mesh("4x8").devices}
    device = by_name["ss-4x4-0-4"]
    assert {name: attribute.value for name, attribute in device.attributes.items()} == {
        "tpuGen": "v6e",
        "acceleratorType": "v6e-16",
        "topology": "4x4",
        "origin": "0,4",
        "hosts": 4,
        "chipsPerHost": 4,
        "domain": "m",
    }
    assert {name: str(amount.value) for name, amount in device.capacity.items()} == {"chips": "16"}
    assert all(value(each, "hosts") == len(nodes_of(each)) for each in by_name.values())


def test_one_document_gives_the_same_pool_every_time() -> None:
    assert mesh("8x8") == mesh("8x8")


# -- nodes -----------------------------------------------------------------------------------------------------------


def test_nodes_are_named_by_position_with_the_first_dimension_running_fastest() -> None:
    expanded = expansion("4x8")
    assert [node.name for node in expanded.nodes] == [f"m-w{index:02}" for index in range(8)]
    by_name = {device.name: nodes_of(device) for device in expanded.pools[0].devices}
    assert by_name["ss-2x2-2-0"] == ("m-w01",)
    assert by_name["ss-2x2-0-2"] == ("m-w02",)
    assert by_name["ss-4x4-0-4"] == ("m-w04", "m-w05", "m-w06", "m-w07")


@pytest.mark.parametrize("seed", range(5))
def test_nodes_may_be_named_in_any_order_and_keep_their_places(seed: int) -> None:
    names = [f"gke-tpu-{index}" for index in range(16)]
    random.Random(seed).shuffle(names)
    shuffled = {device.name: nodes_of(device) for device in mesh("8x8", nodes=names).devices}
    plain = {device.name: nodes_of(device) for device in mesh("8x8").devices}
    place = {f"m-w{index:02}": name for index, name in enumerate(names)}
    assert shuffled == {device: tuple(place[node] for node in nodes) for device, nodes in plain.items()}


def test_several_meshes_are_a_pool_each() -> None:
    two = expand(plugins(), document({"name": "a", "topology": "2x2"}, {"name": "b", "topology": "4x4"}))
    assert [(pool.name, len(pool.devices)) for pool in two.pools] == [(f"{DRIVER}/a", 1), (f"{DRIVER}/b", 7)]
    assert [node.name for node in two.nodes] == ["a-w00", "b-w00", "b-w01", "b-w02", "b-w03"]


# -- failed hosts ----------------------------------------------------------------------------------------------------


def failed(pool: DesiredPool) -> list[Device]:
    return [device for device in pool.devices if device.taints]


@pytest.mark.parametrize("host", ["m-w00", "m-w27", "m-w63"])
def test_a_failed_host_taints_exactly_the_7_sub_slices_of_a_16x16_mesh_that_contain_it(host: str) -> None:
    pool = mesh("16x16", failedHosts=[host])
    assert [device.name for device in failed(pool)] == [d.name for d in pool.devices if host in nodes_of(d)]
    shapes = [value(device, "topology") for device in failed(pool)]
    assert shapes == ["2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16"]
    assert {str(taint) for d in failed(pool) for taint in d.taints} == {f"{DRIVER}/host-down={host}:NoSchedule"}


@pytest.mark.parametrize("generation", ["v4", "v5p", "tpu7x"])
def test_a_failed_host_taints_5_of_the_31_sub_slices_of_a_cube(generation: str) -> None:
    pool = mesh("4x4x4", generation, failedHosts=["m-w05"])
    assert [value(device, "topology") for device in failed(pool)] == ["2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4"]
    assert all("m-w05" in nodes_of(device) for device in failed(pool))


def test_failing_hosts_are_tainted_and_never_withdrawn() -> None:
    broken, whole = mesh("8x8", failedHosts=["m-w00", "m-w15"]), mesh("8x8")
    assert [d.name for d in broken.devices] == [d.name for d in whole.devices]
    assert [d.consumes_counters for d in broken.devices] == [d.consumes_counters for d in whole.devices]


def test_a_device_tells_every_failed_host_it_contains_up_to_16() -> None:
    pool = mesh("16x16", failedHosts=[f"m-w{index:02}" for index in range(20)])
    taints = {device.name: [taint.value for taint in device.taints] for device in pool.devices}
    assert len(taints["ss-16x16-0-0"]) == 16
    assert taints["ss-2x2-2-0"] == ["m-w01"]


def test_a_node_name_that_is_too_long_for_a_taint_is_told_by_its_place() -> None:
    long, short = "n" * 64, "n" * 63
    pool = mesh("2x4", nodes=[long, short], failedHosts=[long, short])
    assert [[taint.value for taint in device.taints] for device in pool.devices] == [["h000"], [short], ["h000", short]]


# -- documents that are wrong ----------------------------------------------------------------------------------------


def faults(*domains: Mapping[str, Any]) -> list[str]:
    with pytest.raises(InvalidObject) as caught:
        expand(plugins(), document(*domains))
    assert all(line.startswith("Inventory tpus: ") for line in str(caught.value).splitlines())
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "topology",
    [
        *("", "x", "4", "4x", "x4", "4xa", "4x4x", "4*4", "4x4x4", "1x1", "0x0", "-4x4", "6x4", "3x3", "4x4.0", "4 x4"),
        *("+4x4", "1_6x16", " 4x4", "\uff14x4", "04x4"),
    ],
)
def test_a_topology_that_is_none_is_told_with_its_path(topology: str) -> None:
    (fault,) = faults({"name": "ok", "topology": "4x4"}, {"name": "m", "topology": topology})
    assert fault.startswith(f'domains[1].topology: "{topology}" is not a mesh of v6e hosts, such as 4x4: ')


@pytest.mark.parametrize("topology", ["4x4", "2x2x3", "4x4x12", "1x1x1"])
def test_a_topology_must_have_the_dimensions_of_its_generation(topology: str) -> None:
    (fault,) = faults({"name": "m", "topology": topology, "generation": "v4"})
    assert fault.startswith(f'domains[0].topology: "{topology}" is not a mesh of v4 hosts')


def test_a_mesh_with_more_hosts_than_can_be_counted_is_told() -> None:
    (fault,) = faults({"name": "m", "topology": "16x32", "failedHosts": ["m-w00"]})
    assert fault == "domains[0].topology: a 16x32 mesh has 128 hosts; the counters of a device reach 64"


def test_the_name_of_a_mesh_is_a_dns_label() -> None:
    (fault,) = faults({"name": "Mesh_0", "topology": "4x4", "failedHosts": ["mesh-0-w00"]})
    assert fault == 'domains[0].name: "Mesh_0" is not a DNS label: lower-case letters, digits and dashes'


BOMB: Final = """
import resource
import drakit_tpu, drakit
from drakit.hooks import expand
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
plugins = drakit.Plugins()
plugins.register(drakit_tpu, "tpu")
domain = {"name": "m", "topology": "1048576x1048576"}
try:
    expand(plugins, {"apiVersion": "drakit/v1alpha1", "plugin": "tpu", "domains": [domain]})
except drakit.DrakitError as error:
    print(error)
"""


def test_an_absurd_topology_is_refused_at_once() -> None:
    result = subprocess.run([sys.executable, "-c", BOMB], capture_output=True, text=True, timeout=30, check=False)
    assert (result.returncode, result.stderr[-300:]) == (0, "")
    (line,) = result.stdout.splitlines()
    assert line.startswith("Inventory: domains[0].topology: ")


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"generation": "v9"}, 'domains[0].generation: there is no generation "v9"; known are v4, v5e, v5p, v6e, tpu7x'),
        ({"nodes": ["a", "b"]}, "domains[0].nodes: a 4x4 mesh has 4 hosts, not 2"),
        ({"failedHosts": ["m-w00", "x"]}, 'domains[0].failedHosts[1]: there is no host "x"; they are m-w00 to m-w03'),
        ({"failedHost": ["m-w00"]}, 'domains[0]: unknown field "failedHost", did you mean "failedHosts"?'),
        ({"failedHosts": "m-w00"}, 'domains[0].failedHosts: must be a list, not the string "m-w00"'),
        ({"topology": 16}, "domains[0].topology: must be a string, not the number 16"),
        ({"topology": None}, "domains[0].topology: is required"),
        ({"name": None}, "domains[0].name: is required"),
    ],
)
def test_a_domain_that_is_wrong_is_told_with_its_path(fields: Mapping[str, Any], fault: str) -> None:
    assert faults({"name": "m", "topology": "4x4", **fields}) == [fault]


def test_a_node_cannot_be_in_two_places() -> None:
    (fault,) = faults({"name": "m", "topology": "4x4", "nodes": ["a", "b", "c", "a"]})
    assert fault.startswith("domains[0].nodes")
    assert '"a"' in fault


def test_two_meshes_cannot_have_one_name() -> None:
    (fault,) = faults({"name": "m", "topology": "4x4"}, {"name": "m", "topology": "2x2"})
    assert fault.startswith("domains[1].name")


def test_a_node_cannot_be_in_two_meshes() -> None:
    (fault,) = faults({"name": "a", "topology": "2x2", "nodes": ["n"]}, {"name": "b", "topology": "2x4", "nodes": ["o", "n"]})
    assert fault.startswith("domains[1].nodes")


def test_domains_are_required_and_may_be_none() -> None:
    head = {key: value for key, value in document().items() if key != "domains"}
    with pytest.raises(InvalidObject, match="domains: is required"):
        expand(plugins(), head)
    assert expand(plugins(), document()).pools == ()


def test_every_fault_is_told_at_once() -> None:
    told = faults({"name": "a", "topology": "5x5"}, {"name": "b", "topology": "4x4", "generation": "v9"})
    assert [fault.split(":")[0] for fault in told] == ["domains[0].topology", "domains[1].generation"]


# -- beside other plugins --------------------------------------------------------------------------------------------


def test_devices_of_other_drivers_are_left_alone() -> None:
    asked = plugins()
    assert asked.attributes("tpu", Device("gpu-0"), "gpu.example.com") == {}
    assert asked.health("tpu", Device("gpu-0"), DRIVER) == []


def test_the_plugin_is_loaded_by_its_entry_point() -> None:
    loaded = Plugins.load({})["tpu"]
    assert loaded.module == "drakit_tpu"
    assert loaded.distribution.startswith("drakit-tpu ")


def test_the_readme_has_a_row_for_every_field() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert [field.name for field in attrs.fields(drakit_tpu.TpuDomain) if f"| `{wire(field.name)}` |" not in text] == []


def wire(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
