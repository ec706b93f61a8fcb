"""Which devices a claim gets: order, counts, All, alternatives and the limit."""

from __future__ import annotations

from typing import Any, Final

import pytest

from drakit.model import DeviceConstraint, DeviceToleration
from tests.allocation.builders import (
    allocate,
    alternative,
    claim,
    counted,
    device,
    devices,
    fatal,
    first_available,
    holding,
    match,
    named,
    node,
    one,
    picked,
    picks,
    request,
    slice_,
    taint,
    with_name,
)

LIMIT: Final = "devices exceeds the claim limit of 32"

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
    assert error.message == f"claim team-a/c, request r: adding 33 {LIMIT}, with 0 already accounted for"
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
    assert error.message == f"claim team-a/c, request b: adding 13 {LIMIT}, with 20 already accounted for"
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
    assert error.message == f"claim team-a/c, request count: adding 13 {LIMIT}, with 20 already accounted for"


def test_what_is_wrong_is_found_request_by_request() -> None:
    too_many, unknown, every = request("r", count=33), request("s", of="missing"), request("e", every=True)
    sound, broken = [slice_(*devices("d0"))], [slice_(*devices("d0", "d0"))]
    assert f"request r: adding 33 {LIMIT}" in fatal(sound, claim(too_many, unknown)).message
    assert "request s: could not retrieve" in fatal(sound, claim(unknown, too_many)).message
    assert f"request r: adding 33 {LIMIT}, with 1 already" in fatal(sound, claim(every, too_many)).message
    assert "request s: could not retrieve" in fatal(sound, claim(every, unknown)).message
    assert "request e: asks for all devices" in fatal(broken, claim(every, unknown)).message
    assert "request e: asks for all devices" in fatal(broken, claim(every), claim(too_many, name="later")).message
    assert "constraint #0: empty constraint" in fatal(sound, claim(request(), constraints=[DeviceConstraint()])).message


def test_of_alternatives_one_that_is_unknown_is_found_before_the_limit_but_after_an_all() -> None:
    sound, broken = [slice_(*devices("d0"))], [slice_(*devices("d0", "d0"))]
    unknown = alternative("b", of="missing")
    assert "request b: could not" in fatal(sound, claim(first_available("r", alternative("a", count=33), unknown))).message
    either = first_available("r", alternative("a", every=True), unknown)
    assert "request b: could not" in fatal(sound, claim(either)).message
    assert "request a: asks for all devices" in fatal(broken, claim(either)).message


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
