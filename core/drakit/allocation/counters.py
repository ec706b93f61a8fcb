"""The books of shared counters during one search: what each pool has left.

A device is charged once while it is allocated, however many claims share it, and counters are looked at pool by pool: one
that is overdrawn anywhere in a pool blocks every device of the pool that consumes counters, as in the scheduler.

Source: k8s.io/dynamic-resource-allocation ``structured`` (checkAvailableCounters). Stock releases key their books by pool
name alone (kubernetes/kubernetes#140434) and do not give back what a rejected candidate reserved (#140431); here both are
as the API intends.
"""

from __future__ import annotations

from drakit.allocation.compatibility import CompatibilityGroups
from drakit.allocation.pools import Candidate, CounterKey, Pool
from drakit.allocation.state import AllocatedState

__all__ = ["CounterLedger"]


class CounterLedger:
    """Counters of one pool, and the devices that draw from them; :meth:`charge` and :meth:`give_back` mirror each other."""

    def __init__(self, pool: Pool, state: AllocatedState) -> None:
        self.left: dict[CounterKey, int] = dict(pool.counters)
        """What is left in 1e-9, negative where more was allocated than there is."""
        everywhere = (*pool.candidates, *pool.elsewhere)
        charged = [candidate for candidate in everywhere if candidate.counters and state.consumes_counters(candidate.id)]
        for candidate in charged:
            self._add(candidate, -1)
        self.groups = CompatibilityGroups(charged)
        self.overdrawn = any(left < 0 for left in self.left.values())

    def fits(self, candidate: Candidate) -> bool:
        """Whether a device can be charged."""
        return not self.short(candidate) and not self.groups.conflicts(candidate)

    def short(self, candidate: Candidate) -> list[CounterKey]:
        """The counters that keep a device from being charged; empty if it fits."""
        if self.overdrawn:
            return [key for key, left in self.left.items() if left < 0]
        return [key for key, amount in candidate.counters.items() if self.left[key] < amount]

    def charge(self, candidate: Candidate) -> None:
        """Book a device that fits."""
        self._add(candidate, -1)
        self.groups.add(candidate)

    def give_back(self, candidate: Candidate) -> None:
        """Undo the last :meth:`charge`, which was of this device."""
        self._add(candidate, 1)
        self.groups.take_back(candidate)

    def _add(self, candidate: Candidate, sign: int) -> None:
        for key, amount in candidate.counters.items():
            self.left[key] += sign * amount
