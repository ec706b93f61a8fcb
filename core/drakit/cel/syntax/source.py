"""From offsets in an expression to lines, columns and carets.

The lexer, the parser and the checker count in code points; people are told lines and columns.

Source: github.com/google/cel-go ``common/source.go`` and ``common/error.go``.
"""

from __future__ import annotations

import bisect
import re
from typing import Final

from drakit.cel.errors import Issue, UnsupportedExpression

__all__ = ["Source"]

_MAX_SNIPPET: Final = 16384  # bytes; longer lines are left out of the message


class Source:
    """The text of an expression and where its lines begin."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(newline.end() for newline in re.finditer("\n", text))]

    def issue(self, offset: int, message: str) -> Issue:
        """The issue at a code point; a negative offset means the expression has no such place."""
        if offset < 0:
            return Issue(message, -1, 0)
        if not self.text:
            return Issue(message, 1, 0)  # cel-go's place for the end of nothing
        line = bisect.bisect_right(self._starts, offset)
        column = offset - self._starts[line - 1]
        return Issue(message, line, column + 1, self._snippet)

    def unsupported(self, offset: int, construct: str) -> UnsupportedExpression:
        """The error for something at a code point that drakit cannot decide yet."""
        return UnsupportedExpression(construct, self.issue(offset, construct))

    def _snippet(self, line: int, column: int) -> str:
        column -= 1
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
        shown = self.text[start:end].replace("\t", " ")
        if len(shown.encode(errors="surrogatepass")) > _MAX_SNIPPET:
            return ""
        # Wide characters get a wide dot, so that the caret stands under its place.
        dots = "".join("." if ord(character) < 0x80 else "\uff0e" for character in shown[:column])
        caret = "^" if ord(shown[column : column + 1] or " ") < 0x80 else "\uff3e"
        return f"\n | {shown}\n | {dots}{caret}"
