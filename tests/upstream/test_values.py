"""Quantities and versions, as apimachinery and blang/semver read and order them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drakit.cel.library.semver import Semver
from drakit.cel.values import Fault
from drakit.model import Quantity
from drakit.model.quantity import QuantityFormat
from drakit.testing.strategies import quantities, quantity_texts, version_texts, versions
from tests.upstream.client import Oracle
from tests.upstream.differential import differential, tally

pytestmark = pytest.mark.upstream

NOT_NEGATIVE = range(2**63)
"""Where ``Quantity.Value`` is right: below, it overflows without a word (-100Ti is -8568098290)."""


def quantity(text: str) -> Quantity | None:
    try:
        return Quantity.parse(text)
    except ValueError:
        return None


def printed(number: Quantity) -> str:
    """The canonical notation as Kubernetes prints it: from 1e21 on it forgets the exponent of a decimal quantity."""
    notation = number.canonical()
    return notation.partition("e")[0] if number.format is QuantityFormat.DECIMAL_SI else notation


def version(text: str) -> Semver | str:
    """The version, or why it is none."""
    try:
        return Semver.parse(text)
    except Fault as fault:
        return str(fault)


@differential
@given(text=quantity_texts())
def test_a_text_is_a_quantity_where_it_is_one_for_kubernetes(oracle: Oracle, text: str) -> None:
    counted = tally("quantity: reading")
    with counted.timed("kubernetes"):
        answer = oracle.ask("quantity", text=text)
    with counted.timed("drakit"):
        ours = quantity(text)
    assert (ours is None) == ("error" in answer), answer
    if ours is not None:
        assert printed(ours) == answer["canonical"]
        assert ours.format.value == answer["format"]
        if ours.value.adjusted() < 20 and ours.to_int() in NOT_NEGATIVE:
            assert ours.to_int() == answer["value"]
    counted.outcomes["refused" if ours is None else "read"] += 1


@differential
@given(left=quantities(), right=quantities())
def test_quantities_compare_and_add_up_as_in_kubernetes(oracle: Oracle, left: str, right: str) -> None:
    counted = tally("quantity: arithmetic")
    answer = oracle.ask("quantity", text=left, **{"with": right})
    first, second = quantity(left), quantity(right)
    if first is None or second is None:
        assert "error" in answer
        counted.outcomes["refused"] += 1
        return
    assert (first > second) - (first < second) == answer["compare"]
    assert printed(first + second) == answer["sum"]
    assert printed(first - second) == answer["difference"]
    counted.outcomes["same"] += 1


@differential
@example(text="1.2.3-alpha..1")
@given(text=version_texts())
def test_a_text_is_a_version_where_it_is_one_for_kubernetes(oracle: Oracle, text: str) -> None:
    counted = tally("semver: reading")
    answer = oracle.ask("semver", text=text)
    ours = version(text)
    assert (ours if isinstance(ours, str) else None) == answer.get("error")
    counted.outcomes["refused" if isinstance(ours, str) else "read"] += 1


@differential
@given(pair=st.tuples(versions(), versions()))
def test_versions_are_ordered_as_in_kubernetes(oracle: Oracle, pair: tuple[str, str]) -> None:
    counted = tally("semver: order")
    left, right = pair
    answer = oracle.ask("semver", text=left, **{"with": right})
    first, second = version(left), version(right)
    assert isinstance(first, Semver)
    assert isinstance(second, Semver)
    assert first.compare(second) == answer["compare"]
    counted.outcomes["same"] += 1


def test_kubernetes_still_prints_large_decimal_quantities_wrong(oracle: Oracle) -> None:
    """Where this fails, the exception in ``printed`` can go."""
    answer = oracle.ask("quantity", text="1000E")
    assert (answer["canonical"], Quantity.parse("1000E").canonical()) == ("1", "1e21")


def test_kubernetes_still_reads_large_negative_quantities_wrong(oracle: Oracle) -> None:
    """Where this fails, values below zero can be compared too."""
    answer = oracle.ask("quantity", text="-100Ti")
    assert (answer["value"], Quantity.parse("-100Ti").to_int()) == (-8568098290, -100 * 2**40)
