"""What users of other tools ran into, and published slices of real hardware, through the command line to its JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.running import drakit as run
from tests.cli.worlds import DRIVER, device_claim, device_class, device_slice, listing, node, pod

Document = dict[str, Any]
SHAPE = f'device.attributes["{DRIVER}"].shape == "{{}}"'
HOSTS = ("h0", "h1", "h2", "h3")


def simulate(*objects: Document) -> tuple[Document, dict[str, Document]]:
    """The whole answer, and its claims by name."""
    result = run("simulate", "-f", "-", "-o", "json", stdin=listing(*objects))
    assert result.err == ""
    answer = json.loads(result.out)
    return answer, {claim["name"]: claim for claim in answer["claims"]}


def devices_of(claim: Document) -> list[str]:
    return [device["device"] for device in claim.get("devices", [])]


def messages_of(claim: Document) -> list[str]:
    return [reason["message"] for reason in claim["reasons"]]


def hosts_of(claim: Document) -> list[str]:
    (term,) = claim["nodeSelector"]["nodeSelectorTerms"]
    (expression,) = term["matchExpressions"]
    assert (expression["key"], expression["operator"]) == ("kubernetes.io/hostname", "In")
    hosts: list[str] = expression["values"]
    return hosts


def asking(name: str, expression: str, **request: Any) -> Document:
    return device_claim(name, selectors=[{"cel": {"expression": expression}}], **request)


def consuming(counter_set: str, **amounts: int) -> list[Document]:
    return [{"counterSet": counter_set, "counters": {name: {"value": str(amount)} for name, amount in amounts.items()}}]


def pool_of(slices: list[Document], name: str, generation: int = 1, count: int | None = None) -> list[Document]:
    """Give slices one pool."""
    for slice_ in slices:
        slice_["spec"]["pool"] = {
            "name": name,
            "generation": generation,
            "resourceSliceCount": len(slices) if count is None else count,
        }
    return slices


def unnumbered(slice_: Document, name: str, **spec: Any) -> Document:
    """A slice with another name, more said about it, and no node of its own."""
    slice_["metadata"]["name"] = name
    del slice_["spec"]["nodeName"]
    slice_["spec"] |= spec
    return slice_


# -- a shared device that holds the counters its partitions need -----------------------------------------------------------


def gpu_with_halves() -> list[Document]:
    counters = device_slice(node="n0")
    del counters["spec"]["devices"]
    counters["metadata"]["name"] = "n0-counters"
    counters["spec"]["sharedCounters"] = [{"name": "gpu-0", "counters": {"slices": {"value": "8"}}}]
    whole = {
        "name": "whole",
        "attributes": {"shape": {"string": "whole"}},
        "capacity": {"memory": {"value": "80Gi"}},
        "allowMultipleAllocations": True,
        "consumesCounters": consuming("gpu-0", slices=8),
    }
    halves = [
        {
            "name": f"half-{index}",
            "attributes": {"shape": {"string": "half"}},
            "consumesCounters": consuming("gpu-0", slices=4),
        }
        for index in range(2)
    ]
    return [node(), device_class(), *pool_of([counters, device_slice(whole, *halves)], "n0")]


def a_share_of_the_whole() -> Document:
    claim = asking("first", SHAPE.format("whole"), capacity={"requests": {"memory": "10Gi"}})
    share = {
        "request": "r",
        "driver": DRIVER,
        "pool": "n0",
        "device": "whole",
        "shareID": "8c1f3a52-7a0e-4e6b-9a35-0d6b5b0f6c11",
        "consumedCapacity": {"memory": "10Gi"},
    }
    return claim | {"status": {"allocation": {"devices": {"results": [share]}}}}


def test_partitions_of_a_device_that_is_shared_are_taken_with_it() -> None:
    answer, claims = simulate(*gpu_with_halves(), a_share_of_the_whole(), asking("second", SHAPE.format("half")))
    assert answer["verdict"] == "unschedulable"
    assert [reason["check"] for reason in claims["second"]["reasons"]] == ["counters", "counters"]
    assert set(messages_of(claims["second"])) == {
        "counter set gpu-0: slices has 0 of 8 left (8 held by whole, default/first, as a share)"
    }


def test_partitions_of_a_device_that_is_shared_are_free_when_no_share_is_held() -> None:
    answer, claims = simulate(*gpu_with_halves(), asking("second", SHAPE.format("half")))
    assert (answer["verdict"], devices_of(claims["second"])) == ("allocated", ["half-0"])


# -- a pool seen half way through an update --------------------------------------------------------------------------------


def pool_in_an_update(*, complete: bool) -> list[Document]:
    old = pool_of([device_slice({"name": "gpu-0"})], "n0", generation=1, count=1)
    new = [device_slice({"name": f"gpu-{index}"}) for index in ((1, 0) if complete else (1,))]
    for index, slice_ in enumerate(new):
        slice_["metadata"]["name"] = f"n0-new-{index}"
    return [node(), device_class(), *old, *pool_of(new, "n0", generation=2, count=2)]


def test_devices_of_two_generations_are_not_counted_together() -> None:
    everything = device_claim("everything", allocationMode="All")
    del everything["spec"]["devices"]["requests"][0]["exactly"]["count"]
    answer, claims = simulate(*pool_in_an_update(complete=False), device_claim("pair", 2), everything)
    assert answer["verdict"] == "unschedulable"
    (reason,) = claims["pair"]["reasons"]
    assert reason["check"] == "pool"
    assert reason["message"].startswith(
        f"pool {DRIVER}/n0 generation 2 has 1 of 2 slices; generation 1 is obsolete; this is transient: wait"
    )
    assert "error" not in claims["pair"]
    assert claims["everything"]["error"]["kind"] == "updating"
    assert "is currently being updated" in claims["everything"]["error"]["message"]


def test_devices_of_the_new_generation_are_had_once_it_is_complete() -> None:
    answer, claims = simulate(*pool_in_an_update(complete=True), device_claim("pair", 2))
    assert answer["verdict"] == "allocated"
    assert sorted(devices_of(claims["pair"])) == ["gpu-0", "gpu-1"]


# -- all devices, where there is none --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "allocated"), [("m1", True), ("m9", False)])
def test_all_needs_at_least_one(shape: str, allocated: bool) -> None:
    every = asking("every", SHAPE.format(shape), allocationMode="All")
    del every["spec"]["devices"]["requests"][0]["exactly"]["count"]
    gpu = {"name": "gpu-0", "attributes": {"shape": {"string": "m1"}}}
    answer, claims = simulate(node("a"), node("b"), device_class(), device_slice(gpu, node="a"), device_slice(node="b"), every)
    assert answer["verdict"] == ("allocated" if allocated else "unschedulable")
    if not allocated:
        assert [reason["node"] for reason in claims["every"]["reasons"]] == ["a", "b"]
        assert all("no device matches request 'r' (All needs at least one)" in text for text in messages_of(claims["every"]))


# -- overlapping slices of a mesh of four hosts ----------------------------------------------------------------------------


def mesh(*, counters_for_all: bool = False) -> list[Document]:
    """A 4x4 of hosts with four chips each, and every part of it.

    :param counters_for_all: the slice of counters is for all nodes, rather than per device; both are seen published.
    """
    shapes = {"4x4": HOSTS, "2x4-a": HOSTS[:2], "2x4-b": HOSTS[2:]} | {f"2x2-{host}": (host,) for host in HOSTS}
    devices = [
        {
            "name": f"s-{name}",
            "attributes": {"shape": {"string": name[:3]}, "hosts": {"int": len(hosts)}},
            "consumesCounters": consuming("block", **{f"chips-{host}": 4 for host in hosts}),
            **({"nodeName": hosts[0]} if len(hosts) == 1 else {"nodeSelector": _selecting(hosts)}),
        }
        for name, hosts in shapes.items()
    ]
    counters = unnumbered(device_slice(), "counters", **{"allNodes" if counters_for_all else "perDeviceNodeSelection": True})
    del counters["spec"]["devices"]
    counters["spec"]["sharedCounters"] = [{"name": "block", "counters": {f"chips-{host}": {"value": "4"} for host in HOSTS}}]
    parts = unnumbered(device_slice(*devices), "parts", perDeviceNodeSelection=True)
    return [*map(node, HOSTS), device_class(), *pool_of([counters, parts], "block")]


def _selecting(hosts: tuple[str, ...]) -> Document:
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(hosts)}
    return {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}


def running_on_the_first_host() -> Document:
    result = {"request": "r", "driver": DRIVER, "pool": "block", "device": "s-2x2-h0"}
    return asking("running", SHAPE.format("2x2")) | {"status": {"allocation": {"devices": {"results": [result]}}}}


def test_parts_of_a_mesh_are_allocated_around_the_one_that_runs_and_pods_go_where_their_claim_lives() -> None:
    stray = pod("stray", "two-by-four")
    stray["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "h0"}
    answer, claims = simulate(
        *mesh(counters_for_all=True),
        running_on_the_first_host(),
        asking("two-by-four", SHAPE.format("2x4")),
        asking("four-by-four", SHAPE.format("4x4")),
        asking("one-host", SHAPE.format("2x2")),
        pod("w0", "two-by-four"),
        pod("w1", "two-by-four"),
        stray,
    )
    assert answer["verdict"] == "partly"
    assert (devices_of(claims["two-by-four"]), hosts_of(claims["two-by-four"])) == (["s-2x4-b"], ["h2", "h3"])
    assert devices_of(claims["one-host"]) == ["s-2x2-h1"]
    assert claims["four-by-four"]["allocated"] is False
    (message,) = messages_of(claims["four-by-four"])
    assert message == (
        "counter set block: chips-h0 has 0 of 4 left (s-2x2-h0, default/running); "
        "chips-h2 and chips-h3 have 0 of 4 left (s-2x4-b, default/two-by-four)"
    )
    pods = {pod["name"]: pod for pod in answer["pods"]}
    assert {pods["w0"]["node"], pods["w1"]["node"]} == {"h2", "h3"}
    assert (pods["stray"]["node"], pods["stray"]["reason"]) == (
        None,
        "the pod can run on h0, but claim default/two-by-four lives on h2, h3",
    )


def test_a_mesh_gives_two_halves_and_then_not_the_whole() -> None:
    answer, claims = simulate(
        *mesh(),
        asking("one", SHAPE.format("2x4")),
        asking("other", SHAPE.format("2x4")),
        asking("whole", SHAPE.format("4x4")),
    )
    assert answer["verdict"] == "partly"
    assert [devices_of(claims[name]) for name in ("one", "other", "whole")] == [["s-2x4-a"], ["s-2x4-b"], []]
    assert [hosts_of(claims[name]) for name in ("one", "other")] == [["h0", "h1"], ["h2", "h3"]]
    (message,) = messages_of(claims["whole"])
    assert "default/one" in message
    assert "default/other" in message


# -- a GPU as a driver published it ----------------------------------------------------------------------------------------


def h200() -> Document:
    """One GPU with the kinds of attributes NVIDIA's driver publishes: text, versions, names with and without a domain."""
    attributes = {
        "architecture": {"string": "Hopper"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "driverVersion": {"version": "580.126.20"},
        "productName": {"string": "NVIDIA H200"},
        "resource.kubernetes.io/pcieRoot": {"string": "pci0000:8c"},
    }
    return device_slice({"name": "gpu-0", "attributes": attributes, "capacity": {"memory": {"value": "143771Mi"}}})


@pytest.mark.parametrize(
    ("expression", "allocated"),
    [
        ('device.attributes["gpu.example.com"].productName.lowerAscii().matches("^.*h200$")', True),
        ('device.capacity["gpu.example.com"].memory.compareTo(quantity("140Gi")) >= 0', True),
        ('device.capacity["gpu.example.com"].memory.compareTo(quantity("141Gi")) >= 0', False),
        ('device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("580.0.0"))', True),
        ('device.attributes["resource.kubernetes.io"].pcieRoot == "pci0000:8c"', True),
    ],
)
def test_a_real_gpu_is_selected_by_what_its_driver_says_of_it(expression: str, allocated: bool) -> None:
    answer, claims = simulate(node(), device_class(), h200(), asking("train", expression))
    assert claims["train"]["allocated"] is allocated
    assert answer["verdict"] == ("allocated" if allocated else "unschedulable")
    assert devices_of(claims["train"]) == (["gpu-0"] if allocated else [])
