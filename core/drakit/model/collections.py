"""Immutable collections for attrs classes: the converters that the model's fields use, and plugins' may.

The converters are typed with Any because mypy's attrs plugin cannot solve a generic one; the fields they stand on are not.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

__all__ = ["FrozenDict", "frozen_json", "frozen_mapping", "frozen_tuple", "optional_tuple"]


class FrozenDict(dict[Any, Any]):
    """A dict that cannot be changed. It hashes if its values do, pickles, copies, and JSON writes it as a dict."""

    def __hash__(self) -> int:  # type: ignore[override]  # dict sets it to None
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[Any, Any]]]:
        return FrozenDict, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenDict:
        return FrozenDict(copy.deepcopy(dict(self), memo))


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("a FrozenDict cannot be changed; make another one")


for _name in ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update"):
    setattr(FrozenDict, _name, _refuse)

_EMPTY = FrozenDict()


def frozen_mapping(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The mapping as a FrozenDict; insertion order is kept."""
    if type(value) is FrozenDict:
        return value
    return FrozenDict(value) if value else _EMPTY


def frozen_json(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """As :func:`frozen_mapping`, with a copy of everything inside: JSON whose lists and objects others may still hold."""
    return FrozenDict(copy.deepcopy(dict(value)))


def frozen_tuple(value: Iterable[Any]) -> tuple[Any, ...]:
    """The items as a tuple."""
    return value if type(value) is tuple else tuple(value)


def optional_tuple(value: Iterable[Any] | None) -> tuple[Any, ...] | None:
    """As :func:`frozen_tuple`; None stays None, for an absent list says something else than an empty one."""
    return None if value is None else frozen_tuple(value)
