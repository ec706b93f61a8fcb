"""What ends an allocation attempt. "Does not fit" is not among them: that is a result."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import asdict, frozen

from drakit.model import DrakitError

__all__ = ["AllocationError", "Check", "Place", "Reason", "SearchLimit"]

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


@frozen(kw_only=True)
class Place:
    """The claim or class, and the part of it, that an error is about."""

    claim: str = ""
    """``namespace/name``."""
    device_class: str = ""
    request: str = ""
    selector: int | None = None
    constraint: int | None = None

    def as_json(self) -> dict[str, str | int]:
        """The parts that are set: ``{"class": "gpu.example.com", "selector": 0}``."""
        names = {"device_class": "class"}
        parts = asdict(self, filter=lambda _, value: value not in ("", None))
        return {names.get(name, name): value for name, value in parts.items()}

    def __str__(self) -> str:
        """As Kubernetes' messages begin: ``claim team-a/c, request r``."""
        parts = [
            f"class {self.device_class}" if self.device_class else f"claim {self.claim}",
            f"request {self.request}" if self.request else "",
            f"constraint #{self.constraint}" if self.constraint is not None else "",
            f"selector #{self.selector}" if self.selector is not None else "",
        ]
        return ", ".join(filter(None, parts))


class AllocationError(DrakitError):
    """What ends the attempt for a claim on every node, whatever fits elsewhere.

    :ivar kind: ``error``: an object must be mended; ``undecided``: drakit does not support it yet, or gave up; ``updating``:
        a pool is in between two states, which waiting may mend; ``refused``: the API server would not let the claim in.
    """

    def __init__(
        self,
        message: str,
        place: Place,
        *,
        device: str = "",
        kind: Literal["error", "undecided", "updating", "refused"] = "error",
    ) -> None:
        self.message = message
        self.place = place
        self.device = device
        """``driver/pool/device``, where the error shows on one."""
        self.node = ""
        """The node on which it showed; empty where it does not depend on one."""
        self.kind = kind
        super().__init__(message)


class SearchLimit(DrakitError):
    """The search gave up: whether the claim fits is not known."""
