"""What an evaluation costs, beside what it costs Kubernetes."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from drakit import cel
from drakit.cel.checking.checker import check
from drakit.cel.exact.evaluator import plan
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.cel.values import NotDecided
from drakit.model import Device
from drakit.testing.strategies import EXAMPLE_DEVICE, EXAMPLE_DRIVER, devices_with_expressions, expressions
from tests.upstream.client import Oracle
from tests.upstream.differential import differential, tally
from tests.upstream.test_cel import celled

pytestmark = pytest.mark.upstream

ATTEMPTS: Final = 200
"""Go walks through a map in another order every time, and what is found sooner costs less."""


def drakit_says(expression: str, driver: str, device: Device) -> int | None:
    """The cost; None where there is no evaluation."""
    source = Source(expression)
    try:
        program = plan(check(parse(source), source))
        return program.evaluate(cel.CelDevice(driver, device).value()).cost
    except (cel.CelError, NotDecided):
        return None


def compare(oracle: Oracle, question: str, expression: str, driver: str, device: Device) -> None:
    ours = drakit_says(expression, driver, device)
    if ours is None:
        tally(question).outcomes["no evaluation"] += 1
        return
    asked = {"ask": "cel", "expr": expression, "device": celled(driver, device)}
    theirs = [oracle.ask_all([asked])[0].get("cost")]
    if ours not in theirs:
        theirs = [answer.get("cost") for answer in oracle.ask_all([asked] * ATTEMPTS)]
    tally(question).outcomes["the same" if len(theirs) == 1 else "the same in some order"] += 1
    assert ours in theirs


@differential
@given(expression=expressions())
def test_an_evaluation_over_one_device_costs_what_it_does_in_kubernetes(oracle: Oracle, expression: str) -> None:
    compare(oracle, "cel: cost, one device", expression, EXAMPLE_DRIVER, EXAMPLE_DEVICE)


@differential
@given(case=devices_with_expressions())
def test_an_evaluation_over_any_device_costs_what_it_does_in_kubernetes(oracle: Oracle, case: tuple[str, Device, str]) -> None:
    driver, device, expression = case
    compare(oracle, "cel: cost, any device", expression, driver, device)
