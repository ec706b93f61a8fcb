"""Expressions made to hurt: each ends soon, in a verdict or one of drakit's errors."""

from __future__ import annotations

from typing import Final

import pytest

from drakit import cel
from drakit.cel import Environment
from drakit.cel.judging import judge
from tests.cel.builders import card, verdict
from tests.cel.hostile import EXPRESSIONS, HOSTILE, UNDECIDED, WITHOUT_END

TOO_DEEP: Final = "CompileError: expression recursion limit exceeded: 250"
TOO_LONG_A_CHAIN: Final = "CompileError: max recursion depth exceeded"


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_in_the_verdict_of_kubernetes(name: str) -> None:
    expected, expression = HOSTILE[name]
    assert judge(expression, card(), Environment()).verdict == expected


@pytest.mark.parametrize("name", [*WITHOUT_END, *UNDECIDED])
def test_what_has_no_end_or_is_too_large_is_given_up(name: str) -> None:
    with pytest.raises(cel.UnsupportedExpression):
        judge(EXPRESSIONS[name], card(), Environment())


@pytest.mark.parametrize(
    ("opening", "middle", "closing", "after", "limit"),
    [
        ("(", "true", ")", "", 249),
        ("dyn(", "true", ")", "", 249),
        ("true ? true : ", "true", "", "", 249),
        ("(true && ", "true", ")", "", 249),
        ("1 + (", "1", ")", " > 0", 124),
        ("true == (", "true", ")", "", 124),
    ],
)
def test_nesting_ends_where_it_does_in_kubernetes(opening: str, middle: str, closing: str, after: str, limit: int) -> None:
    assert verdict(opening * limit + middle + closing * limit + after) is True
    assert verdict(opening * (limit + 1) + middle + closing * (limit + 1) + after) == TOO_DEEP
    assert verdict(opening * 5_000 + middle + closing * 5_000 + after) == TOO_DEEP


@pytest.mark.parametrize(
    ("start", "link", "end", "limit"),
    [("1", " + 1", " > 0", 249), ("true", " == true", "", 250), ("[1]", ".reverse()", " == [1]", 249)],
)
def test_chains_end_where_they_do_in_kubernetes(start: str, link: str, end: str, limit: int) -> None:
    assert verdict(start + link * limit + end) is True
    assert verdict(start + link * (limit + 1) + end) == TOO_LONG_A_CHAIN


@pytest.mark.parametrize("operator", ["&&", "||"])
def test_chains_of_and_and_or_have_no_end(operator: str) -> None:
    decisive = "true" if operator == "||" else "false"
    assert verdict(f" {operator} ".join(["A.nope == 1"] * 1500 + [decisive])) is (operator == "||")


@pytest.mark.parametrize("depth", [100, 240])
def test_lists_may_be_in_lists_as_deep_as_they_can_be_written(depth: int) -> None:
    nested = "[" * depth + "A.model" + "]" * depth
    assert verdict(f"{nested} == {nested}") is True


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        ("[1].all(n, ", "true", ")"),
        ("cel.bind(n, A.model, ", "n != ''", ")"),
        ("[0, 1][", "0", "] == 0"),
        ("(A.ecc ? ", "true", " : false)"),
    ],
)
def test_what_calls_itself_more_than_once_a_level_ends_too(opening: str, middle: str, closing: str) -> None:
    end = closing.partition(" == ")[2]
    expression = opening * 120 + middle + closing.removesuffix(f" == {end}" if end else "") * 120
    assert verdict(f"{expression} == {end}" if end else expression) is True


def test_a_long_expression_is_read() -> None:
    assert verdict(" || ".join(f"A.model == 'model-{number}'" for number in range(400))) is False
    assert verdict("A.index in [" + ", ".join(map(str, range(10_000))) + "]") is True
    assert verdict("'" + "x" * 90_000 + "' == A.model") is False


def test_one_that_is_too_long_is_not() -> None:
    assert verdict("'" + "x" * 100_000 + "' == ''") == (
        "CompileError: expression code point size exceeds limit: size: 100008, limit 100000"
    )


def test_a_deep_stack_of_the_caller_is_no_crash() -> None:
    selector = cel.compile("1" + " + 1" * 240 + " > 0")

    def deeper(levels: int) -> bool:
        return selector.matches(card()) if levels == 0 else deeper(levels - 1)

    assert deeper(700)
