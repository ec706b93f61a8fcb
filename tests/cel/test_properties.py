from __future__ import annotations

import contextlib
import math

from hypothesis import given
from hypothesis import strategies as st

from drakit import cel
from drakit.cel.syntax.lexer import tokenize
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.cel.values import compare, equal, format_double
from tests.cel.builders import card, verdict

WORDS = st.sampled_from(
    "device . driver attributes [ ] ( ) { } , : ? ! - + * / % == != < <= > >= && || in true false null 1 2u 1.5 'a' b'b' r'c' "
    "has size exists all map x [? .? ` ; ' \\ é \n // optional.of( .orValue( quantity( semver( matches( 0x if".split(" ")
)
jumbled = st.lists(WORDS, max_size=25).map(" ".join)
int64 = st.integers(-(2**63), 2**63 - 1)


@given(st.text(max_size=60) | jumbled)
def test_any_text_is_an_expression_or_an_error_of_its_own(text: str) -> None:
    with contextlib.suppress(cel.CelError):
        parse(Source(text))


@given(jumbled)
def test_what_compiles_gives_a_verdict_or_an_error_of_its_own(text: str) -> None:
    try:
        result = cel.compile(text).matches(card())
    except cel.CelError:
        return
    assert isinstance(result, bool)


@given(jumbled)
def test_a_place_lies_in_the_text(text: str) -> None:
    lines = text.split("\n")
    line, column = place(text)
    assert line <= len(lines)
    assert column <= len(lines[line - 1]) + 1


def place(text: str) -> tuple[int, int]:
    """Where an expression is wrong; the beginning if it is right, or wrong as a whole."""
    try:
        cel.compile(text)
    except (cel.CompileError, cel.UnsupportedExpression) as error:
        return (error.line, error.column) if error.line > 0 else (1, 1)
    return 1, 1


@given(jumbled)
def test_tokens_and_the_gaps_between_them_make_up_the_text(text: str) -> None:
    tokens, stray = tokenize(Source(text))
    assert all(text[token.offset :].startswith(token.text) for token in tokens[:-1])
    assert [token.offset for token in tokens] == sorted(token.offset for token in tokens)
    assert tokens[-1].kind == "EOF"
    assert all(text.startswith(piece.text, piece.offset) for piece in stray)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_a_quoted_string_is_what_it_quotes(text: str) -> None:
    quoted = "".join(f"\\U{ord(character):08x}" for character in text)
    raw = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    assert cel.compile(f"'{quoted}' == '{raw}'").matches(card()) is True


@given(int64, int64)
def test_integers_wrap_nowhere(left: int, right: int) -> None:
    for operator, exact in (("+", left + right), ("-", left - right), ("*", left * right)):
        expected: bool | str = "EvaluationError: integer overflow"
        if -(2**63) <= exact < 2**63:
            expected = True
        assert verdict(f"[{left}].all(a, a {operator} {right} == {max(-(2**63), min(exact, 2**63 - 1))})") == expected


@given(int64, int64.filter(bool))
def test_division_and_remainder_belong_together(left: int, right: int) -> None:
    if (left, right) != (-(2**63), -1):
        assert verdict(f"[{left}].all(a, (a / {right}) * {right} + a % {right} == a)") is True


@given(st.floats())
def test_a_double_is_printed_so_that_it_reads_back(value: float) -> None:
    read = float(format_double(value))
    assert read == value or (math.isnan(read) and math.isnan(value))


scalars = st.none() | st.booleans() | int64 | st.floats(allow_nan=False) | st.text(max_size=3) | st.binary(max_size=3)


@given(scalars, scalars)
def test_equality_is_symmetric_among_plain_values(left: object, right: object) -> None:
    assert equal(left, right) == equal(right, left)


@given(int64 | st.floats(allow_nan=False), int64 | st.floats(allow_nan=False))
def test_order_and_equality_agree_among_numbers(left: float, right: float) -> None:
    assert compare(left, right) == -compare(right, left)
    assert (compare(left, right) == 0) == equal(left, right)
