"""Functions of lists.

Source: github.com/google/cel-go ``ext/{lists,sets}.go``; k8s.io/apiserver ``pkg/cel/library/lists.go``;
k8s.io/dynamic-resource-allocation ``cel/compile.go`` (includes).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from drakit.cel import operators
from drakit.cel.values import Fault, NotDecided, Optional, Value, compare, no_such_overload, same

__all__ = [
    "contains_all",
    "distinct",
    "end",
    "extreme",
    "includes",
    "is_sorted",
    "list_index_of",
    "list_last_index_of",
    "range_",
    "slice_",
    "sort",
    "sort_by",
    "sum_",
]


def is_sorted(values: tuple[Value, ...]) -> bool:
    """Whether no element is greater than the next."""
    previous: Value = None
    for index, value in enumerate(values):
        if type(value) not in operators.ORDERED:
            raise no_such_overload()
        try:
            if index and compare(previous, value) > 0:
                return False
        except Fault:  # cel-go looks for a 1 and takes an error for none
            pass
        previous = value
    return True


def extreme(name: str, replace: int) -> Callable[..., Value]:
    """``min`` and ``max``; ``replace`` is the comparison by which a later element takes the place of an earlier one."""

    def call(values: tuple[Value, ...]) -> Value:
        best: Value = None
        for index, value in enumerate(values):
            if type(value) not in operators.ORDERED:
                raise no_such_overload()
            try:
                if not index or compare(best, value) == replace:
                    best = value
            except Fault:
                continue
        if not values:
            raise Fault(f"{name} called on empty list")
        return best

    return call


def sum_(zero: Value) -> Callable[..., Value]:
    """``sum`` from a zero of the right type."""

    def call(values: tuple[Value, ...]) -> Value:
        total = zero
        for value in values:
            if type(value) not in operators.ADDABLE:
                raise no_such_overload()
            total = operators.add(total, value)
        return total

    return call


def list_index_of(values: tuple[Value, ...], item: Value) -> int:
    """Where an element first is, or -1."""
    return next((index for index, value in enumerate(values) if same(value, item)), -1)


def list_last_index_of(values: tuple[Value, ...], item: Value) -> int:
    """Where an element last is, or -1."""
    return next((index for index in reversed(range(len(values))) if same(values[index], item)), -1)


def slice_(values: tuple[Value, ...], start: int, end: int) -> tuple[Value, ...]:
    """The elements from ``start`` up to before ``end``."""
    complaint = ""
    if start < 0 or end < 0:
        complaint = "negative indexes not supported"
    elif start > end:
        complaint = "start index must be less than or equal to end index"
    elif len(values) < end:
        complaint = f"list is length {len(values)}"
    if complaint:
        raise Fault(f"cannot slice({start}, {end}), {complaint}")
    return values[start:end]


def distinct(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The elements without repetitions, in order."""
    kept: list[Value] = []
    for value in values:
        if not any(same(value, other) for other in kept):
            kept.append(value)
    return tuple(kept)


_SMALL_SORT: Final = 12  # Go sorts so few by insertion, which keeps the order of equals; more it does not


def sort_by(values: tuple[Value, ...], keys: Value) -> tuple[Value, ...]:
    """A list in the order of its keys."""
    if not isinstance(keys, tuple):
        raise no_such_overload()
    if len(keys) != len(values):
        sizes = f"but got {len(values)} and {len(keys)} elements respectively"
        raise Fault(f"@sortByAssociatedKeys() expected a list of the same size as the associated keys list, {sizes}")
    if not values:
        return values
    if type(keys[0]) not in operators.ORDERED:
        raise Fault("list elements must be comparable")
    if len({type(key) for key in keys}) > 1:
        raise Fault("list elements must have the same type")
    if any(key != key for key in keys):  # noqa: PLR0124  # NaN
        raise NotDecided("sorting NaN")
    if len(values) > _SMALL_SORT and len(set(keys)) < len(keys) and keys is not values:
        raise NotDecided("sorting more than 12 elements with equal keys")
    return tuple(values[index] for index in sorted(range(len(values)), key=keys.__getitem__))


def sort(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """A list in its own order."""
    return sort_by(values, values)


_RANGE_MAX: Final = 100_000


def range_(count: int) -> tuple[int, ...]:
    """``lists.range``: from 0 up to before a number."""
    if count > _RANGE_MAX:
        raise NotDecided(f"lists.range() of more than {_RANGE_MAX}")
    return tuple(range(count))


_INCLUDES_MAX: Final = 48


def includes(target: Value, item: Value) -> bool:
    """DRA's ``includes``: whether a list has an element, or a value is another."""
    if not isinstance(target, tuple):
        return same(target, item)
    for index, value in enumerate(target):
        if index >= _INCLUDES_MAX:
            raise Fault(f"'includes' function cannot be applied to lists longer than {_INCLUDES_MAX} values")
        if same(value, item):
            return True
    return False


def contains_all(values: tuple[Value, ...], wanted: tuple[Value, ...]) -> bool:
    """Whether every wanted element is in a list."""
    return all(operators.contains(value, values) for value in wanted)


def end(index: int) -> Callable[..., Value]:
    """The first or the last element, if there is one."""

    def call(values: tuple[Value, ...]) -> Optional:
        return Optional(values[index], present=True) if values else Optional()

    return call
