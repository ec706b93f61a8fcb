"""What an allocation or a simulation found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import field, frozen

from drakit.allocation.errors import AllocationError, Reason
from drakit.model import AllocationResult, Pod, ResourceClaim
from drakit.model.collections import frozen_tuple

if TYPE_CHECKING:
    from drakit.allocation.cluster import Cluster

__all__ = ["ClaimOutcome", "Notice", "PodOutcome", "Report", "Verdict"]

Verdict: TypeAlias = Literal["allocated", "partly", "unschedulable", "error"]


@frozen(kw_only=True)
class ClaimOutcome:
    """What became of one claim."""

    claim: ResourceClaim
    node: str = ""
    """The node it was allocated for; other nodes may use it too, see the result's node selector."""
    reasons: tuple[Reason, ...] = field(default=(), converter=frozen_tuple)
    error: AllocationError | None = None

    @property
    def allocation(self) -> AllocationResult | None:
        return self.claim.status.allocation


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
