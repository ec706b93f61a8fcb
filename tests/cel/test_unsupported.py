"""What drakit cannot decide says so: it names the construct and its place, and never guesses."""

from __future__ import annotations

from typing import Final

import pytest

from drakit import cel
from tests.cel.builders import A, card

LARGE: Final = "'" + r"\\pL{1000}" * 10 + "'"
"""A pattern that takes more memory than it is given."""


@pytest.mark.parametrize(
    ("expression", "construct", "column"),
    [
        (f"device.driver.matches({LARGE})", "this regular expression", 23),
        ("google.protobuf.Struct{} == {}", "constructor of 'google.protobuf.Struct'", 23),
    ],
)
def test_a_construct_is_named_with_its_place(expression: str, construct: str, column: int) -> None:
    with pytest.raises(cel.UnsupportedExpression) as caught:
        cel.compile(expression)
    error = caught.value
    assert (error.construct, error.line, error.column) == (construct, 1, column)
    caret = "." * (column - 1) + "^"
    assert str(error) == f"UNSUPPORTED: <input>:1:{column}: {construct} is not supported yet\n | {expression}\n | {caret}"


@pytest.mark.parametrize(
    ("expression", "construct"),
    [
        (f"'x'.matches({LARGE} + {A}.model)", "this regular expression"),
        ("cel.bind(none, [], none + [1] == [1] && none == [])", "adding to a variable that is an empty list"),
        (f"quantity({A}.model + '{'9' * 16384}').isInteger()", "a quantity longer than 16384"),
    ],
)
def test_what_only_shows_on_a_device_is_reported_then(expression: str, construct: str) -> None:
    selector = cel.compile(expression)
    with pytest.raises(cel.UnsupportedExpression) as caught:
        selector.matches(card())
    assert caught.value.construct == construct
    assert (caught.value.line, caught.value.column) == (0, 0)


def test_it_is_no_error_that_an_operator_absorbs() -> None:
    with pytest.raises(cel.UnsupportedExpression):
        cel.compile(f"'x'.matches({LARGE} + {A}.model) || true").matches(card())


def test_what_kubernetes_refuses_is_refused_before() -> None:
    with pytest.raises(cel.CompileError, match="found no matching overload for 'cidr'"):
        cel.compile("cidr(1) == cidr('10.0.0.0/8')")
