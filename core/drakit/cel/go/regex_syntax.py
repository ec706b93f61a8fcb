r"""The grammar of Go's regular expressions, and the same pattern as RE2 reads it.

Both come from one author and agree on nearly everything, but not on what is an error nor on what it is called: Go knows no
``\C``, more names for classes of characters, other names for groups, and counts nesting and size in its own way. So the
pattern is read as Go does, with Go's errors, and written again in a form about which there can be no two opinions.

Source: Go ``regexp/syntax`` (``parse.go``).
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from attrs import define, field

__all__ = ["PatternError", "translated"]

_MAX_HEIGHT: Final = 1000
_MAX_SIZE: Final = 128 * 2**20 // 40  # what fits 128 MiB of Go's instructions
_MAX_REPEAT: Final = 1000
_MAX_CODE_POINT: Final = 0x10FFFF
_ALNUM: Final = frozenset(string.ascii_letters + string.digits)
_OCTAL: Final = frozenset(string.octdigits)
_HEX: Final = frozenset(string.hexdigits)
_CONTROL: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_PERL: Final = frozenset("dDsSwW")
_POSIX: Final = frozenset("alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split())
_REPEAT: Final = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_FLAGS: Final = frozenset("imsU")
_CATEGORIES: Final = frozenset(
    "C Cc Cf Cn Co Cs L LC Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs".split()
)
_ALIASES: Final[Mapping[str, str]] = {
    name: category
    for name, _, category in (
        alias.partition(":")
        for alias in """
    Any:Any Ascii:ASCII Assigned:Assigned Casedletter:LC Closepunctuation:Pe Cntrl:Cc Combiningmark:M
    Connectorpunctuation:Pc Control:Cc Currencysymbol:Sc Dashpunctuation:Pd Decimalnumber:Nd Digit:Nd Enclosingmark:Me
    Finalpunctuation:Pf Format:Cf Initialpunctuation:Pi Lc:LC Letter:L Letternumber:Nl Lineseparator:Zl
    Lowercaseletter:Ll Mark:M Mathsymbol:Sm Modifierletter:Lm Modifiersymbol:Sk Nonspacingmark:Mn Number:N
    Openpunctuation:Ps Other:C Otherletter:Lo Othernumber:No Otherpunctuation:Po Othersymbol:So Paragraphseparator:Zp
    Privateuse:Co Punct:P Punctuation:P Separator:Z Spaceseparator:Zs Spacingmark:Mc Surrogate:Cs Symbol:S
    Titlecaseletter:Lt Unassigned:Cn Uppercaseletter:Lu
    """.split()
    )
}


class PatternError(ValueError):
    """Not a pattern; ``str()`` is what Go says."""

    def __init__(self, code: str, part: str) -> None:
        super().__init__(f"error parsing regexp: {code}: `{part}`")


@define
class _Piece:
    """A part of a pattern: what is measured of it."""

    text: str
    height: int = 1
    size: int = 1
    repeats: int = 1
    """The product of the counts on the way to its innermost part."""
    kind: str = ""
    """``literal``, ``concat``, ``alternate`` or ``repeat``; such parts may melt into their neighbours."""


@define
class _Group:
    """An open group: finished alternatives, and the one at hand."""

    opening: str = ""
    captures: bool = False
    alternatives: list[_Piece] = field(factory=list)
    parts: list[_Piece | str] = field(factory=list)
    """Pieces of the alternative at hand, and between them flags."""

    @property
    def pieces(self) -> list[_Piece]:
        return [part for part in self.parts if isinstance(part, _Piece)]


def translated(pattern: str, property_of: Callable[[str], str | None]) -> str:
    """The pattern for RE2.

    :param property_of: what stands for a class of Unicode inside brackets; None where there is no such class.
    :raises PatternError: Go refuses it.
    """
    return _Reader(pattern, property_of).read()


def _character(code_point: int) -> str:
    character = chr(code_point)
    return character if character in _ALNUM else f"\\x{{{code_point:x}}}"


class _Reader:
    def __init__(self, pattern: str, property_of: Callable[[str], str | None]) -> None:
        self.pattern = pattern
        self.property_of = property_of
        self.position = 0
        self.groups = [_Group()]

    # -- helpers --------------------------------------------------------------------------------------------------

    @property
    def rest(self) -> str:
        return self.pattern[self.position :]

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def next(self) -> str:
        """The next character, which there must be."""
        character = self.pattern[self.position]
        if "\ud800" <= character <= "\udfff":
            raise PatternError("invalid UTF-8", self.rest)
        self.position += 1
        return character

    def since(self, start: int) -> str:
        return self.pattern[start : self.position]

    def push(self, piece: _Piece) -> None:
        if piece.height > _MAX_HEIGHT:
            raise PatternError("expression nests too deeply", self.pattern)
        if piece.size > _MAX_SIZE:
            raise PatternError("expression too large", self.pattern)
        self.groups[-1].parts.append(piece)

    def literal(self, code_point: int) -> None:
        self.push(_Piece(_character(code_point), kind="literal"))

    # -- reading --------------------------------------------------------------------------------------------------

    def read(self) -> str:
        last_repeat = -1
        while self.position < len(self.pattern):
            start = self.position
            repeated = self.repetition(last_repeat)
            last_repeat = start if repeated else -1
            if not repeated:
                self.part()
        if len(self.groups) > 1:
            raise PatternError("missing closing )", self.pattern)
        return self.closed(self.groups[-1]).text

    def part(self) -> None:
        character = self.next()
        group = self.groups[-1]
        if character == "(":
            self.open()
        elif character == ")":
            self.close()
        elif character == "|":
            group.alternatives.append(self.joined(group))
            group.parts = []
        elif character in "^$.":
            self.push(_Piece(character))
        elif character == "[":
            self.push(_Piece(self.char_class()))
        elif character == "\\":
            self.escape()
        else:
            self.literal(ord(character))

    def open(self) -> None:
        if not self.peek("?"):
            self.groups.append(_Group("(?:", captures=True))
            return
        start = self.position - 1
        rest = self.pattern[start:]
        after = 4 if rest[2:4] == "P<" and len(rest) > 4 else 3 if rest[2:3] == "<" and len(rest) > 3 else 0
        if not after:
            self.flags(start)
            return
        end = rest.find(">")
        if end < 0:
            raise PatternError("invalid named capture", rest)
        if not rest[after:end] or not (_ALNUM | {"_"}).issuperset(rest[after:end]):
            raise PatternError("invalid named capture", rest[: end + 1])
        self.position = start + end + 1
        self.groups.append(_Group("(?:", captures=True))

    def flags(self, start: int) -> None:
        self.next()
        negated = seen = False
        while self.position < len(self.pattern):
            character = self.next()
            if character in _FLAGS:
                seen = True
            elif character == "-" and not negated:
                negated, seen = True, False
            elif character in ":)" and (seen or not negated):
                flags = self.since(start)
                if character == ":":
                    self.groups.append(_Group(flags))
                elif flags != "(?)":
                    self.groups[-1].parts.append(flags)
                return
            else:
                break
        raise PatternError("invalid or unsupported Perl syntax", self.since(start))

    def close(self) -> None:
        group = self.groups.pop()
        if not self.groups:
            raise PatternError("unexpected )", self.pattern)
        inside = self.closed(group)
        text = f"{group.opening}{inside.text})"
        if group.captures:
            self.push(_Piece(text, inside.height + 1, inside.size + 2, inside.repeats))
        else:
            self.push(_Piece(text, inside.height, inside.size, inside.repeats, inside.kind))

    def joined(self, group: _Group) -> _Piece:
        """The alternative at hand as one piece."""
        text = "".join(part if isinstance(part, str) else part.text for part in group.parts)
        pieces = group.pieces
        kind = "literal" if all(piece.kind == "literal" for piece in pieces) and pieces else "concat"
        if len(pieces) == 1:
            kind = pieces[0].kind
        deepest = max((piece.height - (piece.kind == "concat") for piece in pieces), default=0)
        height = deepest if kind == "literal" or len(pieces) <= 1 else deepest + 1
        if len(pieces) == 1:
            height = pieces[0].height
        size = max(1, sum(piece.size for piece in pieces))
        return _Piece(text, max(1, height), size, max((piece.repeats for piece in pieces), default=1), kind)

    def closed(self, group: _Group) -> _Piece:
        """A whole group as one piece."""
        alternatives = [*group.alternatives, self.joined(group)]
        if len(alternatives) == 1:
            return alternatives[0]
        text = "|".join(alternative.text for alternative in alternatives)
        height = 1 + max(alternative.height - (alternative.kind == "alternate") for alternative in alternatives)
        size = sum(alternative.size for alternative in alternatives) + len(alternatives) - 1
        return _Piece(text, height, size, max(alternative.repeats for alternative in alternatives), "alternate")

    # -- repetition -----------------------------------------------------------------------------------------------

    def repetition(self, last_repeat: int) -> bool:
        """A repetition at this place; False where there is none.

        :param last_repeat: where the part before begins, if it was one too.
        """
        start = self.position
        low, high = 0, -1
        match = None
        if self.peek("*") or self.peek("+") or self.peek("?"):
            self.position += 1
        else:
            match = _REPEAT.match(self.pattern, start)
            if match is None:
                return False
            self.position = match.end()
            low = int(match[1]) if len(match[1]) < 10 else -1
            high = low if match[2] is None else -1 if match[3] is None else int(match[3]) if len(match[3]) < 10 else 10**9
            if not 0 <= low <= _MAX_REPEAT or high > _MAX_REPEAT or 0 <= high < low:
                raise PatternError("invalid repeat count", self.since(start))
        if self.peek("?"):
            self.position += 1
        if last_repeat >= 0:
            raise PatternError("invalid nested repetition operator", self.since(last_repeat))
        group = self.groups[-1]
        if not any(isinstance(part, _Piece) for part in group.parts):
            raise PatternError("missing argument to repetition operator", self.since(start))
        self.repeat(group, self.since(start), None if match is None else (low, high), start)
        return True

    def repeat(self, group: _Group, operator: str, bounds: tuple[int, int] | None, start: int) -> None:
        flags: list[_Piece | str] = []
        while isinstance(part := group.parts.pop(), str):  # flags before the operator don't change what is repeated
            flags.insert(0, part)
        piece = part
        size, repeats = piece.size + 2, piece.repeats
        if bounds is None:
            size -= operator[0] != "*"
        else:
            low, high = bounds
            count = low if high < 0 else high
            repeats = 1 if high == 0 else piece.repeats * max(1, count)
            size = high * piece.size + high - low if high >= 0 else 1 + low * piece.size if low else size
            if max(bounds) >= 2 and repeats > _MAX_REPEAT:
                raise PatternError("invalid repeat count", self.since(start))
        operand = f"(?:{piece.text})" if piece.kind == "repeat" else piece.text
        self.push(_Piece(operand + operator, piece.height + 1, max(1, size), repeats, "repeat"))
        group.parts.extend(flags)

    # -- escapes --------------------------------------------------------------------------------------------------

    def escape(self) -> None:
        """What follows a backslash outside brackets."""
        start = self.position - 1
        following = self.pattern[self.position : self.position + 1]
        if following in ("A", "b", "B", "z"):
            self.position += 1
            self.push(_Piece(f"\\{following}"))
        elif following == "C":
            raise PatternError("invalid escape sequence", "\\C")
        elif following == "Q":
            self.position += 1
            end = self.pattern.find("\\E", self.position)
            end = len(self.pattern) if end < 0 else end
            while self.position < end:
                self.literal(ord(self.next()))
            self.position = min(end + 2, len(self.pattern))
        elif following in ("p", "P"):
            negated, ranges = self.unicode_class(start)
            self.push(_Piece(f"[{'^' if negated else ''}{ranges}]"))
        elif following in _PERL and following:
            self.position += 1
            self.push(_Piece(f"\\{following}"))
        else:
            self.literal(self.escaped(start))

    def escaped(self, start: int) -> int:
        """The code point of an escape that stands for one character."""
        if self.position == len(self.pattern):
            raise PatternError("trailing backslash at end of expression", "")
        character = self.next()
        if character in _CONTROL:
            return _CONTROL[character]
        if character in _OCTAL and (character == "0" or self.pattern[self.position : self.position + 1] in _OCTAL):
            digits = character
            while len(digits) < 3 and self.pattern[self.position : self.position + 1] in _OCTAL:
                digits += self.next()
            return int(digits, 8)
        if character == "x":
            code_point = self.hexadecimal()
            if code_point is not None:
                return code_point
        elif character.isascii() and character not in _ALNUM:
            return ord(character)
        raise PatternError("invalid escape sequence", self.since(start))

    def hexadecimal(self) -> int | None:
        if self.position == len(self.pattern):
            return None
        first = self.next()
        if first != "{":
            both = first + ("" if self.position == len(self.pattern) else self.next())
            return int(both, 16) if len(both) == 2 and _HEX.issuperset(both) else None
        number, digits = 0, 0
        while self.position < len(self.pattern):
            character = self.next()
            if character == "}":
                return number if digits else None
            if character not in _HEX:
                return None
            number = number * 16 + int(character, 16)
            digits += 1
            if number > _MAX_CODE_POINT:
                return None
        return None

    def unicode_class(self, start: int) -> tuple[bool, str]:
        """Whether it is negated, and what stands for it inside brackets."""
        negated = self.next() == "P"
        character = self.next() if self.position < len(self.pattern) else ""
        name = character
        if character == "{":
            end = self.pattern.find("}", start)
            if end < 0:
                raise PatternError("invalid character class range", self.pattern[start:])
            name = self.pattern[self.position : end]
            self.position = end + 1
        if name.startswith("^"):
            negated, name = not negated, name[1:]
        found = self.property_of(_property(name))
        if found is None:
            raise PatternError("invalid character class range", self.since(start))
        return negated, found

    # -- classes --------------------------------------------------------------------------------------------------

    def char_class(self) -> str:
        start = self.position - 1
        negated = self.peek("^")
        self.position += negated
        parts: list[str] = []
        while not parts or not self.peek("]"):
            parts.append(self.class_part(start))
        self.position += 1
        return f"[{'^' if negated else ''}{''.join(parts)}]"

    def class_part(self, start: int) -> str:
        begin = self.position
        if self.peek("[:") and len(self.pattern) > begin + 2:
            end = self.pattern.find(":]", begin + 2)
            if end >= 0:
                name = self.pattern[begin : end + 2]
                if name[2:-2].removeprefix("^") not in _POSIX or name.startswith("[:^^"):
                    raise PatternError("invalid character class range", name)
                self.position = end + 2
                return name
        following = self.pattern[begin + 1 : begin + 2]
        if self.peek("\\") and following in ("p", "P"):
            self.position += 1
            negated, ranges = self.unicode_class(begin)
            return _negated(ranges) if negated else ranges
        if self.peek("\\") and following in _PERL and following:
            self.position += 2
            return f"\\{following}"
        low = high = self.class_character(start)
        if self.peek("-") and self.pattern[self.position + 1 : self.position + 2] not in ("", "]"):
            self.position += 1
            high = self.class_character(start)
            if high < low:
                raise PatternError("invalid character class range", self.since(begin))
        return f"\\x{{{low:x}}}-\\x{{{high:x}}}"

    def class_character(self, start: int) -> int:
        if self.position == len(self.pattern):
            raise PatternError("missing closing ]", self.pattern[start:])
        if self.peek("\\"):
            self.position += 1
            return self.escaped(self.position - 1)
        return ord(self.next())


def _property(name: str) -> str:
    """A name of a class of Unicode as Go looks it up: case, blanks, hyphens and underscores don't count."""
    plain = re.sub("[-_ ]", "", name)
    plain = (plain[:1].upper() if plain[:1].isascii() else plain[:1]) + "".join(
        character.lower() if character.isascii() else character for character in plain[1:]
    )
    return plain if plain in _CATEGORIES else _ALIASES.get(plain, plain)


_RANGE: Final = re.compile(r"\\x\{([0-9a-f]+)\}-\\x\{([0-9a-f]+)\}")


def _negated(ranges: str) -> str:
    """The complement of what stands inside brackets."""
    if ranges.startswith("\\p"):
        return "\\P" + ranges[2:]
    return "".join(_gaps([(int(low, 16), int(high, 16)) for low, high in _RANGE.findall(ranges)]))


def _gaps(ranges: list[tuple[int, int]]) -> Iterator[str]:
    low = 0
    for start, end in sorted(ranges):
        if start > low:
            yield f"\\x{{{low:x}}}-\\x{{{start - 1:x}}}"
        low = max(low, end + 1)
    if low <= _MAX_CODE_POINT:
        yield f"\\x{{{low:x}}}-\\x{{{_MAX_CODE_POINT:x}}}"
