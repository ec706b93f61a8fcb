"""How long texts and lists may become. Kubernetes has no such bounds, and an expression that reaches them takes its memory."""

from __future__ import annotations

from typing import Final

from drakit.cel.values import NotDecided

__all__ = ["check_list", "check_text"]

_LARGEST_TEXT: Final = 40_000_000
_LONGEST_LIST: Final = 5_000_000
_WIDEST: Final = 4


def check_text(length: int, *parts: str | bytes) -> None:
    """Before a text or bytes of a length are made of parts.

    :raises NotDecided: it is too large.
    """
    if length * _WIDEST > _LARGEST_TEXT and length * max(map(_width, parts)) > _LARGEST_TEXT:
        raise NotDecided(f"a string of more than {_LARGEST_TEXT} bytes")


def _width(part: str | bytes) -> int:
    """Bytes for a character, at most."""
    return 1 if isinstance(part, bytes) or part.isascii() else _WIDEST


def check_list(length: int) -> None:
    """Before a list of a length is made.

    :raises NotDecided: it is too long.
    """
    if length > _LONGEST_LIST:
        raise NotDecided(f"a list longer than {_LONGEST_LIST}")
