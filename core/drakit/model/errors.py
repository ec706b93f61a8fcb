"""drakit's errors, by what the caller does next.

DrakitError
 +-- InvalidObject      fix the object; carries every fault found, each with its path
 +-- (others live beside what raises them and derive from DrakitError)

That a claim does not fit is a result, not an exception.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from attrs import frozen

__all__ = ["DrakitError", "Fault", "InvalidObject", "did_you_mean"]


class DrakitError(Exception):
    """Base of every error drakit raises on purpose."""


@frozen
class Fault:
    """One thing wrong with an object."""

    path: str
    """JSON path as Kubernetes writes it, such as ``spec.devices[3].attributes[model].int``; empty: the object."""
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class InvalidObject(DrakitError):
    """An object that cannot be read. ``str()`` has one line per fault."""

    def __init__(self, what: str, faults: Iterable[Fault]) -> None:
        self.what = what
        """Kind and name, as far as they could be read."""
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{what}: {fault}" if what else str(fault) for fault in self.faults))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``, did you mean "x"?`` for the nearest known word, or nothing."""
    known = list(known)
    folded = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return f', did you mean "{folded[close[0]]}"?' if close else ""
