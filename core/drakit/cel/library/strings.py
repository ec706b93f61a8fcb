"""Functions of strings; positions count code points.

Source: github.com/google/cel-go ``ext/strings.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from drakit.cel.go.printing import printed
from drakit.cel.library.bounds import check_text
from drakit.cel.values import Fault, Value, no_such_overload

__all__ = [
    "LOWER",
    "SPACE",
    "UPPER",
    "char_at",
    "index_of",
    "join",
    "last_index_of",
    "of_some",
    "on_strings",
    "quote",
    "replace",
    "split",
    "substring",
]

SPACE: Final = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
    "\u205f\u3000"
)
LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
UPPER: Final = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}


def on_strings(function: Callable[[str, str], bool]) -> Callable[..., Value]:
    """``contains`` and its kin, which cel-go calls with any types."""

    def checked(text: Value, part: Value) -> bool:
        if not isinstance(text, str) or not isinstance(part, str):
            raise no_such_overload()
        return function(text, part)

    return checked


def _within(index: int, limit: int) -> int:
    if not 0 <= index <= limit:
        raise Fault(f"index out of range: {index}")
    return index


def char_at(text: str, index: int) -> str:
    """One character; at the end, none."""
    start = _within(index, len(text))
    return text[start : start + 1]


def index_of(text: str, part: str, offset: int = 0) -> int:
    """Where a part first begins, or -1."""
    if offset < 0:
        raise Fault(f"index out of range: {offset}")
    return text.find(part, offset) if part else min(offset, len(text))


def last_index_of(text: str, part: str, offset: int | None = None) -> int:
    """Where a part last begins, or -1."""
    if offset is None:
        return text.rfind(part)
    if offset < 0:
        raise Fault(f"index out of range: {offset}")
    if not part:
        return min(offset, len(text))
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def of_some(find: Callable[..., int]) -> Callable[..., int]:
    """``indexOf`` and ``lastIndexOf`` before Kubernetes 1.37: nothing is found wherever it is looked for."""

    def index(text: str, part: str, offset: int | None = None) -> int:
        if part or offset is None:
            return find(text, part) if offset is None else find(text, part, offset)
        return offset

    return index


def substring(text: str, start: int, end: int | None = None) -> str:
    """From ``start`` up to before ``end``."""
    if end is not None and start > end:
        raise Fault(f"invalid substring range. start: {start}, end: {end}")
    _within(start, len(text))
    return text[start : _within(len(text) if end is None else end, len(text))]


def replace(text: str, old: str, new: str, count: int = -1) -> str:
    """At most ``count`` times; a negative count is no limit."""
    if len(new) > len(old):
        check_text(len(text) + (len(new) - len(old)) * (len(text) + 1 if not old else text.count(old)), text, new)
    return text.replace(old, new, count if count >= 0 else -1)


def split(text: str, separator: str, count: int = -1) -> tuple[str, ...]:
    """Into at most ``count`` parts; a negative count is no limit."""
    if count == 0:
        return ()
    if not separator:
        parts = list(text)
        return tuple(parts if count < 0 or count >= len(parts) else [*parts[: count - 1], "".join(parts[count - 1 :])])
    return tuple(text.split(separator, count - 1 if count > 0 else -1))


def join(parts: tuple[Value, ...], separator: str = "") -> str:
    """The parts with a separator between them."""
    for part in parts:
        if not isinstance(part, str):
            raise Fault(f"join: invalid input: {printed(part)}")
    check_text(sum(map(len, parts)) + len(separator) * len(parts), separator, *parts)
    return separator.join(parts)


_ESCAPES: Final = str.maketrans(
    {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\""}
    | dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
)


def quote(text: str) -> str:
    """A text in double quotes, as it could stand in an expression."""
    return f'"{text.translate(_ESCAPES)}"'
