"""What ends an allocation attempt. "Does not fit" is not among them: that is a result."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from drakit.model import DrakitError

__all__ = ["AllocationError", "Check", "Reason", "SearchLimit"]

Check: TypeAlias = Literal["pool", "node", "in-use", "selector", "capacity", "counters", "taint", "constraint", "limit"]
"""The check a device, a request or a claim failed first."""


@frozen(kw_only=True)
class Reason:
    """Why something was not allocated. Without a node it holds on several; without a device, for all of a kind."""

    check: Check
    message: str
    node: str = ""
    request: str = ""
    device: str = ""
    """``driver/pool/device``."""


class AllocationError(DrakitError):
    """A fatal error in Kubernetes' sense: the scheduler gives up on the pod, on every node.

    :ivar transient: the cause is a pool in between two states, which waiting may mend; otherwise an object needs fixing.
    """

    def __init__(self, message: str, *, where: str, device: str = "", transient: bool = False) -> None:
        self.message = message
        self.where = where
        """The claim or class, and the part of it, that caused the error."""
        self.device = device
        self.transient = transient
        super().__init__(message)


class SearchLimit(DrakitError):
    """The search gave up: whether the claim fits is not known."""
