from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, get_args

import pytest

from drakit.allocation import AllocationError, Check
from drakit.model import (
    AllocationResult,
    Device,
    DeviceClass,
    DeviceToleration,
    Node,
    NodeSelector,
    ResourceClaim,
    device_class,
    only_node,
    quantity,
    semver,
)
from tests.allocation.builders import (
    HOSTNAME,
    allocate,
    alternative,
    capacity_in_range,
    capacity_of_values,
    claim,
    cluster,
    config,
    configured_class,
    counted,
    device,
    devices,
    distinct,
    first_available,
    holding,
    labelled,
    match,
    named,
    node,
    picked,
    picks,
    request,
    slice_,
    taint,
    term,
    with_name,
)


def fatal(objects: list[Any], *claims: ResourceClaim) -> AllocationError:
    with pytest.raises(AllocationError) as caught:
        allocate(objects, *claims)
    return caught.value


def one(objects: list[Any], *claims: ResourceClaim) -> AllocationResult:
    """The result of the first claim."""
    results = allocate(objects, *claims)
    assert results is not None
    return results[0]


# -- first fit ------------------------------------------------------------------------------------------------------------


def test_no_claims_and_claims_without_requests_need_nothing() -> None:
    assert allocate([]) == ()
    assert picks([], claim()) == []
    assert one([], claim()).node_selector is None


def test_the_first_device_in_pool_order_is_taken() -> None:
    objects = [slice_(*devices("d0", "d1"), pool="p1"), slice_(*devices("d2"), pool="p0")]
    assert picks(objects, claim(request("r"))) == ["r=d2"]


def test_requests_and_claims_are_served_in_order() -> None:
    objects = [slice_(*devices("d0", "d1", "d2"))]
    first, second = claim(request("b"), request("a"), name="z"), claim(request("c"), name="a")
    assert picks(objects, first, second) == ["b=d0", "a=d1", "c=d2"]


def test_a_count_takes_the_first_devices_that_are_free() -> None:
    objects = [slice_(*devices("d0", "d1", "d2", "d3")), holding("d1")]
    assert picks(objects, claim(request("r", count=3))) == ["r=d0", "r=d2", "r=d3"]
    assert picks(objects, claim(request("r", count=4))) is None


def test_an_earlier_choice_is_changed_when_a_later_request_needs_the_device() -> None:
    objects = [slice_(with_name("d0"), with_name("d1"))]
    assert picks(objects, claim(request("any"), request("d0", named("d0")))) == ["any=d1", "d0=d0"]


def test_an_earlier_claim_gives_way_to_a_later_one_of_the_same_pod() -> None:
    objects = [slice_(with_name("d0"), with_name("d1"))]
    assert picks(objects, claim(request("x"), name="c0"), claim(request("y", named("d0")), name="c1")) == ["x=d1", "y=d0"]


def test_all_claims_of_a_pod_are_had_together_or_none() -> None:
    objects = [slice_(*devices("d0"))]
    assert picks(objects, claim(request(), name="c0"), claim(request(), name="c1")) is None


def test_a_device_has_one_name_in_the_whole_cluster() -> None:
    objects = [
        node("node-a"),
        node("node-b"),
        slice_(*devices("d"), pool="shared-name", node_name="node-a"),
        slice_(*devices("d"), pool="shared-name", node_name="node-b"),
        holding("shared-name/d"),
    ]
    assert picks(objects, claim(request()), on="node-b") is None


def test_an_invalid_or_incomplete_pool_gives_nothing_and_the_rest_goes_on() -> None:
    objects = [
        slice_(*devices("twice", "twice"), pool="p0"),
        slice_(*devices("early"), pool="p1", count=2),
        slice_(*devices("fine"), pool="p2"),
    ]
    assert picks(objects, claim(request())) == ["r=fine"]
    assert picks(objects, claim(request("r", count=2))) is None


# -- what is wrong with a claim before any device is looked at ------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            request("r", of="none"),
            'claim team-a/c, request r: could not retrieve device class none: deviceclass.resource.k8s.io "none" not found',
        ),
        (request("r", of=""), "claim team-a/c, request r: missing device class name (unsupported request type?)"),
        (request("r", ""), "claim team-a/c, request r, selector #0: CEL expression empty (unsupported selector type?)"),
        (
            first_available("r", alternative("good"), alternative("bad", of="none")),
            'claim team-a/c, request bad: could not retrieve device class none: deviceclass.resource.k8s.io "none" not found',
        ),
        (first_available("r"), "claim team-a/c, request r: missing device class name (unsupported request type?)"),
    ],
)
def test_a_claim_that_cannot_be_read_is_fatal(wrong: Any, message: str) -> None:
    error = fatal([slice_(*devices("d"))], claim(wrong))
    assert error.message == message
    assert error.kind == "error"


# -- allocation mode All --------------------------------------------------------------------------------------------------


def test_all_takes_every_device_that_matches() -> None:
    objects = [slice_(with_name("d0"), with_name("d1"), with_name("d2"))]
    assert picks(objects, claim(request("r", named("d0", "d2"), every=True))) == ["r=d0", "r=d2"]


def test_all_needs_at_least_one_device() -> None:
    objects = [slice_(with_name("d0"))]
    assert picks(objects, claim(request("r", named("none"), every=True))) is None
    assert picks([], claim(request("r", every=True))) is None


def test_all_fails_when_one_of_its_devices_is_held() -> None:
    assert picks([slice_(*devices("d0", "d1")), holding("d1")], claim(request("r", every=True))) is None


def test_all_fails_when_one_of_its_shared_devices_is_full() -> None:
    nics = [device(f"nic-{i}", shared=True, capacity={"bandwidth": "10G"}) for i in range(2)]
    ask = claim(request("r", every=True, capacity={"bandwidth": "1G"}))
    assert picks([slice_(*nics), holding("nic-0", share={"bandwidth": "10G"})], ask) is None
    assert picks([slice_(*nics), holding("nic-0", share={"bandwidth": "9G"})], ask) == ["r=nic-0", "r=nic-1"]


def test_all_leaves_out_devices_too_small_ever_to_serve_the_request() -> None:
    objects = [slice_(device("small", capacity={"memory": "1Gi"}), device("big", capacity={"memory": "8Gi"}))]
    assert picks(objects, claim(request("r", every=True, capacity={"memory": "4Gi"}))) == ["r=big"]


def test_all_fails_when_one_of_its_devices_is_tainted() -> None:
    objects = [slice_(device("d0"), device("d1", taints=[taint()]))]
    assert picks(objects, claim(request("r", every=True))) is None
    tolerant = request("r", every=True, tolerations=[DeviceToleration(operator="Exists")])
    assert picks(objects, claim(tolerant)) == ["r=d0", "r=d1"]


def test_all_fails_when_counters_do_not_last_for_all() -> None:
    halves = [device(f"half-{i}", consumes={"card": {"units": 1}}) for i in range(2)]
    assert picks(counted({"card": {"units": 1}}, *halves), claim(request("r", every=True))) is None
    assert picks(counted({"card": {"units": 2}}, *halves), claim(request("r", every=True))) == ["r=half-0", "r=half-1"]


def test_all_fails_when_an_earlier_request_holds_one_of_its_devices_and_has_no_other() -> None:
    objects = [slice_(*devices("d0"))]
    assert picks(objects, claim(request("first"), request("rest", every=True))) is None


def test_a_constraint_that_all_cannot_satisfy_is_fatal() -> None:
    objects = [slice_(device("d0", attributes={"numa": 0}), device("d1", attributes={"numa": 1}))]
    error = fatal(objects, claim(request("r", every=True), constraints=[match("gpu.example.com/numa")]))
    assert error.message == (
        "claim team-a/c, request r: cannot add device gpu.example.com/node-a/d1 "
        "because a claim constraint would not be satisfied"
    )
    assert error.device == "gpu.example.com/node-a/d1"
    assert error.kind == "error"


def test_a_constraint_violated_by_all_is_fatal_even_with_another_alternative_left() -> None:
    objects = [slice_(device("d0", attributes={"numa": 0}), device("d1", attributes={"numa": 1}))]
    either = first_available("r", alternative("all", every=True), alternative("one"))
    error = fatal(objects, claim(either, constraints=[match("gpu.example.com/numa")]))
    assert "request all: cannot add device" in error.message


def test_all_is_fatal_for_now_while_any_pool_is_being_updated() -> None:
    other_driver = slice_(*devices("x"), driver="nic.example.com", count=2)
    error = fatal([slice_(*devices("d0")), other_driver], claim(request("r", every=True)))
    assert error.message.startswith(
        "claim team-a/c, request r: asks for all devices, but resource pool nic.example.com/node-a is currently being updated"
    )
    assert "has 1 of 2 slices" in error.message
    assert error.kind == "updating"


def test_all_is_fatal_while_any_pool_is_invalid() -> None:
    error = fatal([slice_(*devices("d0", "d0"))], claim(request("r", every=True)))
    assert "asks for all devices, but resource pool gpu.example.com/node-a is currently invalid" in error.message


def test_all_over_more_than_32_devices_is_fatal() -> None:
    world = [slice_(*devices(*(f"d{i}" for i in range(33))))]
    error = fatal(world, claim(request("r", every=True)))
    assert error.message == "claim team-a/c: number of requested devices 33 exceeds the claim limit of 32"
    assert len(picks([slice_(*devices(*(f"d{i}" for i in range(32))))], claim(request("r", every=True))) or ()) == 32


# -- alternatives ---------------------------------------------------------------------------------------------------------


def test_alternatives_are_tried_in_order_and_named_in_the_result() -> None:
    objects = [slice_(with_name("small"), with_name("big"))]
    either = first_available("r", alternative("big", named("big")), alternative("small", named("small")))
    assert picks(objects, claim(either)) == ["r/big=big"]
    assert picks([*objects, holding("big")], claim(either)) == ["r/small=small"]


def test_an_alternative_is_the_first_for_which_everything_after_it_also_fits() -> None:
    objects = [slice_(with_name("d0"), with_name("d1"), with_name("d2"))]
    either = first_available("r", alternative("two", count=2), alternative("one"))
    assert picks(objects, claim(either, request("rest", count=2))) == ["r/one=d0", "rest=d1", "rest=d2"]


def test_a_later_claim_can_send_an_earlier_one_to_its_second_choice() -> None:
    objects = [slice_(with_name("d0"), with_name("d1"))]
    either = first_available("r", alternative("d0", named("d0")), alternative("d1", named("d1")))
    assert picks(objects, claim(either, name="c0"), claim(request("x", named("d0")), name="c1")) == ["r/d1=d1", "x=d0"]


def test_a_request_fails_when_none_of_its_alternatives_fits() -> None:
    either = first_available("r", alternative("two", count=2), alternative("three", count=3))
    assert picks([slice_(*devices("d0"))], claim(either)) is None


def test_all_can_be_an_alternative() -> None:
    either = first_available("r", alternative("all", every=True), alternative("one"))
    assert picks([slice_(*devices("d0", "d1"))], claim(either)) == ["r/all=d0", "r/all=d1"]
    assert picks([slice_(*devices("d0", "d1")), holding("d0")], claim(either)) == ["r/one=d1"]


# -- the limit of 32 ------------------------------------------------------------------------------------------------------


def test_more_than_32_devices_in_one_claim_are_refused_even_if_they_are_there() -> None:
    objects = [slice_(*devices(*(f"d{i}" for i in range(64))))]
    error = fatal(objects, claim(request("a", count=20), request("b", count=13)))
    assert error.message == "claim team-a/c: number of requested devices 33 exceeds the claim limit of 32"
    assert len(picks(objects, claim(request("a", count=20), request("b", count=12))) or ()) == 32


def test_the_limit_counts_the_smallest_alternative_and_skips_those_that_are_too_large() -> None:
    objects = [slice_(*devices(*(f"d{i}" for i in range(64))))]
    either = first_available("b", alternative("large", count=13), alternative("small", count=12))
    result = one(objects, claim(request("a", count=20), either))
    assert {r.request for r in result.devices.results} == {"a", "b/small"}


def test_the_limit_is_for_each_claim_not_for_all_together() -> None:
    objects = [slice_(*devices(*(f"d{i}" for i in range(64))))]
    claims = [claim(request(count=32), name=f"c{i}") for i in range(2)]
    assert len(picks(objects, *claims) or ()) == 64


def test_count_and_all_are_added_up_for_the_limit() -> None:
    objects = [slice_(*(with_name(f"d{i}") for i in range(40)))]
    some = named(*(f"d{i}" for i in range(20)))
    error = fatal(objects, claim(request("all", some, every=True), request("count", count=13)))
    assert "number of requested devices 33" in error.message


# -- selectors ------------------------------------------------------------------------------------------------------------

BROKEN = "device.attributes["
MISSING = 'device.attributes["gpu.example.com"].model == "m1"'


def test_class_and_request_selectors_must_all_be_true() -> None:
    objects = [
        device_class("gpus", 'device.driver == "gpu.example.com"', 'device.attributes["gpu.example.com"].size > 1'),
        slice_(*(device(f"d{i}", attributes={"size": i, "index": i}) for i in range(5))),
        slice_(*devices("nic"), driver="a.example.com"),
    ]
    ask = request("r", 'device.attributes["gpu.example.com"].index != 2', 'device.attributes["gpu.example.com"].index != 3')
    ask_of_class = request("r", *(s.cel.expression for s in ask.exactly.selectors if s.cel), of="gpus") if ask.exactly else ask
    assert picks(objects, claim(ask_of_class)) == ["r=d4"]


def test_selectors_stop_at_the_first_that_is_false() -> None:
    objects = [device_class("never", "false"), slice_(*devices("d0"))]
    assert picks(objects, claim(request("r", MISSING, of="never"))) is None


def test_a_missing_attribute_is_an_error_and_not_a_mismatch() -> None:
    error = fatal([slice_(*devices("d0"))], claim(request("r", "true", MISSING)))
    assert error.message.startswith(
        "claim team-a/c: selector #1 on device gpu.example.com/node-a/d0: CEL runtime error: no such key: model"
    )
    assert (error.place.as_json(), error.device) == (
        {"claim": "team-a/c", "request": "r", "selector": 1},
        "gpu.example.com/node-a/d0",
    )


def test_an_error_of_a_class_names_the_class() -> None:
    objects = [device_class("typed", MISSING), slice_(*devices("d0"))]
    error = fatal(objects, claim(request("r", of="typed")))
    assert error.message.startswith("class typed: selector #0 on device gpu.example.com/node-a/d0: CEL runtime error: ")
    assert error.place.as_json() == {"class": "typed", "selector": 0}


def test_a_selector_that_does_not_compile_is_an_error_without_a_device() -> None:
    error = fatal([slice_(*devices("d0"))], claim(request("r", BROKEN)))
    assert error.message.startswith("claim team-a/c: selector #0: CEL compile error: ")
    assert error.device == ""


def test_a_broken_selector_is_not_seen_while_there_is_no_candidate() -> None:
    assert picks([], claim(request("r", BROKEN))) is None
    assert picks([slice_(*devices("d0")), holding("d0")], claim(request("r", BROKEN))) is None


def test_an_error_on_a_later_device_is_never_seen_when_the_first_fits() -> None:
    objects = [slice_(device("d0", attributes={"model": "m1"}), device("d1"))]
    assert picks(objects, claim(request("r", MISSING))) == ["r=d0"]
    assert "device gpu.example.com/node-a/d1" in fatal(objects, claim(request("r", MISSING, count=2))).message


def test_an_error_on_a_later_device_is_seen_once_backtracking_gets_there() -> None:
    objects = [slice_(with_name("d0"), device("d1"))]
    later = request("s", named("d0"))
    assert "no such key: name" in fatal(objects, claim(request("r", named("d0")), later)).message


def test_an_error_on_a_held_device_is_not_seen_unless_all_are_wanted() -> None:
    objects = [slice_(device("d0"), device("d1", attributes={"model": "m1"})), holding("d0")]
    assert picks(objects, claim(request("r", MISSING))) == ["r=d1"]
    assert "d0: CEL runtime error" in fatal(objects, claim(request("r", MISSING, every=True))).message


def test_an_error_on_a_tainted_device_is_fatal() -> None:
    objects = [slice_(device("d0", taints=[taint()]), device("d1", attributes={"model": "m1"}))]
    assert "d0: CEL runtime error" in fatal(objects, claim(request("r", MISSING))).message


def test_an_error_on_a_device_of_another_node_is_fatal_here_too() -> None:
    theirs = device("theirs", node_name="node-b")
    mine = device("mine", node_name="node-a", attributes={"model": "m1"})
    objects = [slice_(theirs, mine, per_device=True)]
    assert "theirs: CEL runtime error" in fatal(objects, claim(request("r", MISSING))).message


def test_a_device_of_another_node_is_not_taken_though_it_is_looked_at() -> None:
    objects = [slice_(device("theirs", node_name="node-b"), device("mine", node_name="node-a"), per_device=True)]
    assert picks(objects, claim(request("r"))) == ["r=mine"]
    assert picks(objects, claim(request("r", every=True))) == ["r=mine"]


def test_an_error_of_a_second_alternative_is_not_seen_when_the_first_fits() -> None:
    either = first_available("r", alternative("fine"), alternative("broken", BROKEN))
    assert picks([slice_(*devices("d0"))], claim(either)) == ["r/fine=d0"]


def test_an_error_of_a_later_request_is_not_seen_when_an_earlier_one_has_no_device() -> None:
    objects = [slice_(with_name("d0"))]
    assert picks(objects, claim(request("r", named("none")), request("s", BROKEN))) is None


def test_looking_ahead_hides_no_error() -> None:
    """After many dead ends a request is given up early where too little is left, but not past a selector that fails."""
    small = [with_name(f"d{i}") for i in range(12)]
    objects = [slice_(*small, device("nameless"))]
    never = claim(request("a", count=7), request("b", named(*(f"d{i}" for i in range(12))), count=7))
    assert "nameless: CEL runtime error" in fatal(objects, never).message


# -- counters -------------------------------------------------------------------------------------------------------------

CARD = {"card": {"units": 4}}


def part(name: str, units: int = 2, **options: Any) -> Device:
    return with_name(name, consumes={"card": {"units": units}}, **options)


def test_counters_limit_what_is_taken_together() -> None:
    objects = counted(CARD, part("whole", 4), part("half-0"), part("half-1"), part("half-2"))
    assert picks(objects, claim(request())) == ["r=whole"]
    assert picks(objects, claim(request(count=2))) == ["r=half-0", "r=half-1"]
    assert picks(objects, claim(request(count=3))) is None


def test_counters_of_what_was_allocated_before_are_used_up() -> None:
    objects = [*counted(CARD, part("whole", 4), part("half-0"), part("half-1")), holding("half-0")]
    assert picks(objects, claim(request())) == ["r=half-1"]
    assert picks(objects, claim(request("r", named("whole")))) is None


def test_every_set_and_counter_of_a_device_must_last() -> None:
    sets = {"a": {"x": 2, "y": 1}, "b": {"x": 1}}
    objects = counted(
        sets,
        device("first", consumes={"a": {"x": 1}, "b": {"x": 1}}),
        device("same-b", consumes={"a": {"x": 1}, "b": {"x": 1}}),
        device("same-a", consumes={"a": {"x": 1, "y": 1}}),
    )
    assert picks(objects, claim(request(count=2))) == ["r=first", "r=same-a"]


def test_devices_without_counters_are_not_held_back_by_them() -> None:
    objects = [*counted({"card": {"units": 0}}, part("half"), device("free"))]
    assert picks(objects, claim(request())) == ["r=free"]


@pytest.mark.parametrize("share", [{"memory": "10Gi"}, {}])
def test_a_share_that_was_allocated_before_holds_the_counters_of_its_device(share: Mapping[str, str]) -> None:
    whole = part("whole", 4, shared=True, capacity={"memory": "80Gi"})
    objects = [*counted(CARD, whole, part("half-0"), part("half-1")), holding("whole", share=share)]
    assert picks(objects, claim(request("r", named("half-0", "half-1")))) is None


def test_a_shared_device_is_charged_once() -> None:
    whole = part("whole", 4, shared=True, capacity={"memory": "80Gi"})
    objects = counted(CARD, whole, part("half"))
    ask = request("r", named("whole"), capacity={"memory": "10Gi"})
    assert picks(objects, claim(ask, name="c0"), claim(ask, name="c1")) == ["r=whole", "r=whole"]
    held = [*objects, holding("whole", share={"memory": "10Gi"})]
    assert picks(held, claim(ask)) == ["r=whole"]


def test_two_requests_of_a_claim_share_a_device_that_needs_most_of_the_counters() -> None:
    objects = counted(
        CARD,
        *(with_name(f"d{i}", shared=True, capacity={"slots": 4}, consumes={"card": {"units": 3}}) for i in range(2)),
    )
    asks = [request(f"r{i}", capacity={"slots": 1}) for i in range(2)]
    result = one(objects, claim(*asks))
    assert picked(result) == ["r0=d0", "r1=d0"]
    assert len({r.share_id for r in result.devices.results}) == 2


def test_counters_are_given_back_when_a_choice_is_taken_back() -> None:
    objects = counted(CARD, part("three", 3), part("half-0"), part("half-1"))
    assert picks(objects, claim(request("a"), request("b", named("half-1")))) == ["a=half-0", "b=half-1"]


def test_counters_of_a_shared_device_are_given_back_when_its_last_share_is() -> None:
    shared = with_name("shared", shared=True, capacity={"slots": 2}, consumes={"card": {"units": 3}})
    objects = counted(CARD, shared, part("half-0"), part("half-1"))
    ask = claim(request("a", capacity=None), request("b", named("half-0")), request("c", named("half-1")))
    assert picks(objects, ask) is None
    ask = claim(request("a", 'device.attributes[device.driver].name != "half-1"'), request("c", named("half-1")))
    assert picks(objects, ask) == ["a=half-0", "c=half-1"]


def test_a_tainted_partition_keeps_no_counters_from_a_healthy_one_that_overlaps() -> None:
    objects = counted(CARD, part("tainted", 4, taints=[taint()]), part("healthy", 4))
    assert picks(objects, claim(request())) == ["r=healthy"]


def test_a_partition_that_a_constraint_refuses_keeps_no_counters() -> None:
    objects = [
        slice_(device("nic", attributes={"numa.example.com/node": 1}), driver="a.example.com"),
        *counted(
            CARD,
            part("far", 4, attributes={"numa.example.com/node": 0}),
            part("near", 4, attributes={"numa.example.com/node": 1}),
        ),
    ]
    asks = [request("nic", 'device.driver == "a.example.com"'), request("gpu", 'device.driver == "gpu.example.com"')]
    assert picks(objects, claim(*asks, constraints=[match("numa.example.com/node")])) == ["nic=nic", "gpu=near"]


def test_two_drivers_with_one_pool_name_have_counters_of_their_own() -> None:
    objects: list[Any] = [
        *counted({"set": {"x": 2}}, device("d", consumes={"set": {"x": 2}}), driver="a.example.com"),
        *counted({"set": {"x": 2}}, device("d", consumes={"set": {"x": 2}}), driver="b.example.com"),
    ]
    assert picks(objects, claim(request(count=2))) == ["r=d", "r=d"]
    objects = [*objects, holding("a.example.com/node-a/d")]
    assert picks(objects, claim(request())) == ["r=d"]
    assert picks(objects, claim(request(count=2))) is None


def test_devices_of_other_nodes_share_the_counters_of_a_pool() -> None:
    objects = [
        slice_(counters=CARD, count=3, all_nodes=True),
        slice_(part("mine"), count=3, name="mine"),
        slice_(part("theirs", 4), count=3, name="theirs", node_name="node-b"),
    ]
    assert picks(objects, claim(request())) == ["r=mine"]
    assert picks([*objects, holding("theirs")], claim(request())) is None


def test_an_overdrawn_counter_blocks_every_device_of_the_pool_that_counts() -> None:
    sets = {"a": {"x": 1}, "b": {"x": 1}}
    of_a, of_b = device("of-a", consumes={"a": {"x": 2}}), device("of-b", consumes={"b": {"x": 1}})
    objects = counted(sets, of_a, of_b)
    assert picks(objects, claim(request())) == ["r=of-b"]
    assert picks([*objects, holding("of-a")], claim(request())) is None
    assert picks([*counted(sets, of_a, of_b, device("free")), holding("of-a")], claim(request())) == ["r=free"]


def test_a_device_that_wants_more_than_there_is_never_fits() -> None:
    assert picks(counted(CARD, part("too-much", 5)), claim(request())) is None


# -- taints ---------------------------------------------------------------------------------------------------------------

T = DeviceToleration


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (None, False),
        (T(operator="Exists"), True),
        (T(key="broken", operator="Exists"), True),
        (T(key="other", operator="Exists"), False),
        (T(key="broken", value="fan"), True),
        (T(key="broken", operator="", value="fan"), True),
        (T(key="broken", value="disk"), False),
        (T(key="broken"), False),
        (T(value="fan"), True),
        (T(key="broken", operator="Exists", effect="NoSchedule"), "NoSchedule"),
        (T(key="broken", operator="Exists", effect="NoExecute"), "NoExecute"),
        (T(operator="Exists", toleration_seconds=0), True),
    ],
)
def test_a_taint_keeps_away_who_does_not_tolerate_it(effect: str, toleration: T | None, tolerated: bool | str) -> None:
    objects = [slice_(device("d0", taints=[taint("broken", "fan", effect)]))]
    ask = request("r", tolerations=[toleration] if toleration else [])
    expected = tolerated if isinstance(tolerated, bool) else tolerated == effect
    assert picks(objects, claim(ask)) == (["r=d0"] if expected else None)


@pytest.mark.parametrize("effect", ["None", "PreferNoSchedule", "Someday"])
def test_other_effects_keep_nobody_away(effect: str) -> None:
    assert picks([slice_(device("d0", taints=[taint(effect=effect)]))], claim(request())) == ["r=d0"]


def test_each_taint_needs_a_toleration() -> None:
    objects = [slice_(device("d0", taints=[taint("a"), taint("b", effect="NoExecute")]))]
    of_a, of_b = (T(key=key, operator="Exists") for key in "ab")
    assert picks(objects, claim(request(tolerations=[of_a]))) is None
    assert picks(objects, claim(request(tolerations=[of_b, of_a]))) == ["r=d0"]


def test_a_tolerated_taint_costs_no_rank() -> None:
    objects = [slice_(device("d0", taints=[taint()]), device("d1"))]
    assert picks(objects, claim(request(tolerations=[T(operator="Exists")]))) == ["r=d0"]


def test_tolerations_are_those_of_the_alternative_and_are_copied_to_the_result() -> None:
    tolerant = T(key="broken", operator="Exists")
    either = first_available("r", alternative("strict"), alternative("tolerant", tolerations=[tolerant]))
    result = one([slice_(device("d0", taints=[taint()]))], claim(either))
    assert picked(result) == ["r/tolerant=d0"]
    assert result.devices.results[0].tolerations == (tolerant,)


# -- admin access ---------------------------------------------------------------------------------------------------------


def test_admin_access_takes_devices_that_others_hold() -> None:
    objects = [slice_(*devices("d0", "d1")), holding("d0")]
    result = one(objects, claim(request("r", admin=True)))
    assert picked(result) == ["r=d0"]
    assert result.devices.results[0].admin_access is True


def test_a_normal_result_says_nothing_of_admin_access() -> None:
    assert one([slice_(*devices("d0"))], claim(request())).devices.results[0].admin_access is None


def test_admin_access_takes_no_device_twice_in_one_claim() -> None:
    objects = [slice_(*devices("d0", "d1")), holding("d0")]
    probes = [request(name, admin=True) for name in "xyz"]
    assert picks(objects, claim(*probes[:2])) == ["x=d0", "y=d1"]
    assert picks(objects, claim(*probes)) is None


def test_two_claims_with_admin_access_may_have_the_same_device() -> None:
    objects = [slice_(*devices("d0"))]
    ask = request("r", admin=True)
    assert picks(objects, claim(ask, name="c0"), claim(ask, name="c1")) == ["r=d0", "r=d0"]


def test_what_admin_access_holds_is_free_for_others() -> None:
    assert picks([slice_(*devices("d0")), holding("d0", admin=True)], claim(request())) == ["r=d0"]


def test_within_one_attempt_a_normal_request_does_not_get_what_an_admin_request_took_before_it() -> None:
    objects = [slice_(*devices("d0"))]
    normal, probe = claim(request(), name="normal"), claim(request("p", admin=True), name="probe")
    assert picks(objects, normal, probe) == ["r=d0", "p=d0"]
    assert picks(objects, probe, normal) is None


def test_admin_access_does_not_overcome_taints() -> None:
    assert picks([slice_(device("d0", taints=[taint()]))], claim(request(admin=True))) is None


def test_admin_access_to_all_includes_what_is_held() -> None:
    objects = [slice_(*devices("d0", "d1")), holding("d1")]
    assert picks(objects, claim(request("r", every=True, admin=True))) == ["r=d0", "r=d1"]


def test_admin_access_needs_counters_like_anybody() -> None:
    objects = counted(CARD, part("whole", 4), part("half"))
    assert picks([*objects, holding("half")], claim(request("r", named("whole"), admin=True))) is None


def test_what_an_admin_request_took_is_free_again_when_it_is_taken_back() -> None:
    objects = [slice_(with_name("d0"), with_name("d1"))]
    assert picks(objects, claim(request("p", admin=True), request("r", named("d0")))) == ["p=d1", "r=d0"]


# -- constraints ----------------------------------------------------------------------------------------------------------

X = "gpu.example.com/x"


def valued(*values: Any) -> list[Device]:
    """Devices d0, d1, ... with these values of ``x``; None: without it."""
    return [with_name(f"d{i}", attributes={"x": value}) for i, value in enumerate(values)]


def pair(*values: Any, constraint: str = "match", count: int = 2) -> list[str] | None:
    """What a request for some devices of equal (or different) value gets."""
    made = (match if constraint == "match" else distinct)(X)
    got = picks([slice_(*valued(*values))], claim(request("r", count=count), constraints=[made]))
    return None if got is None else [pick.removeprefix("r=") for pick in got]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["A", "A"], ["d0", "d1"]),
        (["A", "B", "A"], ["d0", "d2"]),
        (["A", "B"], None),
        ([1, 2, 2], ["d1", "d2"]),
        ([True, False, True], ["d0", "d2"]),
        ([1, "1", True], None),
        ([semver("1.0.0"), "1.0.0", semver("1.0.0")], ["d0", "d2"]),
        ([semver("1.0.0"), semver("1.0.0+build")], None),
        (["A", None, "A"], ["d0", "d2"]),
        ([None, None], None),
        ([["a", "b"], ["b", "c"]], ["d0", "d1"]),
        ([["a", "b"], ["c"], ["b"]], ["d0", "d2"]),
        ([["a", "b"], "b"], ["d0", "d1"]),
        ([["a"], ["b"]], None),
        ([[1, 2], ["1", "2"], 2], ["d0", "d2"]),
    ],
)
def test_match_attribute_wants_one_value_in_all(values: list[Any], expected: list[str] | None) -> None:
    assert pair(*values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["A", "B"], ["d0", "d1"]),
        (["A", "A", "B"], ["d0", "d2"]),
        (["A", "A"], None),
        ([1, "1"], ["d0", "d1"]),
        (["A", None, "B"], ["d0", "d2"]),
        ([["a", "b"], ["b", "c"], ["c"]], ["d0", "d2"]),
        ([["a", "b"], "a"], None),
    ],
)
def test_distinct_attribute_wants_no_value_twice(values: list[Any], expected: list[str] | None) -> None:
    assert pair(*values, constraint="distinct") == expected


def test_distinct_attribute_looks_at_all_devices_of_a_request_not_only_the_last() -> None:
    assert pair("A", "B", "A", constraint="distinct", count=3) is None
    assert pair("A", "B", "A", "C", constraint="distinct", count=3) == ["d0", "d1", "d3"]


def test_distinct_attribute_forgets_a_value_when_its_device_is_taken_back_and_no_other() -> None:
    objects = [slice_(*valued("A", "B", "A"))]
    asks = [request("r", count=2), request("s", named("d1"))]
    assert picks(objects, claim(*asks, constraints=[distinct(X)])) is None
    objects = [slice_(*valued("A", "B", "C", "A"))]
    assert picks(objects, claim(*asks, constraints=[distinct(X)])) == ["r=d0", "r=d2", "s=d1"]


def test_pairwise_overlap_is_not_enough_for_match_attribute() -> None:
    assert pair(["a", "b"], ["b", "c"], ["a", "c"], count=3) is None
    assert pair(["a", "b"], ["b", "c"], ["a", "c"], ["b"], count=3) == ["d0", "d1", "d3"]


def test_match_attribute_remembers_what_was_open_before_a_device_that_is_taken_back() -> None:
    assert pair(["a", "b"], ["a"], ["b"], ["b", "c"], count=3) == ["d0", "d2", "d3"]


def test_match_attribute_lets_the_first_value_go_when_it_leads_nowhere() -> None:
    assert pair("A", "B", "C", "B", "B", count=3) == ["d1", "d3", "d4"]


def test_a_constraint_holds_between_requests_of_several_drivers() -> None:
    root = "resource.kubernetes.io/pcieRoot"
    gpus = [device(f"gpu-{i}", attributes={root: r}) for i, r in enumerate(["pci0000:00", "pci0000:80"])]
    nics = [device(f"nic-{i}", attributes={root: r}) for i, r in enumerate(["pci0000:80", "pci0000:c0"])]
    objects = [slice_(*gpus), slice_(*nics, driver="nic.example.com")]
    asks = [request("gpu", 'device.driver == "gpu.example.com"'), request("nic", 'device.driver == "nic.example.com"')]
    assert picks(objects, claim(*asks, constraints=[match(root, "gpu", "nic")])) == ["gpu=gpu-1", "nic=nic-0"]


def test_a_name_without_a_domain_on_the_device_is_in_the_domain_of_its_driver_only() -> None:
    objects = [slice_(*valued("A")), slice_(*valued("A"), driver="nic.example.com")]
    assert picks(objects, claim(request(count=2), constraints=[match(X)])) is None


def test_a_constraint_is_for_the_requests_it_names() -> None:
    objects = [slice_(*valued("A", "B", "A"))]
    asks = [request(name) for name in "abc"]
    assert picks(objects, claim(*asks, constraints=[match(X, "a", "c")])) == ["a=d0", "b=d1", "c=d2"]
    assert picks(objects, claim(*asks, constraints=[match(X)])) is None


@pytest.mark.parametrize(("names", "expected"), [(["r"], "d2"), (["r/only"], "d2"), (["r/other"], "d1"), (["only"], "d1")])
def test_a_constraint_may_name_a_request_or_one_alternative(names: list[str], expected: str) -> None:
    objects = [slice_(*valued("A", "B", "A"))]
    asks = [request("a"), first_available("r", alternative("only"), alternative("other", named("none")))]
    got = picks(objects, claim(*asks, constraints=[match(X, "a", *names)]))
    assert got == ["a=d0", f"r/only={expected}"]


def test_constraints_are_for_one_claim_and_several_hold_together() -> None:
    def spec(i: int, x: str, y: str) -> Device:
        return device(f"d{i}", attributes={"x": x, "y": y})

    objects = [slice_(spec(0, "A", "p"), spec(1, "A", "p"), spec(2, "A", "q"), spec(3, "B", "p"))]
    both = claim(request(count=2), constraints=[match(X), distinct("gpu.example.com/y")])
    assert picks(objects, both) == ["r=d0", "r=d2"]
    alone = [claim(request(), name=f"c{i}", constraints=[distinct(X)]) for i in range(2)]
    assert picks(objects, *alone) == ["r=d0", "r=d1"]


# -- consumable capacity --------------------------------------------------------------------------------------------------

RANGE = capacity_in_range("16", least="2", most="8", step="2")
VALUES = capacity_of_values("16", "1", "3", "7")


@pytest.mark.parametrize(
    ("capacity", "wanted", "consumed"),
    [
        (RANGE, "1", "2"),
        (RANGE, "2", "2"),
        (RANGE, "3", "4"),
        (RANGE, "5500m", "6"),
        (RANGE, "8", "8"),
        (RANGE, "9", None),
        (RANGE, None, None),
        (capacity_in_range("16", least="2", most="8", step="2", default="4"), None, "4"),
        (capacity_in_range("16", least="2", most="8", default="3"), "3", "3"),
        (capacity_in_range("16", least="2", most="8"), "5", "5"),
        (capacity_in_range("16", least="2", most="8"), "1", "2"),
        (capacity_in_range("16", least="2"), "16", "16"),
        (capacity_in_range("16", least="2"), "17", None),
        (capacity_in_range("16", least="1", step="4"), "2", "5"),
        (capacity_in_range("80Gi", least="4Gi", most="40Gi", step="4Gi"), "5Gi", "8Gi"),
        (VALUES, "1", "1"),
        (VALUES, "2", "3"),
        (VALUES, "4", "7"),
        (VALUES, "8", None),
        (VALUES, None, None),
        (capacity_of_values("16", "1", "3", "7", default="3"), None, "3"),
        ("16", "5", "5"),
        ("16", None, "16"),
        ("16", "17", None),
        (capacity_in_range("4", least="500m", most="2", step="500m"), "600m", "1"),
        (capacity_in_range("4", least="500m", most="2", step="500m"), "1100m", "1500m"),
        (capacity_in_range("4", least="500m", most="2", step="500m"), "100m", "500m"),
        (capacity_in_range("4", least="500m", most="2", step="500m"), "2100m", None),
        (capacity_in_range("4", least="0", most="2", step="250m"), "1001m", "1250m"),
        (capacity_in_range("4", least="1", most="2500m", step="1"), "1500m", "2"),
    ],
)
def test_a_request_is_rounded_up_to_what_the_policy_allows(capacity: Any, wanted: str | None, consumed: str | None) -> None:
    objects = [slice_(device("d0", shared=True, capacity={"c": capacity}))]
    results = allocate(objects, claim(request("r", capacity={"c": wanted} if wanted else None)))
    if consumed is None:
        assert results is None
    else:
        assert results is not None
        assert results[0].devices.results[0].consumed_capacity == {"c": quantity(consumed)}


def test_the_whole_device_is_taken_by_who_names_no_amount_and_none_is_the_default() -> None:
    objects = [slice_(device("d0", shared=True, capacity={"memory": "80Gi"}))]
    assert picks(objects, claim(request("a"), request("b"))) is None
    assert picks(objects, claim(request("a", capacity={"memory": "40Gi"}), request("b", capacity={"memory": "41Gi"}))) is None
    assert picks(objects, claim(*(request(n, capacity={"memory": "40Gi"}) for n in "ab"))) == ["a=d0", "b=d0"]


def test_every_capacity_of_a_device_is_consumed_not_only_the_requested_ones() -> None:
    shared = device("d0", shared=True, capacity={"memory": "80Gi", "cores": capacity_in_range("8", least="1", default="3")})
    asks = [request(f"r{i}", capacity={"memory": "10Gi"}) for i in range(3)]
    result = one([slice_(shared)], claim(*asks[:2]))
    assert result.devices.results[0].consumed_capacity == {"memory": quantity("10Gi"), "cores": quantity(3)}
    assert picks([slice_(shared)], claim(*asks)) is None


def test_what_was_consumed_before_counts() -> None:
    shared = device("d0", shared=True, capacity={"memory": "80Gi"})
    objects = [slice_(shared), holding("d0", share={"memory": "70Gi"})]
    assert picks(objects, claim(request(capacity={"memory": "10Gi"}))) == ["r=d0"]
    assert picks(objects, claim(request(capacity={"memory": "11Gi"}))) is None


def test_a_shared_device_without_capacities_can_be_had_any_number_of_times() -> None:
    objects = [slice_(device("d0", shared=True)), holding("d0", share={})]
    assert picks(objects, claim(*(request(f"r{i}") for i in range(32)))) == [f"r{i}=d0" for i in range(32)]


def test_one_request_never_has_the_same_shared_device_twice() -> None:
    objects = [slice_(device("d0", shared=True, capacity={"slots": 4}))]
    assert picks(objects, claim(request(count=2, capacity={"slots": 1}))) is None
    objects = [slice_(*(device(f"d{i}", shared=True, capacity={"slots": 4}) for i in range(2)))]
    assert picks(objects, claim(request(count=2, capacity={"slots": 1}))) == ["r=d0", "r=d1"]


def test_shares_are_given_back_when_they_are_taken_back() -> None:
    objects = [slice_(*(with_name(f"d{i}", shared=True, capacity={"slots": 2}) for i in range(2)))]
    asks = [request("a", capacity={"slots": 1}), request("b", named("d0"), capacity={"slots": 2})]
    assert picks(objects, claim(*asks)) == ["a=d1", "b=d0"]


def test_each_share_has_an_id_of_its_own() -> None:
    objects = [slice_(device("d0", shared=True, capacity={"slots": 4}), device("whole"))]
    asks = [request(f"r{i}", capacity={"slots": 1}) for i in range(2)]
    results = allocate(objects, claim(*asks, name="c0"), claim(*asks, name="c1"))
    assert results is not None
    ids = [r.share_id for result in results for r in result.devices.results]
    assert len(set(ids)) == 4
    assert [str(uuid.UUID(id_)) for id_ in ids if id_] == ids


def test_a_dedicated_device_has_no_share_id_and_consumes_nothing() -> None:
    objects = [slice_(device("d0", capacity={"memory": "80Gi"}))]
    (result,) = one(objects, claim(request(capacity={"memory": "10Gi"}))).devices.results
    assert result.share_id is None
    assert result.consumed_capacity == {}


def test_a_dedicated_device_must_be_large_enough() -> None:
    objects = [slice_(device("small", capacity={"memory": "8Gi"}), device("big", capacity={"memory": "80Gi"}))]
    assert picks(objects, claim(request(capacity={"memory": "10Gi"}))) == ["r=big"]
    assert picks(objects, claim(request(capacity={"memory": "81Gi"}))) is None


@pytest.mark.parametrize("shared", [False, True])
def test_a_device_without_the_capacity_that_is_asked_for_is_passed_over(shared: bool) -> None:
    objects = [slice_(device("other", capacity={"cores": 8}, shared=shared), device("right", capacity={"memory": 8}))]
    assert picks(objects, claim(request(capacity={"memory": 1}))) == ["r=right"]


@pytest.mark.parametrize("shared", [False, True])
def test_a_device_is_not_too_large_because_it_spells_its_capacity_with_the_domain(shared: bool) -> None:
    small = device("small", capacity={"gpu.example.com/memory": "40Gi"}, shared=shared)
    assert picks([slice_(small)], claim(request(capacity={"memory": "80Gi"}))) is None


def test_a_request_with_a_domain_is_not_given_more_than_it_asks_for() -> None:
    objects = [slice_(device("d0", capacity={"gpu.example.com/memory": "40Gi"}, shared=True))]
    result = one(objects, claim(request(capacity={"gpu.example.com/memory": "10Gi"})))
    assert result.devices.results[0].consumed_capacity == {"gpu.example.com/memory": quantity("10Gi")}


def test_a_device_held_as_a_whole_is_not_shared_and_one_held_in_shares_not_taken_whole() -> None:
    shared, whole = device("d", shared=True, capacity={"m": 4}), device("d", capacity={"m": 4})
    assert picks([slice_(shared), holding("d")], claim(request(capacity={"m": 1}))) is None
    assert picks([slice_(whole), holding("d", share={"m": 1})], claim(request(capacity={"m": 1}))) is None


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


@pytest.mark.parametrize("admins", [0, 1, 2])
def test_looking_ahead_counts_a_device_that_several_admins_look_at_once(admins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drakit.allocation.search.LOOK_AHEAD_AFTER", 0)
    pool = slice_(*(with_name(f"d{index}") for index in range(7)))
    watching = [claim(request("r", named("d0"), admin=True), name=f"watch-{index}") for index in range(admins)]
    others = named(*(f"d{index}" for index in range(1, 7)))
    working = claim(*(request(f"r{index}", others) for index in range(5)), request("last", named("d1")), name="work")
    results = allocate([pool], *watching, working)
    assert results is not None
    assert [picked(result)[-1] for result in results] == ["r=d0"] * admins + ["last=d1"]
