"""Converters that make collections handed to the model immutable.

They are typed with Any because mypy's attrs plugin cannot solve a generic converter; the fields they stand on are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

__all__ = ["frozen_mapping", "frozen_tuple", "optional_tuple"]

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})


def frozen_mapping(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """A read-only copy; insertion order is kept. One that is read-only already is taken as it is."""
    if isinstance(value, MappingProxyType):
        return value
    return MappingProxyType(dict(value)) if value else _EMPTY


def frozen_tuple(value: Iterable[Any]) -> tuple[Any, ...]:
    """The items as a tuple."""
    return value if type(value) is tuple else tuple(value)


def optional_tuple(value: Iterable[Any] | None) -> tuple[Any, ...] | None:
    """As :func:`frozen_tuple`; None stays None, for an absent list says something else than an empty one."""
    return None if value is None else frozen_tuple(value)
