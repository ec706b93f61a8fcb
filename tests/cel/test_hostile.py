"""Expressions made to hurt: each ends soon, in a verdict or one of drakit's errors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import pytest

from drakit import cel
from tests.cel.builders import A, card, verdict

TOO_DEEP: Final = "CompileError: expression recursion limit exceeded: 250"
TOO_LONG_A_CHAIN: Final = "CompileError: max recursion depth exceeded"
TOO_EXPENSIVE: Final = "EvaluationError: operation cancelled: actual cost limit exceeded"


@pytest.fixture(autouse=True)
def _it_takes_no_longer_than_a_moment() -> Iterator[None]:
    before = time.process_time()
    yield
    assert time.process_time() - before < 5


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


def test_a_chain_of_selections_ends_too() -> None:
    assert verdict("dyn({})" + ".x" * 249 + " == 1") == "EvaluationError: no such key: x"
    assert verdict("dyn({})" + ".x" * 250 + " == 1") == TOO_LONG_A_CHAIN


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


def test_many_signs_are_one() -> None:
    assert verdict("!" * 20_000 + "true") is True
    assert verdict("-" * 20_001 + "A.index == -3") is True


def test_a_long_expression_is_read() -> None:
    assert verdict(" || ".join(f"A.model == 'model-{number}'" for number in range(400))) is False
    assert verdict("A.index in [" + ", ".join(map(str, range(10_000))) + "]") is True
    assert verdict("'" + "x" * 90_000 + "' == A.model") is False


def test_one_that_is_too_long_is_not() -> None:
    assert verdict("'" + "x" * 100_000 + "' == ''") == (
        "CompileError: expression code point size exceeds limit: size: 100008, limit 100000"
    )


def test_huge_numbers_are_refused() -> None:
    assert verdict("9" * 90_000 + " > 0") == "CompileError: invalid int literal"
    assert verdict("0x" + "f" * 90_000 + "u > 0u") == "CompileError: invalid uint literal"
    assert verdict("1e" + "9" * 5_000 + " > 0.0") == "CompileError: invalid double literal"
    assert verdict("quantity('1e2147483647').isGreaterThan(quantity('1e2147483646'))") is True
    assert verdict("quantity('1e2147483647').isInteger()") is False


def test_work_without_end_is_given_up() -> None:
    numbers = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    loops = "".join(f"{numbers}.all(n{depth}, " for depth in range(6))
    assert verdict(f"{loops}true{')' * 6}") == TOO_EXPENSIVE


def test_macros_that_double_are_given_up() -> None:
    assert verdict(f"optional.of(1){'.optMap(n, n + 1)' * 8}.value() == 9") is True
    with pytest.raises(cel.UnsupportedExpression, match="expands to more than 100000 nodes"):
        cel.compile(f"optional.of(1){'.optMap(n, n + 1)' * 100}.value() == 101")


def test_strings_that_double_are_given_up() -> None:
    bound = "".join(f"cel.bind(s{depth + 1}, s{depth} + s{depth}, " for depth in range(60))
    assert verdict(f"cel.bind(s0, 'ab', {bound}s60 == ''{')' * 61}") == TOO_EXPENSIVE
    # Nothing is known of the type of an attribute, so that adding it costs 1 whatever its size.
    result = verdict(f"cel.bind(s0, A.model, {bound}s60 == ''{')' * 61}")
    assert result == "UnsupportedExpression: a string longer than 20000000 is not supported yet"


def test_lists_that_share_their_parts_are_not_compared_without_end() -> None:
    """Forty bindings make a list of a trillion leaves, each of which a comparison would look at."""
    bound = "".join(f"cel.bind(v{depth + 1}, [v{depth}, v{depth}], " for depth in range(40))
    result = verdict(f"cel.bind(v0, [1, 1], {bound}v40 == v40{')' * 41}")
    assert isinstance(result, str)
    assert result.startswith("UnsupportedExpression: ")


@pytest.mark.parametrize("pattern", ["(x+x+)+y", "(x|x|x)*y", "((x*)*)*y", "x{500}x{500}y"])
def test_patterns_cannot_blow_up(pattern: str) -> None:
    assert verdict(f"('{'x' * 60}' + A.model).matches('{pattern}')") is False


def test_patterns_that_grow_too_large_are_given_up() -> None:
    with pytest.raises(cel.UnsupportedExpression, match="regular expression"):
        cel.compile(f"{A}.model.matches(r'" + r"\pL{1000}" * 10 + "')")


def test_a_deep_stack_of_the_caller_is_no_crash() -> None:
    selector = cel.compile("1" + " + 1" * 240 + " > 0")

    def deeper(levels: int) -> bool:
        return selector.matches(card()) if levels == 0 else deeper(levels - 1)

    assert deeper(700)
