"""Shape families: how the allocatable sets lie in a domain.

Small shapes come first and each shape in Z-order, because the scheduler takes the first device that fits: listed like
this, the unmodified scheduler packs (design decision 6).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from attrs import field, frozen

from drakit.model.collections import frozen_tuple
from drakit.model.device import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from drakit.model.quantity import Quantity, quantity
from drakit.topology.domain import Domain, Member, Partition, TopologyError

__all__ = ["Clique", "Grid", "ShapeFamily", "Split"]

Box = tuple[tuple[int, int], ...]
"""Start and size per dimension, in chips."""


@runtime_checkable
class ShapeFamily(Protocol):
    """Anything that can list the partitions of a domain, in publish order."""

    def partitions(self, domain: Domain) -> tuple[Partition, ...]:
        """:raises TopologyError: the domain does not have this shape."""
        ...


@frozen
class Grid:
    """A mesh or torus of chips, cut into aligned sub-slices: the whole, its halves, their halves, down to one host.

    Each step halves the longest dimension (the first of equals), so a 16x16 mesh of 2x2 hosts has the shapes 16x16, 8x16,
    8x8, 4x8, 4x4, 2x4 and 2x2: a strict tree of 127 sub-slices.
    """

    dims: tuple[int, ...] = field(converter=frozen_tuple)
    """Chips in each dimension."""
    block: tuple[int, ...] = field(converter=frozen_tuple)
    """Chips of one host in each dimension. Each dimension is a power of two times the block's."""
    prefix: str = field(default="ss", kw_only=True)
    """Start of the partitions' names: ``ss-4x8-0-8``."""

    def __attrs_post_init__(self) -> None:
        if len(self.dims) != len(self.block) or not self.dims:
            raise TopologyError(f"a mesh of {by(self.dims)} chips cannot have hosts of {by(self.block)}")
        for size, block in zip(self.dims, self.block, strict=True):
            if block < 1 or size < block or size % block or (size // block).bit_count() != 1:
                raise TopologyError(
                    f"a mesh of {by(self.dims)} chips with hosts of {by(self.block)} has no aligned sub-slices: "
                    f"{size} must be {block} times a power of two"
                )

    @property
    def hosts(self) -> tuple[int, ...]:
        """Hosts in each dimension."""
        return tuple(size // block for size, block in zip(self.dims, self.block, strict=True))

    def positions(self) -> Iterator[tuple[int, ...]]:
        """Host coordinates, the first dimension running fastest."""
        for position in itertools.product(*(range(size) for size in reversed(self.hosts))):
            yield position[::-1]

    def partitions(self, domain: Domain) -> tuple[Partition, ...]:
        """Every aligned sub-slice, smallest shape first, each shape in Z-order.

        :raises TopologyError: a member is missing or lies off the grid.
        """
        members = self._by_position(domain)
        levels = [[tuple((0, size) for size in self.dims)]]
        while halves := [half for box in levels[-1] for half in self._halve(box)]:
            levels.append(halves)
        return tuple(self._partition(box, members, domain) for level in reversed(levels) for box in level)

    def _halve(self, box: Box) -> list[Box]:
        splittable = [axis for axis, (_, size) in enumerate(box) if size > self.block[axis]]
        if not splittable:
            return []
        axis = max(splittable, key=lambda axis: (box[axis][1], -axis))
        start, size = box[axis]
        return [(*box[:axis], (begin, size // 2), *box[axis + 1 :]) for begin in (start, start + size // 2)]

    def _partition(self, box: Box, members: dict[tuple[int, ...], Member], domain: Domain) -> Partition:
        ranges = [range(start // block, (start + size) // block) for (start, size), block in zip(box, self.block, strict=True)]
        inside = [members[position[::-1]] for position in itertools.product(*reversed(ranges))]
        shape, origin = by(size for _, size in box), tuple(start for start, _ in box)
        name = "-".join((self.prefix, shape, *map(str, origin)))
        return Partition(name, inside, domain=domain, shape=shape, origin=origin)

    def _by_position(self, domain: Domain) -> dict[tuple[int, ...], Member]:
        members = {member.position: member for member in domain.members}
        wanted = set(self.positions())
        if len(members) != len(domain.members) or set(members) != wanted:
            raise TopologyError(
                f"domain {domain.name}: a mesh of {by(self.dims)} chips has {math.prod(self.hosts)} hosts of "
                f"{by(self.block)}, each at a position of its own from 0 to {by(n - 1 for n in self.hosts)}; "
                f"got {len(domain.members)} members"
            )
        return members


@frozen
class Clique:
    """A fabric in which any subset of members connects: one shared device, from which claims take members by number.

    The device takes several allocations; a claim asks for ``capacity.requests`` of :attr:`capacity`, rounded up to whole
    members, and for all of them where it names no amount. Enumerating the subsets is impossible and unnecessary (design
    decision 7).
    """

    name: str
    """Name of the device."""
    capacity: str
    """Name of the capacity that counts members."""
    per_member: Quantity = field(default=quantity(1), converter=quantity, kw_only=True)
    """How much of the capacity each member brings."""

    def partitions(self, domain: Domain) -> tuple[Partition, ...]:
        """The one set of all members."""
        total = self.per_member * len(domain.members)
        whole_members = CapacityRequestPolicyRange(min=self.per_member, max=total, step=self.per_member)
        policy = CapacityRequestPolicy(default=total, valid_range=whole_members)
        shares = {self.capacity: DeviceCapacity(total, request_policy=policy)}
        return (Partition(self.name, domain.members, domain=domain, shares=shares),)


@frozen
class Split:
    """A device that can be handed out whole or in equal parts: halves, quarters and so on.

    Parts come smallest first, named ``<device>-<n>of<parts>``; one counter per device keeps them from overlapping.
    """

    parts: tuple[int, ...] = field(converter=frozen_tuple)
    """Numbers of equal parts, each dividing the largest: ``(2, 4)`` for halves and quarters."""
    of: str = "memory"
    """The capacity that is divided; the other capacities stay with the whole device."""

    @parts.validator
    def _divide_each_other(self, _: object, parts: tuple[int, ...]) -> None:
        if not parts or min(parts) < 2 or len(set(parts)) != len(parts) or any(max(parts) % n for n in parts):
            raise TopologyError(
                f"cannot split into {', '.join(map(str, parts))} parts: each number must be 2 or more, "
                "differ from the others, and divide the largest"
            )


def by(sizes: Iterator[int] | tuple[int, ...]) -> str:
    """``16x16`` for (16, 16)."""
    return "x".join(map(str, sizes))
