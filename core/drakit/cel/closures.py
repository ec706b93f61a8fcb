"""The operators that don't treat all their operands alike, as closures.

Source: github.com/google/cel-go ``interpreter/{interpretable,decorators}.go``, ``cel/library.go`` (or, orValue).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from drakit.cel import regex
from drakit.cel.frame import Frame, Run, extent, operands
from drakit.cel.values import (
    NO_SUCH_OVERLOAD,
    Fault,
    Map,
    NotDecided,
    Optional,
    UInt,
    Value,
    check_hashable,
    equal,
    no_such_overload,
    type_name,
)

__all__ = [
    "conditional",
    "equality",
    "inequality",
    "iterate",
    "logical",
    "matches",
    "matches_constant",
    "membership",
    "not_strictly_false",
    "otherwise",
    "present_elements",
]


def conditional(condition: Run, then: Run, otherwise: Run) -> Run:
    """``condition ? then : otherwise``; only the branch taken is evaluated."""

    def choose(frame: Frame) -> Value:
        value = condition(frame)
        if value is True:
            return then(frame)
        if value is False:
            return otherwise(frame)
        raise no_such_overload()

    return choose


def logical(terms: list[Run], *, absorbing: bool) -> Run:
    """``||`` or ``&&``: a term that decides does so whatever the others' errors are; else the first error counts."""

    def combine(frame: Frame) -> Value:
        first: Fault | None = None
        for term in terms:
            try:
                value = term(frame)
            except Fault as fault:
                first = first or fault
                continue
            if value is absorbing:
                return absorbing
            if not isinstance(value, bool):
                first = first or no_such_overload()
        if first is not None:
            raise first
        return not absorbing

    return combine


def equality(left: Run, right: Run) -> Run:
    """``left == right``, across types."""

    def compare(frame: Frame) -> bool:
        one, other = operands(frame, (left, right))
        frame.spend(1 + extent(one))
        return equal(one, other)

    return compare


def inequality(left: Run, right: Run) -> Run:
    """``left != right``; what cannot be compared differs."""

    def compare(frame: Frame) -> bool:
        one, other = operands(frame, (left, right))
        frame.spend(1 + extent(one))
        try:
            return not equal(one, other)
        except Fault:  # an error is not "equal"
            return True

    return compare


def otherwise(left: Run, right: Run, *, unwrap: bool) -> Run:
    """``or`` and ``orValue``; what is no optional after all is the result itself."""

    def choose(frame: Frame) -> Value:
        value = left(frame)
        if not isinstance(value, Optional):
            return value
        if value.present:
            return value.value if unwrap else value
        return right(frame)

    return choose


def not_strictly_false(operand: Run) -> Run:
    """Whether a fold goes on: unless its accumulator is false, an error included."""

    def call(frame: Frame) -> bool:
        try:
            value = operand(frame)
        except Fault:
            return True
        return value if isinstance(value, bool) else True

    return call


def membership(element: Run, values: tuple[Value, ...]) -> Run | None:
    """``x in [constants]``, at least one, as a hash set; None where they don't allow it."""
    if not all(isinstance(value, bool | int | float | str) for value in values):
        return None
    keys = {key for value in values for key in _hash_keys(value)}

    def call(frame: Frame) -> bool:
        value = element(frame)
        frame.spend(1 + len(values))
        check_hashable(value)
        return isinstance(value, bool | int | float | str) and (type(value), value) in keys

    return call


def _hash_keys(value: Value) -> Iterator[tuple[type, Value]]:
    """A constant, and its equals of other numeric types."""
    if value != value:  # noqa: PLR0124  # NaN equals nothing
        return
    yield type(value), value
    if isinstance(value, bool | str):
        return
    for kind, bounds in ((int, (-(2**63), 2**63)), (UInt, (0, 2**64))):
        whole = not isinstance(value, float) or value.is_integer()
        if whole and bounds[0] <= value < bounds[1]:
            yield kind, kind(value)
    if not isinstance(value, float):
        yield float, float(value)


def iterate(value: Value) -> Iterator[Value]:
    """What a fold runs over: a list's elements, a map's keys."""
    if isinstance(value, tuple | Map):
        return iter(value)
    name = _GO_NAMES.get(type(value))
    if name is None:
        raise NotDecided(f"a fold over a value of type {type_name(value)}")
    raise Fault(f"got '{name}', expected iterable type")


_GO_NAMES: Final[dict[type, str]] = {
    bool: "types.Bool", int: "types.Int", UInt: "types.Uint", float: "types.Double", str: "types.String", bytes: "types.Bytes",
}  # fmt: skip


def present_elements(frame: Frame, runs: list[tuple[Run, bool]]) -> Iterator[Value]:
    """The elements of a list literal; an optional one may be absent."""
    for element, optional in runs:
        value = element(frame)
        if not optional:
            yield value
        elif not isinstance(value, Optional):
            raise NotDecided("an optional element that is no optional")
        elif value.present:
            yield value.value


def matches_constant(subject: Run, pattern: regex.Pattern) -> Run:
    """``subject.matches("...")``."""

    def call(frame: Frame) -> bool:
        value = subject(frame)
        if not isinstance(value, str):
            raise no_such_overload()
        frame.spend((2 + len(value)) * (1 + pattern.size))
        return pattern.search(value)

    return call


def matches(subject: Run, pattern: Run) -> Run:
    """``subject.matches(pattern)`` with a pattern known at run time only."""

    def call(frame: Frame) -> bool:
        value, expression = subject(frame), pattern(frame)
        if not isinstance(value, str):
            raise Fault(f"{NO_SUCH_OVERLOAD}: matches")
        if not isinstance(expression, str):
            raise no_such_overload()
        frame.spend((2 + len(value)) * (1 + len(expression)))
        try:
            return regex.compile(expression).search(value)
        except (regex.Unsupported, ValueError):
            raise NotDecided("this regular expression") from None

    return call
