"""How much the search looks at. Budgets are counted in candidates looked at, so nothing here depends on time."""

from __future__ import annotations

from typing import Any

import pytest

from drakit.allocation import AllocationError, SearchLimit, simulate
from drakit.model import Device, ResourceClaim
from tests.allocation.builders import (
    alternative,
    claim,
    cluster,
    counted,
    device,
    devices,
    distinct,
    first_available,
    match,
    node,
    picks,
    request,
    slice_,
    taint,
)

MODEL = 'device.attributes["gpu.example.com"].model == "m1"'


def many(count: int, **options: Any) -> list[Device]:
    return [device(f"d{i}", **options) for i in range(count)]


def test_one_device_too_few_is_noticed_before_every_choice_was_tried() -> None:
    objects = [slice_(*many(31))]
    assert picks(objects, claim(request(count=32)), budget=1_000) is None


@pytest.mark.parametrize("others", [1, 40])
def test_it_is_noticed_among_devices_that_are_of_no_use_too(others: int) -> None:
    objects = [
        slice_(*many(31), *(device(f"bad{i}", taints=[taint()]) for i in range(others))),
        slice_(*(device(f"far{i}") for i in range(others)), driver="far.example.com"),
    ]
    ask = request("r", 'device.driver == "gpu.example.com"', count=32)
    assert picks(objects, claim(ask), budget=10_000) is None


def test_one_device_too_few_for_every_one_of_several_claims_is_noticed() -> None:
    objects = [slice_(*many(31))]
    assert picks(objects, claim(request(), name="c0"), claim(request(count=32), name="c1"), budget=50_000) is None


def test_a_count_that_fits_looks_at_each_device_about_once() -> None:
    objects = [slice_(*many(40))]
    assert len(picks(objects, claim(request(count=32)), budget=32) or ()) == 32


@pytest.mark.parametrize("size", [16, 20, 24, 30])
def test_two_requests_for_one_device_more_than_there_is_are_refused(size: int) -> None:
    objects = [slice_(*many(size))]
    asks = [request("a", count=size // 2), request("b", count=size // 2 + 1)]
    assert picks(objects, claim(*asks), budget=20_000) is None


@pytest.mark.parametrize("size", [8, 16, 31])
def test_one_claim_more_than_there_are_devices_is_refused(size: int) -> None:
    claims = [claim(request(), name=f"c{i}") for i in range(size + 1)]
    assert picks([slice_(*many(size))], *claims, budget=20_000) is None


def test_counting_ahead_hides_no_error_that_the_search_would_meet() -> None:
    named = [device(f"d{i}", attributes={"model": "m1"}) for i in range(12)]
    objects = [slice_(*named, device("nameless"))]
    with pytest.raises(AllocationError, match="no such key: model"):
        picks(objects, claim(request("a", count=6), request("b", MODEL, count=8)))


def one_value_short(values: int = 3) -> tuple[list[Device], ResourceClaim]:
    """Devices with one distinct value too few for a claim: hard to refuse without matching values to devices."""
    found = [device(f"d{i}", attributes={"x": i % values}) for i in range(12 * values)]
    return found, claim(request("r", count=values + 1), constraints=[distinct("gpu.example.com/x")])


def test_what_is_undecided_is_said_to_be_so() -> None:
    found, ask = one_value_short()
    (outcome,) = simulate(cluster(slice_(*found), ask), budget=5_000).claims
    assert outcome.allocation is None
    assert str(outcome.error) == ("not decided whether team-a/c fits on node node-a: gave up after looking at 5000 candidates")


def test_small_sizes_are_decided() -> None:
    objects = [slice_(*many(10))]
    assert picks(objects, claim(request("a", count=5), request("b", count=6))) is None
    assert picks(objects, claim(request("a", count=5), request("b", count=5))) == [
        *(f"a=d{i}" for i in range(5)),
        *(f"b=d{i}" for i in range(5, 10)),
    ]


@pytest.mark.parametrize("budget", [0, 1, 5, 50, 500])
def test_the_budget_is_never_exceeded_and_never_changes_an_answer(budget: int) -> None:
    objects = [slice_(*many(5, attributes={"x": "A"}), device("last", attributes={"x": "B"}))]
    ask = claim(request("r", count=3), constraints=[distinct("gpu.example.com/x")])
    try:
        assert picks(objects, ask, budget=budget) is None
    except SearchLimit:
        assert budget < 500


def test_two_hundred_claims_of_one_pod_are_served_together() -> None:
    objects = [slice_(*many(200))]
    claims = [claim(request(), name=f"c{i}") for i in range(200)]
    assert picks(objects, *claims) == [f"r=d{i}" for i in range(200)]


def test_alternatives_in_every_request_go_deep_without_recursion() -> None:
    objects = [slice_(*many(64))]
    asks = [first_available(f"r{i}", alternative("two", count=2), alternative("one")) for i in range(16)]
    got = picks(objects, claim(*asks, name="c0"), claim(*asks, name="c1"))
    assert got == [f"r{i // 2 % 16}/two=d{i}" for i in range(64)]


def test_a_mesh_of_partitions_that_is_full_is_refused_in_one_look_at_each() -> None:
    parts = [device(f"p{i}", consumes={"mesh": {f"h{i % 64}": 4}}) for i in range(120)]
    world = counted({"mesh": {f"h{i}": 4 for i in range(64)}}, *parts)
    full = [device(f"big{i}", consumes={"mesh": {"h0": 4, f"h{1 + i % 63}": 4}}) for i in range(120)]
    assert picks(world, claim(request()), budget=1) == ["r=p0"]
    objects = counted({"mesh": {f"h{i}": 4 if i else 0 for i in range(64)}}, *full)
    assert picks(objects, claim(request()), budget=120) is None


def test_matching_over_many_values_is_decided_within_the_budget() -> None:
    objects = [slice_(*(device(f"d{i}", attributes={"x": i // 2}) for i in range(100)))]
    same = claim(request("r", count=2), constraints=[match("gpu.example.com/x")])
    assert picks(objects, same, budget=10) == ["r=d0", "r=d1"]
    assert picks(objects, claim(request("r", count=3), constraints=same.spec.devices.constraints), budget=20_000) is None


def test_nodes_have_a_budget_each() -> None:
    nodes = [node(f"n{i}") for i in range(4)]
    slices = [slice_(*devices("d0", "d1"), pool=n.name, node_name=n.name) for n in nodes]
    world = cluster(*nodes, *slices, claim(request(count=3)))
    (outcome,) = simulate(world, budget=20).claims
    assert {reason.check for reason in outcome.reasons} == {"limit"}
    assert "not decided" not in outcome.reasons[0].message
