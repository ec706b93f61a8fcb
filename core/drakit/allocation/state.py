"""What is already taken in a cluster, rebuilt from every form of committed allocation.

A plain result holds its device; one with a share id holds a share and its consumed capacity; one with admin access holds
nothing (kubernetes/kubernetes#139034 shows what happens when one of these is forgotten).

Source: kube-scheduler ``plugins/dynamicresources/allocateddevices.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from attrs import define, field

from drakit.allocation.amounts import nano
from drakit.model import DeviceID, ResourceClaim

__all__ = ["AllocatedState", "Holder"]


def _as_set(devices: Iterable[DeviceID]) -> set[DeviceID]:
    return set(devices)


class Holder(NamedTuple):
    """Who holds a device, for explanations."""

    claim: str
    """``namespace/name``; empty where only the device is known."""
    shared: bool


@define(kw_only=True)
class AllocatedState:
    """Grows while claims are served: :meth:`add` is the only change there is."""

    devices: set[DeviceID] = field(factory=set[DeviceID], converter=_as_set)
    """Held as a whole."""
    shared: set[DeviceID] = field(factory=set[DeviceID], converter=_as_set)
    """Held in shares."""
    capacity: dict[DeviceID, dict[str, int]] = field(factory=dict[DeviceID, dict[str, int]])
    """Consumed capacity of shared devices in 1e-9, by capacity name as the device spells it."""
    holders: dict[DeviceID, tuple[Holder, ...]] = field(factory=dict[DeviceID, tuple[Holder, ...]])

    @classmethod
    def of(cls, claims: Iterable[ResourceClaim]) -> AllocatedState:
        """What claims hold."""
        state = cls()
        for claim in claims:
            state.add(claim)
        return state

    def copy(self) -> AllocatedState:
        """A state of its own to go on from."""
        capacity = {device: dict(amounts) for device, amounts in self.capacity.items()}
        return AllocatedState(devices=self.devices, shared=self.shared, capacity=capacity, holders=dict(self.holders))

    def add(self, claim: ResourceClaim) -> None:
        """Count what a claim holds; one without an allocation holds nothing."""
        for result in claim.status.allocation.devices.results if claim.status.allocation else ():
            if result.admin_access:
                continue
            is_share = result.share_id is not None
            (self.shared if is_share else self.devices).add(result.id)
            self.holders[result.id] = (*self.holders.get(result.id, ()), Holder(claim.key, is_share))
            if is_share:
                taken = self.capacity.setdefault(result.id, {})
                for name, amount in result.consumed_capacity.items():
                    taken[name] = taken.get(name, 0) + nano(amount)

    def consumes_counters(self, device: DeviceID) -> bool:
        """Whether a device has been charged to its counters: once, however many claims share it."""
        return device in self.devices or device in self.shared or device in self.capacity
