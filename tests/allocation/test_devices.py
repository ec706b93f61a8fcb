"""What keeps a device from a request: selectors, taints, admin access and constraints."""

from __future__ import annotations

from typing import Any

import pytest

from drakit.model import (
    Device,
    DeviceToleration,
    device_class,
    semver,
)
from tests.allocation.builders import (
    alternative,
    claim,
    device,
    devices,
    distinct,
    fatal,
    first_available,
    holding,
    match,
    named,
    one,
    picked,
    picks,
    request,
    slice_,
    taint,
    with_name,
)

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
