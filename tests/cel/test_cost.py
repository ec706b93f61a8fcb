"""What evaluations cost, and where they are given up. The figures are Kubernetes' own, 1.37, unless a test says otherwise."""

from __future__ import annotations

from typing import Final

import pytest

from drakit.cel.checking.checker import check
from drakit.cel.checking.environment import Environment
from drakit.cel.exact.evaluator import Outcome, plan
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from tests.cel.builders import A, C, card

GIVEN_UP: Final = "operation cancelled: actual cost limit exceeded"


def outcome(expression: str, *, minor: int = 37) -> Outcome:
    """How the evaluation of an expression about a card ends."""
    expression = expression.replace("A.", f"{A}.").replace("A[", f"{A}[").replace(" A", f" {A}").replace("C.", f"{C}.")
    source = Source(expression)
    checked = check(parse(source), source, Environment(minor=minor))
    return plan(checked, minor=minor).evaluate(card().value())


EXPRESSIONS: Final = (
    # chains
    ('device.driver == "x"', 3),
    ("device.allowMultipleAllocations", 2),
    ('A.model == "x"', 5),
    ("A[A.name_of_it] == 1", 8),
    ('A["model"] == "x"', 5),
    ("A[device.driver.trim()] == 1", 9),
    ("A.?nope.x == optional.none()", 5),
    ('A.?model.orValue("") == ""', 4),
    ('A[?"nope"].orValue(1) == 1', 4),
    ('A.?model.orValue(A.nope) == ""', 4),
    ("[1, 2][0] == 1", 3),
    ('[device.driver, "a"][0] == ""', 14),
    ("has(A.model)", 3),
    ("has(A.nope)", 3),
    ("has(A.?nope.x)", 2),
    ("has(device.attributes.nope.x)", 3),
    ('.device.driver == ""', 2),
    # conditionals
    ("true ? A.ecc : false", 3),
    ("(true ? A : A).ecc", 3),
    ("(device.allowMultipleAllocations ? has(A.ecc) : has(A.ecc))", 5),
    ("has((true ? device : device).driver)", 0),
    ('A[true ? "model" : "x"] == ""', 4),
    ("A.model ? true : false", 4),
    ("(A.ecc ? 1 : 2) == 1", 5),
    ("(A.ecc ? device.driver.size() : 2) == 1", 8),
    # logic
    ("true && A.ecc", 4),
    ("A.nope == 1 || true", 5),
    ("true || A.nope == 1", 0),
    ("A.ecc && A.ecc && A.ecc", 12),
    ("!A.ecc", 5),
    ("A.nope == 1 && A.nope == 2", 10),
    ("A.model && false", 4),
    # literals
    ("[1, 2] == [1, 2]", 1),
    ("[device.driver] == []", 12),
    ("[[1], [device.driver.size()]] == []", 23),
    ('{"a": device.driver} == {}', 32),
    ('{"a": 1} == {}', 0),
    ("[A.nope] == [1]", 15),
    ("[?A.?nope] == []", 13),
    ('{?"a": A.?model} == {}', 34),
    # membership
    ("A.index in [1, 2, 3]", 4),
    ("A.index in []", 0),
    ("A.model in [device.driver]", 17),
    ('"model" in A', 4),
    ('A.model in {"a": 1}', 5),
    ("2 in A.lanes", 5),
    ("A.lanes.includes(2)", 7),
    ('A.names.includes("x")', 4),
    ('A.model.includes("x")', 4),
    # strings
    ('device.driver < "abc"', 3),
    ('A.model < "abc"', 5),
    ('device.driver + "abc" == ""', 4),
    ('A.model + "abc" == ""', 5),
    ('device.driver.startsWith("gpu")', 3),
    ("device.driver.endsWith(device.driver + device.driver)", 14),
    ('device.driver.contains("e.e.e.e.e.e")', 6),
    ('device.driver.matches("^[a-z.]+$")', 8),
    ('"abc".matches(device.driver)', 6),
    ("device.driver.size() == 3", 4),
    ('device.driver.split(".").size() == 2', 8),
    ('device.driver.replace(".", "--------") == ""', 6),
    ('["aaa", device.driver].join("-") == ""', 16),
    ('device.driver.substring(2) == ""', 4),
    ('device.driver.lowerAscii().upperAscii() == ""', 6),
    ('device.driver.indexOf("e") == 2', 4),
    ('device.driver.charAt(2) == "u"', 4),
    ('device.driver.find("[a-z]+") == ""', 6),
    ('device.driver.findAll("[a-z]+", 2) == []', 6),
    ('"%s %d".format([device.driver, 1]) == ""', 13),
    ('strings.quote(device.driver) == ""', 4),
    ('bytes(device.driver) == b""', 4),
    ('string(bytes(device.driver)) == ""', 6),
    # lists
    ("A.lanes.sum() == 3", 8),
    ("A.names.isSorted()", 4),
    ('[b"aaaaaaaaaaaa", bytes(device.driver)].min() == b""', 16),
    ("[device.driver.size(), 2].max() == 2", 16),
    ("A.lanes.reverse() == []", 18),
    ("A.lanes.distinct() == []", 33),
    ("A.names.distinct() == []", 23),
    ('[device.driver, "b"].sort() == []', 31),
    ("A.lanes.sort() == []", 5),
    ("[3, 2, 1].sortBy(n, -n) == []", 74),
    ("A.lanes.slice(0, 1) == []", 16),
    ("[[1], [2]].flatten() == []", 13),
    ("lists.range(30).size() == 30", 43),
    ("sets.contains([1, 2, 3], [1])", 4),
    ("sets.equivalent(A.lanes, [1, 2])", 17),
    ("sets.intersects(A.lanes, [1, 2])", 11),
    ("A.lanes.first().hasValue()", 6),
    ("A.lanes.indexOf(2) == 1", 8),
    ("A.nope.distinct() == []", 4),
    # folds
    ("[1, 2, 3].all(n, n > 0)", 16),
    ("[1, 2, 3].exists(n, n == 1)", 10),
    ("[1, 2, 3].exists(n, n > 5)", 19),
    ("[1, 2, 3].exists_one(n, n == 1)", 10),
    ("[1, 2, 3].map(n, n * 2) == []", 43),
    ("[1, 2, 3].map(n, n > 1, n * 2) == []", 35),
    ("[1, 2, 3].filter(n, n > 1) == []", 33),
    ("A.lanes.all(n, 1 / n > 0)", 13),
    ("[].all(n, n)", 1),
    ("A.nope.all(n, n)", 4),
    ("[1, 2].all(n, n in [1, 2])", 9),
    ("[1, 2].exists(n, A.nope == n)", 21),
    ("cel.bind(n, A.model, n == n)", 7),
    ("cel.bind(n, A.model, true)", 0),
    ("cel.bind(n, A.nope, n == 1 || true)", 6),
    ('A.?model.optMap(n, n == "x").orValue(false)', 13),
    ("A.?nope.optFlatMap(n, optional.of(n)).hasValue()", 6),
    ("[1, 2].transformList(i, n, i + n) == []", 31),
    ("[1, 2].exists(i, n, i == n)", 15),
    ('{"a": 1}.transformMap(k, v, v + 1) == {}', 6),
    # things
    ('C.memory == quantity("1Gi")', 6),
    ('C.memory.isGreaterThan(quantity("1Gi"))', 6),
    ("C.memory.add(1).asInteger() == 1", 7),
    ('isQuantity("1234567890123")', 2),
    ('A.firmware == semver("1.0.0")', 6),
    ('semver("1.2.3", true).major() == 1', 3),
    ("isSemver(device.driver)", 4),
    ('ip("10.0.0.1").family() == 4', 3),
    ('cidr("fe80::/64").containsIP("fe80::1")', 4),
    ('cidr("10.0.0.0/8").containsCIDR(cidr("10.1.0.0/16"))', 6),
    ('url("https://example.com/a?b=c").getHost() == ""', 4),
    ('duration("1h") == duration("60m")', 1),
    ('timestamp("2026-01-01T00:00:00Z").getFullYear() == 2026', 2),
    ('format.dns1123Label().validate("a").hasValue()', 10),
    ('int("12") == 12', 1),
    ("int(A.index) == 1", 6),
    ("type(A.index) == int", 6),
)


@pytest.mark.parametrize(("expression", "cost"), EXPRESSIONS)
def test_an_evaluation_costs_what_it_does_in_kubernetes(expression: str, cost: int) -> None:
    assert outcome(expression).cost == cost


@pytest.mark.parametrize(
    ("expression", "before", "now"),
    [
        ("A.lanes.includes(2)", 5, 7),
        ('"".startsWith(device.driver)', 2, 4),
        ("device.driver.endsWith('')", 4, 2),
    ],
)
def test_some_functions_cost_something_else_before_1_37(expression: str, before: int, now: int) -> None:
    assert outcome(expression, minor=36).cost == before
    assert outcome(expression).cost == now


def test_an_error_has_a_cost_too() -> None:
    failed = outcome("A.ecc && A.nope == 1")
    assert (str(failed.error), failed.value, failed.cost) == ("no such key: nope", None, 9)


TEN: Final = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        (f"{''.join(f'{TEN}.all(n{depth}, ' for depth in range(6))}true{')' * 6}", 1_000_001),
        ("lists.range(999990).size() == 1", 1_000_001),
        ("lists.range(5000).distinct() == []", 50_005_022),
        ("[[1]].flatten(9223372036854775807) == []", 2**63 + 11),
    ],
)
def test_it_is_given_up_where_kubernetes_notices_that_it_costs_too_much(expression: str, cost: int) -> None:
    given_up = outcome(expression)
    assert (str(given_up.error), given_up.cost) == (GIVEN_UP, cost)


def test_what_is_given_up_is_so_whatever_stands_around_it() -> None:
    assert str(outcome("lists.range(999990).size() == 1 || true").error) == GIVEN_UP


def test_the_cost_may_go_right_up_to_the_limit() -> None:
    at_the_limit = outcome("lists.range(999987).size() == 1")
    assert (at_the_limit.value, at_the_limit.cost) == (False, 1_000_000)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("A.nope.distinct() == []", "*types.Err is not traits.Lister: missing method Add"),
        ("A.model.distinct() == []", "types.String is not traits.Lister: missing method Contains"),
        ("A.ecc.distinct() == []", "types.Bool is not traits.Lister: missing method Add"),
    ],
)
def test_kubernetes_stumbles_over_the_size_of_what_is_no_list(expression: str, message: str) -> None:
    assert str(outcome(f"{expression} || true").error) == f"internal error: interface conversion: {message}"


@pytest.mark.parametrize("depth", [100, 240])
def test_however_deep_it_is_nested(depth: int) -> None:
    assert outcome("".join(f"[device.driver].all(n{n}, " for n in range(depth)) + "true" + ")" * depth).value is True
