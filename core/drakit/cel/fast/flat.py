"""A device as generated code reads it: dicts by ``domain/identifier``.

Source: k8s.io/dynamic-resource-allocation ``cel/compile.go`` (DeviceMatches), k8s.io/api ``resource/v1/types.go`` (limits).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from attrs import frozen

from drakit.cel.fast.runtime import version_of
from drakit.cel.library.quantities import QuantityValue
from drakit.cel.library.semver import Semver
from drakit.cel.values import INT64, Value

__all__ = ["MAX_ITEMS", "MAX_TEXT", "Flat", "flatten", "nano"]

MAX_TEXT: Final = 64
"""Code points of a string; a longer one is no API server's, and what it costs is not in the estimate."""
MAX_ITEMS: Final = 64
"""Elements of a list, as above."""
_MAX_ADJUSTED: Final = 40  # digits before the point; a larger quantity makes too large an int
_NANO: Final = 10**9


@frozen(eq=False)
class Flat:
    """What generated code knows of a device."""

    driver: str
    shared: bool
    attributes: Mapping[str, Value]
    """By ``domain/identifier``: bool, int, str, :class:`Version`, or a tuple of one of them."""
    capacity: Mapping[str, int]
    """In 1e-9. What is too large for that is the whole device's reason not to be flat."""
    integers: Mapping[str, int]
    """Capacities that are held as an int64, which is what ``asInteger()`` asks."""
    domains: tuple[frozenset[str], frozenset[str]]
    """Of attributes and of capacity."""


def flatten(
    driver: str, *, shared: bool, attributes: Mapping[str, Value], capacity: Mapping[str, QuantityValue]
) -> Flat | None:
    """The device, or None if it goes beyond what an API server accepts: the exact path takes it then.

    :param attributes: CEL values by ``domain/identifier``.
    :param capacity: by ``domain/identifier``.
    """
    flat = {name: _flat(value) for name, value in attributes.items()}
    amounts = {name: nano(quantity) for name, quantity in capacity.items()}
    if "/" in driver or not _is_small(driver) or _lacks(flat) or _lacks(amounts):
        return None
    integers = {name: quantity.as_int64() for name, quantity in capacity.items()}
    return Flat(
        driver,
        shared,
        flat,
        {name: amount for name, amount in amounts.items() if amount is not None},
        {name: number for name, number in integers.items() if number is not None},
        (_domains(attributes), _domains(capacity)),
    )


def nano(quantity: QuantityValue) -> int | None:
    """A quantity in 1e-9; None if that is too long a number."""
    value: Decimal = quantity.quantity.value
    if value.adjusted() >= _MAX_ADJUSTED:
        return None
    # Decimal's own arithmetic rounds to whatever precision the caller has set.
    numerator, denominator = value.as_integer_ratio()
    amount, rest = divmod(numerator * _NANO, denominator)
    return None if rest else amount


def _lacks(values: Mapping[str, Value]) -> bool:
    return any(value is None for value in values.values())  # a version does not let "in" compare it


def _domains(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.partition("/")[0] for name in names)


def _flat(value: Value) -> Value:
    if isinstance(value, tuple):
        items = tuple(map(_flat, value))
        return None if len(items) > MAX_ITEMS or any(item is None for item in items) else items
    if isinstance(value, Semver):
        return version_of(value)
    return value if _is_small(value) else None


def _is_small(value: Value) -> bool:
    if value.__class__ is str:
        return len(value) <= MAX_TEXT
    return value.__class__ is bool or (value.__class__ is int and value in INT64)
