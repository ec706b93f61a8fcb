r"""Regular expressions for ``matches``: the part of RE2 that can be decided here with certainty.

Python's ``re`` backtracks and differs from RE2 in many small ways; this is a set-of-states simulation, linear in the
text like RE2's. ``matches`` only asks whether there is a match, so greediness does not count.

Known: literals and their escapes, ``.``, classes with ranges, Perl and POSIX names, groups, ``|``, ``* + ? {n,m}``,
``^ $ \A \z``, ``\b \B``, and a leading ``(?i)`` for ASCII. Everything else is :class:`Unsupported`.

Source: Go ``regexp/syntax`` (grammar, limits, what is an error).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from attrs import frozen

__all__ = ["Pattern", "Unsupported", "compile"]

Ranges: TypeAlias = tuple[tuple[int, int], ...]

_MAX_CODE_POINT: Final = 0x10FFFF
_MAX_REPEAT: Final = 1000
_MAX_STATES: Final = 5000
_MAX_NESTING: Final = 50


class Unsupported(Exception):  # for the evaluator, which turns it into one of drakit's errors
    """RE2 may take this pattern; nothing is known here."""


class _State(NamedTuple):
    """One instruction: ``kind`` is char, split, or the name of an assertion; ``targets`` are states to go on with."""

    kind: str
    ranges: Ranges
    targets: list[int]


def _ranges(*pairs: str) -> Ranges:
    return tuple((ord(pair[0]), ord(pair[-1])) for pair in pairs)


def _negated(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    low = 0
    for start, end in sorted(ranges):
        if start > low:
            gaps.append((low, start - 1))
        low = max(low, end + 1)
    if low <= _MAX_CODE_POINT:
        gaps.append((low, _MAX_CODE_POINT))
    return tuple(gaps)


_DIGIT: Final = _ranges("09")
_WORD: Final = _ranges("09", "AZ", "_", "az")
_SPACE: Final = _ranges("\t\n", "\f\r", " ")
_PERL: Final = {"d": _DIGIT, "w": _WORD, "s": _SPACE} | {
    "D": _negated(_DIGIT),
    "W": _negated(_WORD),
    "S": _negated(_SPACE),
}
_POSIX: Final = {
    "alnum": _ranges("09", "AZ", "az"), "alpha": _ranges("AZ", "az"), "ascii": ((0, 0x7F),), "blank": _ranges("\t", " "),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)), "digit": _DIGIT, "graph": _ranges("!~"), "lower": _ranges("az"),
    "print": _ranges(" ~"), "punct": _ranges("!/", ":@", "[`", "{~"), "space": _ranges("\t\r", " "),
    "upper": _ranges("AZ"), "word": _WORD, "xdigit": _ranges("09", "AF", "af"),
}  # fmt: skip
_CONTROL: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ASSERTIONS: Final = {"A": "start", "z": "end", "b": "boundary", "B": "inside"}
_ANY: Final = ((0, 9), (11, _MAX_CODE_POINT))
_REPEAT: Final = re.compile(r"\{([0-9]+)(?:(,)([0-9]+)?)?\}", re.ASCII)
_GROUP_NAME: Final = re.compile(r"\?P?<[A-Za-z_][A-Za-z0-9_]*>", re.ASCII)
# The two letters outside ASCII that fold to one inside.
_FOLDS_OUT: Final = {"k": 0x212A, "s": 0x17F}


@frozen
class Pattern:
    """A compiled pattern."""

    size: int
    """Length of the pattern and number of states, whichever is more."""
    _states: tuple[_State, ...]
    _start: int

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        current: set[int] = set()
        for position in range(len(text) + 1):
            reached = self._closure({self._start} | current, text, position)
            if reached is None:
                return True
            if position == len(text):
                break
            code_point = ord(text[position])
            current = {
                target
                for index in reached
                for target in self._states[index].targets
                if any(low <= code_point <= high for low, high in self._states[index].ranges)
            }
        return False

    def _closure(self, states: Iterable[int], text: str, position: int) -> set[int] | None:
        """The character states reachable at a position; None when the pattern's end is."""
        pending, seen, characters = list(states), set(states), set[int]()
        while pending:
            index = pending.pop()
            state = self._states[index]
            if state.kind == "match":
                return None
            if state.kind == "char":
                characters.add(index)
            elif state.kind == "split" or _holds(state.kind, text, position):
                for target in state.targets:
                    if target not in seen:
                        seen.add(target)
                        pending.append(target)
        return characters


def _holds(assertion: str, text: str, position: int) -> bool:
    if assertion == "start":
        return position == 0
    if assertion == "end":
        return position == len(text)
    before = position > 0 and _is_word(text[position - 1])
    after = position < len(text) and _is_word(text[position])
    return (before != after) == (assertion == "boundary")


def _is_word(character: str) -> bool:
    return any(low <= ord(character) <= high for low, high in _WORD)


@functools.lru_cache(maxsize=256)
def compile(pattern: str) -> Pattern:  # noqa: A001  # as in re.compile
    """Read a pattern.

    :raises ValueError: RE2 refuses it too.
    :raises Unsupported: beyond what is known here.
    """
    builder = _Builder(pattern)
    start, ends = builder.alternatives(0)
    if not builder.done:
        raise ValueError("unexpected )")
    builder.connect(ends, builder.add("match"))
    return Pattern(max(len(pattern), len(builder.states)), tuple(builder.states), start)


Fragment: TypeAlias = tuple[int, list[int]]
"""A part of the machine: its first state, and the states whose targets are still open."""


class _Builder:
    """A descent over the pattern that builds the machine as it goes."""

    def __init__(self, pattern: str) -> None:
        self.fold = pattern.startswith("(?i)")
        self.pattern = pattern
        self.position = 4 if self.fold else 0
        self.states: list[_State] = []

    @property
    def done(self) -> bool:
        return self.position >= len(self.pattern)

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def accept(self, text: str) -> bool:
        if not self.peek(text):
            return False
        self.position += len(text)
        return True

    def next(self) -> str:
        if self.done:
            raise ValueError("unexpected end")
        self.position += 1
        return self.pattern[self.position - 1]

    def add(self, kind: str, ranges: Ranges = (), targets: Iterable[int] = ()) -> int:
        if len(self.states) >= _MAX_STATES:
            raise Unsupported
        self.states.append(_State(kind, ranges, list(targets)))
        return len(self.states) - 1

    def connect(self, ends: list[int], target: int) -> None:
        for end in ends:
            self.states[end].targets.append(target)

    def alternatives(self, depth: int) -> Fragment:
        if depth > _MAX_NESTING:
            raise Unsupported
        branches = [self.sequence(depth)]
        while self.accept("|"):
            branches.append(self.sequence(depth))
        if len(branches) == 1:
            return branches[0]
        start = self.add("split", targets=[first for first, _ in branches])
        return start, [end for _, ends in branches for end in ends]

    def sequence(self, depth: int) -> Fragment:
        start = self.add("split")
        ends = [start]
        while not self.done and not self.peek("|") and not self.peek(")"):
            first, last = self.repeated(depth)
            self.connect(ends, first)
            ends = last
        return start, ends

    def repeated(self, depth: int) -> Fragment:
        begin = self.position
        fragment = self.atom(depth)
        bounds = self.repeat()
        if bounds is None:
            return fragment
        end = self.position
        if "{" in self.pattern[begin:end] and bounds not in ((0, None), (1, None), (0, 1)):
            # RE2 limits the product of nested counts; leave nested ones to it.
            inner = self.pattern[begin:end]
            if len(_REPEAT.findall(inner)) > 1:
                raise Unsupported
        if self.repeat() is not None:
            raise ValueError("invalid nested repetition operator")
        return self.times(begin, depth, fragment, bounds, end)

    def repeat(self) -> tuple[int, int | None] | None:
        """The bounds of a repetition at this place; None where there is none."""
        for text, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.accept(text):
                self.accept("?")
                return bounds
        match = _REPEAT.match(self.pattern, self.position)
        if match is None:
            return None
        self.position = match.end()
        self.accept("?")
        if len(match[1]) > 4 or len(match[3] or "") > 4:
            raise ValueError("invalid repeat count")
        low = int(match[1])
        high = low if match[2] is None else int(match[3]) if match[3] else None
        if low > _MAX_REPEAT or (high is not None and (high > _MAX_REPEAT or high < low)):
            raise ValueError("invalid repeat count")
        return low, high

    def times(self, begin: int, depth: int, first: Fragment, bounds: tuple[int, int | None], end: int) -> Fragment:
        """An atom repeated; each copy is read again from the pattern."""
        low, high = bounds
        copies = [first]
        for _ in range(max(low, high or 0, 1) - 1 + (high is None and low > 0)):
            self.position = begin
            copies.append(self.atom(depth))
        self.position = end
        start = self.add("split")
        ends: list[int] = [start]
        exits: list[int] = []
        for index, (entry, last) in enumerate(copies):
            loops = high is None and index == len(copies) - 1
            if index >= low:
                skip = self.add("split")
                self.connect(ends, skip)
                exits.append(skip)
                self.connect([skip], entry)
                if loops:
                    self.connect(last, skip)
                    return start, exits
            else:
                self.connect(ends, entry)
            ends = last
        return start, (exits + ends if high else [*exits, start])

    def atom(self, depth: int) -> Fragment:
        character = self.next()
        if character in "*+?":
            raise ValueError("missing argument to repetition operator")
        if character == "(":
            return self.group(depth)
        if character == "[":
            return self.single(self.char_class())
        if character == ".":
            return self.single(_ANY, fold=False)
        if character in "^$":
            return self.assertion("start" if character == "^" else "end")
        if character == "\\":
            return self.escape()
        if character == "{" and _REPEAT.match(self.pattern, self.position - 1):
            raise ValueError("missing argument to repetition operator")
        return self.single(_ranges(character))

    def single(self, ranges: Ranges, *, fold: bool = True) -> Fragment:
        state = self.add("char", self.folded(ranges) if self.fold and fold else ranges)
        return state, [state]

    def assertion(self, kind: str) -> Fragment:
        state = self.add(kind)
        return state, [state]

    def group(self, depth: int) -> Fragment:
        if self.peek("?"):
            name = _GROUP_NAME.match(self.pattern, self.position)
            if name:
                self.named(name.group())
                self.position = name.end()
            elif not self.accept("?:"):
                if self.pattern[self.position : self.position + 2] in ("?=", "?!") or self.pattern[
                    self.position : self.position + 3
                ] in ("?<=", "?<!"):
                    raise ValueError("invalid or unsupported Perl syntax")
                raise Unsupported
        fragment = self.alternatives(depth + 1)
        if not self.accept(")"):
            raise ValueError("missing closing )")
        return fragment

    def named(self, group: str) -> None:
        name = group.partition("<")[2]
        if len(re.findall(rf"\(\?P?<{re.escape(name)}", self.pattern)) > 1:
            raise Unsupported  # a duplicate, unless it is inside a class

    def escape(self) -> Fragment:
        character = self.next()
        if character in _ASSERTIONS:
            return self.assertion(_ASSERTIONS[character])
        if character in _PERL:
            return self.single(_PERL[character], fold=False)
        code_point = self.escaped(character)
        return self.single(((code_point, code_point),))

    def escaped(self, character: str) -> int:
        """The code point of an escape that stands for one character."""
        if character in _CONTROL:
            return _CONTROL[character]
        if character == "x":
            match = re.compile(r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2})").match(self.pattern, self.position)
            if match is None or int(match[1] or match[2], 16) > _MAX_CODE_POINT:
                raise ValueError("invalid escape sequence")
            self.position = match.end()
            return int(match[1] or match[2], 16)
        if character.isascii() and character.isalnum():
            if character in "123456789":
                following = self.pattern[self.position : self.position + 1]
                if character in "89" or not following or following not in "01234567":
                    raise ValueError("invalid escape sequence")
            raise Unsupported
        if not character.isascii():
            raise ValueError("invalid escape sequence")
        return ord(character)

    def char_class(self) -> Ranges:
        negated = self.accept("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not self.peek("]"):
            first = False
            ranges.extend(self.class_part())
        self.next()
        folded = self.folded(tuple(ranges)) if self.fold else tuple(ranges)
        if negated and self.fold:
            raise Unsupported
        return _negated(folded) if negated else folded

    def class_part(self) -> Ranges:
        posix = re.compile(r"\[:(\^?)(\w+):\]", re.ASCII).match(self.pattern, self.position)
        if posix:
            if posix[2] not in _POSIX:
                raise ValueError("invalid character class range")
            self.position = posix.end()
            named = _POSIX[posix[2]]
            return _negated(named) if posix[1] else named
        if self.peek("[:"):
            raise Unsupported
        if self.peek("\\"):
            perl = self.pattern[self.position + 1 : self.position + 2]
            if perl and perl in _PERL:
                self.position += 2
                return _PERL[perl]
        low = self.class_character()
        if self.peek("-") and not self.pattern.startswith("-]", self.position):
            self.next()
            high = self.class_character()
            if high < low:
                raise ValueError("invalid character class range")
            return ((low, high),)
        return ((low, low),)

    def class_character(self) -> int:
        character = self.next()
        if character != "\\":
            return ord(character)
        escaped = self.next()
        if escaped.isalpha() and escaped not in "afnrtvx":
            raise Unsupported
        return self.escaped(escaped)

    def folded(self, ranges: Ranges) -> Ranges:
        """Ranges with the other case of every letter; beyond ASCII nothing is known."""
        more: list[tuple[int, int]] = []
        for low, high in ranges:
            if high > 0x7F:
                raise Unsupported
            for code_point in range(low, high + 1):
                letter = chr(code_point)
                if letter.isalpha():
                    other = ord(letter.swapcase())
                    more.append((other, other))
                    extra = _FOLDS_OUT.get(letter.lower())
                    if extra:
                        more.append((extra, extra))
        return (*ranges, *more)
