"""Shared counters that let a pool hand out overlapping partitions without ever giving a member twice.

The plainest exact encoding: one counter of 1 per member, which each partition with that member consumes. Counters fit if
and only if the sets are disjoint. It reaches 64 members, for a device may draw on 2 counter sets of 32 counters.

Source: KEP-4815; limits of k8s.io/api ``resource/v1/types.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import frozen

from drakit.model.device import CounterSet, DeviceCounterConsumption
from drakit.topology.domain import Domain, Member, Partition, TopologyError

__all__ = ["MemberCounters"]

COUNTERS_PER_SET: Final = 32
SETS_PER_DEVICE: Final = 2


@frozen
class MemberCounters:
    """The counters of one domain: which member counts in which set."""

    sets: tuple[CounterSet, ...]
    set_of: dict[str, str]
    """Counter set by member name."""

    @classmethod
    def of(cls, domain: Domain, order: Iterable[Member]) -> MemberCounters:
        """Counters for every member of a domain.

        :param order: the members, neighbours together, so that small partitions touch one set.
        :raises TopologyError: more members than one device can count.
        """
        members = [member.name for member in order]
        if len(members) > COUNTERS_PER_SET * SETS_PER_DEVICE:
            raise TopologyError(
                f"domain {domain.name} has {len(members)} members; one counter per member reaches "
                f"{COUNTERS_PER_SET * SETS_PER_DEVICE} ({SETS_PER_DEVICE} counter sets of {COUNTERS_PER_SET} per device)"
            )
        chunks = [members[start : start + COUNTERS_PER_SET] for start in range(0, len(members), COUNTERS_PER_SET)]
        names = [f"hosts-{index}" for index in range(len(chunks))]
        sets = tuple(CounterSet(name=name, counters=dict.fromkeys(chunk, 1)) for name, chunk in zip(names, chunks, strict=True))
        return cls(sets, {member: name for name, chunk in zip(names, chunks, strict=True) for member in chunk})

    def consumption(self, partition: Partition) -> Sequence[DeviceCounterConsumption]:
        """What a partition's device consumes: 1 of the counter of each of its members."""
        by_set: dict[str, list[str]] = {}
        for member in partition.members:
            by_set.setdefault(self.set_of[member.name], []).append(member.name)
        return [DeviceCounterConsumption(counter_set=name, counters=dict.fromkeys(by_set[name], 1)) for name in sorted(by_set)]
