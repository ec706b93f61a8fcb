"""What generated code calls. Each either gives the one right value, or gives up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from drakit.cel.library import operators
from drakit.cel.library.strings import LOWER, UPPER
from drakit.cel.values import INT64, Value

__all__ = ["RUNTIME", "GiveUp", "Version", "version_of"]


class GiveUp(Exception):  # a signal to the selector, not one of drakit's errors
    """The fast path does not know; the exact one does."""


class Version:
    """A version among the values of a device.

    Kubernetes' rules for comparing one with something else depend on the side it stands on, so plain ``==`` gives up;
    generated code compares :attr:`key`, which other values don't have.
    """

    __slots__ = ("key",)
    __hash__ = None  # type: ignore[assignment]  # a set cannot look for it either

    def __init__(self, key: tuple[Any, ...]) -> None:
        self.key = key
        """Orders as SemVer does: three numbers, whether it is a release, and the identifiers of a prerelease."""

    def __eq__(self, other: object) -> bool:
        raise GiveUp


def version_of(value: Value) -> Version:
    """From a :class:`drakit.cel.library.semver.Semver`."""
    prerelease = tuple((isinstance(part, str), part) for part in value.prerelease)
    return Version((value.major, value.minor, value.patch, not prerelease, prerelease))


def _give_up() -> NoReturn:
    raise GiveUp


_PLAIN: Final = frozenset({str, int, bool})


def _equal(left: Value, right: Value) -> bool:
    """Equality of two values of a device."""
    kind, other = left.__class__, right.__class__
    if kind is Version or other is Version:
        if kind is other:
            return bool(left.key == right.key)
        raise GiveUp
    if kind is not other:
        return False
    return _equal_lists(left, right) if kind is tuple else bool(left == right)


def _equal_lists(left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
    if len(left) != len(right):
        return False
    kinds = {value.__class__ for value in (*left, *right)}
    if len(kinds) > 1 or not kinds <= _PLAIN:
        raise GiveUp
    return left == right


def _member(value: Value, values: tuple[Value, ...]) -> bool:
    """``value in values``."""
    kinds = {item.__class__ for item in values}
    if value.__class__ not in _PLAIN or not kinds <= _PLAIN:
        raise GiveUp
    return any(value == item and value.__class__ is item.__class__ for item in values)


def _includes(target: Value, item: Value) -> bool:
    if target.__class__ is not tuple:
        return _equal(target, item)
    return _member(item, target)


def _compare(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _order(left: Value, right: Value) -> int:
    """-1, 0 or 1 for two ints or two strings."""
    if left.__class__ is not right.__class__ or left.__class__ not in (int, str):
        raise GiveUp
    return _compare(left, right)


def _int64(value: int) -> int:
    if value not in INT64:
        raise GiveUp
    return value


def _signed(value: int) -> int:
    return value if value < 2**63 else value - 2**64


def _lower(text: Value) -> str:
    # str.lower knows more letters than lowerAscii does.
    if text.__class__ is not str:
        raise GiveUp
    return text.lower() if text.isascii() else text.translate(LOWER)


def _upper(text: Value) -> str:
    if text.__class__ is not str:
        raise GiveUp
    return text.upper() if text.isascii() else text.translate(UPPER)


RUNTIME: Final[Mapping[str, Any]] = {
    "__builtins__": {},
    "all": all,
    "any": any,
    "bool": bool,
    "compare": _compare,
    "div": operators.divide,
    "equal": _equal,
    "give_up": _give_up,
    "includes": _includes,
    "int": int,
    "int64": _int64,
    "len": len,
    "lower": _lower,
    "member": _member,
    "mod": operators.modulo,
    "order": _order,
    "signed": _signed,
    "str": str,
    "sum": sum,
    "tuple": tuple,
    "upper": _upper,
}
"""Everything a generated function finds besides its own constants: no builtins."""
