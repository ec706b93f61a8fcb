"""Nodes as text: reading the text gives the same nodes."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given

from drakit.cel import CompileError
from drakit.cel.syntax.ast import Node
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.cel.syntax.unparsing import unparse
from drakit.cel.values import UInt
from drakit.testing.strategies import expressions

ALREADY_IN_FORM = [
    'device.attributes["gpu.example.com"].model == "m1"',
    'device.attributes["gpu.example.com"].?model.orValue("") == "m1"',
    'device.attributes[?"gpu.example.com"].hasValue()',
    "has(device.attributes.x.y)",
    "!has(a.b) || !(a || b)",
    "a && (b && c) && d",
    "(a || b) && c",
    "a || b && c",
    "(a ? b : c) ? (d ? e : f) : g ? h : i",
    "a < b == (c > d)",
    "a < b == c",
    "a - (b - c) - d * (e + f) % -g",
    "-(1) + -1 - -(-1) + 2u * -3.5 - 1e+30",
    "!(!a)",
    "-(a + b)",
    'a in [1, ?b, "c"] && "x" in {"y": 1, ?"z": b}',
    r'"tab\t quote\" slash\\ größe \u0080 \x7f"',
    r'b"\x00a\x22\xff"',
    "[true, false, null]",
    ".a.b + .size(c)",
    "a.`b-c` == a.?`in` && has(a.`d e`)",
    "google.protobuf.Duration{seconds: 1, ?nanos: a}",
    "a.all(x, x > 0) && a.exists(x, x || y) && a.exists_one(x, x == 1)",
    "a.map(x, x + 1) + a.map(x, x > 1, x + 1) + a.filter(x, x > 1)",
    "a.all(k, v, k == v) && a.exists(k, v, k != v) && a.existsOne(k, v, v)",
    "a.transformList(i, v, i + v) == a.transformList(i, v, i > 0, v)",
    "a.transformMap(k, v, v + 1) == a.transformMap(k, v, v > 0, v)",
    "a.transformMapEntry(k, v, {v: k}) == a.transformMapEntry(k, v, k, {v: k})",
    "a.sortBy(x, -x)",
    "cel.bind(x, a + b, x * x)",
    "cel.bind(x, a, x.sortBy(y, y))",
    "a.optMap(x, x + 1).optFlatMap(y, y.?z).or(optional.none())",
    "a.hasValue() ? optional.of(a) : optional.none()",
    "(a ? b : c).d[e ? f : g]",
    '"abc".size() + -1.abs() + [1].size() + {1: 2}[1]',
    "[[1, 2].map(x, [x].map(y, y))]",
]


def read(text: str) -> Node:
    return parse(Source(text))


def shape(value: Any) -> Any:
    """A tree without places; values of different types are different."""
    if attrs.has(type(value)):
        return type(value).__name__, *(shape(getattr(value, a.name)) for a in attrs.fields(type(value)) if a.name != "offset")
    if isinstance(value, tuple):
        return tuple(map(shape, value))
    return type(value).__name__, repr(value)


@pytest.mark.parametrize("text", ALREADY_IN_FORM)
def test_text_in_the_form_that_is_written_comes_back_as_it_is(text: str) -> None:
    assert unparse(read(text)) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a  &&\n b // why", "a && b"),
        ("((a)) + (b * c)", "a + b * c"),
        ("'single' + r'\\d'", r'"single" + "\\d"'),
        ("0x1F + 0x1Fu + .5", "31 + 31u + 0.5"),
        ("a.existsOne(k, v, v) || a.exists_one(k, v, v)", "a.existsOne(k, v, v) || a.existsOne(k, v, v)"),
        ("a.map(x, x > 1, x)", "a.filter(x, x > 1)"),
        ("[1, 2,]", "[1, 2]"),
        ("!!a", "a"),
    ],
)
def test_what_a_tree_does_not_keep_is_lost(text: str, written: str) -> None:
    assert unparse(read(text)) == written


@given(expressions())
def test_the_text_of_a_tree_reads_as_the_same_tree(expression: str) -> None:
    try:
        tree = read(expression)
    except CompileError:
        return
    assert shape(read(unparse(tree))) == shape(tree)


@pytest.mark.parametrize(
    "text", ["[" * 200 + "]" * 200, "1" + " + 1" * 240, "a" + ".b" * 240, " && ".join(["(a || b)"] * 2000)]
)
def test_what_is_deep_or_long_comes_back_too(text: str) -> None:
    assert unparse(read(text)) == text


def test_shapes_tell_types_apart() -> None:
    assert shape((1, True)) != shape((1, 1))
    assert shape(UInt(1)) != shape(1)
