"""drakit's CEL beside Kubernetes' own: the verdict of a stored expression, and the text of what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drakit import cel
from drakit.cel.judging import judge
from drakit.cel.syntax.lexer import tokenize
from drakit.cel.syntax.source import Source
from drakit.model import Device
from drakit.model.wire import encode_part
from drakit.testing.strategies import EXAMPLE_DEVICE, EXAMPLE_DRIVER, devices_with_expressions, expressions
from tests.cel.builders import card
from tests.cel.hostile import HOSTILE
from tests.upstream.client import Oracle, OracleError
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
    assert said(message) == said(theirs.get("message", ""))


def said(message: str) -> str:
    """A message to compare: of one with syntax errors only these.

    What else is wrong with an expression cel-go asks the tree that its parser made in spite of them, and drakit has none.
    """
    if "Syntax error" not in message:
        return message
    issues = message.removeprefix("compilation failed: ERROR: ").split("\nERROR: ")
    return "\n".join(issue for issue in issues if "Syntax error" in issue or "limit exceeded" in issue)


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
    assert said(ours.message) == said(theirs.get("message", ""))


@differential
@example(expression='device.capacity["dra.example.com"].cores.compareTo(quantity("0").sub(-9223372036854775808)) >= 0')
@example(expression='device.attributes["dra.example.com"].firmware == semver("é", true)')
@example(expression='.device.attributes["dra.example.com"].flags.exists(b, b)')
@given(expression=expressions())
def test_expressions_over_one_device_are_answered_as_kubernetes_does(oracle: Oracle, expression: str) -> None:
    compare(oracle, "cel: one device", expression, EXAMPLE_DRIVER, EXAMPLE_DEVICE)


TYPED = (
    *"( ) [ ] { } , . ? : && || ! - + * == < in true null 1 1.5 1u x `x` if has".split(),
    *("\\", '"', "'", "$", "=", "&", "size(", "[1", "{1:2", "a.b", '"a"', "\n", " "),
)


@st.composite
def garbled(draw: st.DrawFn) -> str:
    """An expression in which something was typed, left out or cut off."""
    text = draw(expressions())
    for _ in range(draw(st.integers(1, 3))):
        tokens, _ = tokenize(Source(text))
        place = draw(st.sampled_from([token.offset for token in tokens]))
        left_out = draw(st.sampled_from((0, 0, 1, 1, 2, 1000)))
        text = text[:place] + draw(st.sampled_from(("", *TYPED))) + text[place + left_out :]
    return text


@differential
@given(expression=garbled())
def test_syntax_errors_are_told_as_kubernetes_does(oracle: Oracle, expression: str) -> None:
    compare(oracle, "cel: syntax", expression, EXAMPLE_DRIVER, EXAMPLE_DEVICE)


@differential
@given(case=devices_with_expressions())
def test_expressions_over_any_device_are_answered_as_kubernetes_does(oracle: Oracle, case: tuple[str, Device, str]) -> None:
    driver, device, expression = case
    compare(oracle, "cel: any device", expression, driver, device)
