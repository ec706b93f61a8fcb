"""The cost at worst, as the API server of Kubernetes 1.37.2 estimates it for a stored expression.

The numbers are what Kubernetes' own code answers (``tests/upstream/oracle``); ``A`` is a device's attributes of a domain.
"""

from __future__ import annotations

import inspect
import re
import sys
from typing import Final

import pytest

from drakit.cel.checking.checker import Checked, check
from drakit.cel.estimation.estimate import estimate
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source

MOST: Final = 2**64 - 1
"""No bound."""


def checked(expression: str) -> Checked:
    source = Source(re.sub(r"\bA\b", 'device.attributes["d"]', expression))
    return check(parse(source), source)


def cost(expression: str, *, minor: int = 37) -> int:
    return estimate(checked(expression), minor=minor)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("device == device", 2),
        ('device.driver == "x"', 3),
        ("device.driver != device.driver", 11),
        ("device.allowMultipleAllocations", 2),
        ("device.attributes == device.attributes", 8),
        ("device.attributes.d == device.attributes.d", 1_844_674_407_370_955_270),
        ("A.a == A.b", 15),
        ("A.a[0] == A.b", 16),
        ("A.a.b == A.b", 15),
        ("device.capacity == device.capacity", 8),
        ('device.capacity["d"].c != device.capacity["d"].c', 1_844_674_407_370_955_272),
        ('device.capacity["d"]["c"] != device.capacity["d"]["c"]', 8),
        ("device.attributes.all(k, k == device.driver)", 419),
        ("device.attributes.all(k, v, v == v)", 291),
        ('A.all(k, k == "x")', 164),
        ("A.all(k, v, v == k)", 388),
        ("device.capacity.exists(k, v, v == {})", 1123),
        ('A.a.exists(x, x == "a")', 389),
        ('A.a.exists(i, x, x == "a" && i == i)', MOST),
        ('A.?a.orValue("x") == "y"', 6),
        ("device.attributes.?d.?a.hasValue()", 5),
        ('A[?"a"] == optional.of("x")', 1_844_674_407_370_955_269),
        ("dyn(A.a) == dyn(device.driver)", 15),
    ],
)
def test_limits_of_a_device_bound_what_is_read_from_it(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true", 0),
        ('""=="abc"', 0),
        ('"é漢😀xxxxxxxxxxxxxxxxxxx" == device.driver', 5),
        ('b"\\xff\\xff" == bytes(device.driver)', 10),
        ('.device.driver.matches("a")', 9),
        ("[1,2,3] == [1,2,3,4]", 21),
        ('{"a": 1}.size() == 1', 32),
        ("[[1,2],[3]][0] == [1]", 42),
        ('{"a": "bcd"}["a"] == device.driver', 34),
        ('["x", "yy"][0] == device.driver', 14),
        ("null == null", 1),
        ("1.5 == 1.5", 1),
        ("[].size() == {}.size()", 43),
    ],
)
def test_literals_are_as_big_as_they_are_written(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('cel.bind(b, device.attributes, b.all(b, a, a == a["q"]))', MOST),
        ('cel.bind(b, ["abc"], b.exists(b, a, a == device.driver))', 36),
        ('cel.bind(a, A, [a.x, dyn(a.exists(k, k == "b"))].exists(y, y == device.driver))', 249),
        ('cel.bind(a, A, {"a": a.x, "b": dyn(a.exists(k, k == "b"))}["a"] == device.driver)', 250),
        ('cel.bind(a, A, a.exists(k, optional.of([k + "", a.x == 1 ? "c" : "d"]).optMap(x, true).orValue(false)))', 1903),
        ('cel.bind(a, A, a.foo == "x" && a.exists(k, k == device.driver))', 370),
        ("cel.bind(a, A, a.exists(k, a.foo == k))", 463),
        ("cel.bind(a, A, a.exists(k, a.foo == 1 && k == device.driver))", 559),
        ("cel.bind(a, A, a.exists(k, k == device.driver))", 367),
        ("A.exists(k, v, k == v)", 420),
        ("device.attributes.exists(k, v, k == device.driver)", 451),
        ("cel.bind(a, device.capacity.d, a.all(k, a.c.isInteger() && k == device.driver))", MOST),
    ],
)
def test_names_in_a_loop_change_limits_as_in_cel_go(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("has(device.driver)", 1),
        ("has(A.x)", 3),
        ("[1,2].all(x, x > 0)", 21),
        ("[1,2].exists(x, x > 0)", 23),
        ("[1,2].exists_one(x, x > 0)", 20),
        ('["a","bb"].map(x, x + x).size() == 2', 53),
        ('["a","bb"].map(x, x + x)[0] == device.driver', 55),
        ("[1,2].map(x, x > 1, x).size() == 1", 53),
        ('["a","b"].filter(x, x == "a").exists(y, y == device.driver)', 68),
        ('["a"].sortBy(x, x).size() == 1', 62),
        ("[1,2].exists(i, x, i == x)", 25),
        ('{"a":"bb"}.existsOne(k, v, k == v)', 37),
        ('["abc"].transformList(i, x, x + "d")[0] == device.driver', 39),
        ('["abc"].transformList(i, x, i > 0, x + "d").size() == 1', 39),
        ('{"a":"bb"}.transformMap(k, v, v + k).size() == 1', 69),
        ('{"a":"bb"}.transformMap(k, v, v == k, v + k)["a"] == device.driver', 80),
        ('{"a":"bb"}.transformMapEntry(k, v, {v: k}).exists(k, k == device.driver)', 110),
        ('{"a":"bb"}.transformMapEntry(k, v, v != k, {v: k}).size() == 1', 100),
        ('optional.of("abc").optMap(x, x + x).orValue("") == device.driver', 1_844_674_407_370_955_291),
        ('A.?a.optFlatMap(x, optional.of(x)).optMap(y, y == "x").orValue(false)', 60),
        ('cel.bind(x, "abc", x + x) == device.driver', 16),
        ('cel.bind(x, ["abc"], x.exists(y, y == device.driver))', 30),
        ('cel.bind(device, "abc", device == device)', 13),
        ("[1].all(device, device == 1)", 16),
        ("cel.bind(__result__, [1, 2, 3], __result__ == [1])", 32),
    ],
)
def test_macros_cost_what_they_stand_for(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true && false || true", 0),
        ('device.driver == "a" && device.driver == "b" && device.driver == "c" && device.driver == "d"', 12),
        ('device.driver == "a" || device.driver == "b" || device.driver == "c"', 9),
        ('(true ? device.driver : "abc") == device.driver + device.driver', 26),
        ('(true ? ["abc"] : ["abcdefghijklmnop"]).exists(x, x == device.driver)', 20),
        ('(true ? {"a": "b"} : {}).exists(x, x == device.driver)', 39),
        ("!true", 1),
        ("-device.attributes.size() < 0", 5),
    ],
)
def test_operators_cost_what_their_operands_do(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('device.driver.contains("abc")', 9),
        ('device.driver.startsWith("abcdefghijkl")', 4),
        ("device.driver.endsWith(device.driver)", 11),
        ('device.driver.matches("^[a-z]+$")', 16),
        ('matches(device.driver, "^[a-z]+$")', 16),
        ('"".matches("")', 0),
        ('device.driver.find("[a-z]+") == device.driver', 25),
        ('device.driver.findAll("[a-z]+").size() == 1', 18),
        ('device.driver.findAll("[a-z]+", 3).exists(x, x == device.driver)', 899),
        ("device.driver.lowerAscii() == device.driver", 18),
        ("device.driver.upperAscii().trim() == device.driver", 25),
        ("device.driver.substring(3) == device.driver", 18),
        ("device.driver.charAt(3) == device.driver", 12),
        ('device.driver.indexOf("a") == 1', 10),
        ('device.driver.lastIndexOf("a", 3) == 1', 10),
        ('device.driver.replace("a", "bcd") == device.driver + "x".replace("", "yy")', 32),
        ('device.driver.replace("abc", "d") + "" == device.driver + device.driver', 46),
        ('"aaaaaaaaaa".replace("", "bcd") == device.driver', 9),
        ('"aaaaaaaaaa".replace(device.driver, "bcd").replace("b", device.driver) == string(1)', 287),
        ('(A.a + "x" + string(1)).replace("a", "bb") == string(2)', 7_378_697_629_483_821_069),
        ('string(device.driver).replace("aa", string(2), 3) + "" == string(1)', 7_378_697_629_483_821_061),
        ('device.driver.split(".").size() == 1', 17),
        ('device.driver.split(".", 3).exists(x, x == "a")', 34),
        ('device.driver.split(".", -1).exists(x, x == "a")', MOST),
        ('["a", device.driver].join() == device.driver + device.driver', 1_844_674_407_370_955_306),
        ('["a", "b", "c"].join("--") == device.driver', 1_844_674_407_370_955_283),
        ('A.a.join("-") == ""', 11),
        ('device.driver.split("").join("-") == device.driver', 1_844_674_407_370_955_288),
        ('"%s-%s".format([device.driver, 1]) == device.driver', 22),
        ('device.driver.format([]) == ""', 19),
        ("strings.quote(device.driver) == device.driver + device.driver", 39),
        ("device.driver + device.driver == device.driver + device.driver + device.driver", 68),
        ('device.driver < "abcdefghijkl"', 4),
        ('bytes(device.driver) >= b"abcdefghijklmnopq"', 11),
        ("string(bytes(device.driver)) == device.driver + device.driver + device.driver", 92),
    ],
)
def test_text_costs_by_its_length(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 in [1, 2, 3]", 13),
        ("device.driver in A.a", 70),
        ('"a" in {"a": 1}', 31),
        ("[1, 2].isSorted()", 12),
        ('["a", "bb"].isSorted()', 3_689_348_814_741_910_540),
        ("[1, 2].sum() == 3", 13),
        ('["a", device.driver].max() == device.driver', 3_689_348_814_741_910_551),
        ('["a", device.driver].min() == "a"', 3_689_348_814_741_910_543),
        ('["a", "b"].indexOf("a") == 1', 3_689_348_814_741_910_541),
        ('[b"a", b"b"].lastIndexOf(b"a") == 1', 3_689_348_814_741_910_541),
        ("[1, 2, 3].includes(1)", 13),
        ('"abc".includes("a")', 3),
        ('A.a.includes("a")', 68),
        ('device.attributes.includes("a")', 162),
        ('{"a": 1}.includes(1)', 1_844_674_407_370_955_295),
        ('dyn(["a"]).includes("a")', 12),
        ("sets.contains([1, 2], [1, 2, 3])", 27),
        ("sets.equivalent([1, 2], [1, 2, 3])", 33),
        ("sets.intersects([1, 2], device.attributes.map(k, 1))", 472),
        ("[1, 2, 3].slice(0, 2).size() == 2", 25),
        ("[1, 2, 3].slice(2, 1).all(x, x == 1)", MOST),
        ("[1, 2, 3].slice(1, size(device.driver)).all(x, x == 1)", 37),
        ("[[1], [2]].flatten().all(x, x == 1)", 54),
        ("[[1], [2]].flatten(3).size() == 2", 49),
        ("[[1], [2]].flatten(0).size() == 2", 43),
        ("[[1], [2]].flatten(size(device.driver)).size() == 2", MOST),
        ("lists.range(5).all(x, x == 1)", 42),
        ("lists.range(size(device.driver)).size() == 1", MOST),
        ("lists.range(-1).all(x, x == 1)", 12),
        ("[1, 2].reverse().all(x, x == 1)", 34),
        ('["a", "b"].distinct().all(x, x == device.driver)', 82),
        ("[1,2].first() == optional.of(1)", 13),
        ('["a"].last().value() == device.driver', 21),
        ("[1, 1, 1].sort().size() == 3", 41),
        ("[1u, 1u, 1u].sort().size() == 3", 41),
        ("[1.5, 1.5, 1.5].sort().size() == 3", 41),
        ("[true, true, true].sort().size() == 3", 41),
        ('["a", "a", "a"].sort().size() == 3', 42),
        ('[b"a", b"a", b"a"].sort().size() == 3', 42),
        ('[duration("1s"), duration("1s"), duration("1s")].sort().size() == 3', 44),
        ("[timestamp(1), timestamp(1), timestamp(1)].sort().size() == 3", 44),
        ("[1, 1, 1].sortBy(x, x).size() == 3", 103),
        ("[1u, 1u, 1u].sortBy(x, x).size() == 3", 103),
        ("[1.5, 1.5, 1.5].sortBy(x, x).size() == 3", 103),
        ("[true, true, true].sortBy(x, x).size() == 3", 103),
        ('["a", "a", "a"].sortBy(x, x).size() == 3', 104),
        ('[b"a", b"a", b"a"].sortBy(x, x).size() == 3', 104),
        ('[duration("1s"), duration("1s"), duration("1s")].sortBy(x, x).size() == 3', 106),
        ("[timestamp(1), timestamp(1), timestamp(1)].sortBy(x, x).size() == 3", 106),
    ],
)
def test_lists_cost_by_what_they_hold(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('quantity(device.driver).isGreaterThan(quantity("1"))', 11),
        ("isQuantity(device.driver)", 9),
        ('device.capacity["d"].c.add(quantity("1Gi")).compareTo(quantity("1")) > 0', 9),
        ('quantity("1") == quantity("2")', 3),
        ('semver("1.2.3").major() == 1', 3),
        ('semver(device.driver, true) == semver("1.2.3")', 11),
        ("isSemver(device.driver)", 9),
        ('A.v.isLessThan(semver("1.2.3"))', 6),
        ('url(device.driver) == url("https://a.b")', 13),
        ('url("https://a.b/ccccccccccccccccccccccc") == url(device.driver)', 20),
        ('optional.of(url("https://a.b")).value() == optional.of(url("https://a.b/cccccccccccccc")).value()', 10),
        ("isURL(device.driver)", 3),
        ('url("https://a.b").getHost() == device.driver', 12),
        ('ip(device.driver) == ip("10.0.0.1")', 11),
        ("isIP(device.driver)", 9),
        ("ip.isCanonical(device.driver)", 15),
        ('ip("10.0.0.1").isLoopback()', 2),
        ('cidr("10.0.0.0/8").ip() == ip("10.0.0.1")', 4),
        ('cidr(device.driver) == cidr("10.0.0.0/8")', 11),
        ("isCIDR(device.driver)", 9),
        ('cidr("10.0.0.0/8").containsIP("10.0.0.1")', 6),
        ('cidr("10.0.0.0/8").containsIP(ip("10.0.0.1"))', 6),
        ('cidr("10.0.0.0/8").containsCIDR("10.0.0.0/16")', 10),
        ('cidr("10.0.0.0/8").containsCIDR(cidr("10.0.0.0/16"))', 10),
        ('cidr("10.0.0.0/8").containsCIDR(A.a)', 19),
        ('cidr("10.0.0.0/8").masked().prefixLength() == 8', 4),
        ("format.dns1123Label().validate(device.driver).hasValue()", 228),
        ('format.named("uuid").hasValue()', 2),
        ("format.uuid() == format.uri()", 9),
        ('A.a.path("/x").check("get").allowed()', 350_006),
        ('A.a.labelSelector("a=b").check("get").allowed()', 350_116),
        ('A.a.fieldSelector(device.driver).check("get").reason() == ""', 351_624),
    ],
)
def test_kubernetes_has_prices_of_its_own(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('duration("1h") < duration("2h")', 3),
        ('timestamp("2024-01-01T00:00:00Z").getFullYear() == 2024', 3),
        ('timestamp("2024-01-01T00:00:00Z").getHours("UTC") > 1', 3),
        ("timestamp(device.driver) + duration(device.driver) > timestamp(1)", 9),
        ('string(duration("1h")) == "1h"', 3),
        ('int("1") + int(1.5) == 2', 4),
        ("type(1) == int", 1_844_674_407_370_955_266),
        ("type(device.driver) == string", 1_844_674_407_370_955_268),
    ],
)
def test_times_and_conversions_cost_the_same_for_all_values(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("string(1) == string(2)", 1_844_674_407_370_955_266),
        ("A.a.c == A.b.c", 1_844_674_407_370_955_272),
        ("string(1).matches(string(2))", MOST),
        ("A.a.c.all(x, x == 1)", MOST),
        ("bytes(string(1)) == bytes(string(2))", 5_534_023_222_112_865_794),
        ("strings.quote(string(1)) == strings.quote(string(2))", 3_689_348_814_741_910_530),
        ("optional.none().value().all(x, x.foo)", MOST),
    ],
)
def test_what_has_no_limit_has_no_bound(expression: str, expected: int) -> None:
    assert cost(expression) == expected


@pytest.mark.parametrize(
    ("expression", "before", "now"),
    [
        ("[1, 2].includes(1)", 58, 12),
        ('A.a.includes("a")', 52, 68),
        ('matches(device.driver, "^[a-z]+$")', 3, 16),
        ('device.driver.matches("^[a-z]+$")', 16, 16),
    ],
)
def test_some_prices_are_new_in_1_37(expression: str, before: int, now: int) -> None:
    assert (cost(expression, minor=36), cost(expression)) == (before, now)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[" * 200 + "]" * 200 + ".size() == 1", 2002),
        ("!(" * 120 + "true" + ")" * 120, 120),
        ("device.driver" + " + device.driver" * 240 + ' == ""', 184_298),
        ("optional.of(1)" + ".optMap(x, x)" * 8 + ".hasValue()", 3827),
    ],
)
def test_nesting_needs_no_stack(expression: str, expected: int) -> None:
    found = checked(expression)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 50)
    try:
        assert estimate(found) == expected
    finally:
        sys.setrecursionlimit(before)
