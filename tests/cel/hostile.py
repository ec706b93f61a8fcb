"""Expressions made to hurt: for tests, for the yardstick and for a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from drakit.cel.judging import Verdict
from tests.cel.builders import A, C

_TEN_KIB: Final = 10 * 1024
_TEN: Final = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
_VALUES: Final = "['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']"


def _nested(opening: str, middle: str, closing: str, levels: int) -> str:
    return opening * levels + middle + closing * levels


def _filled(item: str, joint: str, size: int = _TEN_KIB) -> str:
    """So many of an item that they come to about a size."""
    return joint.join([item] * (size // (len(item) + len(joint))))


def _bound(first: str, then: str, times: int, end: str) -> str:
    """``cel.bind`` in ``cel.bind``: each variable, ``$``, is used more than once in the next."""
    opened = "".join(f"cel.bind(v{level + 1}, {then.replace('$', f'v{level}')}, " for level in range(times))
    return f"cel.bind(v0, {first}, {opened}{end.replace('$', f'v{times}')}{')' * (times + 1)}"


def _loops(depth: int, values: str = _TEN, last: str = "true") -> str:
    opened = "".join(f"{values}.all(n{level}, " for level in range(depth))
    return f"{opened}{last}{')' * depth}"


HOSTILE: Final[Mapping[str, tuple[Verdict, str]]] = {
    # -- 10 KiB
    "10 KiB of or": ("true", _filled(f"{A}.nope == 1", " || ") + " || true"),
    "10 KiB of and": ("true", _filled(f"{A}.model == 'm1'", " && ")),
    "10 KiB of list": ("false", f"{A}.index in [{_filled('7', ',')}]"),
    "10 KiB of list of lists": ("false", f"[{_filled('[1]', ',')}].exists(n, {A}.index in n)"),
    "10 KiB of map": ("true", "{" + ",".join(f"'k{number}':{number}" for number in range(900)) + f"}}['k{899}'] == 899"),
    "10 KiB of text": ("false", f"{A}.model == '{'x' * _TEN_KIB}'"),
    "10 KiB of text, escaped": ("true", f"{A}.model != '{chr(92)}u00e9{_filled(chr(92) + 'x41', '')}'"),
    "10 KiB of signs": ("true", "!" * (_TEN_KIB - 10) + "true"),
    "10 KiB of blanks": ("true", " " * _TEN_KIB + "true"),
    "10 KiB of comment": ("true", "true // " + "/" * _TEN_KIB),
    "10 KiB of sums, grouped": ("true", "(" + _filled("1", " + ", 800) + ") + (" + _filled("1", " + ", 800) + ") > 0"),
    "10 KiB of binds": ("true", "".join(f"cel.bind(v{level}, 1, " for level in range(200)) + "true" + ")" * 200),
    "10 KiB of mistakes": ("compile_error", _filled("nope", " == ")),
    "10 KiB of unknown names": ("compile_error", _filled("nope", " || ")),
    "10 KiB of wrong types": ("compile_error", _filled("1 == 'a'", " || ")),
    "10 KiB of stray characters": ("compile_error", "`" * _TEN_KIB),
    "10 KiB of brackets that close": ("compile_error", ")" * _TEN_KIB),
    "10 KiB of nothing ended": ("compile_error", "'" * 3 + "x" * _TEN_KIB),
    # -- nesting
    "249 parentheses": ("true", _nested("(", "true", ")", 249)),
    "250 parentheses": ("compile_error", _nested("(", "true", ")", 250)),
    "10,000 parentheses": ("compile_error", _nested("(", "true", ")", 10_000)),
    "10,000 parentheses that open": ("compile_error", "(" * 10_000),
    "249 calls": ("true", _nested("dyn(", "true", ")", 249)),
    "240 lists": ("true", f"{_nested('[', '1', ']', 240)} == {_nested('[', '1', ']', 240)}"),
    "10,000 lists": ("compile_error", _nested("[", "1", "]", 10_000) + " == []"),
    "120 maps": ("true", f"{_nested(chr(123) + '1:', '1', '}', 120)} == {_nested(chr(123) + '1:', '1', '}', 120)}"),
    "249 conditionals": ("true", "true ? true : " * 249 + "true"),
    "249 sums": ("true", "1" + " + 1" * 249 + " > 0"),
    "250 sums": ("compile_error", "1" + " + 1" * 250 + " > 0"),
    "5,000 sums": ("compile_error", "1" + " + 1" * 5_000 + " > 0"),
    "249 selections": ("runtime_error", "dyn({})" + ".x" * 249 + " == 1"),
    "250 indexes": ("compile_error", "dyn([])" + "[0]" * 250 + " == 1"),
    "249 methods": ("true", "[1]" + ".reverse()" * 249 + " == [1]"),
    "120 ranges in ranges": ("true", _nested("[1].all(n, ", "true", ")", 120)),
    "10 optMap": ("true", f"optional.of(1){'.optMap(n, n + 1)' * 10}.value() == 11"),
    # -- numbers and literals
    "a number of 10,000 digits": ("compile_error", "9" * 10_000 + " > 0"),
    "a hexadecimal number of 10,000 digits": ("compile_error", "0x" + "f" * 10_000 + "u > 0u"),
    "an exponent of 5,000 digits": ("compile_error", "1e" + "9" * 5_000 + " > 0.0"),
    "a fraction of 10,000 digits": ("true", "0." + "3" * 10_000 + " > 0.0"),
    "a quantity with a great exponent": ("true", "quantity('1e2147483647').isGreaterThan(quantity('1e2147483646'))"),
    "a quantity with a great exponent, as a number": ("true", "quantity('1e2147483647').asApproximateFloat() > 1.0"),
    "a quantity of 5,000 digits": ("true", f"quantity('{'9' * 5_000}').isGreaterThan({C}.memory)"),
    "a quantity of 5,000 digits after the point": ("true", f"quantity('0.{'9' * 5_000}').isLessThan({C}.memory)"),
    "a version of 5,000 digits": ("false", f"isSemver('{'9' * 5_000}.0.0')"),
    "a version of 1,000 parts": ("true", f"semver('1.0.0-{_filled('a', '.', 3_000)}').isLessThan({A}.firmware)"),
    "a duration of 5,000 digits": ("compile_error", f"duration('{'9' * 5_000}h') > duration('1s')"),
    "a text that is no number": ("compile_error", f"int('{'9' * 5_000}') > 0"),
    "a wide format": ("false", "'%.1000d'.format([1]) == ''"),
    "a precise format": ("false", "'%.999999f'.format([1.0]) == ''"),
    "a format of more clauses": ("false", _bound("'%d'", "$ + $", 13, "$.format(lists.range(8192)) == ''")),
    "a format of many clauses": ("true", f"'{'%s' * 400}'.format([{_filled('1', ',', 800)}]) != ''"),
    "an address of 5,000 parts": ("false", f"isIP('{_filled('1', ':', 5_000)}')"),
    "a URL of 5,000 characters": ("true", f"isURL('http://a/{'%41' * 1_600}?{'a=b&' * 400}')"),
    # -- patterns
    "a pattern that blows up others": ("false", f"('{'x' * 60}' + {A}.model).matches('(x+x+)+y')"),
    "a pattern with a choice of the same": ("false", f"('{'x' * 60}' + {A}.model).matches('(x|x|x)*y')"),
    "a pattern in itself": ("false", f"('{'x' * 60}' + {A}.model).matches('(((x*)*)*)*y')"),
    "a pattern that repeats repetitions": ("false", f"('{'x' * 2_000}' + {A}.model).matches('x{{500}}x{{500}}y')"),
    "a pattern that repeats too often": ("compile_error", f"{A}.model.matches('x{{1001}}')"),
    "a pattern whose repetitions multiply": ("compile_error", f"{A}.model.matches('((x{{100}}){{100}}){{100}}')"),
    "a pattern of 250 groups": ("false", f"{A}.model.matches('{_nested('(', 'x', ')', 250)}')"),
    "a pattern of 5,000 groups": ("compile_error", f"{A}.model.matches('{_nested('(', 'x', ')', 5_000)}')"),
    "a pattern of 5,000 classes": ("false", f"{A}.model.matches(r'{'[a-z]' * 2_000}')"),
    "a pattern of all letters": ("false", f"{A}.model.matches(r'{chr(92)}pL{{200}}')"),
    "a pattern made from the device": ("true", f"'{'x' * 300}'.matches('(' + {A}.model + '|x+)*$')"),
    "patterns found everywhere": ("true", f"'{'xy' * 1_000}'.findAll('x*').size() > {A}.index"),
    "10 KiB of patterns": ("false", _filled(f"{A}.model.matches('^(a|b|c)+$')", " || ")),
    # -- what goes on and on
    "loops in loops": ("runtime_error", _loops(6)),
    "loops in loops, compared": ("true", _loops(4, last="n0 + n1 + n2 + n3 > 0")),
    "loops that make lists": (
        "true",
        f"{_TEN}.map(a, {_TEN}.map(b, {_TEN}.map(c, {_TEN}.map(d, a + b + c + d)))).size() == 10",
    ),
    "loops that make text": ("true", f"{_VALUES}.map(a, {_VALUES}.map(b, {_VALUES}.map(c, a + b + c))).size() == 10"),
    "loops that fail": ("runtime_error", f"{_TEN}.all(a, {_TEN}.exists(b, {_TEN}.all(c, 1 / (a - a) > 0)))"),
    "loops over pairs": ("true", f"{_TEN}.all(i, a, {_TEN}.transformList(j, b, a * b).exists(k, c, c == a))"),
    "loops with patterns": ("true", f"{_TEN}.all(a, {_TEN}.all(b, {_TEN}.all(c, {A}.model.matches('^(m|n)+[0-9]*$'))))"),
    "loops with quantities": (
        "true",
        f"{_TEN}.all(a, {_TEN}.all(b, {_TEN}.all(c, {C}.memory.add(a).isGreaterThan(quantity('1')))))",
    ),
    "loops with versions": ("true", f"{_TEN}.all(a, {_TEN}.all(b, {_TEN}.all(c, {A}.firmware == semver('1.4.2'))))"),
    "loops with formats": ("true", f"{_TEN}.all(a, {_TEN}.all(b, {_TEN}.all(c, '%d-%d-%d'.format([a, b, c]) != '')))"),
    "a range of a million": ("runtime_error", "lists.range(1000000).size() == 1000000"),
    "a range of all numbers": ("runtime_error", "lists.range(9223372036854775807).size() == 1"),
    "a range, sorted": ("runtime_error", "lists.range(5000).reverse().sort()[0] == 0"),
    "a range, without doubles": ("runtime_error", "lists.range(3000).distinct().size() == 3000"),
    "a range, made flat": ("true", "lists.range(2000).map(n, [n]).flatten().size() == 2000"),
    "a range, looped over": ("true", "lists.range(100000).all(n, n >= 0)"),
    "a range, searched": ("runtime_error", "lists.range(2000).exists(n, n in lists.range(2000) && n == 1999)"),
    "sets of ranges": ("true", "sets.equivalent(lists.range(600), lists.range(600).reverse())"),
    "text that doubles": ("runtime_error", _bound("'ab'", "$ + $", 60, "$ == ''")),
    "text that grows by replacing": ("runtime_error", _bound("'aa'", "$.replace('a', 'aaaa')", 30, "$ == ''")),
    "text that grows by joining": (
        "runtime_error",
        _bound("['ab', 'cd']", "[$.join('xxxx'), $.join('y')]", 40, "$.size() == 2"),
    ),
    "text that grows by formatting": ("false", _bound("'ab'", "'%s%s%s%s'.format([$, $, $, $])", 9, "$ == ''")),
    "text that is split": ("false", _bound("'ab'", "$ + $", 13, "$.split('').size() == 1")),
    "lists that double": ("false", _bound("[1, 2]", "$ + $", 20, "$.size() == 0")),
    "lists that share their parts": ("true", _bound("[1, 1]", "[$, $]", 12, "$ == $")),
    "maps that share their parts": ("true", _bound("{1: 1}", "{1: $, 2: $}", 12, "$ == $")),
    "lists that share their parts, written": ("false", _bound("[1, 1]", "[$, $]", 14, "'%s'.format([$]) == ''")),
    "bytes that double": ("runtime_error", _bound("b'ab'", "$ + $", 40, "$.size() == 0")),
}
"""By what is hard about them: what Kubernetes says, which a test of the yardstick asks it, and the expression."""

WITHOUT_END: Final[Mapping[str, str]] = {
    "14 optMap": f"optional.of(1){'.optMap(n, n + 1)' * 14}.value() == 15",
    "100 optMap": f"optional.of(1){'.optMap(n, n + 1)' * 100}.value() == 101",
    "text of a device that doubles": _bound(f"{A}.model", "$ + $", 60, "$ == ''"),
    "text that grows by formatting, without end": _bound("'ab'", "'%s%s%s%s'.format([$, $, $, $])", 60, "$ == ''"),
    "text that grows by replacing in one": _bound("'ab'", "$ + $", 16, "$.replace('', $.replace('', $)) == ''"),
    "text that grows by joining in one": _bound("'ab'", "$ + $", 16, "$.split('').join($) == ''"),
    "lists that share their parts 40 times": _bound("[1, 1]", "[$, $]", 40, "$ == $"),
    "lists that share their parts, made flat": _bound("[1, 1]", "[$, $]", 40, "$.flatten(100).size() == 1"),
    "lists that share their parts 40 times, written": _bound("[1, 1]", "[$, $]", 40, "'%s'.format([$]) == ''"),
    "lists that share their parts, searched": _bound("[1, 1]", "[$, $]", 40, "$ in [$]"),
    "lists that share their parts, made distinct": _bound("[1, 1]", "[$, $]", 40, "[$, $].distinct().size() == 1"),
    "lists that share their parts, as sets": _bound("[1, 1]", "[$, $]", 40, "sets.equivalent([$], [$])"),
    "lists that share their parts, in optionals": _bound("[1, 1]", "[$, $]", 40, "optional.of($) == optional.of($)"),
    "lists that share their parts, told in a message": _bound("[1, 1]", "[$, $]", 40, "(['x'] + dyn([$])).join() == ''"),
    "lists that share their parts, ordered": _bound("[1, 1]", "[$, $]", 40, "[dyn($)].max() == 1"),
    "lists that share their parts, as keys": _bound("[1, 1]", "[$, $]", 40, "{$: 1}.size() == 1"),
    "maps that share their parts 20 times": _bound("{1: 1}", "{1: $, 2: $}", 20, "$ == $"),
    "large texts, many": f"lists.range(1000).map(n, '{'x' * 1000}'.replace('x', '{'y' * 5000}')).size() == 1",
    "wide formats, many": "lists.range(30000).map(n, '%.65535e'.format([1e308])).size() == 1",
    "large lists, many": _bound("[1, 2]", "$ + $", 18, "lists.range(200).map(n, $ + $).size() > 0"),
    "rounds that cost nothing": f"lists.range(200).all(n, lists.range(200).all(m, {_filled('true', ' && ', 8_000)}))",
    "durations of 9,000 digits, many": (
        f"cel.bind(b, '0.{'0' * 9_000}s', lists.range(30000).all(n, duration(b) == duration('0s')))"
    ),
    "patterns of all letters, many": f"lists.range(1000).all(n, 'x'.matches('{chr(92) * 2}pL{{200}}' + string(n)) || true)",
    "patterns of all letters, written": " || ".join(f"'x'.matches('{chr(92) * 2}pL{{200}}{number}')" for number in range(300)),
}
"""Kubernetes takes many seconds or gigabytes for these, or does not come to an end; drakit gives up."""

UNDECIDED: Final[Mapping[str, str]] = {
    "lists that double forty times": _bound("[1, 2]", "$ + $", 40, "$.size() == 0"),
    "a quantity with a great exponent, added": "quantity('1e1000000').add(quantity('1')).isInteger()",
    "a pattern too large for RE2": f"{A}.model.matches(r'{chr(92)}pL{{1000}}{chr(92)}pL{{1000}}{chr(92)}pL{{1000}}')",
}
"""Kubernetes has an answer, because its lists share their parts and its patterns may be as large; drakit has none."""

EXPRESSIONS: Final[Mapping[str, str]] = {**{name: text for name, (_, text) in HOSTILE.items()}, **WITHOUT_END, **UNDECIDED}
