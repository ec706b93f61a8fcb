"""What became of a claim."""

from __future__ import annotations

from attrs import field, frozen

from drakit.allocation.errors import AllocationError, Reason
from drakit.model import AllocationResult, ResourceClaim
from drakit.model.collections import frozen_tuple

__all__ = ["ClaimOutcome"]


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
