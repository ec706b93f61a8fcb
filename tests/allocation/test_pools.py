from __future__ import annotations

import pytest

from drakit.allocation import Pool, PoolIndex
from drakit.allocation.amounts import NANO
from drakit.model import Node, NodeSelector, ResourceSlice
from tests.allocation.builders import (
    HOSTNAME,
    counted,
    device,
    devices,
    labelled,
    node,
    slice_,
    term,
)

A = node("node-a", labels={"zone": "east"})
B = node("node-b", labels={"zone": "west"})


def pools(*slices: ResourceSlice, of: Node = A) -> tuple[Pool, ...]:
    return PoolIndex(slices).pools(of)


def offered(*slices: ResourceSlice, of: Node = A) -> list[str]:
    """Names of the devices a node may get, in order."""
    return [candidate.id.device for pool in pools(*slices, of=of) for candidate in pool.candidates]


def only(*slices: ResourceSlice, of: Node = A) -> Pool:
    (pool,) = pools(*slices, of=of)
    return pool


# -- which slices count for a node ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "on_a", "on_b"),
    [
        (slice_(*devices("d"), node_name="node-a"), True, False),
        (slice_(*devices("d"), all_nodes=True), True, True),
        (slice_(*devices("d"), node_selector=labelled("zone", "west")), False, True),
        (slice_(*devices("d"), node_selector=labelled("zone", "west", "east")), True, True),
        (slice_(*devices("d"), node_selector=labelled("rack", "r1")), False, False),
        (
            slice_(*devices("d"), node_selector=NodeSelector(node_selector_terms=(term("rack", "r1"), term("zone", "east")))),
            True,
            False,
        ),
        (slice_(*devices("d"), node_selector=NodeSelector()), False, False),
    ],
    ids=["nodeName", "allNodes", "one label", "either value", "no such label", "one of two terms", "no terms"],
)
def test_a_slice_says_for_which_nodes_its_devices_are(published: ResourceSlice, *, on_a: bool, on_b: bool) -> None:
    assert bool(offered(published, of=A)) is on_a
    assert bool(offered(published, of=B)) is on_b


def test_a_slice_with_per_device_node_selection_counts_for_a_node_if_one_device_does() -> None:
    published = slice_(
        device("a", node_name="node-a"),
        device("b", node_name="node-b"),
        device("west", node_selector=labelled("zone", "west")),
        device("all", all_nodes=True),
        device("nobody"),
        per_device=True,
    )

    def usable(of: Node) -> list[str]:
        return [c.id.device for c in only(published, of=of).candidates if c.is_for(of)]

    assert usable(A) == ["a", "all"]
    assert usable(B) == ["b", "west", "all"]


def test_devices_of_other_nodes_are_still_looked_at_because_their_selectors_can_fail() -> None:
    published = slice_(device("a", node_name="node-a"), device("b", node_name="node-b"), per_device=True)
    assert offered(published, of=A) == ["a", "b"]


def test_a_slice_with_per_device_node_selection_does_not_count_where_no_device_does() -> None:
    assert pools(slice_(device("b", node_name="node-b"), per_device=True), of=A) == ()


def test_a_node_with_no_slices_has_no_pools() -> None:
    assert pools() == ()
    assert pools(slice_(node_name="node-b")) == ()


# -- generations and completeness -----------------------------------------------------------------------------------------


def test_only_the_highest_generation_counts_in_whatever_order_the_slices_come() -> None:
    old = slice_(*devices("old"), name="old", generation=1)
    new = slice_(*devices("new"), name="new", generation=2)
    assert offered(old, new) == offered(new, old) == ["new"]


def test_old_and_new_generation_do_not_make_one_complete_pool() -> None:
    pool = only(
        slice_(*devices("gpu-0"), name="gen-1", generation=1),
        slice_(*devices("gpu-1"), name="gen-2", generation=2, count=2),
    )
    assert pool.candidates == ()
    assert pool.incomplete == "generation 2 has 1 of 2 slices; generation 1 is obsolete"


def test_several_obsolete_generations_are_all_named() -> None:
    pool = only(*(slice_(name=f"s{g}", generation=g, count=2) for g in (1, 2, 3)))
    assert pool.incomplete == "generation 3 has 1 of 2 slices; generations 1 and 2 are obsolete"


@pytest.mark.parametrize("found", [1, 3])
def test_a_pool_with_too_few_or_too_many_slices_is_incomplete(found: int) -> None:
    pool = only(*(slice_(*devices(f"d{i}"), name=f"s{i}", count=2) for i in range(found)))
    assert pool.candidates == ()
    assert not pool.invalid
    assert pool.incomplete == f"generation 1 has {found} of 2 slices"


def test_where_the_slices_of_a_node_are_all_there_should_be_those_of_other_nodes_do_not_count() -> None:
    """A pool with more slices than it says: as in the scheduler, whose answer differs from that on other nodes."""
    here = slice_(device("a", consumes={"set": {"x": 1}}), name="a", count=2)
    there = slice_(device("b", consumes={"nowhere": {"x": 1}}), name="b", count=2, node_name="node-b")
    sets = slice_(name="sets", counters={"set": {"x": 1}}, count=2, all_nodes=True)
    pool = only(here, there, sets, of=A)
    assert [candidate.id.device for candidate in pool.candidates] == ["a"]
    assert (pool.elsewhere, pool.invalid) == ((), "")
    assert "counter set nowhere not found" in only(here, there, sets, of=B).invalid


def test_a_pool_becomes_usable_the_moment_the_missing_slice_is_there() -> None:
    first, second = (slice_(*devices(f"d{i}"), name=f"s{i}", generation=2, count=2) for i in range(2))
    assert offered(first) == []
    assert offered(first, second) == ["d0", "d1"]


def test_completeness_is_judged_with_the_slices_of_all_nodes() -> None:
    of_a = slice_(*devices("a"), name="a", count=2, node_name="node-a")
    of_b = slice_(*devices("b"), name="b", count=2, node_name="node-b")
    assert offered(of_a, of_b, of=A) == ["a"]
    assert offered(of_a, of_b, of=B) == ["b"]
    assert only(of_a, of=A).incomplete


def test_a_pool_whose_newer_generation_is_on_other_nodes_is_dropped_without_a_word() -> None:
    old = slice_(*devices("old"), name="old", generation=1, count=2, node_name="node-a")
    new = slice_(*devices("new"), name="new", generation=2, count=1, node_name="node-b")
    assert pools(old, new, of=A) == ()
    assert offered(old, new, of=B) == ["new"]


def test_an_old_generation_that_is_complete_on_a_node_is_used_there_as_in_the_scheduler() -> None:
    old = slice_(*devices("old"), name="old", generation=1, node_name="node-a")
    new = slice_(*devices("new"), name="new", generation=2, node_name="node-b")
    assert offered(old, new, of=A) == ["old"]


def test_slices_of_counters_and_empty_ones_count_too() -> None:
    published = [*counted({"set": {"x": 1}}, device("d", consumes={"set": {"x": 1}}))]
    assert offered(*published) == ["d"]
    assert only(*published[1:]).incomplete
    assert offered(slice_(*devices("d"), name="s0", count=2), slice_(name="s1", count=2)) == ["d"]


def test_an_incomplete_pool_does_not_touch_the_others() -> None:
    assert offered(slice_(*devices("bad"), pool="p0", count=2), slice_(*devices("good"), pool="p1")) == ["good"]


# -- pools that contradict themselves -------------------------------------------------------------------------------------


def test_two_devices_of_one_name_make_a_pool_invalid() -> None:
    pool = only(slice_(*devices("d0", "d1"), name="s0", count=2), slice_(*devices("d1"), name="s1", count=2))
    assert pool.candidates == ()
    assert pool.invalid == "duplicate device name d1"


def test_one_device_name_on_two_nodes_is_no_contradiction_for_either_of_them() -> None:
    of_a = slice_(*devices("d"), name="a", count=2, node_name="node-a")
    of_b = slice_(*devices("d"), name="b", count=2, node_name="node-b")
    assert offered(of_a, of_b) == ["d"]


def test_two_counter_sets_of_one_name_make_a_pool_invalid() -> None:
    sets = [slice_(counters={"set": {"x": 1}}, name=f"s{i}", count=2) for i in range(2)]
    assert only(*sets).invalid == "duplicate counter set name set"


def test_a_counter_set_that_does_not_exist_is_named_with_device_and_slice() -> None:
    right, wrong = device("right", consumes={"set": {"x": 1}}), device("wrong", consumes={"sett": {"x": 1}})
    pool = only(*counted({"set": {"x": 2}}, right, wrong))
    assert pool.candidates == (), "also what is right cannot be had"
    assert pool.invalid == ("counter set sett not found (device wrong, slice gpu.example.com-node-a-node-a-devices)")


def test_a_counter_that_does_not_exist_is_named_with_its_set() -> None:
    pool = only(*counted({"set": {"x": 2}}, device("d", consumes={"set": {"y": 1}})))
    assert pool.invalid == ("counter y not found in counter set set (device d, slice gpu.example.com-node-a-node-a-devices)")


def test_a_wrong_reference_of_another_nodes_device_spoils_the_pool_here_too() -> None:
    pool = only(
        slice_(counters={"set": {"x": 2}}, name="s0", count=3, all_nodes=True),
        slice_(*devices("mine"), name="s1", count=3, node_name="node-a"),
        slice_(device("theirs", consumes={"none": {"x": 1}}), name="s2", count=3, node_name="node-b"),
    )
    assert "counter set none not found (device theirs, slice s2)" in pool.invalid


def test_counter_sets_of_a_slice_for_other_nodes_belong_to_the_pool() -> None:
    pool = only(
        slice_(counters={"set": {"x": 2}}, name="s0", count=2, node_name="node-b"),
        slice_(device("mine", consumes={"set": {"x": 1}}), name="s1", count=2, node_name="node-a"),
    )
    assert [c.id.device for c in pool.candidates] == ["mine"]
    assert pool.counters["set", "x"] == 2 * NANO


def test_an_incomplete_pool_is_not_called_invalid() -> None:
    pool = only(slice_(device("d", consumes={"not-here-yet": {"x": 1}}), count=2))
    assert pool.incomplete
    assert not pool.invalid


# -- order ----------------------------------------------------------------------------------------------------------------


def test_pools_come_by_driver_then_name() -> None:
    published = [
        slice_(*devices("d"), driver="b.example.com", pool="a"),
        slice_(*devices("c"), driver="a.example.com", pool="z"),
        slice_(*devices("b"), driver="a.example.com", pool="y10", all_nodes=True),
        slice_(*devices("a"), driver="a.example.com", pool="y1"),
    ]
    assert offered(*published) == offered(*reversed(published)) == ["a", "b", "c", "d"]


def test_slices_come_by_name_byte_by_byte_and_devices_as_listed() -> None:
    published = [
        slice_(*devices("z", "a"), name="s2", count=3),
        slice_(*devices("y", "b"), name="s10", count=3),
        slice_(*devices("x"), name="S3", count=3),
    ]
    assert offered(*published) == ["x", "y", "b", "z", "a"]


def test_pools_with_binding_conditions_come_last() -> None:
    conditional = device("slow", binding_conditions=("ready",))
    published = [
        slice_(conditional, device("neighbour"), pool="p0"),
        slice_(*devices("fast"), pool="p1"),
    ]
    assert offered(*published) == ["fast", "slow", "neighbour"]


def test_binding_conditions_of_another_nodes_device_do_not_move_a_pool() -> None:
    published = [
        slice_(*devices("mine"), pool="p0", name="s0", count=2),
        slice_(device("theirs", binding_conditions=("ready",)), pool="p0", name="s1", count=2, node_name="node-b"),
        slice_(*devices("second"), pool="p1"),
    ]
    assert offered(*published) == ["mine", "second"]


def test_one_pool_name_of_two_drivers_is_two_pools() -> None:
    first, second = pools(
        *counted({"set": {"x": 1}}, device("d", consumes={"set": {"x": 1}}), driver="a.example.com"),
        *counted({"set": {"x": 3}}, device("d", consumes={"set": {"x": 1}}), driver="b.example.com"),
    )
    assert (first.key, second.key) == ("a.example.com/node-a", "b.example.com/node-a")
    assert [pool.counters["set", "x"] for pool in (first, second)] == [NANO, 3 * NANO]


def test_every_published_device_of_the_newest_generation_is_known_wherever_it_is() -> None:
    index = PoolIndex(
        [
            slice_(*devices("old"), name="s0", generation=1),
            slice_(*devices("new"), name="s1", generation=2, count=5),
            slice_(*devices("far"), pool="p", node_name="node-b"),
        ]
    )
    assert {id_.device for id_ in index.published()} == {"new", "far"}


def test_the_hostname_label_of_a_node_is_what_multi_host_devices_select() -> None:
    published = slice_(device("pair", node_selector=labelled(HOSTNAME, "node-a", "node-b")), per_device=True)
    assert [c.is_for(A) and c.is_for(B) for c in only(published).candidates] == [True]
