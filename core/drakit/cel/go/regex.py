r"""Regular expressions: Go's, run by RE2.

RE2 never takes longer than linear time, and finds what Go finds. Its tables are of another release of Unicode (15.1 where
Go 1.26 has 15.0), which shows in a few hundred characters of ``\p{Han}``, ``\p{Common}``, ``\pL``, ``\pS`` and their kin.

Source: Go ``regexp``; github.com/google/re2.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import re2
from attrs import field, frozen

from drakit.cel.go.regex_syntax import PatternError, translated

__all__ = ["Pattern", "PatternError", "Unsupported", "compile"]

# Bytes for one pattern and its caches: what fits is compiled in half a second. Go would go on to 128 MiB, of which it needs
# far less for a class of Unicode that is repeated hundreds of times.
_MEMORY: Final = 16 * 2**20
_SMALL: Final = 10_000  # instructions of RE2
_MOST_IN_SET: Final = 10_000  # instructions; a set that runs out of memory says that nothing matches
_OF_PATTERN: Final = 200
_OF_INSTRUCTION: Final = 5
_STRAY: Final = re.compile("[\ud800-\udfff]")
_NO_CHARACTER: Final = "\N{REPLACEMENT CHARACTER}"


class Unsupported(Exception):  # a limit of RE2 that Go does not have
    """A pattern that needs more memory than RE2 is given."""


def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.never_capture = True
    return options


@frozen(eq=False)
class Pattern:
    """A compiled pattern. Safe to share between threads."""

    source: str
    _compiled: Any = field(repr=False)
    _set: Any = field(repr=False)
    """The same as a set of one, which is asked whether it matches in a seventh of the time."""
    _inside: bool = field(init=False, repr=False)
    """It has a ``\\B``, which to RE2 also holds inside a character of more than one byte."""

    @_inside.default
    def _has_inside(self) -> bool:
        return "\\B" in self.source

    @property
    def size(self) -> int:
        """Length of the pattern."""
        return len(self.source)

    @property
    def effort(self) -> int:
        """What compiling it is, in steps of an evaluation."""
        return _OF_PATTERN + _OF_INSTRUCTION * int(self._compiled.programsize)

    def searcher(self) -> Callable[[str], object]:
        """A function like :meth:`search` for short texts, several times faster: something true where there is a match.

        It raises on a text that cannot be encoded.
        """
        # A set of one runs RE2's automaton and makes no match object. It says "no match" where the automaton gets no
        # memory, which a state of a small program always does.
        if self._inside or self._compiled.programsize > _SMALL:
            return self.search
        found = re2.Set.SearchSet(_options())
        found.Add(self._compiled.pattern)
        found.Compile()
        return found.Match  # type: ignore[no-any-return]  # re2 has no types

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        if not text.isascii():
            if self._inside:
                return next(self._spans(text), None) is not None
            text = _readable(text)
        return bool(self._set.Match(text)) if self._set else self._compiled.search(text) is not None

    def find(self, text: str) -> str:
        """The leftmost match; an empty text where there is none."""
        return next(self._matches(text), "")

    def find_all(self, text: str, count: int = -1) -> tuple[str, ...]:
        """At most ``count`` matches, one after the other; a negative count is no limit."""
        found: list[str] = []
        if count:
            for match in self._matches(text):
                found.append(match)
                if len(found) == count:
                    break
        return tuple(found)

    def _matches(self, text: str) -> Iterator[str]:
        before = -1
        for start, end in self._spans(text):
            # An empty match right behind another does not count.
            if start != end or start != before:
                yield text[start:end]
            before = end

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        readable = _readable(text)
        if not self._inside or text.isascii():
            for match in self._compiled.finditer(readable):
                yield match.span()
            return
        starts = {0: 0}  # where each character begins, in bytes
        for index, character in enumerate(readable):
            starts[len(character.encode()) + next(reversed(starts))] = index + 1
        encoded = readable.encode()
        position = 0
        while position <= len(encoded) and (match := self._compiled.search(encoded, position)):
            start, end = match.span()
            position = end + (start == end)
            if start in starts:
                yield starts[start], starts[end]
            while position < len(encoded) and position not in starts:
                position += 1


def _readable(text: str) -> str:
    """Bytes that are no UTF-8 count as U+FFFD to Go."""
    return text if text.isascii() else _STRAY.sub(_NO_CHARACTER, text)


@functools.lru_cache(maxsize=256)
def compile(pattern: str) -> Pattern:  # noqa: A001  # as in re.compile
    """Read a pattern.

    :raises PatternError: Go refuses it.
    :raises Unsupported: it takes more memory than there is.
    """
    own = translated(pattern, _property)
    try:
        compiled = re2.compile(own, _options())
    except re2.error:
        raise Unsupported from None
    return Pattern(pattern, compiled, _set_of(own) if compiled.programsize < _MOST_IN_SET else None)


def _set_of(pattern: str) -> Any:
    found = re2.Set.SearchSet(_options())
    found.Add(pattern)
    found.Compile()
    return found


# -- classes of Unicode -----------------------------------------------------------------------------------------------


_DERIVED: Final = {
    "Assigned": r"[\pL\pM\pN\pP\pS\pZ\p{Cc}\p{Cf}\p{Co}]",
    "C": r"[^\pL\pM\pN\pP\pS\pZ]",
    "Cn": r"[^\pL\pM\pN\pP\pS\pZ\p{Cc}\p{Cf}\p{Co}]",
    "LC": r"[\p{Lu}\p{Ll}\p{Lt}]",
}
"""Classes that RE2 does not have, or has otherwise."""


@functools.lru_cache(maxsize=256)
def _property(name: str) -> str | None:
    if name == "ASCII":
        return r"\x{0}-\x{7f}"
    if name in _DERIVED:
        return _ranges(_DERIVED[name])
    if not name.isascii() or not name.isalpha():
        return None
    try:
        re2.compile(f"\\p{{{name}}}", _options())
    except re2.error:
        return None
    return f"\\p{{{name}}}"


def _ranges(one: str) -> str:
    """All characters of a class, as ranges inside brackets; surrogates are in none."""
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    found = re2.compile(f"{one}+", _options()).finditer(everything)
    runs = [str(match.group()) for match in found if match]
    spans = [(ord(run[0]), ord(run[-1])) for run in runs]
    return "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in spans)
