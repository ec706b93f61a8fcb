"""Text as Go's ``%q`` writes it, which many of Kubernetes' messages do.

Source: Go ``strconv.Quote``.
"""

from __future__ import annotations

from typing import Final

import re2

__all__ = ["quoted", "quoted_bytes"]

_ESCAPES: Final = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}

_STRAY: Final = range(0x80, 0x100)  # bytes that are no UTF-8, which Python keeps as code points from U+DC80 on


def quoted(text: str) -> str:
    """The text in double quotes; what cannot be printed is escaped."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    seen = {ord(character): _ESCAPES.get(character) or _visible(character) for character in set(text)}
    return f'"{text.translate(seen)}"'


# Python's tables are of another release of Unicode with each release of Python; Go 1.26 knows Unicode 15.0, RE2 15.1.
_PRINTED: Final = re2.compile(r"[\pL\pM\pN\pP\pS]")
_NOT_YET: Final = frozenset({*range(0x2EBF0, 0x2EE5E), *range(0x2FFC, 0x3000), 0x31EF})


def _visible(character: str) -> str:
    if character.isprintable() if character.isascii() else _is_printed(character):
        return character
    code = ord(character)
    if code - 0xDC00 in _STRAY:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_printed(character: str) -> bool:
    if "\ud800" <= character <= "\udfff" or ord(character) in _NOT_YET:
        return False
    return _PRINTED.fullmatch(character) is not None


def quoted_bytes(value: bytes) -> str:
    """Bytes in double quotes, those that are no UTF-8 escaped."""
    return quoted(value.decode(errors="surrogateescape"))
