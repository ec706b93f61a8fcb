"""Arithmetic, order, membership and size.

Each works on whatever it gets and says so when it cannot.

Source: github.com/google/cel-go ``common/stdlib/standard.go`` and ``common/types/{int,uint,double,list,map}.go``,
``common/types/{duration,timestamp}.go``.
"""

from __future__ import annotations

import math
from typing import Final

from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.library.bounds import check_list, check_text
from drakit.cel.values import (
    INT64,
    UINT64,
    Concatenation,
    Fault,
    GrowingMap,
    Map,
    UInt,
    Value,
    no_such_overload,
    same,
)

__all__ = [
    "ADDABLE",
    "LISTS",
    "NUMBERS",
    "ORDERED",
    "SIZED",
    "SUBTRACTABLE",
    "TIMES",
    "add",
    "contains",
    "divide",
    "integer",
    "logical_not",
    "modulo",
    "multiply",
    "negate",
    "size",
    "subtract",
]

NUMBERS: Final = frozenset({int, UInt, float})
TIMES: Final = frozenset({Duration, Timestamp})
SUBTRACTABLE: Final = NUMBERS | TIMES


def integer(value: int, kind: type) -> int:
    """An int or uint, unless it is beyond 64 bits."""
    if kind is UInt:
        if value not in UINT64:
            raise Fault("unsigned integer overflow")
        return UInt(value)
    if value not in INT64:
        raise Fault("integer overflow")
    return value


def _same(left: Value, right: Value) -> type:
    """The type of both operands: arithmetic never mixes types."""
    if type(left) is not type(right):
        raise no_such_overload()
    return type(left)


def add(left: Value, right: Value) -> Value:
    """Numbers, strings, bytes and lists; the list that a macro makes grows in place."""
    if isinstance(left, tuple | list):
        if not isinstance(right, tuple):
            raise no_such_overload()
        return _add_lists(left, right)
    if isinstance(left, Duration | Timestamp):
        return left.plus(right)
    kind = _same(left, right)
    if kind in (str, bytes):
        check_text(len(left) + len(right), left, right)
    return integer(int(left) + int(right), kind) if kind in (int, UInt) else left + right


def _add_lists(left: tuple[Value, ...] | list[Value], right: tuple[Value, ...]) -> Value:
    check_list(len(left) + len(right))
    if isinstance(left, list):
        left.extend(right)
        return left
    return Concatenation((*left, *right)) if left and right else left or right


def subtract(left: Value, right: Value) -> Value:
    """Numbers of one type, and times."""
    if isinstance(left, Duration | Timestamp):
        return left.minus(right)
    kind = _same(left, right)
    return left - right if kind is float else integer(int(left) - int(right), kind)


def multiply(left: Value, right: Value) -> Value:
    """Numbers of one type."""
    kind = _same(left, right)
    return left * right if kind is float else integer(int(left) * int(right), kind)


def divide(left: Value, right: Value) -> Value:
    """Numbers of one type; integers are truncated toward zero."""
    kind = _same(left, right)
    if kind is float:
        return _divide_doubles(left, right)
    if right == 0:
        raise Fault("division by zero")
    quotient = abs(int(left)) // abs(int(right))
    return integer(quotient if (left < 0) == (right < 0) else -quotient, kind)


def _divide_doubles(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: Value, right: Value) -> Value:
    """Integers of one type; the sign is that of the left."""
    kind = _same(left, right)
    if right == 0:
        raise Fault("modulus by zero")
    if left == INT64[0] and right == -1:
        raise Fault("integer overflow")
    return kind(int(math.copysign(1, left)) * (abs(int(left)) % abs(int(right))))


def negate(value: Value) -> Value:
    """Signed numbers, and durations."""
    if isinstance(value, Duration):
        return value.negated()
    if isinstance(value, bool):
        raise no_such_overload()
    return -value if isinstance(value, float) else integer(-value, int)


def logical_not(value: Value) -> bool:
    """Bools only."""
    if not isinstance(value, bool):
        raise no_such_overload()
    return not value


ADDABLE: Final = NUMBERS | TIMES | {str, bytes, tuple, Concatenation, list}
ORDERED: Final = NUMBERS | TIMES | {bool, str, bytes}


def contains(element: Value, container: Value) -> bool:
    """``element in container``."""
    if isinstance(container, Map):
        return container.contains(element)
    if not isinstance(container, tuple):
        raise no_such_overload()
    return any(same(element, other) for other in container)


def size(value: Value) -> int:
    """Code points, bytes, elements or entries."""
    return len(value)


LISTS: Final = frozenset({tuple, Concatenation})
SIZED: Final = frozenset({str, bytes, tuple, Concatenation, Map, GrowingMap})
