"""What drakit cannot decide says so: it names the construct and its place, and never guesses."""

from __future__ import annotations

import pytest

from drakit import cel
from tests.cel.builders import A, card


@pytest.mark.parametrize(
    ("expression", "construct", "column"),
    [
        ("isIP(device.driver)", "function 'isIP'", 5),
        ("true && ip('::1').family() == 6", "function 'ip'", 11),
        ("cidr('10.0.0.0/8').prefixLength() == 8", "function 'cidr'", 5),
        ("url('https://a').getHost() == 'a'", "function 'url'", 4),
        ("timestamp('2026-01-01T00:00:00Z') == timestamp(0)", "function 'timestamp'", 10),
        ("duration('1h') > duration('1m')", "function 'duration'", 9),
        ("format.dns1123Label().validate('a').hasValue()", "function 'format.dns1123Label'", 20),
        ("'%d'.format([1]) == '1'", "function 'format'", 12),
        ("'a'.find('a') == 'a'", "function 'find'", 9),
        ("strings.quote('a') == 'a'", "function 'strings.quote'", 14),
        ("[[1], [2]].flatten() == [1, 2]", "function 'flatten'", 19),
        ("[1].exists(i, v, v == 1)", "macro 'exists' with 3 arguments", 11),
        ("{'a': 1}.transformMap(k, v, v) == {}", "macro 'transformMap' with 3 arguments", 22),
        ("google.protobuf.Int64Value{value: 1} == 1", "constructor of 'google.protobuf.Int64Value'", 27),
        ("type(1) == google.protobuf.Timestamp", "name 'google.protobuf.Timestamp'", 27),
        ("{?'a': optional.of(1)}.size() == 1", "an optional entry in a map literal", 1),
        ("{[1]: 1}.size() == 1", "a key of this type in a map literal", 1),
        (r"device.driver.matches('\\pL')", "this regular expression", 23),
        (r"device.driver.matches('(?s).')", "this regular expression", 23),
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
        (f"{A}.lanes.map(x, lists.range(100001)).size() == 3", "lists.range() of more than 100000"),
        (f"double({A}.model + '_0') > 0.0", "a double written in hexadecimal or with underscores"),
        (f"{A}.names.distinct()[{A}.lanes] == 1", "an index of type list"),
        (f"'x'.matches('(?s)' + {A}.model)", "this regular expression"),
        (f"[{A}.nope].distinct().size() == 1", "an error inside distinct()"),
        (f"{A}.ecc ? has({A}.?model.x) : true", "has() over an optional inside a conditional or an index"),
        (
            f"cel.bind(v, {A}.?firmware, v.hasValue())",
            "a variable or selection of an optional with a value of type kubernetes.Semver",
        ),
        ("has(optional.of(device.attributes).x)", "a variable or selection of an optional with a value of type map"),
        (
            f"({A}.ecc ? optional.of(semver('1.0.0')) : optional.none()).hasValue()",
            "a variable or selection of an optional with a value of type kubernetes.Semver",
        ),
        ("cel.bind(none, [], none + [1] == [1] && none == [])", "adding to a variable that is an empty list"),
        ("quantity('99999999999999999999').asApproximateFloat() > 0.0", "asApproximateFloat() of a quantity beyond 64 bits"),
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
        cel.compile(f"'x'.matches('(?s)' + {A}.model) || true").matches(card())


def test_what_kubernetes_refuses_is_refused_before() -> None:
    with pytest.raises(cel.CompileError, match="found no matching overload for 'cidr'"):
        cel.compile("cidr(1) == cidr('10.0.0.0/8')")
