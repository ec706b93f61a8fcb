"""Patterns are Go's and run by RE2; where Python's agree with them, all three must."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drakit.cel.go import regex
from tests.cel.builders import verdict

ATOMS: Final = ["a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\w", r"\.", "(?:ab|c)", "(a|)", "(?:b*)"]
REPEATS: Final = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "*?"]
pieces = st.tuples(st.sampled_from(ATOMS), st.sampled_from(REPEATS)).map("".join)
patterns = st.tuples(
    st.sampled_from(["", "^", r"\b"]), st.lists(pieces, max_size=5).map("".join), st.sampled_from(["", r"\B", "|ca"])
).map("".join)


# Python's \B does not match in an empty text, RE2's does.
@given(patterns, st.text("abc.0_ ", min_size=1, max_size=8))
def test_it_agrees_with_python_on_what_both_know(pattern: str, text: str) -> None:
    assert regex.compile(pattern).search(text) == (re.search(pattern, text, re.ASCII) is not None)


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("x\n", "x$", False),
        ("x\n", r"x\z", False),
        ("é", r"^\w$", False),
        ("٣", r"\d", False),
        ("a\nb", "a.b", False),
        ("\v", r"\s", False),
        ("AbC", "(?i)aBc", True),
        ("\u212a", "(?i)k", True),
        ("]", "[]a]", True),
        ("a-", "^[a-]+$", True),
        ("foo9", "^[[:alpha:]]+$", False),
        ("a{,2}", "^a{,2}$", True),
        ("aXb", r"a\x58b", True),
        ("aa", "(?P<twice>a){2}", True),
        ("", "", True),
        ("", r"\B", True),
    ],
)
def test_it_follows_re2_where_python_does_not(text: str, pattern: str, expected: bool) -> None:
    assert regex.compile(pattern).search(text) is expected


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"\C", r"invalid escape sequence: `\C`"),
        ("(?P<é>a)", "invalid named capture: `(?P<é>`"),
        ("(?<=a)", "invalid named capture: `(?<=a)`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        (r"\p{Old_Italic}", r"invalid character class range: `\p{Old_Italic}`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("(?:a{100}){11}", "invalid repeat count: `{11}`"),
        ("(" * 1001 + ")" * 1001, f"expression nests too deeply: `{'(' * 1001}{')' * 1001}`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("a\\", "trailing backslash at end of expression: ``"),
    ],
)
def test_what_go_refuses_is_refused_in_its_words(pattern: str, message: str) -> None:
    with pytest.raises(regex.PatternError) as caught:
        regex.compile(pattern)
    assert str(caught.value) == f"error parsing regexp: {message}"


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("aé", r"\pL", ("a", "é")),
        ("aA1", r"\p{upper case letter}|\p{^Letter}", ("A", "1")),
        ("a b", r"[\pC\pZ]", (" ",)),
        ("aǅ", r"[\p{LC}]", ("a", "ǅ")),
        ("baac", "a*", ("", "aa", "")),
        ("aéb", r"\B", ()),
        ("é", r"\B", ("", "")),
        ("aXbx", "(?i)x|(?-i:b)", ("X", "b", "x")),
        ("aaa", "(?U)a+", ("a", "a", "a")),
        ("a(?i)", r"\Q(?i)\E", ("(?i)",)),
        ("x\n", "(?s).+", ("x\n",)),
        ("ab", "(?P<one>a)(?<two>b)(?<two>c?)", ("ab",)),
        ("\udcffa", ".", ("\udcff", "a")),
    ],
)
def test_find_all_finds_what_go_finds(text: str, pattern: str, expected: tuple[str, ...]) -> None:
    compiled = regex.compile(pattern)
    assert compiled.find_all(text) == expected
    assert compiled.search(text) == bool(expected)
    assert compiled.find(text) == (expected[0] if expected else "")


def test_errors_of_re2_are_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(regex.Unsupported):
        regex.compile(r"\pL{1000}" * 10)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("pattern", ["[", "(", ")", "*", "a**", "a{2}{3}", "a{1001}", "[b-a]", "(?=a)", "(?<!a)", r"\8", "\\"])
def test_what_go_refuses_is_a_compile_error(pattern: str) -> None:
    escaped = pattern.replace("\\", "\\\\")
    assert verdict(f"A.model.matches('{escaped}')") == "CompileError: invalid matches argument"


def test_the_global_form_has_its_text_checked_instead() -> None:
    assert verdict("matches('m1', '^m')") is True
    assert verdict("matches('[', 'm')") == "CompileError: invalid matches argument"


def test_what_is_no_string_has_no_matches() -> None:
    assert verdict("A.index.matches('3')") == "EvaluationError: no such overload"
    assert verdict("A.index.matches(A.model)") == "EvaluationError: no such overload: matches"
