"""Functions of lists.

Source: github.com/google/cel-go ``ext/{lists,sets}.go``; k8s.io/apiserver ``pkg/cel/library/lists.go``;
k8s.io/dynamic-resource-allocation ``cel/compile.go`` (includes).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from drakit.cel.go.printing import printed
from drakit.cel.go.sorting import sorted_indexes
from drakit.cel.library import operators
from drakit.cel.values import (
    NO_SUCH_OVERLOAD,
    Fault,
    NotDecided,
    Optional,
    Thing,
    TypeValue,
    Value,
    compare,
    no_such_overload,
    same,
    type_name,
)

__all__ = [
    "contains_all",
    "distinct",
    "end",
    "extreme",
    "flatten",
    "includes",
    "includes_few",
    "is_sorted",
    "list_index_of",
    "list_last_index_of",
    "range_",
    "slice_",
    "sort",
    "sort_by",
    "sum_",
    "unlimited_range",
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
    return tuple(values[index] for index in _order(keys))


def _order(keys: tuple[Value, ...]) -> Sequence[int]:
    """The indexes of keys of one type in their order."""
    ranks = [key.order for key in keys] if isinstance(keys[0], Thing) else keys
    ordered = all(rank == rank for rank in ranks)  # noqa: PLR0124  # NaN
    if ordered and (len(keys) <= _SMALL_SORT or len(set(ranks)) == len(ranks)):
        return sorted(range(len(keys)), key=ranks.__getitem__)
    return sorted_indexes(len(keys), lambda one, other: ranks[one] < ranks[other])


def sort(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """A list in its own order."""
    return sort_by(values, values)


_RANGE_MAX: Final = 1_000_000


def range_(count: int) -> tuple[int, ...]:
    """``lists.range``: from 0 up to before a number."""
    if count < 0:
        raise Fault(f"lists.range: size must be non-negative, got {count}")
    if count > _RANGE_MAX:
        raise Fault(f"lists.range: size {count} exceeds maximum allowed ({_RANGE_MAX})")
    return tuple(range(count))


def unlimited_range(count: int) -> tuple[int, ...]:
    """The same before Kubernetes 1.37, where there is no limit."""
    if count > _RANGE_MAX:
        raise NotDecided(f"lists.range() of more than {_RANGE_MAX}")
    return tuple(range(count))


def flatten(values: Value, *depths: Value) -> tuple[Value, ...]:
    """A list with the elements of the lists in it, so many levels deep; cel-go calls it with any types."""
    depth = depths[0] if depths else 1
    if not isinstance(values, tuple) or type(depth) is not int:
        shown = [printed(TypeValue(type_name(value))) for value in (values, *depths)]
        raise Fault(f"{NO_SUCH_OVERLOAD}: {shown[0]}.flatten({''.join(shown[1:])})")
    if depth < 0:
        raise Fault("level must be non-negative")
    flat: list[Value] = []
    pending = [iter(values)]
    while pending:
        value = next(pending[-1], _END)
        if value is _END:
            pending.pop()
        elif isinstance(value, tuple) and len(pending) <= depth:
            pending.append(iter(value))
        else:
            flat.append(value)
    return tuple(flat)


_END: Final = object()
_FEW: Final = 48


def includes(target: Value, item: Value) -> bool:
    """DRA's ``includes``: whether a list has an element, or a value is another."""
    return any(same(value, item) for value in target) if isinstance(target, tuple) else same(target, item)


def includes_few(target: Value, item: Value) -> bool:
    """The same before Kubernetes 1.37, for lists that are not long."""
    if not isinstance(target, tuple) or len(target) <= _FEW or includes(target[:_FEW], item):
        return includes(target, item)
    raise Fault(f"'includes' function cannot be applied to lists longer than {_FEW} values")


def contains_all(values: tuple[Value, ...], wanted: tuple[Value, ...]) -> bool:
    """Whether every wanted element is in a list."""
    return all(operators.contains(value, values) for value in wanted)


def end(index: int) -> Callable[..., Value]:
    """The first or the last element, if there is one."""

    def call(values: tuple[Value, ...]) -> Optional:
        return Optional(values[index], present=True) if values else Optional()

    return call
