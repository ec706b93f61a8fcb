"""The tokens of an expression.

Called by the parser only. What is no token is skipped, as ANTLR does, so that the parser can say more.

Source: github.com/google/cel-go ``parser/gen/CEL.g4`` (lexer rules) and ``parser/unescape.go``.
"""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple

from drakit.cel.syntax.source import Source

__all__ = ["Token", "tokenize", "unescape"]

_SIMPLE_ESCAPE: Final = r"\\[abfnrtv\"'\\?`]"
_ESCAPE: Final = rf"(?:{_SIMPLE_ESCAPE}|\\[0-3][0-7][0-7]|\\[xX][0-9a-fA-F]{{2}}|\\u[0-9a-fA-F]{{4}}|\\U[0-9a-fA-F]{{8}})"
_ESCAPE_BEGUN: Final = r"(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?"
# The long forms come first: '"""' would otherwise be an empty string and the start of another.
_STRING: Final = (
    r"[rR](?:\"\"\".*?\"\"\"|'''.*?'''|\"[^\"\n\r]*\"|'[^'\n\r]*')"
    rf"|\"\"\"(?:{_ESCAPE}|[^\\])*?\"\"\"|'''(?:{_ESCAPE}|[^\\])*?'''"
    rf"|\"(?:{_ESCAPE}|[^\\\"\n\r])*\"|'(?:{_ESCAPE}|[^\\'\n\r])*'"
)
_TOKEN: Final = re.compile(
    rf"""(?P<SKIP>[\t \r\n\f]+|//[^\n]*)
    |(?P<BYTES>[bB](?:{_STRING}))
    |(?P<STRING>{_STRING})
    |(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
    |(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)
    |(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/ ]+`)
    |(?P<OPERATOR>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
    |(?P<NONE>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NO_NAME: Final = re.compile(r"`[A-Za-z0-9_.\-/ ]*.?", re.DOTALL)
_KEYWORDS: Final = frozenset({"in", "true", "false", "null"})
_UNESCAPE: Final = re.compile(r"\\(?:([abfnrtv\"'\\?`])|([0-3][0-7]{2})|[xXuU]([0-9a-fA-F]+))")
_HEX_LENGTH: Final = {"x": 2, "X": 2, "u": 4, "U": 8}
_ESCAPED: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Token(NamedTuple):
    """One token. The kind is the grammar's name, or the text itself for operators and keywords; the last is ``EOF``."""

    kind: str
    text: str
    offset: int


_token: Final = functools.partial(tuple.__new__, Token)  # what Token() does, without a call in between


def tokenize(source: Source) -> tuple[list[Token], list[Token]]:
    """Every token up to ``EOF``, and each piece of text that is none, as a token of the kind ``STRAY``."""
    text, position = source.text, 0
    tokens: list[Token] = []
    stray: list[Token] = []
    while position < len(text):
        for match in _TOKEN.finditer(text, position):
            kind = match.lastgroup
            if kind == "NONE":
                break
            position = match.end()
            if kind != "SKIP":
                word = match.group()
                tokens.append(_token((word if kind == "OPERATOR" or word in _KEYWORDS else kind, word, match.start())))
        if position < len(text):
            bad = _unrecognized(text, position)
            stray.append(Token("STRAY", bad, position))
            position += len(bad)
    tokens.append(Token("EOF", "<EOF>", len(text)))
    return tokens, stray


def _unrecognized(text: str, start: int) -> str:
    """What ANTLR throws away at once: up to and with the character that fits no rule."""
    first = text[start]
    if first in "=&|":
        return text[start : start + 2]
    if first in "\"'":
        bad = re.compile(rf"{first}(?:{_ESCAPE}|[^\\{first}\n\r])*(?:\\{_ESCAPE_BEGUN}.?|[\n\r])?", re.DOTALL).match(
            text, start
        )
        return bad.group() if bad else first
    if first == "`":
        return _NO_NAME.match(text, start)[0]  # type: ignore[index]  # it matches the backtick at least
    return first


def unescape(literal: str) -> str:
    """The value of a string token.

    :raises ValueError: an escape that is no code point, with cel-go's text.
    """
    literal = literal.replace("\r\n", "\n").replace("\r", "\n")
    raw = literal[0] in "rR"
    literal = literal[1:] if raw else literal
    quotes = 3 if len(literal) >= 6 and literal[:3] in ('"""', "'''") else 1
    body = literal[quotes:-quotes]
    return body if raw else _UNESCAPE.sub(_unescaped, body)


def _unescaped(match: re.Match[str]) -> str:
    simple, octal, hexadecimal = match.groups()
    if simple is not None:
        return _ESCAPED.get(simple, simple)
    if octal is not None:
        return chr(int(octal, 8))
    length = _HEX_LENGTH[match.group()[1]]
    code_point = int(hexadecimal[:length], 16)
    if code_point > 0x10FFFF or 0xD800 <= code_point <= 0xDFFF:
        raise ValueError("invalid unicode code point")
    return chr(code_point) + hexadecimal[length:]
