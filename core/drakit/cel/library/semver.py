"""SemVer 2.0.0 versions as CEL has them.

Source: github.com/blang/semver/v4 (parsing, messages, order); k8s.io/apiserver ``pkg/cel/library/semverlib.go`` (normalizing).
"""

from __future__ import annotations

import re
from typing import Final

from attrs import field, frozen

from drakit.cel.go.quoting import quoted
from drakit.cel.values import NO_SUCH_OVERLOAD, Fault, Thing, Value, register, utf8

__all__ = ["Semver"]

_DIGITS: Final = "0123456789"
_WORD: Final = re.compile(r"[0-9A-Za-z-]*", re.ASCII)
_MAX: Final = 2**64 - 1


@register
@frozen(eq=False, slots=False)
class Semver(Thing):
    """A version; build metadata takes no part in any comparison."""

    type_name = "kubernetes.Semver"

    major: int
    """0 to 2**64 - 1, as ``minor`` and ``patch``."""
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = field(default=())
    build: str = ""

    @classmethod
    def parse(cls, text: str, *, normalize: bool = False) -> Semver:
        """Read a version.

        :param normalize: also take a leading ``v``, fewer than three parts, and leading zeros.
        :raises Fault: not a version, with the parser's text.
        """
        if normalize:
            text = _normalized(text)
        if not text:
            raise Fault("Version string empty")
        parts = text.split(".", 2)
        if len(parts) != 3:
            raise Fault("No Major.Minor.Patch elements found")
        major, minor = _number(parts[0], "Major"), _number(parts[1], "Minor")
        rest, plus, build = parts[2].partition("+")
        rest, dash, prerelease = rest.partition("-")
        patch = _number(rest, "Patch")
        identifiers = tuple(_prerelease(part) for part in prerelease.split(".")) if dash else ()
        for part in build.split(".") if plus else ():
            if not part:
                raise Fault("Build meta data is empty")
            if not _WORD.fullmatch(part):
                raise Fault(f"Invalid character(s) found in build meta data {quoted(part)}")
        return cls(major, minor, patch, identifiers, build)

    @property
    def native_text(self) -> str:
        return str(self)

    def __str__(self) -> str:
        prerelease = "-" + ".".join(map(str, self.prerelease)) if self.prerelease else ""
        return f"{self.major}.{self.minor}.{self.patch}{prerelease}" + (f"+{self.build}" if self.build else "")

    @property
    def hashable(self) -> bool:
        return False

    def equals(self, other: Value) -> bool:
        if not isinstance(other, Semver):
            raise Fault(NO_SUCH_OVERLOAD)
        return self.compare(other) == 0

    def compare(self, other: Semver) -> int:
        """-1, 0 or 1 in the order of SemVer 2.0.0."""
        mine, theirs = (self.major, self.minor, self.patch), (other.major, other.minor, other.patch)
        if mine != theirs:
            return 1 if mine > theirs else -1
        if not (self.prerelease and other.prerelease):
            return bool(other.prerelease) - bool(self.prerelease)
        # Numbers come before words, and the shorter of two equal beginnings before the longer.
        own = [(isinstance(part, str), part) for part in self.prerelease]
        others = [(isinstance(part, str), part) for part in other.prerelease]
        return (own > others) - (own < others)


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(utf8(part)) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped[:1] and stripped[0] in _DIGITS else "0" + stripped
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise Fault("short version cannot contain PreRelease/Build meta data")
        parts.extend(["0"] * (3 - len(parts)))
    return ".".join(parts)


def _number(text: str, name: str) -> int:
    if text.strip(_DIGITS):
        raise Fault(f"Invalid character(s) found in {name.lower()} number {quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise Fault(f"{name} number must not contain leading zeroes {quoted(text)}")
    return _uint64(text)


def _uint64(text: str) -> int:
    if not text or len(text) > 20 or int(text) > _MAX:
        raise Fault(f"strconv.ParseUint: parsing {quoted(text)}: {'value out of range' if text else 'invalid syntax'}")
    return int(text)


def _prerelease(text: str) -> int | str:
    if not text:
        raise Fault("Prerelease is empty")
    if not text.strip(_DIGITS):
        if len(text) > 1 and text[0] == "0":
            raise Fault(f"Numeric PreRelease version must not contain leading zeroes {quoted(text)}")
        return _uint64(text)
    if not _WORD.fullmatch(text):
        raise Fault(f"Invalid character(s) found in prerelease {quoted(text)}")
    return text
