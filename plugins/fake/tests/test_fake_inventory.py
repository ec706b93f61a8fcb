from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

import drakit_fake
from drakit import Cluster, Device, DrakitError, InvalidObject, Plugins, simulate
from drakit.hooks import Expansion, expand
from drakit.model import ResourceClaim
from drakit.model.wire import decode_as, encode
from drakit.topology import pack

DRIVER: Final = "fake.example.com"


def plugins() -> Plugins:
    made = Plugins()
    made.register(drakit_fake, "fake")
    return made


def expansion(**fields: Any) -> Expansion:
    head = {"apiVersion": "drakit/v1alpha1", "kind": "Inventory", "metadata": {"name": "i"}, "plugin": "fake"}
    return expand(plugins(), {**head, **fields})


def devices(expanded: Expansion) -> list[Device]:
    return [device for pool in expanded.pools for device in pool.devices]


def values(device: Device) -> dict[str, object]:
    return {name: attribute.value for name, attribute in device.attributes.items()}


# -- how many --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "number"), [(0, 0), (0, 5), (1, 0), (1, 1), (3, 4), (2, 300)])
def test_there_are_as_many_nodes_and_devices_as_asked_for(nodes: int, number: int) -> None:
    expanded = expansion(nodes=nodes, devices=number)
    assert [node.name for node in expanded.nodes] == [f"node-{index}" for index in range(nodes)]
    assert [(pool.driver, pool.name, pool.node_name) for pool in expanded.pools] == [
        (DRIVER, f"node-{index}", f"node-{index}") for index in range(nodes)
    ]
    assert [device.name for device in devices(expanded)] == [f"gpu-{index}" for index in range(number)] * nodes
    assert [len(pack(pool)) for pool in expanded.pools] == [max(1, -(-number // 128))] * nodes


def test_a_document_without_fields_is_one_node_with_one_gpu() -> None:
    expanded = expansion()
    (device,) = devices(expanded)
    known = values(device)
    assert set(known) == {"index", "kind", "uuid"}
    assert (known["index"], known["kind"]) == (0, "gpu")
    assert (device.capacity, device.taints, device.consumes_counters) == ({}, (), ())
    assert [each.name for each in expanded.classes] == [DRIVER]


def test_names_labels_attributes_and_capacity_are_those_of_the_document() -> None:
    expanded = expansion(
        nodes=2,
        nodePrefix="rack-a",
        nodeLabels={"zone": "z1"},
        devicePrefix="tpu",
        devices=1,
        attributes={"model": {"string": "m1"}, "firmware": {"version": "1.2.3"}, "links": {"ints": [1, 2]}},
        capacity={"memory": "80Gi", "cores": 4},
    )
    assert [(n.name, dict(n.labels)) for n in expanded.nodes] == [
        (f"rack-a-{index}", {"zone": "z1", "kubernetes.io/hostname": f"rack-a-{index}"}) for index in range(2)
    ]
    for device in devices(expanded):
        assert device.name == "tpu-0"
        known = values(device)
        assert (known["model"], known["firmware"], known["links"], known["kind"]) == ("m1", "1.2.3", (1, 2), "tpu")
        assert {name: str(amount.value) for name, amount in device.capacity.items()} == {"memory": "80Gi", "cores": "4"}


def test_one_document_gives_the_same_slices_every_time() -> None:
    fields: dict[str, Any] = {"nodes": 3, "devices": 4, "capacity": {"memory": "80Gi"}, "partitions": [2, 4]}

    def slices() -> list[Mapping[str, Any]]:
        return [encode(slice_) for pool in expansion(**fields).pools for slice_ in pack(pool)]

    assert slices() == slices()


def test_uuids_are_unique_and_do_not_change_when_hardware_is_added() -> None:
    small, large = expansion(nodes=2, devices=3), expansion(nodes=5, devices=7)
    found = [str(values(device)["uuid"]) for device in devices(large)]
    assert len(set(found)) == len(found) == 35
    assert {str(values(device)["uuid"]) for device in devices(small)} < set(found)


# -- parts -----------------------------------------------------------------------------------------------------------


def test_parts_come_smallest_first_with_their_share_of_the_first_capacity() -> None:
    found = devices(expansion(capacity={"memory": "80Gi", "cores": 8}, partitions=[2, 4]))
    assert [(d.name, {name: str(amount.value) for name, amount in d.capacity.items()}) for d in found] == [
        *((f"gpu-0-{index}of4", {"memory": "20Gi"}) for index in range(4)),
        *((f"gpu-0-{index}of2", {"memory": "40Gi"}) for index in range(2)),
        ("gpu-0", {"memory": "80Gi", "cores": "8"}),
    ]
    assert all(values(device)["kind"] == "gpu" for device in found)


def claim(name: str, memory: str) -> ResourceClaim:
    expression = f"device.capacity['{DRIVER}'].memory.compareTo(quantity('{memory}')) == 0"
    exactly = {"deviceClassName": DRIVER, "selectors": [{"cel": {"expression": expression}}]}
    body: Any = {
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
    }
    return decode_as(body, ResourceClaim, name)


def shares(expanded: Expansion, *claims: ResourceClaim) -> dict[str, Fraction]:
    """What of each device is handed out, when claims are served in order."""
    slices = [slice_ for pool in expanded.pools for slice_ in pack(pool)]
    report = simulate(Cluster.of([*expanded.nodes, *expanded.classes, *slices, *claims]))
    assert report.error is None
    taken: dict[str, Fraction] = defaultdict(Fraction)
    for outcome in report.claims:
        for result in outcome.allocation.devices.results if outcome.allocation else ():
            part = re.fullmatch(r"(.+?)(?:-\d+of(\d+))?", result.device)
            assert part is not None
            taken[f"{result.pool}/{part[1]}"] += Fraction(1, int(part[2] or 1))
    return taken


@pytest.mark.parametrize("seed", range(12))
def test_parts_that_are_handed_out_never_exceed_their_device(seed: int) -> None:
    rng = random.Random(seed)
    expanded = expansion(nodes=2, devices=2, capacity={"memory": "80Gi"}, partitions=[2, 4, 8])
    claims = [claim(f"c{index}", rng.choice(["10Gi", "20Gi", "40Gi", "80Gi"])) for index in range(40)]
    taken = shares(expanded, *claims)
    assert set(taken) == {f"node-{n}/gpu-{d}" for n in range(2) for d in range(2)}
    assert all(share <= 1 for share in taken.values())


def test_a_device_is_handed_out_whole_or_in_parts_and_used_up_exactly() -> None:
    expanded = expansion(capacity={"memory": "80Gi"}, partitions=[2, 4])
    assert shares(expanded, *(claim(f"c{index}", "20Gi") for index in range(9))) == {"node-0/gpu-0": 1}
    assert shares(expanded, claim("a", "40Gi"), claim("b", "80Gi"), claim("c", "20Gi")) == {"node-0/gpu-0": Fraction(3, 4)}
    assert shares(expanded, claim("a", "80Gi"), claim("b", "20Gi")) == {"node-0/gpu-0": 1}


# -- faults ----------------------------------------------------------------------------------------------------------


def test_faults_become_taints_of_the_device_they_name() -> None:
    expanded = expansion(
        nodes=2,
        devices=2,
        faults=[
            {"node": "node-0", "device": "gpu-1"},
            {"node": "node-1", "device": "gpu-0", "problem": "ecc", "effect": "NoExecute"},
            {"node": "node-1", "device": "gpu-0", "problem": "hot", "effect": "None"},
        ],
    )
    found = {f"{pool.name}/{device.name}": list(map(str, device.taints)) for pool in expanded.pools for device in pool.devices}
    assert found == {
        "node-0/gpu-0": [],
        "node-0/gpu-1": [f"{DRIVER}/broken:NoSchedule"],
        "node-1/gpu-0": [f"{DRIVER}/ecc:NoExecute", f"{DRIVER}/hot:None"],
        "node-1/gpu-1": [],
    }


def test_a_fault_of_a_device_is_one_of_all_its_parts() -> None:
    fault = {"node": "node-0", "device": "gpu-0"}
    found = devices(expansion(capacity={"memory": "80Gi"}, partitions=[2], faults=[fault]))
    assert [(device.name, len(device.taints)) for device in found] == [("gpu-0-0of2", 1), ("gpu-0-1of2", 1), ("gpu-0", 1)]


def test_broken_devices_are_not_handed_out() -> None:
    expanded = expansion(capacity={"memory": "80Gi"}, faults=[{"node": "node-0", "device": "gpu-0"}])
    assert shares(expanded, claim("a", "80Gi")) == {}


# -- documents that are wrong ----------------------------------------------------------------------------------------


def faults(**fields: Any) -> list[str]:
    with pytest.raises(InvalidObject) as caught:
        expansion(**fields)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"nodePrefix": "A_"}, 'nodePrefix: "A_-0" is not a DNS label: lower-case letters, digits and dashes'),
        ({"devicePrefix": ""}, 'devicePrefix: "-0" is not a DNS label: lower-case letters, digits and dashes'),
        (
            {"capacity": {"memory": "1Ti"}, "partitions": [2**30]},
            "partitions: 1073741824 parts of each device make more than 1000000 devices",
        ),
        ({"nodes": -1}, "nodes: must be from 0 to 100000, not -1"),
        ({"nodes": 10**9}, "nodes: must be from 0 to 100000, not 1000000000"),
        ({"devices": -1}, "devices: must be from 0 to 10000, not -1"),
        ({"nodes": "3"}, 'nodes: must be an integer, not the string "3"'),
        ({"nodes": 1.5}, "nodes: must be an integer, not the number 1.5"),
        ({"node": 3}, 'unknown field "node", did you mean "nodes"?'),
        ({"attributes": {"model": "m1"}}, 'attributes[model]: must be an object, not the string "m1"'),
        ({"attributes": {"model": {"str": "m1"}}}, 'attributes[model]: unknown field "str", did you mean "string"?'),
        ({"attributes": {"uuid": {"string": "x"}}}, "attributes[uuid]: is set by the plugin itself"),
        ({"capacity": {"memory": True}}, "capacity[memory]: must be a quantity such as 80Gi, not true"),
        ({"partitions": [2]}, "partitions: need a capacity to divide: say what `capacity` a device has"),
        ({"faults": [{"node": "node-7", "device": "gpu-0"}]}, 'faults[0].node: there is no node "node-7"'),
        ({"faults": [{"node": "node-0", "device": "gpu-7"}]}, 'faults[0].device: there is no device "gpu-7"'),
        ({"faults": [{"device": "gpu-0"}]}, "faults[0].node: is required"),
        (
            {"faults": [{"node": "node-0", "device": "gpu-0", "effect": "Never"}]},
            'faults[0].effect: must be one of None, NoSchedule, NoExecute, not the string "Never"',
        ),
    ],
)
def test_a_document_that_is_wrong_is_told_with_its_path(fields: Mapping[str, Any], fault: str) -> None:
    assert faults(**fields) == [fault]


@pytest.mark.parametrize("partitions", [[0], [1], [-2], [2, 2], [2, 3]])
def test_parts_that_cannot_be_are_told_with_their_path(partitions: list[int]) -> None:
    (fault,) = faults(capacity={"memory": "80Gi"}, partitions=partitions)
    assert fault.startswith("partitions")


def test_a_capacity_that_does_not_divide_is_told() -> None:
    with pytest.raises(DrakitError, match="gpu-0: 7 does not divide into 2 equal parts"):
        expansion(capacity={"memory": "7"}, partitions=[2])


@pytest.mark.parametrize("name", ["index", "kind", "uuid"])
def test_the_plugins_own_attributes_cannot_be_given_by_their_full_names_either(name: str) -> None:
    (fault,) = faults(attributes={f"{DRIVER}/{name}": {"string": "x"}})
    assert fault == f"attributes[{DRIVER}/{name}]: is set by the plugin itself"


def test_every_fault_is_told_at_once() -> None:
    told = faults(nodes=-1, devices=-2, partitions=[2])
    assert [fault.split(":")[0] for fault in told] == ["nodes", "devices", "partitions"]


# -- beside other plugins --------------------------------------------------------------------------------------------


def test_devices_of_other_drivers_are_left_alone() -> None:
    asked = plugins()
    assert asked.health("fake", Device("x"), "gpu.example.com") == []
    assert asked.partitions("fake", Device("x")) is None


def test_the_plugin_is_loaded_by_its_entry_point() -> None:
    loaded = Plugins.load({})["fake"]
    assert loaded.module == "drakit_fake"
    assert loaded.distribution.startswith("drakit-fake ")


def test_the_readme_shows_the_inventory_it_runs() -> None:
    folder = Path(__file__).parents[1]
    example = (folder / "tests" / "two-nodes.yaml").read_text(encoding="utf-8").partition("---\n")[0]
    assert f"```yaml\n{example}```" in (folder / "README.md").read_text(encoding="utf-8")


def test_the_readme_has_a_row_for_every_field() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert [field.name for field in attrs.fields(drakit_fake.FakeInventory) if f"| `{wire(field.name)}` |" not in text] == []


def wire(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
