"""Calling functions: from overloads the checker left to the one that takes the values at hand.

Source: github.com/google/cel-go ``common/decls/decls.go`` (Bindings, MaybeNoSuchOverload).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from drakit.cel.checking.declarations import Overload
from drakit.cel.checking.types import Type
from drakit.cel.exact.closures import both
from drakit.cel.exact.costs import COST_LIMIT, Price
from drakit.cel.exact.frame import Frame, Run, extent
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
_WALKING: Final = frozenset({"@in", "indexOf", "lastIndexOf", "includes", "flatten", "format"})
_PAIRING: Final = frozenset({"distinct", "sort", "@sortByAssociatedKeys"} | {f"sets.{name}" for name in _SETS})


def applied(function: str, implementation: Implementation, args: Sequence[Run], price: Price, *, stops: bool) -> Run:
    """A call: its arguments evaluated, the implementation asked.

    :param stops: the first error among the arguments keeps the rest from being evaluated; of two, otherwise, both are.
    """
    if function in _WALKING | _PAIRING and len(args) <= 2:
        return _laborious(implementation, args, price if function in _PAIRING else None, stops=stops)
    if len(args) == 1:
        (argument,) = args
        return lambda frame: implementation(argument(frame))
    if len(args) == 2 and not stops:
        left, right = args

        def call(frame: Frame) -> Value:
            one, other = both(frame, left, right)
            return implementation(one, other)

        return call

    def call_all(frame: Frame) -> Value:
        values: list[Value] = []
        for argument in args:
            values.append(argument(frame))  # noqa: PERF401  # a comprehension would be one more call on the stack
        return implementation(*values)

    return call_all


def _laborious(implementation: Implementation, args: Sequence[Run], price: Price | None, *, stops: bool) -> Run:
    """A call that may be much work. With a price, what is too expensive is not done: Kubernetes notices afterwards."""

    def call(frame: Frame) -> Value:
        values = both(frame, *args) if len(args) > 1 and not stops else [argument(frame) for argument in args]
        if price is not None and frame.ledger.cost + price(values, None) > COST_LIMIT:
            return None
        extents = [extent(value) for value in values]
        frame.labour(extents[0] * extents[-1] if price else sum(extents))
        return implementation(*values)

    return call
