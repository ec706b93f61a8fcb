"""Expressions written from the table of overloads: each overload that can be reached, with arguments of every kind.

Where :mod:`drakit.testing.strategies` writes selectors as people do, this writes whatever the types allow, and now and then
what they don't.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import define, field
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from drakit.cel.checking.declarations import FUNCTIONS, Overload
from drakit.cel.checking.types import (
    BOOL,
    DYN,
    INT,
    QUANTITY,
    SEMVER,
    STRING,
    Type,
    list_of,
    map_of,
    optional_of,
    parse_type,
    renamed,
)
from drakit.testing.strategies import EXAMPLE_DRIVER

__all__ = ["MACROS", "OVERLOADS", "UNREACHABLE", "calls", "macros"]

_AUTHORIZATION: Final = "kubernetes.authorization."
UNREACHABLE: Final = frozenset(
    overload.id
    for overloads in FUNCTIONS.values()
    for overload in overloads
    if any(part.name.startswith(_AUTHORIZATION) for part in (*overload.parameters, overload.result))
)
"""A selector has no variable of these types, and nothing makes a value of them."""
_INSIDE: Final = frozenset({"@not_strictly_false", "@sortByAssociatedKeys", "cel.@mapInsert"})
"""Functions that only macros call."""
OVERLOADS: Final[Mapping[str, tuple[str, Overload]]] = {
    overload.id: (name, overload)
    for name, overloads in FUNCTIONS.items()
    for overload in overloads
    if overload.id not in UNREACHABLE and name not in _INSIDE
}
"""Function and overload by the overload's id."""

_DOUBLE, _UINT, _BYTES, _NULL = (parse_type(name) for name in "double uint bytes null".split())
_TIMESTAMP, _DURATION = parse_type("timestamp"), parse_type("duration")
_URL, _IP, _CIDR = (parse_type(name) for name in "kubernetes.URL net.IP net.CIDR".split())
_FORMAT: Final = parse_type("kubernetes.NamedFormat")
_SCALARS: Final = (INT, STRING, BOOL, _DOUBLE, _UINT, _BYTES, _TIMESTAMP, _DURATION)
_KEYS: Final = (STRING, INT, BOOL, _UINT)
_ANY: Final = (*_SCALARS, list_of(INT), list_of(STRING), map_of(STRING, INT), optional_of(INT), QUANTITY, SEMVER, DYN, _NULL)
"""What stands for a type parameter."""
_OWN: Final = f'device.attributes["{EXAMPLE_DRIVER}"]'

_LEAVES: Final[Mapping[Type, Sequence[str]]] = {
    BOOL: ("true", "false", f"{_OWN}.healthy", "device.allowMultipleAllocations"),
    INT: ("1", "0", "2", "-1", "3", "9223372036854775807", "-9223372036854775808", "1000", f"{_OWN}.index", f"{_OWN}.big"),
    _UINT: ("1u", "0u", "2u", "18446744073709551615u", "9223372036854775808u"),
    _DOUBLE: ("1.0", "0.0", "-0.0", "1.5", "-2.5", "1e300", "1e-7", "9223372036854775808.0", "double('NaN')", "double('inf')"),
    STRING: (
        '"a"', '""', '"b"', '"a,b"', '"AbC"', '"1"', '"-1.5"', '"true"', '" é→😀 "', '"1.2.3"', '"80Gi"', '"10.0.0.1"', '"::1"',
        '"10.0.0.0/8"', '"https://a.b:80/c?d=e&d=f#g"', '"2024-02-29T12:30:05.5Z"', '"1h1.5s"', '"[a-c]+"', '"("', '"%s|%d"',
        '"Europe/Berlin"', '"+05:30"', '"\\x00\\n"', '"uuid"', f"{_OWN}.model", f"{_OWN}.unicode", "device.driver",
    ),
    _BYTES: ('b"a"', 'b""', 'b"\\xff"', 'b"ab"', 'b"é"'),
    _NULL: ("null",),
    _TIMESTAMP: (
        'timestamp("2024-02-29T12:30:05.123456789Z")', "timestamp(0)", 'timestamp("1969-12-31T23:59:59.5+01:00")',
        'timestamp("0001-01-01T00:00:00Z")', 'timestamp("9999-12-31T23:59:59.999999999Z")', "timestamp(-1)",
    ),
    _DURATION: ('duration("1h1.5s")', 'duration("0s")', 'duration("-1ns")', 'duration("24h")', 'duration("9223372036s")'),
    QUANTITY: (
        'quantity("80Gi")', 'quantity("0")', 'quantity("1500m")', 'quantity("1Pi")', 'quantity("-1k")', 'quantity("1e3")',
        f'device.capacity["{EXAMPLE_DRIVER}"].memory', f'device.capacity["{EXAMPLE_DRIVER}"].rate',
    ),
    SEMVER: ('semver("1.4.0")', 'semver("0.0.0")', 'semver("2.0.0-rc.1+b5")', f"{_OWN}.firmware", f"{_OWN}.beta"),
    _URL: ('url("https://a.b:80/c%20d?d=e#g")', 'url("/a")', 'url("http://[::1]:8080")'),
    _IP: ('ip("10.0.0.1")', 'ip("::1")', 'ip("0.0.0.0")', 'ip("fe80::1")', 'ip("224.0.0.1")', 'ip("127.0.0.1")'),
    _CIDR: ('cidr("10.0.0.0/8")', 'cidr("::/0")', 'cidr("10.1.2.3/31")', 'cidr("2001:db8::/32")'),
    _FORMAT: ("format.dns1123Label()", "format.uuid()", "format.date()", "format.byte()", "format.uri()"),
    DYN: (
        "dyn(1)", "dyn('a')", "dyn(true)", "dyn([1])", "dyn({'a': 1})", "dyn(null)", f"{_OWN}.coords", f"{_OWN}.nope",
    ),
}  # fmt: skip
_OPERATORS: Final = {
    "!_": "!({})", "-_": "-({})", "@in": "({}) in ({})", "_[_]": "({})[{}]", "_[?_]": "({})[?{}]",
    "_?_:_": "({}) ? ({}) : ({})",
} | {f"_{sign}_": f"({{}}) {sign} ({{}})" for sign in "!= % && * + - / == || < <= > >=".split()}  # fmt: skip
_PRINTED: Final = frozenset("bool int uint double string bytes timestamp duration type list map null_type".split())
_NAME: Final = re.compile(r"\w+")


def _bound(declared: Type, wanted: Type, found: dict[str, Type]) -> bool:
    """Whether a declared type can be a wanted one; what its parameters stand for then is put into ``found``."""
    if declared.kind == "param":
        return found.setdefault(declared.name, wanted) == wanted
    if declared.kind != wanted.kind or declared.name != wanted.name or len(declared.parameters) != len(wanted.parameters):
        return False
    return all(_bound(one, other, found) for one, other in zip(declared.parameters, wanted.parameters, strict=True))


def calls(overload: str) -> SearchStrategy[str]:
    """Selectors around a call of an overload."""
    return _around(lambda writer, depth: writer.call(*OVERLOADS[overload], {}, depth))


def macros(name: str) -> SearchStrategy[str]:
    """Selectors around a macro."""
    return _around(MACROS[name])


Written = tuple[Type, str]
Macro = Callable[["_Writer", int], Written]


@st.composite
def _around(draw: DrawFn, write: Callable[[_Writer, int], Written]) -> str:
    writer = _Writer(draw, slips=draw(_RARELY))
    type_, text = write(writer, draw(_DEPTHS))
    return writer.decided(type_, text)


_RARELY: Final = st.sampled_from((0, 0, 0, 1))
_DEPTHS: Final = st.sampled_from((0, 0, 1, 1, 2))


@define
class _Writer:
    """Writes one expression."""

    draw: DrawFn
    slips: int
    """How many arguments are of another type than they should be."""
    scope: list[tuple[str, Type]] = field(factory=list)

    def pick(self, choices: Sequence[str]) -> str:
        return self.draw(st.sampled_from(choices))

    def type_(self, choices: Sequence[Type] = _ANY) -> Type:
        return self.draw(st.sampled_from(choices))

    def decided(self, type_: Type, text: str) -> str:
        """An expression that shows what another one comes to."""
        if type_ == BOOL:
            return text
        ways = [f"dyn({text})", f"({text}) == ({self.of(type_, 0)})", f"[{text}].exists(w, w != w)"]
        if type_.kind in _PRINTED:
            ways.append(f'{{"\\u0001": true}}["%s".format([{text}])]')
        return self.pick(ways)

    def of(self, type_: Type, depth: int) -> str:
        """An expression of a type."""
        if self.slips and self.draw(_SLIPS_HERE):
            self.slips -= 1
            other = self.of(self.type_(), 0)
            return self.pick((other, f"dyn({other})"))
        if depth <= 0 or self.draw(_IS_LEAF):
            return self.leaf(type_)
        ways = list(self.ways(type_))
        if not ways:
            return self.leaf(type_)
        return self.draw(st.sampled_from(ways))(depth - 1)

    def leaf(self, type_: Type) -> str:
        """A short expression of a type."""
        texts = [name for name, known in self.scope if known == type_] * 3 + list(_LEAVES.get(type_, ()))
        if texts:
            return self.pick(texts)
        inside = type_.parameters
        match type_.kind:
            case "list":
                return f"[{', '.join(self.leaf(inside[0]) for _ in range(self.draw(_LENGTHS)))}]"
            case "map":  # of one entry: where there are more, Go takes them in any order
                return f"{{{self.leaf(inside[0])}: {self.leaf(inside[1])}}}" if self.draw(_LENGTHS) else "{}"
            case "optional_type":
                return f"optional.of({self.leaf(inside[0])})" if self.draw(_LENGTHS) else "optional.none()"
            case "type":
                return f"type({self.leaf(inside[0])})"
        raise AssertionError(type_)

    def ways(self, type_: Type) -> Iterator[Callable[[int], str]]:
        """What can make a value of a type."""
        for name, overload in OVERLOADS.values():
            found: dict[str, Type] = {}
            if overload.result.kind != "param" and _bound(overload.result, type_, found):
                yield functools.partial(self._called, name, overload, found)
        yield lambda depth: f"(({self.of(BOOL, depth)}) ? ({self.of(type_, depth)}) : ({self.of(type_, depth)}))"
        yield lambda depth: f"({self.of(optional_of(type_), depth)}).orValue({self.of(type_, depth)})"
        yield lambda depth: f"({self.of(list_of(type_), depth)})[{self.of(INT, 0)}]"
        yield lambda depth: f"dyn({self.of(type_, depth)})"

    def _called(self, name: str, overload: Overload, found: Mapping[str, Type], depth: int) -> str:
        return self.call(name, overload, dict(found), depth)[1]

    def call(self, name: str, overload: Overload, found: dict[str, Type], depth: int) -> Written:
        """A call of an overload, whose type parameters may be known already."""
        for parameter in sorted(overload.type_parameters, key=str):
            is_key = any(part.kind == "map" and part.parameters[0] == parameter for part in _parts(overload.parameters))
            found.setdefault(parameter.name, self.type_(_KEYS if is_key else _ANY))
        parameters = [renamed(parameter, found) for parameter in overload.parameters]
        result = renamed(overload.result, found)
        if name == "_?._":
            return result, f"({self.of(map_of(STRING, result.parameters[0]), depth)}).?{self.pick(('a', 'b'))}"
        arguments = [self.of(parameter, depth) for parameter in parameters]
        if name in _OPERATORS:
            return result, _OPERATORS[name].format(*arguments)
        if overload.member:
            return result, f"({arguments[0]}).{name}({', '.join(arguments[1:])})"
        return result, f"{name}({', '.join(arguments)})"

    def inside(self, variables: Mapping[str, Type], type_: Type, depth: int) -> str:
        """An expression that may use variables."""
        self.scope += variables.items()
        text = self.of(type_, depth)
        del self.scope[len(self.scope) - len(variables) :]
        return text

    def variable(self) -> str:
        return f"v{len(self.scope)}"


_SLIPS_HERE: Final = st.sampled_from((False, False, True))
_IS_LEAF: Final = st.sampled_from((True, False, False))
_LENGTHS: Final = st.sampled_from((1, 2, 0, 1))


def _parts(types: Sequence[Type]) -> Iterator[Type]:
    for type_ in types:
        yield type_
        yield from _parts(type_.parameters)


# -- macros ------------------------------------------------------------------------------------------------------------


def _range(writer: _Writer) -> tuple[str, Type, Type, Type]:
    """What a fold runs over, the type of the elements it gives to one variable, and those it gives to two."""
    element = writer.type_()
    if writer.draw(st.booleans()):
        key = writer.type_(_KEYS)
        return writer.leaf(map_of(key, element)), key, key, element
    return writer.of(list_of(element), 1), element, INT, element


def _quantified(name: str) -> Macro:
    def write(writer: _Writer, depth: int) -> Written:
        over, one, _, _ = _range(writer)
        variable = writer.variable()
        return BOOL, f"({over}).{name}({variable}, {writer.inside({variable: one}, BOOL, depth)})"

    return write


def _quantified_pairs(name: str) -> Macro:
    def write(writer: _Writer, depth: int) -> Written:
        over, _, first, second = _range(writer)
        key, value = f"k{len(writer.scope)}", writer.variable()
        return BOOL, f"({over}).{name}({key}, {value}, {writer.inside({key: first, value: second}, BOOL, depth)})"

    return write


def _mapped(*, condition: bool) -> Macro:
    def write(writer: _Writer, depth: int) -> Written:
        over, one, _, _ = _range(writer)
        variable, to = writer.variable(), writer.type_()
        test = f"{writer.inside({variable: one}, BOOL, 0)}, " if condition else ""
        return list_of(to), f"({over}).map({variable}, {test}{writer.inside({variable: one}, to, depth)})"

    return write


def _filtered(writer: _Writer, depth: int) -> Written:
    over, one, _, _ = _range(writer)
    variable = writer.variable()
    return list_of(one), f"({over}).filter({variable}, {writer.inside({variable: one}, BOOL, depth)})"


def _transformed(name: str, *, condition: bool) -> Macro:
    def write(writer: _Writer, depth: int) -> Written:
        over, _, first, second = _range(writer)
        key, value = f"k{len(writer.scope)}", writer.variable()
        known = {key: first, value: second}
        to, of = writer.type_(), first
        test = f"{writer.inside(known, BOOL, 0)}, " if condition else ""
        result = writer.inside(known, to, depth)
        if name == "transformMapEntry":
            of = writer.type_(_KEYS)
            result = f"{{{writer.inside(known, of, 0)}: {result}}}"
        type_ = list_of(to) if name == "transformList" else map_of(of, to)
        return type_, f"({over}).{name}({key}, {value}, {test}{result})"

    return write


def _sorted(writer: _Writer, depth: int) -> Written:
    element, variable = writer.type_(), writer.variable()
    by = writer.inside({variable: element}, writer.type_(_SCALARS), depth)
    return list_of(element), f"({writer.of(list_of(element), depth)}).sortBy({variable}, {by})"


def _opened(name: str) -> Macro:
    def write(writer: _Writer, depth: int) -> Written:
        of, to, variable = writer.type_(), writer.type_(), writer.variable()
        body = writer.inside({variable: of}, to if name == "optMap" else optional_of(to), depth)
        return optional_of(to), f"({writer.of(optional_of(of), depth)}).{name}({variable}, {body})"

    return write


def _let(writer: _Writer, depth: int) -> Written:
    of, to, variable = writer.type_(), writer.type_(), writer.variable()
    return to, f"cel.bind({variable}, {writer.of(of, depth)}, {writer.inside({variable: of}, to, depth)})"


def _has(writer: _Writer, _depth: int) -> Written:
    around = (
        _OWN,
        'device.attributes["none.example.com"]',
        "{'index': 1}",
        f"{_OWN}.index",
        "dyn({'a': {'b': 1}}).a",
        "device",
    )
    return BOOL, f"has({writer.pick(around)}.{writer.pick(('index', 'a', 'b', 'driver'))})"


MACROS: Final[Mapping[str, Macro]] = {
    "has": _has,
    "all": _quantified("all"),
    "exists": _quantified("exists"),
    "exists_one": _quantified("exists_one"),
    "all, two variables": _quantified_pairs("all"),
    "exists, two variables": _quantified_pairs("exists"),
    "existsOne, two variables": _quantified_pairs("existsOne"),
    "map": _mapped(condition=False),
    "map, with a condition": _mapped(condition=True),
    "filter": _filtered,
    **{name: _transformed(name, condition=False) for name in ("transformList", "transformMap", "transformMapEntry")},
    **{
        f"{name}, with a condition": _transformed(name, condition=True)
        for name in ("transformList", "transformMap", "transformMapEntry")
    },
    "sortBy": _sorted,
    "optMap": _opened("optMap"),
    "optFlatMap": _opened("optFlatMap"),
    "cel.bind": _let,
}
