"""What devices share with each other and with claims: counters and consumable capacity."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import pytest

from drakit.model import (
    Device,
    quantity,
)
from tests.allocation.builders import (
    allocate,
    alternative,
    capacity_in_range,
    capacity_of_values,
    claim,
    counted,
    device,
    fatal,
    first_available,
    holding,
    match,
    named,
    one,
    picked,
    picks,
    request,
    simulated,
    slice_,
    taint,
    with_name,
)

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


def test_admin_access_needs_counters_like_anybody() -> None:
    objects = counted(CARD, part("whole", 4), part("half"))
    assert picks([*objects, holding("half")], claim(request("r", named("whole"), admin=True))) is None


def test_admin_access_may_share_a_device_with_its_own_claim() -> None:
    objects = [slice_(device("d0", capacity={"memory": 2}, shared=True))]
    one_each = {"memory": 1}
    asks = request("r", capacity=one_each), request("p", capacity=one_each, admin=True)
    assert picks(objects, claim(*asks)) == ["r=d0", "p=d0"]
    assert picks(objects, claim(*reversed(asks))) == ["p=d0", "r=d0"]


# -- compatibility groups -------------------------------------------------------------------------------------------------


def grouped(name: str, *groups: str) -> Device:
    return part(name, 1, groups=groups)


def test_devices_of_one_counter_set_have_a_group_in_common() -> None:
    objects = counted(CARD, grouped("d0", "a", "b"), grouped("d1", "c"), grouped("d2", "b"))
    assert picks(objects, claim(request(count=2))) == ["r=d0", "r=d2"]


def test_the_group_is_common_to_all_of_them_and_not_to_each_pair() -> None:
    objects = counted(CARD, grouped("d0", "a", "b"), grouped("d1", "b", "c"), grouped("d2", "a", "c"))
    assert picks(objects, claim(request(count=2))) == ["r=d0", "r=d1"]
    assert picks(objects, claim(request(count=3))) is None


def test_devices_without_groups_go_together_with_their_like_only() -> None:
    objects = counted(CARD, grouped("d0"), grouped("d1", "a"), grouped("d2"))
    assert picks(objects, claim(request(count=2))) == ["r=d0", "r=d2"]
    assert picks([*objects, holding("d1")], claim(request())) is None


def test_groups_are_given_back_with_the_device() -> None:
    objects = counted(CARD, grouped("d0", "a"), grouped("d1", "b"), grouped("d2", "b"))
    assert picks(objects, claim(request("r"), request("s", named("d2")))) == ["r=d1", "s=d2"]


def test_groups_of_another_counter_set_do_not_matter() -> None:
    sets = {"one": {"slots": 1}, "two": {"slots": 1}}
    of_one = device("d0", consumes={"one": {"slots": 1}}, groups="a")
    of_two = device("d1", consumes={"two": {"slots": 1}}, groups="b")
    assert picks(counted(sets, of_one, of_two), claim(request(count=2))) == ["r=d0", "r=d1"]


def test_who_has_no_group_in_common_is_told() -> None:
    report = simulated(counted(CARD, grouped("d0", "a"), grouped("d1", "b")), holding("d0"), claim(request("r", named("d1"))))
    (reason,) = [reason for outcome in report.claims for reason in outcome.reasons]
    assert (reason.check, reason.message) == (
        "counters",
        "no compatibility group in common with what counter set card is used by",
    )


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


THOUSANDS = capacity_in_range("100k", least="1k", step="1k", default="1k")
ONES = capacity_in_range("1e30", least="1", step="1", default="1")


def consumed(capacity: Any, wanted: str | None) -> str:
    """What a share takes, in its notation."""
    result = one([slice_(device("d0", shared=True, capacity={"c": capacity}))], claim(request(capacity=asked(wanted))))
    return str(result.devices.results[0].consumed_capacity["c"])


def asked(wanted: str | None) -> dict[str, str] | None:
    return None if wanted is None else {"c": wanted}


@pytest.mark.parametrize(
    ("capacity", "wanted", "notation"),
    [
        (THOUSANDS, "1500", "2k"),
        (THOUSANDS, None, "1k"),
        (ONES, "1024", "1024"),
        (ONES, "1Ki", "1024"),
        (capacity_in_range("100k", least="1e3", step="1e3"), "1500", "2e3"),
        (capacity_in_range("1Mi", least="1Ki", step="1Ki"), "1500", "2Ki"),
        (capacity_in_range("1Mi", least="1Ki", step="512"), "1Ki", "1024"),
        (capacity_in_range("100", least="5e-1", step="5e-1"), "1200m", "1500e-3"),
        (capacity_in_range("100k", least="1k", step="1k"), "0.5", "1k"),
        ("1000", None, "1k"),
        ("16", "0.5", "500m"),
        ("16", "1000m", "1"),
        ("16", "5.", "5."),
        (capacity_of_values("16", "0.5", "1.50"), "700m", "1500m"),
    ],
)
def test_a_rounded_amount_has_the_notation_of_the_step_and_others_that_of_the_api_server(
    capacity: Any, wanted: str | None, notation: str
) -> None:
    assert consumed(capacity, wanted) == notation


HALVES = capacity_in_range("1e30", least="500m", step="500m", default="500m")
HUGE = capacity_in_range("1e30", least="1", step="9223372036854775806", default="1")
UNREPRESENTABLE = 'capacity "c": capacity request cannot be represented in the device\'s range arithmetic'
ROUNDING = f"{UNREPRESENTABLE}: rounding request"
PASSES = "up to the next step passes"


@pytest.mark.parametrize(
    ("capacity", "wanted", "why"),
    [
        (ONES, "1000100u", f"{UNREPRESENTABLE}: request 1000100u is not a representable milli value"),
        (ONES, "1e30", f"{UNREPRESENTABLE}: request 1e30 is not a representable milli value"),
        (HALVES, "9223372036854775.6", f"{ROUNDING} 9223372036854775600m {PASSES} the milli-value range"),
        (HUGE, "1e19", f"{UNREPRESENTABLE}: request 10e18 exceeds MaxInt64"),
        (capacity_in_range("1e30", least="2", step="9223372036854775806"), "3", f"{ROUNDING} 3 {PASSES} MaxInt64"),
        (capacity_in_range("5", least="-500m", step="500m"), "1", f"{ROUNDING} 1 {PASSES} the milli-value range"),
        ("5", "-1", 'capacity "c": capacity value is negative'),
        ("-5", None, 'capacity "c": capacity value is negative'),
        (capacity_in_range("5", least="-1", default="-1"), None, 'capacity "c": capacity value is negative'),
        (capacity_in_range("5", least="-1", default="1"), "-3", 'capacity "c": capacity value is negative'),
        (capacity_of_values("5", "-1", "2", default="-1"), None, 'capacity "c": capacity value is negative'),
    ],
)
def test_an_amount_that_is_negative_or_cannot_be_counted_ends_the_attempt(capacity: Any, wanted: str | None, why: str) -> None:
    objects = [slice_(device("d0"), device("d1", shared=True, capacity={"c": capacity}))]
    wants = asked(wanted)
    only_d1 = "device.allowMultipleAllocations"
    error = fatal(objects, claim(request("r", only_d1, capacity=wants)))
    assert error.message == f"claim team-a/c, request r: checking capacity for device gpu.example.com/node-a/d1: {why}"
    assert error.device == "gpu.example.com/node-a/d1"
    every = fatal(objects, claim(first_available("r", alternative("s", only_d1, capacity=wants, every=True))))
    assert every.message == f"claim team-a/c, request s: checking capacity for device d1: {why}", "All names no pool"


def test_the_largest_amounts_that_can_be_counted_are() -> None:
    assert consumed(HUGE, "9223372036854775807") == "9223372036854775807"
    assert consumed(HALVES, "9223372036854775.1") == "9223372036854775500m"


def test_an_unusable_amount_matters_only_where_a_device_is_looked_at() -> None:
    negative = device("d0", shared=True, capacity={"c": "-5"})
    assert picks([slice_(negative, device("d1")), holding("d0")], claim(request())) == ["r=d1"], "in use"
    assert picks([slice_(device("d1"), negative)], claim(request())) == ["r=d1"], "not looked at"
    assert picks([slice_(negative)], claim(request(capacity={"other": 1}))) is None, "it has no such capacity at all"
    assert picks([slice_(negative)], claim(request(capacity={"c": 1}))) is None, "nothing is left, as of any amount"


def test_looking_ahead_hides_no_unusable_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drakit.allocation.search.LOOK_AHEAD_AFTER", -1)
    objects = [slice_(device("d0"), device("d1", capacity={"c": "-5"}))]
    assert "capacity value is negative" in fatal(objects, claim(request(count=3))).message


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
