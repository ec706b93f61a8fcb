"""Calling functions: from overloads the checker left to the one that takes the values at hand.

Source: github.com/google/cel-go ``common/decls/decls.go`` (Bindings, MaybeNoSuchOverload).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from drakit.cel.declarations import Overload
from drakit.cel.frame import Frame, Run, extent, operands
from drakit.cel.functions import OVERLOADS, Implementation, Singleton
from drakit.cel.types import Type
from drakit.cel.values import (
    NO_SUCH_OVERLOAD,
    Concatenation,
    Fault,
    Map,
    NotDecided,
    Optional,
    TypeValue,
    UInt,
    Value,
    type_name,
)

__all__ = ["applied", "dispatcher", "guarded_overload", "guarded_singleton", "possible"]

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,), "int": (int,), "uint": (UInt,), "double": (float,), "string": (str,), "bytes": (bytes,),
    "null": (type(None),), "list": (tuple, Concatenation), "map": (Map,), "optional_type": (Optional,), "type": (TypeValue,),
}  # fmt: skip
_OWN_STRUCTS: Final = frozenset({"kubernetes.Quantity", "kubernetes.Semver"})


def possible(type_: Type) -> bool:
    """Whether a value of a type can exist: the functions that make the others cannot be run."""
    if not (type_.kind in _KINDS or type_.kind in ("dyn", "param") or type_.name in _OWN_STRUCTS):
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


def guarded_singleton(function: str, singleton: Singleton) -> Implementation:
    """A singleton, with its first argument checked."""

    def call(*args: Value) -> Value:
        if singleton.takes is not None and type(args[0]) not in singleton.takes:
            # Strings are asked themselves, and name no function.
            raise Fault(NO_SUCH_OVERLOAD if isinstance(args[0], str) else f"{NO_SUCH_OVERLOAD}: {function}")
        return singleton.call(*args)

    return call


_UNGUARDED: Final = frozenset({"contains", "startsWith", "endsWith"})


def guarded_overload(function: str, overload: Overload) -> Implementation:
    """One overload, with its arguments checked."""
    implementation = OVERLOADS.get(overload.id)
    if function in _UNGUARDED and implementation is not None:
        return implementation
    return dispatcher(function, (overload,))


def dispatcher(function: str, overloads: tuple[Overload, ...]) -> Implementation:
    """The first of several overloads that takes the values."""

    def call(*args: Value) -> Value:
        for overload in overloads:
            if len(overload.parameters) == len(args) and all(map(_accepts, overload.parameters, args)):
                implementation = OVERLOADS.get(overload.id)
                if implementation is None:
                    raise NotDecided(f"function '{function}'")
                return implementation(*args)
        raise _wrong_types(function, args)

    return call


_PRODUCT: Final = frozenset({"contains", "distinct", "sets.contains", "sets.intersects", "sets.equivalent"})


# Kubernetes measures these lists after the call, and crashes where there is an error or no list.
_MEASURED: Final = {"distinct": 0, "sort": 0, "@sortByAssociatedKeys": 1}


def applied(function: str, implementation: Implementation, args: list[Run]) -> Run:
    """A call: all arguments evaluated, work counted, the implementation asked."""
    multiplies = function in _PRODUCT
    measured = _MEASURED.get(function)

    def call(frame: Frame) -> Value:
        try:
            values = operands(frame, args)
        except Fault:
            if measured is not None:
                raise NotDecided(f"an error inside {function}()") from None
            raise
        if measured is not None and not isinstance(values[measured], tuple):
            raise NotDecided(f"{function}() of something that is no list")
        extents = [extent(value) for value in values]
        frame.spend(2 + sum(extents) + (20 + 2 * extents[0] * extents[-1] if multiplies else 0))
        result = implementation(*values)
        frame.spend(extent(result))
        return result

    return call
