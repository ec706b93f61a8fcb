"""Which devices may draw from one counter set together: those that have a compatibility group in common.

Devices without groups go together with their like only. Since Kubernetes 1.37 (DRADeviceCompatibilityGroups).

Source: k8s.io/dynamic-resource-allocation ``structured`` (compatibility_groups.go).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from drakit.allocation.pools import Candidate

__all__ = ["CompatibilityGroups"]


class _Members(NamedTuple):
    """The devices of a counter set so far."""

    groups: frozenset[str]
    """What all of them have in common."""
    without: bool
    """None of them has groups."""

    def admits(self, groups: frozenset[str]) -> bool:
        return self.without if not groups else bool(self.groups & groups)

    def with_(self, groups: frozenset[str]) -> _Members:
        """One more; of allocated devices that contradict each other the first kind counts."""
        return self if self.without or not groups else _Members(self.groups & groups, without=False)


class CompatibilityGroups:
    """The groups in use in one pool, by counter set; :meth:`add` and :meth:`take_back` mirror each other."""

    def __init__(self, allocated: Iterable[Candidate]) -> None:
        self._members: dict[str, list[_Members]] = {}
        for candidate in allocated:
            self.add(candidate)

    def conflicts(self, candidate: Candidate) -> list[str]:
        """The counter sets whose devices a device cannot join; empty if it can be placed."""
        return [
            set_name
            for set_name, groups in _groups(candidate).items()
            if (members := self._members.get(set_name)) and not members[-1].admits(groups)
        ]

    def add(self, candidate: Candidate) -> None:
        """Place a device."""
        for set_name, groups in _groups(candidate).items():
            history = self._members.setdefault(set_name, [])
            history.append(history[-1].with_(groups) if history else _Members(groups, without=not groups))

    def take_back(self, candidate: Candidate) -> None:
        """Undo the last :meth:`add`, which was of this device."""
        for set_name in _groups(candidate):
            self._members[set_name].pop()


def _groups(candidate: Candidate) -> dict[str, frozenset[str]]:
    return {
        consumption.counter_set: frozenset(consumption.compatibility_groups)
        for consumption in candidate.device.consumes_counters
    }
