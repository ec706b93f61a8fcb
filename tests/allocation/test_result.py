"""What an allocation says of itself."""

from __future__ import annotations

from typing import get_args

from drakit.allocation import Check
from drakit.model import (
    AllocationResult,
    DeviceClass,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ResourceClaim,
    device_class,
    only_node,
)
from tests.allocation.builders import (
    HOSTNAME,
    alternative,
    claim,
    cluster,
    config,
    configured_class,
    device,
    devices,
    fatal,
    first_available,
    holding,
    labelled,
    node,
    one,
    picks,
    request,
    slice_,
    term,
)

# -- the result -----------------------------------------------------------------------------------------------------------


def configured(result: AllocationResult) -> list[tuple[str, str, tuple[str, ...]]]:
    """Source, value and requests of each configuration."""
    return [(c.source, c.opaque.parameters["value"], c.requests) for c in result.devices.config if c.opaque]


def test_configuration_of_classes_comes_first_and_names_their_requests() -> None:
    objects = [configured_class("x", "x1", "x2"), configured_class("y", "y1"), slice_(*devices(*"abcd"))]
    asks = [request("a", of="y"), request("b", of="x"), request("c", of="y"), request("d")]
    result = one(objects, claim(*asks, config=[config("all"), config("b only", "b"), config("a and c", "a", "c")]))
    assert configured(result) == [
        ("FromClass", "y1", ("a", "c")),
        ("FromClass", "x1", ("b",)),
        ("FromClass", "x2", ("b",)),
        ("FromClaim", "all", ()),
        ("FromClaim", "b only", ("b",)),
        ("FromClaim", "a and c", ("a", "c")),
    ]


def test_configuration_that_is_for_every_request_names_none() -> None:
    objects = [configured_class("x", "x1"), slice_(*devices("d0", "d1"))]
    asks = [request("a", of="x"), request("b", of="x")]
    result = one(objects, claim(*asks, config=[config("both", "a", "b")]))
    assert configured(result) == [("FromClass", "x1", ()), ("FromClaim", "both", ())]


def test_configuration_follows_the_alternative_that_was_chosen() -> None:
    objects = [configured_class("x", "x1"), configured_class("y", "y1"), slice_(*devices("d0", "d1"))]
    either = first_available("r", alternative("x", of="x", count=3), alternative("y", of="y"))
    given = [config("parent", "r"), config("x", "r/x"), config("y", "r/y"), config("other", "other")]
    result = one(objects, claim(either, request("other"), config=given))
    assert configured(result) == [
        ("FromClass", "y1", ("r/y",)),
        ("FromClaim", "parent", ("r",)),
        ("FromClaim", "y", ("r/y",)),
        ("FromClaim", "other", ("other",)),
    ]


def test_a_node_local_device_ties_the_claim_to_its_node() -> None:
    assert one([slice_(*devices("d0"))], claim(request())).node_selector == only_node("node-a")


def test_a_device_for_all_nodes_can_be_used_everywhere() -> None:
    assert one([slice_(*devices("d0"), all_nodes=True)], claim(request())).node_selector is None
    assert one([slice_(device("d0", all_nodes=True), per_device=True)], claim(request())).node_selector is None


def test_node_selectors_of_several_devices_become_one_term_without_repetition() -> None:
    a = node("node-a", labels={"zone": "east", "rack": "r1"})
    zone, rack = labelled("zone", "east", "west"), labelled("rack", "r1")
    reordered = labelled("zone", "west", "east")
    objects = [
        a,
        slice_(*devices("d0"), pool="p0", node_selector=zone),
        slice_(*devices("d1"), pool="p1", node_selector=rack),
        slice_(*devices("d2"), pool="p2", node_selector=reordered),
        slice_(*devices("d3"), pool="p3", all_nodes=True),
    ]
    selector = one(objects, claim(request(count=4))).node_selector
    assert selector is not None
    (merged,) = selector.node_selector_terms
    assert [(r.key, r.values) for r in merged.match_expressions] == [("zone", ("east", "west")), ("rack", ("r1",))]
    assert merged.match_fields == ()


def test_a_requirement_that_stands_twice_in_one_selector_is_stated_once() -> None:
    requirement = term(HOSTNAME, "node-a", "node-b").match_expressions[0]
    same = term(HOSTNAME, "node-b", "node-a").match_expressions[0]
    twice = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(requirement, same, requirement)),))
    result = one([slice_(*devices("d0"), node_selector=twice)], claim(request()))
    assert result.node_selector == labelled(HOSTNAME, "node-a", "node-b")


def test_one_node_local_device_among_others_ties_all_to_the_node() -> None:
    objects = [
        node("node-a", labels={"zone": "east"}),
        slice_(*devices("d0"), pool="p0", node_selector=labelled("zone", "east")),
        slice_(*devices("d1"), pool="p1"),
    ]
    assert one(objects, claim(request(count=2))).node_selector == only_node("node-a")


def test_a_device_that_binds_to_its_node_ties_the_claim_to_it() -> None:
    for published in (
        slice_(device("d0", binds_to_node=True), all_nodes=True),
        slice_(device("d0", binds_to_node=True), node_selector=labelled(HOSTNAME, "node-a", "node-b")),
    ):
        assert one([published], claim(request())).node_selector == only_node("node-a")


def test_per_device_node_selection_takes_the_devices_own_nodes() -> None:
    pair_ = labelled(HOSTNAME, "node-a", "node-b")
    objects = [slice_(device("d0", node_selector=pair_), device("d1", node_name="node-a"), per_device=True)]
    assert one(objects, claim(request())).node_selector == pair_
    assert one(objects, claim(request(count=2))).node_selector == only_node("node-a")


def test_a_node_selector_with_two_terms_is_fatal_for_who_gets_the_device() -> None:
    two = NodeSelector(node_selector_terms=(term(HOSTNAME, "node-a"), term(HOSTNAME, "node-b")))
    objects = [slice_(*devices("d0"), pool="p1", node_selector=two), slice_(*devices("local"), pool="p0")]
    error = fatal([*objects, holding("p0/local")], claim(request(), name="wide"))
    assert error.message == ("create NodeSelector for claim wide: unsupported ResourceSlice.NodeSelector with 2 terms")
    assert one(objects, claim(request(count=2))).node_selector == only_node("node-a"), "settled by the first device"


def test_binding_conditions_and_skipped_operations_are_copied() -> None:
    conditional = device("d0", binding_conditions=("ready",), binding_failure_conditions=("failed",))
    (result,) = one([slice_(conditional, skip_node_operations=["Prepare"])], claim(request())).devices.results
    assert result.binding_conditions == ("ready",)
    assert result.binding_failure_conditions == ("failed",)
    assert result.skip_node_operations == ("Prepare",)


def test_nothing_that_is_asked_changes_the_cluster() -> None:
    world = cluster(slice_(*devices("d0")))
    ask: tuple[Node, ResourceClaim] = (world.nodes[0], claim(request()))
    first, second = (world.allocate_on(ask[0], [ask[1]]) for _ in range(2))
    assert first == second
    assert world.claims == ()


def test_the_checks_have_the_names_that_the_reasons_use() -> None:
    assert get_args(Check) == ("pool", "node", "in-use", "selector", "capacity", "counters", "taint", "constraint", "limit")


def test_a_class_is_found_by_name() -> None:
    gpus: DeviceClass = device_class("gpus", 'device.driver == "gpu.example.com"')
    objects = [gpus, slice_(*devices("nic"), driver="a.example.com"), slice_(*devices("gpu"))]
    assert picks(objects, claim(request("r", of="gpus"))) == ["r=gpu"]
