"""Domains for the tests of topology, and what an allocator would make of a pool's counters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from attrs import frozen

from drakit.model import CounterSet, Device
from drakit.topology import Domain, Grid, Member, Partition

__all__ = ["Explicit", "fits", "flat_domain", "mesh", "place"]


def mesh(grid: Grid, name: str = "d") -> Domain:
    """A domain with one host at every position of a grid, named after it."""
    members = [Member(f"h-{place(position)}", node=f"n-{place(position)}", position=position) for position in grid.positions()]
    return Domain(name, members)


def place(position: tuple[int, ...]) -> str:
    """``1-0`` for (1, 0)."""
    return "-".join(map(str, position))


def flat_domain(size: int, name: str = "d") -> Domain:
    """A domain of this many hosts without geometry; hostnames differ from node names."""
    return Domain(name, [Member(f"h{i}", node=f"n{i}", hostname=f"host-{i}.example") for i in range(size)])


@frozen
class Explicit:
    """A shape family that lists its sets by index, as a plugin of odd hardware would."""

    sets: Sequence[Sequence[int]]

    def partitions(self, domain: Domain) -> tuple[Partition, ...]:
        return tuple(
            Partition(f"p{number}", [domain.members[index] for index in indexes], domain=domain)
            for number, indexes in enumerate(self.sets)
        )


def fits(devices: Iterable[Device], counter_sets: Iterable[CounterSet]) -> bool:
    """Whether the counters allow these devices at the same time; worked out apart from drakit's allocator."""
    left: dict[tuple[str, str], Fraction] = {
        (counter_set.name, name): Fraction(counter.value.value)
        for counter_set in counter_sets
        for name, counter in counter_set.counters.items()
    }
    for device in devices:
        for key, amount in consumed(device).items():
            left[key] -= amount
    return all(amount >= 0 for amount in left.values())


def consumed(device: Device) -> Mapping[tuple[str, str], Fraction]:
    """What a device takes, by counter set and counter."""
    return {
        (consumption.counter_set, name): Fraction(counter.value.value)
        for consumption in device.consumes_counters
        for name, counter in consumption.counters.items()
    }
