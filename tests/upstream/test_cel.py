"""drakit's CEL beside Kubernetes' own: the verdict of a stored expression, and the text of what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given

from drakit import cel
from drakit.cel.judging import judge
from drakit.model import Device
from drakit.model.wire import encode_part
from drakit.testing.strategies import EXAMPLE_DEVICE, EXAMPLE_DRIVER, devices_with_expressions, expressions
from tests.cel.builders import card
from tests.cel.hostile import HOSTILE
from tests.upstream.client import Answer, Oracle, OracleError
from tests.upstream.differential import differential, tally

pytestmark = pytest.mark.upstream

UNSUPPORTED = "unsupported"
PANIC = "hash of unhashable type"
"""Go's words for a map Kubernetes folds at compile time with bytes for a key: it has no answer then."""


def drakit_says(expression: str, driver: str, device: Device) -> tuple[str, str]:
    """Verdict and message."""
    try:
        selector = cel.compile(expression)
        return str(selector.matches(cel.CelDevice(driver, device))).lower(), ""
    except cel.CompileError as error:
        return "compile_error", str(error)
    except cel.EvaluationError as error:
        return "runtime_error", str(error)
    except cel.UnsupportedExpression as error:
        return UNSUPPORTED, str(error)


def celled(driver: str, device: Device) -> dict[str, Any]:
    """What of a device its selectors see."""
    body = encode_part(device)
    seen = ("attributes", "capacity", "allowMultipleAllocations")
    return {"driver": driver} | {name: body[name] for name in seen if name in body}


def compare(oracle: Oracle, question: str, expression: str, driver: str, device: Device) -> None:
    counted = tally(question)
    try:
        with counted.timed("kubernetes"):
            theirs = oracle.ask("cel", expr=expression, device=celled(driver, device))
    except OracleError as error:
        if PANIC not in str(error):
            raise
        counted.outcomes["Kubernetes panics"] += 1
        return
    with counted.timed("drakit"):
        verdict, message = drakit_says(expression, driver, device)
    counted.outcomes[verdict] += 1
    if verdict == UNSUPPORTED:
        return
    assert verdict == theirs["verdict"], (message, theirs)
    if verdict != "compile_error":
        selector = cel.compile(expression)
        assert (selector.output_type, selector.max_cost) == (theirs["output_type"], theirs.get("max_cost", 0))
    if not is_about_syntax(theirs):
        assert message == theirs.get("message", "")


def is_about_syntax(answer: Answer) -> bool:
    """What the parser of cel-go would have liked to read is its generator's business."""
    return answer["verdict"] == "compile_error" and "Syntax error" in answer["message"]


@pytest.mark.parametrize("name", HOSTILE)
def test_an_expression_made_to_hurt_ends_as_in_kubernetes(oracle: Oracle, name: str) -> None:
    device = card()
    expected, expression = HOSTILE[name]
    theirs = oracle.ask("cel", expr=expression, device=celled(device.driver, device.device))
    assert theirs["verdict"] == expected
    ours = judge(expression, device, cel.Environment())
    assert (ours.verdict, ours.cost) == (expected, theirs.get("cost", 0))
    if expected != "compile_error":
        assert (ours.output_type, ours.max_cost) == (theirs["output_type"], theirs.get("max_cost", 0))
    if not is_about_syntax(theirs):
        assert ours.message == theirs.get("message", "")


@differential
@example(expression='device.capacity["dra.example.com"].cores.compareTo(quantity("0").sub(-9223372036854775808)) >= 0')
@given(expression=expressions())
def test_expressions_over_one_device_are_answered_as_kubernetes_does(oracle: Oracle, expression: str) -> None:
    compare(oracle, "cel: one device", expression, EXAMPLE_DRIVER, EXAMPLE_DEVICE)


@differential
@given(case=devices_with_expressions())
def test_expressions_over_any_device_are_answered_as_kubernetes_does(oracle: Oracle, case: tuple[str, Device, str]) -> None:
    driver, device, expression = case
    compare(oracle, "cel: any device", expression, driver, device)
