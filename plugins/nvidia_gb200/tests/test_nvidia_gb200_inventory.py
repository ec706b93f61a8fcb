from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

import drakit_nvidia_gb200
from drakit import Cluster, Device, InvalidObject, Plugins, simulate
from drakit.hooks import Expansion, expand
from drakit.model import Node, ResourceClaim
from drakit.model.wire import decode_as
from drakit.topology import pack

DRIVER: Final = "gpu.nvidia.com"
CLIQUE_LABEL: Final = "nvidia.com/gpu.clique"
CLUSTER: Final = "6b1bd74d-2f4a-4b0c-8e0b-3f9b0d6a5c11"


def plugins() -> Plugins:
    made = Plugins()
    made.register(drakit_nvidia_gb200, "nvidia_gb200")
    return made


def expansion(*racks: Mapping[str, Any], **fields: Any) -> Expansion:
    head = {"apiVersion": "drakit/v1alpha1", "kind": "Inventory", "metadata": {"name": "i"}, "plugin": "nvidia_gb200"}
    return expand(plugins(), {**head, **({"racks": list(racks)} if racks else {}), **fields})


def gpus(expanded: Expansion) -> dict[str, list[Device]]:
    return {pool.name: list(pool.devices) for pool in expanded.pools if pool.node_name}


def cliques(expanded: Expansion) -> dict[str, Device]:
    found = {}
    for pool in expanded.pools:
        if pool.node_name is None:
            (found[pool.name],) = pool.devices
    return found


def values(device: Device) -> dict[str, object]:
    return {name: attribute.value for name, attribute in device.attributes.items()}


def nodes_of(device: Device) -> tuple[str, ...]:
    if device.node_selector is None:
        assert device.node_name is not None
        return (device.node_name,)
    (term,) = device.node_selector.node_selector_terms
    (requirement,) = term.match_expressions
    assert (requirement.key, requirement.operator) == ("kubernetes.io/hostname", "In")
    return requirement.values


# -- trays -----------------------------------------------------------------------------------------------------------


def test_a_tray_has_four_gpus_where_they_sit_on_bare_metal() -> None:
    ((name, devices),) = gpus(expansion(trays=["t"])).items()
    assert name == "t"
    places = [
        (d.name, values(d)["resource.kubernetes.io/pciBusID"], values(d)["resource.kubernetes.io/pcieRoot"]) for d in devices
    ]
    assert places == [
        ("gpu-0", "0008:01:00.0", "pci0008:00"),
        ("gpu-1", "0009:01:00.0", "pci0009:00"),
        ("gpu-2", "0018:01:00.0", "pci0018:00"),
        ("gpu-3", "0019:01:00.0", "pci0019:00"),
    ]
    assert [values(d)["resource.kubernetes.io/numaNode"] for d in devices] == [0, 0, 1, 1]


def test_a_gpu_has_the_attributes_and_the_memory_of_the_official_driver() -> None:
    ((_, devices),) = gpus(expansion(trays=["t"])).items()
    kinds = {name: attribute.kind for name, attribute in devices[0].attributes.items()}
    assert kinds == {
        "type": "string",
        "uuid": "string",
        "productName": "string",
        "brand": "string",
        "architecture": "string",
        "cudaComputeCapability": "version",
        "driverVersion": "version",
        "cudaDriverVersion": "version",
        "addressingMode": "string",
        "resource.kubernetes.io/pciBusID": "string",
        "resource.kubernetes.io/pcieRoot": "string",
        "resource.kubernetes.io/numaNode": "int",
    }
    for device in devices:
        known = values(device)
        assert known["type"] == "gpu"
        assert known["productName"] == "NVIDIA GB200"
        assert known["brand"] == "Nvidia"
        assert known["architecture"] == "Blackwell"
        assert known["cudaComputeCapability"] == "10.0.0"
        assert known["addressingMode"] == "ATS"
        assert {name: str(amount.value) for name, amount in device.capacity.items()} == {"memory": "189471Mi"}


def test_versions_are_semver() -> None:
    ((_, devices),) = gpus(expansion(trays=["t"])).items()
    number = r"(0|[1-9]\d*)"
    for name in ("driverVersion", "cudaDriverVersion", "cudaComputeCapability"):
        assert re.fullmatch(rf"{number}\.{number}\.{number}", str(values(devices[0])[name]))


def test_uuids_are_unique_over_racks_and_always_the_same() -> None:
    def uuids() -> list[str]:
        expanded = expansion({"name": "r0"}, {"name": "r1"}, trays=["t"])
        return [str(values(device)["uuid"]) for devices in gpus(expanded).values() for device in devices]

    found = uuids()
    assert len(found) == len(set(found)) == (18 + 18 + 1) * 4
    assert found == uuids()
    assert found == [f"GPU-{uuid.UUID(each.removeprefix('GPU-'))}" for each in found]


def test_the_classes_tell_gpus_and_cliques_apart() -> None:
    classes = {each.name: each for each in expansion(trays=["t"]).classes}
    assert set(classes) == {"gpu.nvidia.com", "nvlink-domain.nvidia.com"}
    assert classes["gpu.nvidia.com"].spec.extended_resource_name == "nvidia.com/gpu"
    assert classes["nvlink-domain.nvidia.com"].spec.extended_resource_name is None


# -- racks -----------------------------------------------------------------------------------------------------------


def test_a_rack_is_18_trays_and_a_clique_with_room_for_all_of_them() -> None:
    expanded = expansion({"name": "r", "clusterUuid": CLUSTER})
    names = [f"r-t{index:02}" for index in range(18)]
    assert [node.name for node in expanded.nodes] == names
    assert list(gpus(expanded)) == names
    ((pool, clique),) = cliques(expanded).items()
    assert pool == f"{DRIVER}/{CLUSTER}.32766"
    assert clique.name == "nvlink-domain"
    assert clique.allow_multiple_allocations is True
    assert {name: str(amount.value) for name, amount in clique.capacity.items()} == {"trays": "18"}
    assert nodes_of(clique) == tuple(names)
    assert clique.consumes_counters == ()


def test_nodes_gpus_and_the_clique_say_which_clique_it_is() -> None:
    expanded = expansion({"name": "r", "clusterUuid": CLUSTER, "cliqueId": 2, "trays": 2})
    told = {"nvlinkClusterUUID": CLUSTER, "nvlinkCliqueID": 2, "nvlinkClique": f"{CLUSTER}.2"}
    assert {node.labels[CLIQUE_LABEL] for node in expanded.nodes} == {f"{CLUSTER}.2"}
    for devices in gpus(expanded).values():
        assert all(values(device).items() >= told.items() for device in devices)
    (clique,) = cliques(expanded).values()
    assert values(clique) == {"type": "nvlink-domain", **told}


def test_racks_without_a_cluster_uuid_get_one_each_that_stays() -> None:
    first, again = (expansion({"name": "r0", "trays": 1}, {"name": "r1", "trays": 1}) for _ in range(2))
    assert list(cliques(first)) == list(cliques(again))
    assert len(set(cliques(first))) == 2
    for pool in cliques(first):
        cluster, _, clique = pool.removeprefix(f"{DRIVER}/").rpartition(".")
        assert str(uuid.UUID(cluster)) == cluster
        assert clique == "32766"


def test_trays_may_have_names_of_their_own() -> None:
    expanded = expansion({"name": "r", "trays": 2, "nodes": ["b", "a"]})
    assert [node.name for node in expanded.nodes] == ["b", "a"]
    (clique,) = cliques(expanded).values()
    assert nodes_of(clique) == ("b", "a")


def test_loose_trays_are_in_no_clique() -> None:
    expanded = expansion({"name": "r", "trays": 1}, trays=["loose"])
    labels = {node.name: node.labels for node in expanded.nodes}
    assert CLIQUE_LABEL in labels["r-t00"]
    assert CLIQUE_LABEL not in labels["loose"]
    for device in gpus(expanded)["loose"]:
        assert not [name for name in device.attributes if name.startswith("nvlink")]
    assert [nodes_of(clique) for clique in cliques(expanded).values()] == [("r-t00",)]
    assert cliques(expansion(trays=["loose"])) == {}


# -- failed trays ----------------------------------------------------------------------------------------------------


def test_a_failed_tray_taints_its_gpus_and_shrinks_the_clique() -> None:
    expanded = expansion({"name": "r", "failedTrays": ["r-t03"]})
    taints = {node: [str(t) for device in devices for t in device.taints] for node, devices in gpus(expanded).items()}
    assert taints.pop("r-t03") == [f"{DRIVER}/tray-down:NoSchedule"] * 4
    assert not any(taints.values())
    (clique,) = cliques(expanded).values()
    assert str(clique.capacity["trays"].value) == "17"
    assert "r-t03" not in nodes_of(clique)
    assert clique.taints == ()
    assert "r-t03" in [node.name for node in expanded.nodes]


def test_a_rack_whose_trays_are_all_down_keeps_its_gpus_and_its_clique_all_tainted() -> None:
    expanded = expansion({"name": "r", "trays": 2, "failedTrays": ["r-t00", "r-t01"]})
    (clique,) = cliques(expanded).values()
    assert str(clique.capacity["trays"].value) == "2"
    assert [taint.key for taint in clique.taints] == ["gpu.nvidia.com/rack-down"]
    assert all(device.taints for devices in gpus(expanded).values() for device in devices)


def test_trays_are_taken_whole_and_all_of_them_where_no_number_is_named() -> None:
    (clique,) = cliques(expansion({"name": "r", "trays": 4})).values()
    policy = clique.capacity["trays"].request_policy
    assert policy is not None
    assert policy.valid_range is not None
    amounts = policy.valid_range
    assert list(map(str, (policy.default, amounts.min, amounts.max, amounts.step))) == ["4", "1", "4", "1"]


def test_a_rack_of_one_tray_is_for_that_node() -> None:
    (clique,) = cliques(expansion({"name": "r", "trays": 1})).values()
    assert nodes_of(clique) == ("r-t00",)


# -- allocation ------------------------------------------------------------------------------------------------------


def claim(name: str, class_: str, **exactly: Any) -> ResourceClaim:
    request = {"name": "r", "exactly": {"deviceClassName": class_, **exactly}}
    body = {"metadata": {"name": name, "namespace": "ml"}, "spec": {"devices": {"requests": [request]}}}
    return decode_as(body, ResourceClaim, name)


def held(expanded: Expansion, *claims: ResourceClaim) -> list[bool]:
    slices = [slice_ for pool in expanded.pools for slice_ in pack(pool)]
    report = simulate(Cluster.of([*expanded.nodes, *expanded.classes, *slices, *claims]))
    assert report.error is None
    return [outcome.allocation is not None for outcome in report.claims]


def trays(name: str, number: int) -> ResourceClaim:
    return claim(name, "nvlink-domain.nvidia.com", capacity={"requests": {"trays": str(number)}})


def test_jobs_share_a_clique_up_to_its_trays() -> None:
    expanded = expansion({"name": "r"})
    assert held(expanded, trays("a", 16), trays("b", 4), trays("c", 2), trays("d", 1)) == [True, False, True, False]
    shrunk = expansion({"name": "r", "failedTrays": ["r-t00"]})
    assert held(shrunk, trays("a", 18), trays("b", 17)) == [False, True]


def test_gpus_of_a_failed_tray_are_not_handed_out() -> None:
    expanded = expansion({"name": "r", "trays": 2, "failedTrays": ["r-t00"]})
    four = [claim(f"c{index}", "gpu.nvidia.com", count=4) for index in range(2)]
    assert held(expanded, *four) == [True, False]


def test_gpus_can_be_selected_as_with_the_official_driver() -> None:
    expression = (
        "device.attributes['gpu.nvidia.com'].cudaComputeCapability.compareTo(semver('10.0.0')) == 0"
        " && device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('180Gi')) > 0"
    )
    selected = claim("c", "gpu.nvidia.com", count=4, selectors=[{"cel": {"expression": expression}}])
    assert held(expansion(trays=["t"]), selected) == [True]


# -- documents that are wrong ----------------------------------------------------------------------------------------


def faults(*racks: Mapping[str, Any], **fields: Any) -> list[str]:
    with pytest.raises(InvalidObject) as caught:
        expansion(*racks, **fields)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"name": "R_1"}, 'racks[1].name: "R_1" is not a DNS label: lower-case letters, digits and dashes'),
        ({"trays": 0}, "racks[1].trays: a rack has 1 to 18 compute trays, not 0"),
        ({"trays": 19}, "racks[1].trays: a rack has 1 to 18 compute trays, not 19"),
        ({"trays": "18"}, 'racks[1].trays: must be an integer, not the string "18"'),
        ({"trays": 2, "nodes": ["a"]}, "racks[1].nodes: 2 trays need as many node names, not 1"),
        (
            {"failedTrays": ["r-t00", "x"]},
            'racks[1].failedTrays[1]: there is no tray "x"; they are r-t00 to r-t17',
        ),
        ({"failedTray": ["r-t00"]}, 'racks[1]: unknown field "failedTray", did you mean "failedTrays"?'),
        ({"name": None}, "racks[1].name: is required"),
    ],
)
def test_a_rack_that_is_wrong_is_told_with_its_path(fields: Mapping[str, Any], fault: str) -> None:
    assert faults({"name": "ok"}, {"name": "r", **fields}) == [fault]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"cliqueId": -1}, "racks[0].cliqueId"),
        ({"cliqueId": 2**32}, "racks[0].cliqueId"),
        ({"clusterUuid": "rack one"}, "racks[0].clusterUuid"),
        ({"trays": 2, "nodes": ["a", "a"]}, "racks[0].nodes"),
    ],
)
def test_values_no_fabric_has_are_told_with_their_path(fields: Mapping[str, Any], path: str) -> None:
    (fault,) = faults({"name": "r", **fields})
    assert fault.startswith(path)


def test_a_node_cannot_be_a_tray_twice() -> None:
    (fault,) = faults({"name": "r", "trays": 1}, trays=["r-t00"])
    assert fault.startswith("trays[0]")
    (fault,) = faults({"name": "a", "trays": 1, "nodes": ["n"]}, {"name": "b", "trays": 1, "nodes": ["n"]})
    assert fault.startswith("racks[1].nodes")


def test_two_racks_cannot_be_one_clique() -> None:
    (fault,) = faults({"name": "r", "trays": 1}, {"name": "r", "trays": 1, "nodes": ["other"]})
    assert fault.startswith("racks[1]")


def test_an_empty_document_is_an_empty_room() -> None:
    expanded = expansion()
    assert (expanded.nodes, expanded.pools) == ((), ())


# -- beside other plugins --------------------------------------------------------------------------------------------


def test_devices_of_other_drivers_are_left_alone() -> None:
    asked = plugins()
    assert asked.attributes("nvidia_gb200", Device("x"), "gpu.example.com") == {}
    assert asked.health("nvidia_gb200", Device("x"), DRIVER) == []
    assert asked.partitions("nvidia_gb200", Device("x")) is None


def test_nodes_are_plain_nodes() -> None:
    (node,) = expansion(trays=["t"]).nodes
    assert isinstance(node, Node)
    assert dict(node.labels) == {"kubernetes.io/hostname": "t"}


def test_the_plugin_is_loaded_by_its_entry_point() -> None:
    loaded = Plugins.load({})["nvidia_gb200"]
    assert loaded.module == "drakit_nvidia_gb200"
    assert loaded.distribution.startswith("drakit-nvidia-gb200 ")


def test_the_readme_has_a_row_for_every_field() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert [
        field.name for field in attrs.fields(drakit_nvidia_gb200.Rack) if f"| `racks[].{wire(field.name)}` |" not in text
    ] == []


def wire(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
