"""Amounts are exact, and none is so large that it hurts."""

from __future__ import annotations

import decimal
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drakit.allocation.amounts import NANO, nano, shown, stored
from drakit.model import Quantity, quantity
from tests.allocation.builders import capacity_in_range, claim, counted, device, holding, picks, request, slice_

ONE = Fraction(1, NANO)

quantities = st.builds(
    "{}{}{}".format,
    st.integers(-(10**24), 10**24),
    st.just("") | st.integers(0, 10**12).map(lambda digits: f".{digits}"),
    st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-7", "e12"]),
).map(quantity)


@pytest.fixture(params=[6, 28, 200])
def precision(request: pytest.FixtureRequest) -> Iterator[int]:
    """Decimal contexts as callers may have them."""
    with decimal.localcontext() as context:
        context.prec = request.param
        yield request.param


@given(quantities)
def test_an_amount_is_exactly_the_quantity(value: Quantity) -> None:
    assert nano(value) * ONE == Fraction(value.value)


@given(quantities)
def test_an_amount_is_shown_as_the_quantity_it_came_from(value: Quantity) -> None:
    assert shown(nano(value)) == value
    assert shown(nano(value), value).format is value.format


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        *(("0.5", "500m"), (".5", "500m"), ("1.50", "1500m"), ("1000m", "1"), ("1e1", "10"), ("1000", "1k"), ("1e4", "10e3")),
        *(("0.1Ki", "102400m"), ("1.5Ki", "1536"), ("1024Mi", "1Gi"), ("+8Ki", "8Ki"), ("100e1", "1e3"), ("0.0", "0")),
        *(("m", "0"), ("Ki", "0"), ("-0", "0"), ("1234567890123456789.", "1234567890123456789"), ("1E40", "10e39")),
        *(("5.", "5."), ("+5", "+5"), ("1e0", "1e0"), ("1e03", "1e03"), ("1E3", "1E3"), ("007", "007"), ("1.500", "1.500")),
        *(("9000Ki", "9000Ki"), ("1500", "1500"), ("1025Ki", "1025Ki"), ("-3", "-3"), ("1n", "1n"), ("0", "0")),
    ],
)
def test_a_quantity_is_stored_as_it_was_written_only_where_that_looks_canonical(text: str, kept: str) -> None:
    assert str(stored(quantity(text))) == kept
    assert str(stored(stored(quantity(text)))) == kept


@given(quantities)
def test_a_quantity_that_is_stored_is_the_same_amount(value: Quantity) -> None:
    assert stored(value) == value
    assert stored(Quantity(value.value, value.format)) == value


@given(st.lists(quantities, min_size=1, max_size=20))
@example([quantity("1e29"), quantity("1"), quantity("1n")])
def test_sums_are_exact_whatever_the_decimal_context(values: list[Quantity]) -> None:
    exact = sum((Fraction(value.value) for value in values), Fraction())
    with decimal.localcontext() as context:
        context.prec = 6
        total = sum(map(nano, values))
        assert Fraction(shown(total).value) == exact
    assert total * ONE == exact


@given(quantities, quantities)
def test_amounts_are_ordered_as_quantities_are(one: Quantity, other: Quantity) -> None:
    assert (nano(one) < nano(other)) == (one < other)


def test_the_callers_decimal_context_is_left_as_it_was(precision: int) -> None:
    nano(quantity("123456789123456789.123456789"))
    shown(10**40 + 1)
    assert decimal.getcontext().prec == precision
    assert not any(decimal.getcontext().flags.values())


@pytest.mark.parametrize(("text", "amount"), [("1e65", 10**64), ("1e2000000000", 10**64), ("-1e2000000000", -(10**64))])
def test_what_is_more_than_there_is_of_anything_counts_as_the_same(text: str, amount: int) -> None:
    assert nano(quantity(text)) == amount * NANO


@pytest.mark.parametrize("text", ["0", "0e2000000000", "-0", "0n", "0Ei"])
def test_nothing_is_nothing_however_it_is_written(text: str) -> None:
    """In a process of its own, for a number of as many digits as the exponent says would not end."""
    code = f"from drakit.allocation.amounts import nano; from drakit.model import quantity; print(nano(quantity({text!r})))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True).stdout == "0\n"


# -- in an allocation --------------------------------------------------------------------------------------------------


def counters_of(total: str, *consumers: str) -> list[str] | None:
    """The devices one claim gets of a pool whose devices consume these amounts of a counter, all of them wanted."""
    parts = [device(f"d{i}", consumes={"set": {"x": amount}}) for i, amount in enumerate(consumers)]
    return picks(counted({"set": {"x": total}}, *parts), claim(request(count=len(parts))))


def test_large_counters_are_not_over_committed_by_a_one(precision: int) -> None:
    assert counters_of("1e29", "1", "1e29") is None
    assert counters_of("1e29", "1e29", "1n") is None
    assert counters_of("100000000000000000000000000001", "1", "1e29") == ["r=d0", "r=d1"]


def test_small_counters_are_used_up_to_the_last_billionth(precision: int) -> None:
    assert counters_of("1", "999999999n", "1n") == ["r=d0", "r=d1"]
    assert counters_of("1", "999999999n", "2n") is None


def test_shares_of_a_device_are_used_up_exactly(precision: int) -> None:
    large = slice_(device("d0", shared=True, capacity={"memory": "1e29"}))

    def second(amount: str) -> list[str] | None:
        held = holding("d0", share={"memory": "99999999999999999999999999999"})
        return picks([large, held], claim(request(capacity={"memory": amount})))

    assert second("1") == ["r=d0"]
    assert second("1000000001n") is None


def of_capacity(total: str, *wanted: str) -> list[str] | None:
    world = [slice_(device("d0", shared=True, capacity={"memory": total}))]
    return picks(world, *(claim(request(capacity={"memory": amount}), name=f"c{i}") for i, amount in enumerate(wanted)))


def test_absurd_exponents_are_no_crash() -> None:
    assert of_capacity("1e5000", "1n", "1e4999") is None, "amounts this large are not divided up"
    assert of_capacity("1e5000", "1n") == ["r=d0"]
    assert of_capacity("1", "1e2000000000") is None
    assert counters_of("1e2000000000", "1") == ["r=d0"]
    assert counters_of("1", "1e2000000000") is None


@pytest.mark.parametrize(
    "range_",
    [
        {"least": "1", "most": "1e2000000000"},
        {"least": "1", "most": "1e2000000000", "step": "1"},
        {"least": "1m", "most": "1e2000000000", "step": "1n"},
        {"least": "1", "step": "1e2000000000"},
    ],
)
def test_ranges_without_end_are_no_crash(range_: dict[str, str]) -> None:
    world = [slice_(device("d0", shared=True, capacity={"memory": capacity_in_range("80Gi", **range_)}))]
    assert picks(world, claim(request(capacity={"memory": "1"}))) == ["r=d0"]
