"""What is already taken in a cluster, rebuilt from every form of committed allocation.

A plain result holds its device; one with a share id holds a share and its consumed capacity; one with admin access holds
nothing (kubernetes/kubernetes#139034 shows what happens when one of the three is forgotten).

Source: kube-scheduler ``plugins/dynamicresources/allocateddevices.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from attrs import field, frozen

from drakit.model import DeviceID, Quantity, ResourceClaim
from drakit.model._convert import frozen_mapping

__all__ = ["AllocatedState", "Holder"]


class Holder(NamedTuple):
    """Who holds a device, for explanations."""

    claim: str
    """``namespace/name``; empty where only the device is known."""
    shared: bool


@frozen(kw_only=True)
class AllocatedState:
    """Immutable; :meth:`with_claims` gives the next state."""

    devices: frozenset[DeviceID] = frozenset()
    """Held as a whole."""
    shared: frozenset[DeviceID] = frozenset()
    """Held in shares."""
    capacity: Mapping[DeviceID, Mapping[str, Quantity]] = field(
        factory=dict[DeviceID, Mapping[str, Quantity]], converter=frozen_mapping
    )
    """Consumed capacity of shared devices, by capacity name as the device spells it."""
    holders: Mapping[DeviceID, tuple[Holder, ...]] = field(factory=dict[DeviceID, tuple[Holder, ...]], converter=frozen_mapping)

    def with_claims(self, claims: Iterable[ResourceClaim]) -> AllocatedState:
        """The state after the allocations of more claims; claims without one change nothing."""
        devices, shared = set(self.devices), set(self.shared)
        capacity = {device: dict(amounts) for device, amounts in self.capacity.items()}
        holders = dict(self.holders)
        for claim in claims:
            if claim.status.allocation is None:
                continue
            for result in claim.status.allocation.devices.results:
                if result.admin_access:
                    continue
                is_share = result.share_id is not None or bool(result.consumed_capacity)
                (shared if is_share else devices).add(result.id)
                holders[result.id] = (*holders.get(result.id, ()), Holder(claim.key, is_share))
                if is_share:
                    _add(capacity.setdefault(result.id, {}), result.consumed_capacity)
        return AllocatedState(devices=frozenset(devices), shared=frozenset(shared), capacity=capacity, holders=holders)

    def consumes_counters(self, device: DeviceID) -> bool:
        """Whether a device has been charged to its counters: once, however many claims share it."""
        return device in self.devices or device in self.shared or device in self.capacity


def _add(total: dict[str, Quantity], amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount
