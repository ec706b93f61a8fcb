"""What goes wrong with a control plane, by what the caller does next.

ClusterError
 +-- BinaryMissing    build or install it, or say where it is
 +-- ProcessDied      read its log
 +-- NotInTime        it runs, but what was waited for did not happen
 +-- Rejected         the API server said no: mend the object
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from drakit.model import DrakitError

__all__ = ["BinaryMissing", "Cause", "ClusterError", "NotInTime", "ProcessDied", "Rejected"]

LAST_LINES = 15
"""Lines of a log that an error shows."""
LAST_BYTES = 32_768


class ClusterError(DrakitError):
    """Something is wrong with a control plane that drakit started, or with what it was asked."""


class BinaryMissing(ClusterError):
    """A binary is not there. The message says which, and where it was looked for."""


class ProcessDied(ClusterError):
    """A process ended by itself. The message has the last lines of its log."""

    def __init__(self, name: str, exit_code: int, log: Path) -> None:
        self.name = name
        self.exit_code = exit_code
        """Negative: the signal that ended it."""
        self.log = log
        """The whole log; it is kept."""
        how = f"was ended by signal {-exit_code}" if exit_code < 0 else f"ended with exit status {exit_code}"
        super().__init__(f"{name} {how}; the end of its log {log}:\n{last_lines(log)}")


class NotInTime(ClusterError):
    """What was waited for did not happen before the deadline."""


@frozen
class Cause:
    """One reason why the API server does not accept an object."""

    field: str
    """Path, such as ``spec.devices[0].name``; empty: the object."""
    reason: str
    """Such as ``FieldValueInvalid``."""
    message: str


class Rejected(ClusterError):
    """The API server refused a request."""

    def __init__(self, code: int, reason: str, message: str, causes: Iterable[Cause], warnings: Iterable[str]) -> None:
        self.code = code
        """The HTTP status: 422 an object that is invalid, 400 one that cannot be decoded, 404, 409 and so on."""
        self.reason = reason
        """Such as ``Invalid``, ``NotFound`` or ``Conflict``."""
        self.message = message
        """As the API server wrote it."""
        self.causes = tuple(causes)
        """One for each field that is wrong, in the API server's order."""
        self.warnings = tuple(warnings)
        super().__init__(f"{code} {reason}: {message}")


def last_lines(log: Path) -> str:
    """The end of a log, each line indented."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LAST_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError as error:
        return f"  (cannot be read: {error})"
    return "\n".join(f"  {line}" for line in lines[-LAST_LINES:]) or "  (empty)"
