"""What a simulation found."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import field, frozen

from drakit.allocation.cluster import Cluster
from drakit.allocation.errors import AllocationError
from drakit.allocation.outcome import ClaimOutcome
from drakit.model import Pod
from drakit.model.collections import frozen_tuple

__all__ = ["Notice", "PodOutcome", "Report", "Verdict"]

Verdict: TypeAlias = Literal["allocated", "partly", "unschedulable", "error"]


@frozen(kw_only=True)
class PodOutcome:
    """What became of one pod."""

    pod: Pod
    node: str = ""
    reason: str = ""
    """Why it has no node."""


@frozen(kw_only=True)
class Notice:
    """Something a user should know although nothing failed."""

    code: str
    object: str
    message: str


@frozen(kw_only=True)
class Report:
    """Everything a simulation found."""

    claims: tuple[ClaimOutcome, ...] = field(converter=frozen_tuple)
    """The claims that were not allocated to begin with, in the order they were decided."""
    pods: tuple[PodOutcome, ...] = field(converter=frozen_tuple)
    warnings: tuple[Notice, ...] = field(default=(), converter=frozen_tuple)
    cluster: Cluster
    """The cluster afterwards."""

    @property
    def error(self) -> AllocationError | None:
        """The first error of kind ``error`` or ``undecided``: an object must be mended, or drakit cannot tell."""
        errors = (outcome.error for outcome in self.claims)
        return next((error for error in errors if error is not None and error.kind in ("error", "undecided")), None)

    @property
    def verdict(self) -> Verdict:
        if self.error is not None:
            return "error"
        allocated = [outcome.allocation is not None for outcome in self.claims]
        placed = [bool(outcome.node) for outcome in self.pods]
        if all(allocated) and all(placed):
            return "allocated"
        return "partly" if any(allocated + placed) else "unschedulable"
