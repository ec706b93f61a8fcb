"""The operators that don't treat all their operands alike, as closures.

Source: github.com/google/cel-go ``interpreter/{interpretable,decorators}.go``, ``cel/library.go`` (or, orValue).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from attrs import frozen

from drakit.cel.checking.messages import Maker
from drakit.cel.exact.frame import Frame, Lazy, Run, extent
from drakit.cel.exact.stack import on_a_new_stack
from drakit.cel.go import regex
from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.library.go_names import go_name
from drakit.cel.values import (
    NO_SUCH_OVERLOAD,
    Fault,
    Map,
    NotDecided,
    Optional,
    TypeValue,
    UInt,
    Value,
    check_hashable,
    equal,
    no_such_overload,
)

__all__ = [
    "Fold",
    "both",
    "equality",
    "folded",
    "inequality",
    "list_literal",
    "logical",
    "map_literal",
    "matches",
    "matches_constant",
    "membership",
    "not_strictly_false",
    "otherwise",
    "struct_literal",
]


def logical(terms: Sequence[Run], *, absorbing: bool) -> Run:
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


def both(frame: Frame, left: Run, right: Run) -> tuple[Value, Value]:
    """Two operands, the right one also when the left one fails; the first error counts."""
    try:
        one = left(frame)
    except Fault as fault:
        _ = _attempt(right, frame)
        raise fault from None
    return one, right(frame)


def _attempt(run: Run, frame: Frame) -> Value:
    """A value, or the error instead of it."""
    try:
        return run(frame)
    except Fault as fault:
        return fault


_CONTAINERS: Final = (tuple, Map, Optional)
_OF_COMPARISON: Final = 3


def _equal(frame: Frame, one: Value, other: Value) -> bool:
    if not isinstance(one, _CONTAINERS):
        return equal(one, other)
    frame.labour(_OF_COMPARISON * extent(one))
    try:
        return equal(one, other)
    except RecursionError:  # lists in lists in lists
        return on_a_new_stack(lambda: equal(one, other))


def equality(left: Run, right: Run) -> Run:
    """``left == right``, across types."""

    def compare(frame: Frame) -> bool:
        one, other = both(frame, left, right)
        return _equal(frame, one, other)

    return compare


def inequality(left: Run, right: Run) -> Run:
    """``left != right``; what cannot be compared differs."""

    def compare(frame: Frame) -> bool:
        one, other = both(frame, left, right)
        try:
            return not _equal(frame, one, other)
        except Fault:  # an error is not "equal"
            return True

    return compare


def otherwise(left: Run, right: Run, *, unwrap: bool, strict: bool) -> Run:
    """``or`` and ``orValue``.

    :param strict: what is no optional after all is an error; before Kubernetes 1.37, it is the result.
    """

    def choose(frame: Frame) -> Value:
        value = left(frame)
        if not isinstance(value, Optional):
            if strict:
                raise no_such_overload()
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


# -- folds ----------------------------------------------------------------------------------------------------------


@frozen(eq=False, kw_only=True)
class Fold:
    """The parts of a fold, and the slots of its variables."""

    range_: Run
    initial: Run
    condition: Run
    step: Run
    result: Run
    accumulator: int
    variables: Sequence[int]
    """One, or two."""
    weight: int = 0
    """How much work a round is beyond what is paid for."""
    collects: bool = False
    """The accumulator is a macro's own list, to which ``+`` adds in place."""


def folded(fold: Fold) -> Run:
    """A fold; an error in its accumulator is kept there, until someone reads it."""
    start = Lazy(lambda frame: list(fold.initial(frame)) if fold.collects else _attempt(fold.initial, frame))
    condition, step, accumulator, weight = fold.condition, fold.step, fold.accumulator, fold.weight
    first, second = fold.variables if len(fold.variables) > 1 else (None, fold.variables[0])

    def run(frame: Frame) -> Value:
        slots = frame.slots
        items = fold.range_(frame)
        slots[accumulator] = start
        for value in _elements(items) if first is None else _entries(items):
            if weight:
                frame.labour(weight)
            if first is None:
                slots[second] = value
            else:
                slots[first], slots[second] = value
            if _attempt(condition, frame) is False:
                break
            slots[accumulator] = _attempt(step, frame)
        value = fold.result(frame)
        return tuple(value) if fold.collects and isinstance(value, list) else value

    return run


def _elements(value: Value) -> Iterator[Value]:
    """What a fold with one variable runs over: a list's elements, a map's keys."""
    if not isinstance(value, tuple | Map):
        raise Fault(f"got '{go_name(value)}', expected iterable type")
    return iter(value)


def _entries(value: Value) -> Iterator[tuple[Value, Value]]:
    """What one with two variables runs over: a list's indexes and elements, a map's keys and values."""
    if isinstance(value, tuple):
        return enumerate(value)
    if not isinstance(value, Map):
        raise Fault(f"unsupported comprehension range type: {go_name(value)}")
    return ((key, value.find(key)[0]) for key in value)


# -- literals -------------------------------------------------------------------------------------------------------


def list_literal(elements: Sequence[tuple[Run, bool]]) -> Run:
    """A list of elements, each with whether it is optional and may be absent."""

    def make(frame: Frame) -> Value:
        values: list[Value] = []
        for element, optional in elements:
            value = element(frame)
            if not optional:
                values.append(value)
            elif not isinstance(value, Optional):
                raise NotDecided("an optional element that is no optional")
            elif value.present:
                values.append(value.value)
        return tuple(values)

    return make


def map_literal(entries: Sequence[tuple[Run, Run, bool]]) -> Run:
    """A map of keys and values, each with whether it is optional and may be absent."""

    def make(frame: Frame) -> Value:
        pairs: list[tuple[Value, Value]] = []
        for key_run, value_run, optional in entries:
            key, value = key_run(frame), value_run(frame)
            if optional and not isinstance(value, Optional):
                raise NotDecided("an optional entry that is no optional")
            check_hashable(key)
            if isinstance(key, tuple):
                frame.labour(extent(key))
            if not optional:
                pairs.append((key, value))
            elif value.present:
                pairs.append((key, value.value))
            else:
                pairs = [pair for pair in pairs if not (type(pair[0]) is type(key) and pair[0] == key)]
        return Map.literal(iter(pairs))

    return make


def struct_literal(fields: Sequence[tuple[str, Run, bool]], make: Maker) -> Run:
    """A message of named fields, each with whether it is optional and may be absent."""

    def made(frame: Frame) -> Value:
        given: dict[str, Value] = {}
        for name, run, optional in fields:
            value = run(frame)
            if optional and not isinstance(value, Optional):
                raise NotDecided("an optional field that is no optional")
            if not optional:
                given[name] = value
            elif value.present:
                given[name] = value.value
        return make(given)

    return made


# -- regular expressions --------------------------------------------------------------------------------------------


def matches_constant(compiled: regex.Pattern) -> Callable[[Value, Value], bool]:
    """``subject.matches("...")``. Of a type, the name counts, of an optional what is in it."""

    def call(subject: Value, _pattern: Value) -> bool:
        text = subject
        while isinstance(text, Optional) and text.present:
            text = text.value
        text = text.name if isinstance(text, TypeValue) else text
        if not isinstance(text, str):
            raise no_such_overload()
        return compiled.search(text)

    return call


def matches(subject: Value, pattern: Value) -> bool:
    """``subject.matches(pattern)`` with a pattern known at run time only."""
    if isinstance(subject, Duration | Timestamp):
        raise no_such_overload()  # they answer calls of any method themselves
    if not isinstance(subject, str):
        raise Fault(f"{NO_SUCH_OVERLOAD}: matches")
    if not isinstance(pattern, str):
        raise no_such_overload()
    try:
        return regex.compile(pattern).search(subject)
    except regex.PatternError as error:
        raise Fault(str(error)) from None
    except regex.Unsupported:
        raise NotDecided("this regular expression") from None
