from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drakit.model import CounterSet, Device, DeviceCounterConsumption, DeviceTaint, Node, ObjectMeta, ResourceSlice, quantity
from drakit.model.wire import decode, encode
from drakit.topology import (
    Clique,
    DesiredPool,
    Domain,
    Grid,
    Member,
    Split,
    TopologyError,
    domain_pool,
    node_pool,
    pack,
    split_device,
)
from tests.topology.builders import Explicit, fits, flat_domain, mesh

DRIVER = "gpu.example.com"


def devices(count: int, **fields: Any) -> list[Device]:
    return [Device(f"gpu-{index}", **fields) for index in range(count)]


def node_local(content: Iterable[Device], counter_sets: Iterable[CounterSet] = ()) -> DesiredPool:
    return DesiredPool(driver=DRIVER, name="node-a", node_name="node-a", devices=content, counter_sets=counter_sets)


def sizes(slices: Iterable[ResourceSlice]) -> list[int]:
    return [len(slice_.spec.devices) for slice_ in slices]


def labelled_node(member: Member) -> Node:
    return Node(metadata=ObjectMeta(name=member.node, labels={"kubernetes.io/hostname": member.hostname}))


# -- packing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "fields", "expected"),
    [
        (1, {}, [1]),
        (128, {}, [128]),
        (129, {}, [128, 1]),
        (300, {}, [128, 128, 44]),
        (64, {"taints": [DeviceTaint(key="k", effect="None")]}, [64]),
        (65, {"taints": [DeviceTaint(key="k", effect="None")]}, [64, 1]),
        (65, {"consumes_counters": [DeviceCounterConsumption(counter_set="s", counters={"c": 1})]}, [64, 1]),
        (65, {"attributes": {"roots": ["a", "b"]}}, [64, 1]),
        (65, {"attributes": {"root": "a", "n": 1, "b": True}}, [65]),
    ],
    ids=["one", "full", "one more", "three", "taints", "taints more", "counters", "list attributes", "plain attributes"],
)
def test_a_slice_holds_as_many_devices_as_the_api_allows(count: int, fields: Mapping[str, Any], expected: list[int]) -> None:
    assert sizes(pack(node_local(devices(count, **fields)))) == expected


def test_one_counting_device_lowers_the_limit_of_its_slice() -> None:
    mixed = [*devices(64), Device("last", taints=[DeviceTaint(key="k", effect="None")])]
    assert max(sizes(pack(node_local(mixed)))) <= 64


def test_counter_sets_come_first_eight_to_a_slice_and_apart_from_devices() -> None:
    sets = [CounterSet(name=f"s{index}", counters={"c": 1}) for index in range(17)]
    slices = pack(node_local(devices(3), sets))
    assert [len(slice_.spec.shared_counters) for slice_ in slices] == [8, 8, 1, 0]
    assert sizes(slices) == [0, 0, 0, 3]
    assert [counters for slice_ in slices for counters in slice_.spec.shared_counters] == sets


def test_an_empty_pool_is_one_empty_slice() -> None:
    (empty,) = pack(node_local([]))
    assert (empty.spec.devices, empty.spec.shared_counters) == ((), ())
    assert empty.spec.pool.resource_slice_count == 1
    assert decode(encode(empty)) == empty


@given(
    st.integers(0, 300),
    st.integers(0, 20),
    st.booleans(),
    st.integers(1, 2**63 - 1),
)
@settings(deadline=None)
def test_packing_keeps_everything_in_order_and_every_limit(count: int, sets: int, tainted: bool, generation: int) -> None:
    content = devices(count, taints=[DeviceTaint(key="k", effect="None")] if tainted else [])
    counter_sets = [CounterSet(name=f"s{index}", counters={"c": 1}) for index in range(sets)]
    slices = pack(node_local(content, counter_sets), generation=generation)
    by_name = sorted(slices, key=lambda slice_: slice_.name)
    assert tuple(by_name) == slices
    assert len({slice_.name for slice_ in slices}) == len(slices)
    assert [device for slice_ in by_name for device in slice_.spec.devices] == content
    assert [counters for slice_ in by_name for counters in slice_.spec.shared_counters] == counter_sets
    limit = 64 if tainted else 128
    assert len(slices) == max(1, -(-count // limit) + -(-sets // 8))
    for slice_ in slices:
        assert len(slice_.spec.devices) <= limit
        assert len(slice_.spec.shared_counters) <= 8
        assert not (slice_.spec.devices and slice_.spec.shared_counters)
        assert slice_.spec.pool.resource_slice_count == len(slices)
        assert slice_.spec.pool.generation == generation
        assert (slice_.spec.driver, slice_.spec.pool.name) == (DRIVER, "node-a")
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", slice_.name)


def test_every_slice_says_for_which_nodes_it_is() -> None:
    local = pack(node_local(devices(2), [CounterSet(name="s", counters={"c": 1})]))
    assert {(s.spec.node_name, s.spec.per_device_node_selection) for s in local} == {("node-a", None)}
    grid = Grid((4, 4), (2, 2))
    pool, _ = domain_pool(DRIVER, mesh(grid), grid)
    assert {(s.spec.node_name, s.spec.per_device_node_selection) for s in pack(pool)} == {(None, True)}


@pytest.mark.parametrize(
    ("dims", "block", "expected"),
    [((4, 4), (2, 2), 2), ((8, 16), (2, 2), 2), ((16, 16), (2, 2), 3), ((4, 4, 4), (2, 2, 1), 2)],
)
def test_a_mesh_takes_the_known_number_of_slices(dims: tuple[int, ...], block: tuple[int, ...], expected: int) -> None:
    grid = Grid(dims, block)
    pool, _ = domain_pool(DRIVER, mesh(grid), grid)
    slices = pack(pool)
    assert len(slices) == expected
    assert [decode(json.loads(json.dumps(encode(slice_)))) for slice_ in slices] == list(slices)


def test_slice_names_are_dns_subdomains_even_for_the_longest_pool_names() -> None:
    long = ".".join(["n" * 60] * 4)
    pool = DesiredPool(driver="d" * 63, name=f"{'d' * 63}/{long[:189]}x", devices=devices(200))
    names = [slice_.name for slice_ in pack(pool)]
    assert len(set(names)) == 2
    assert names == sorted(names)
    assert all(len(name) <= 253 for name in names)
    assert all(re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", name) for name in names)


# -- split devices ---------------------------------------------------------------------------------------------------


def test_parts_come_smallest_first_and_the_whole_device_last() -> None:
    parts, counters = split_device(Device("gpu-0", attributes={"model": "m1"}, capacity={"memory": "80Gi"}), Split((2, 4)))
    assert [part.name for part in parts] == [
        *["gpu-0-0of4", "gpu-0-1of4", "gpu-0-2of4", "gpu-0-3of4"],
        *["gpu-0-0of2", "gpu-0-1of2"],
        "gpu-0",
    ]
    assert [str(part.capacity["memory"].value) for part in parts] == ["20Gi"] * 4 + ["40Gi"] * 2 + ["80Gi"]
    assert {str(part.attributes["model"]) for part in parts} == {"m1"}
    assert {taken.counter_set for part in parts for taken in part.consumes_counters} == {counters.name}


def test_capacities_that_are_not_divided_stay_with_the_whole_device() -> None:
    parts, _ = split_device(Device("gpu-0", capacity={"memory": "80Gi", "links": 4}), Split((2,)))
    assert [sorted(part.capacity) for part in parts] == [["memory"], ["memory"], ["links", "memory"]]


@pytest.mark.parametrize("split", [Split((2,)), Split((2, 4)), Split((8, 2, 4)), Split((3, 6)), Split((2, 3, 6))], ids=str)
def test_parts_fit_together_exactly_where_they_take_no_more_than_the_whole(split: Split) -> None:
    parts, counters = split_device(Device("gpu-0", capacity={"memory": 24}), split)
    share = {part.name: Fraction(part.capacity["memory"].value.value) / 24 for part in parts}
    for number in range(1, 2 ** len(parts)):
        chosen = [part for index, part in enumerate(parts) if number >> index & 1]
        assert fits(chosen, [counters]) == (sum(share[part.name] for part in chosen) <= 1)


@given(
    st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,3})?(m|k|Ki|Gi)?", fullmatch=True),
    st.sampled_from([(2,), (3,), (2, 4), (7,), (3, 6)]),
)
@settings(deadline=None)
def test_a_capacity_divides_exactly_or_not_at_all(amount: str, numbers: tuple[int, ...]) -> None:
    device = Device("gpu-0", capacity={"memory": amount})
    assume(quantity(amount))
    try:
        parts, _ = split_device(device, Split(numbers))
    except TopologyError as error:
        assert "does not divide" in str(error)  # noqa: PT017 - either answer is right
        return
    for part in parts[:-1]:
        share = Fraction(part.capacity["memory"].value.value)
        assert share * int(part.name.rpartition("of")[2]) == Fraction(quantity(amount).value)


def test_a_capacity_that_does_not_divide_is_an_error() -> None:
    with pytest.raises(TopologyError, match="device gpu-0: 80 does not divide into 3 equal parts"):
        split_device(Device("gpu-0", capacity={"memory": 80}), Split((3,)))
    with pytest.raises(TopologyError, match="device gpu-0 has no capacity 'cores' to split"):
        split_device(Device("gpu-0", capacity={"memory": 80}), Split((2,), of="cores"))


@pytest.mark.parametrize("parts", [(), (1,), (0, 2), (2, 2), (2, 3), (-2,)])
def test_numbers_of_parts_must_divide_the_largest(parts: tuple[int, ...]) -> None:
    with pytest.raises(TopologyError, match="cannot split into"):
        Split(parts)


# -- pools of nodes and domains --------------------------------------------------------------------------------------


def test_a_node_pool_lists_each_device_after_its_parts() -> None:
    split, plain = Device("a", capacity={"memory": 2}), Device("b", capacity={"memory": 2})
    pool = node_pool(DRIVER, "node-a", [(plain, None), (split, Split((2,)))])
    assert [device.name for device in pool.devices] == ["b", "a-0of2", "a-1of2", "a"]
    assert [counters.name for counters in pool.counter_sets] == ["a-parts"]
    assert (pool.driver, pool.name, pool.node_name) == (DRIVER, "node-a", "node-a")
    assert not pool.devices[0].consumes_counters


def test_a_name_that_stands_twice_in_a_pool_is_an_error() -> None:
    part = Device("a-0of2")
    with pytest.raises(TopologyError, match=r"pool gpu\.example\.com/node-a: two devices are named a-0of2"):
        node_pool(DRIVER, "node-a", [(part, None), (Device("a", capacity={"memory": 2}), Split((2,)))])


def test_a_domain_pool_is_named_after_the_driver_and_the_domain() -> None:
    pool, by_device = domain_pool(DRIVER, flat_domain(4, "rack-7"), Explicit([[0, 1], [2, 3], [0]]))
    assert (pool.name, pool.node_name) == ("gpu.example.com/rack-7", None)
    assert list(by_device) == [device.name for device in pool.devices] == ["p0", "p1", "p2"]
    assert all(device.source is by_device[device.name] for device in pool.devices)


@given(st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=6))
@settings(deadline=None)
def test_a_device_is_for_exactly_the_nodes_of_its_members(sets: list[set[int]]) -> None:
    domain = flat_domain(8)
    pool, by_device = domain_pool(DRIVER, domain, Explicit([sorted(chosen) for chosen in sets]))
    for device in pool.devices:
        members = by_device[device.name].members
        assert (device.node_name is None) != (device.node_selector is None)
        if len(members) == 1:
            assert device.node_name == members[0].node
        if device.node_selector:
            assert len(device.node_selector.node_selector_terms) == 1
            reachable = {member for member in domain.members if device.node_selector.matches(labelled_node(member))}
            assert reachable == set(members)


def test_a_clique_is_one_device_for_all_that_many_claims_share() -> None:
    domain = flat_domain(18)
    pool, _ = domain_pool(DRIVER, domain, Clique("fabric", "seats", per_member="4"))
    (device,) = pool.devices
    assert (device.name, device.allow_multiple_allocations) == ("fabric", True)
    assert device.capacity["seats"].value == quantity(72)
    assert (device.consumes_counters, pool.counter_sets) == ((), ())
    assert device.node_selector is not None
    assert len(device.node_selector.node_selector_terms) == 1
    assert all(device.node_selector.matches(labelled_node(member)) for member in domain.members)
    assert not device.node_selector.matches(labelled_node(Member("x", node="x")))
    (packed,) = pack(pool)
    assert decode(encode(packed)) == packed


@given(st.integers(1, 200), st.integers(1, 10**40))
@settings(deadline=None)
def test_the_capacity_of_a_clique_is_what_its_members_bring(size: int, each: int) -> None:
    (device,) = domain_pool(DRIVER, flat_domain(size), Clique("fabric", "seats", per_member=each))[0].devices
    assert device.capacity["seats"].value.to_int() == size * each


def test_a_clique_of_one_member_names_its_node() -> None:
    (device,) = domain_pool(DRIVER, Domain("d", [Member("a", node="node-a")]), Clique("fabric", "seats"))[0].devices
    assert (device.node_name, device.node_selector) == ("node-a", None)
    assert device.capacity["seats"].value == quantity(1)
