"""Calling functions: from overloads the checker left to the one that takes the values at hand.

Source: github.com/google/cel-go ``common/decls/decls.go`` (Bindings, MaybeNoSuchOverload).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from drakit.cel.checking.declarations import Overload
from drakit.cel.checking.types import Type
from drakit.cel.exact.closures import both
from drakit.cel.exact.costs import COST_LIMIT, Price
from drakit.cel.exact.frame import Frame, Run, extent, weight
from drakit.cel.go import regex
from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.library.functions import Implementation, Singleton
from drakit.cel.values import (
    NO_SUCH_OVERLOAD,
    Concatenation,
    Fault,
    GrowingMap,
    Map,
    NotDecided,
    Optional,
    TypeValue,
    UInt,
    Value,
    is_registered,
    type_name,
)

__all__ = ["Implementations", "applied", "dispatcher", "guarded_overload", "guarded_singleton", "possible"]

Implementations: TypeAlias = Mapping[str, Implementation]
"""What runs overloads, by id."""

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,), "int": (int,), "uint": (UInt,), "double": (float,), "string": (str,), "bytes": (bytes,),
    "duration": (Duration,), "timestamp": (Timestamp,), "null": (type(None),), "list": (tuple, Concatenation),
    "map": (Map, GrowingMap), "optional_type": (Optional,), "type": (TypeValue,),
}  # fmt: skip


def possible(type_: Type) -> bool:
    """Whether a value of a type can exist: nothing makes those of the API server's authorizer, for instance."""
    if not (type_.kind in _KINDS or type_.kind in ("dyn", "param") or is_registered(type_.name)):
        return False
    return all(possible(part) for part in type_.parameters)


def _accepts(type_: Type, value: Value) -> bool:
    """Whether a value is of a type; of a list, the first element counts, as in cel-go."""
    if type_.kind in ("dyn", "param"):
        return True
    if type_.kind == "struct":
        return type_name(value) == type_.name
    if type(value) not in _KINDS.get(type_.kind, ()):
        return False
    return type_.kind != "list" or not value or _accepts(type_.parameters[0], value[0])


def _wrong_types(function: str, args: Sequence[Value]) -> Fault:
    return Fault(f"{NO_SUCH_OVERLOAD}: {function}({', '.join(type_name(arg) for arg in args)})")


_RECEIVERS: Final = (str, Duration, Timestamp)


def guarded_singleton(function: str, singleton: Singleton) -> Implementation:
    """A singleton, with its first argument checked."""

    def call(*args: Value) -> Value:
        if singleton.takes is not None and type(args[0]) not in singleton.takes:
            # Strings and times are asked themselves, and name no function.
            raise Fault(NO_SUCH_OVERLOAD if isinstance(args[0], _RECEIVERS) else f"{NO_SUCH_OVERLOAD}: {function}")
        return singleton.call(*args)

    return call


_UNGUARDED: Final = frozenset({"contains", "startsWith", "endsWith", "flatten"})


def guarded_overload(function: str, overload: Overload, implementations: Implementations) -> Implementation:
    """One overload, with its arguments checked."""
    implementation = implementations.get(overload.id)
    if function in _UNGUARDED and implementation is not None:
        return implementation
    return dispatcher(function, (overload,), implementations)


def dispatcher(function: str, overloads: Sequence[Overload], implementations: Implementations) -> Implementation:
    """The first of several overloads that takes the values."""

    def call(*args: Value) -> Value:
        for overload in overloads:
            if len(overload.parameters) == len(args) and all(map(_accepts, overload.parameters, args)):
                implementation = implementations.get(overload.id)
                if implementation is None:
                    raise NotDecided(f"function '{function}'")
                return implementation(*args)
        raise _wrong_types(function, args)

    return call


# Functions that go through elements, for whose work Kubernetes asks next to nothing, or asks afterwards.
_SETS: Final = ("contains", "intersects", "equivalent")
_WALKING: Final = frozenset(
    "@in indexOf lastIndexOf includes flatten format max min sum isSorted join unwrapOpt optional.unwrap".split()
)
_PAIRING: Final = frozenset({"distinct", "sort", "@sortByAssociatedKeys"} | {f"sets.{name}" for name in _SETS})


def applied(function: str, implementation: Implementation, args: Sequence[Run], price: Price, *, stops: bool) -> Run:
    """A call: its arguments evaluated, the implementation asked.

    :param stops: the first error among the arguments keeps the rest from being evaluated; of two, otherwise, both are.
    """
    if function in _WALKING | _PAIRING and len(args) <= 2:
        factor = _OF_FORMAT if function == "format" else 1
        return _laborious(implementation, args, price if function in _PAIRING else None, stops=stops, factor=factor)
    if function in _SEARCHING:
        return _patterned(implementation, args, stops=stops)
    if len(args) == 1:
        (argument,) = args
        factor = _OF_READING if function in _READING else 1

        def call_one(frame: Frame) -> Value:
            value = argument(frame)
            result = implementation(value)
            if work := factor * weight(value) + weight(result):
                frame.labour(work)
            return result

        return call_one
    if len(args) == 2 and not stops:
        left, right = args
        flat = _OF_ZONE if function.startswith("get") else 0

        def call(frame: Frame) -> Value:
            one, other = both(frame, left, right)
            result = implementation(one, other)
            if work := flat + weight(one) + weight(other) + weight(result):
                frame.labour(work)
            return result

        return call

    def call_all(frame: Frame) -> Value:
        values: list[Value] = []
        for argument in args:
            values.append(argument(frame))  # noqa: PERF401  # a comprehension would be one more call on the stack
        result = implementation(*values)
        frame.labour(sum(map(weight, values)) + weight(result))
        return result

    return call_all


_OF_FORMAT: Final = 20
"""What writing a value is, beside looking at it."""
_READING: Final = frozenset(
    """duration timestamp double int uint bool url isURL ip isIP ip.isCanonical cidr isCIDR quantity isQuantity semver
    isSemver""".split()
)
_OF_READING: Final = 48
"""What making something of a text is, beside copying it."""


def _patterned(implementation: Implementation, args: Sequence[Run], *, stops: bool) -> Run:
    """A search for a pattern, which may have to be compiled first."""

    def call(frame: Frame) -> Value:
        values = both(frame, *args) if len(args) == 2 and not stops else [argument(frame) for argument in args]
        pattern = values[1]
        if isinstance(pattern, str) and pattern not in frame.patterns:
            frame.patterns.add(pattern)
            with contextlib.suppress(regex.PatternError, regex.Unsupported):
                frame.labour(regex.compile(pattern).effort)
        result = implementation(*values)
        frame.labour(weight(values[0]) + weight(result))
        return result

    return call


_SEARCHING: Final = frozenset({"matches", "find", "findAll"})
_OF_ZONE: Final = 500
"""Looking for a time zone that is not there."""


def _laborious(implementation: Implementation, args: Sequence[Run], price: Price | None, *, stops: bool, factor: int) -> Run:
    """A call that may be much work. With a price, what is too expensive is not done: Kubernetes notices afterwards."""

    def call(frame: Frame) -> Value:
        values = both(frame, *args) if len(args) > 1 and not stops else [argument(frame) for argument in args]
        if price is not None and frame.ledger.cost + price(values, None) > COST_LIMIT:
            return None
        # A map is asked for a key, and not gone through.
        extents = [1 if isinstance(value, Map) and price is None else extent(value) for value in values]
        frame.labour(extents[0] * extents[-1] if price else factor * sum(extents))
        result = implementation(*values)
        frame.labour(weight(result))
        return result

    return call
