"""Domains: hardware joined by one fabric, and the allocatable sets of it.

A domain has members (hosts, as a rule). A shape family (:mod:`drakit.topology.shapes`) says which sets of members can be
handed out; each becomes one Device. Nothing here knows a vendor or a claim.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, field, frozen

from drakit.model.collections import frozen_mapping, frozen_tuple
from drakit.model.device import DeviceCapacity
from drakit.model.errors import DrakitError

__all__ = ["Domain", "Member", "Partition", "TopologyError"]


class TopologyError(DrakitError):
    """A domain that cannot be modelled as asked; the message says what does not fit and what would."""


@frozen
class Member:
    """One atom of a domain: what is handed out whole or not at all, usually a host."""

    name: str
    """DNS label, unique in the domain; names the counter."""
    node: str = field(kw_only=True)
    """Name of the Kubernetes node."""
    hostname: str = field(default=Factory(lambda self: self.node, takes_self=True), kw_only=True)
    """Its ``kubernetes.io/hostname`` label, the node's name unless set."""
    position: tuple[int, ...] = field(default=(), kw_only=True, converter=frozen_tuple)
    """Coordinates on the domain's grid, in hosts; empty where there is no geometry."""


@frozen
class Domain:
    """Members joined by one fabric. A domain of one member is node-local hardware."""

    name: str
    """DNS subdomain, unique for the driver; the pool is ``<driver>/<name>``."""
    members: tuple[Member, ...] = field(converter=frozen_tuple)
    source: object = field(default=None, kw_only=True, eq=False, repr=False)
    """Whatever the plugin wants to find again in its other hooks."""

    @members.validator
    def _unique(self, _: object, members: tuple[Member, ...]) -> None:
        if not members:
            raise TopologyError(f"domain {self.name} has no members")
        for what in ("name", "node"):
            seen = [getattr(member, what) for member in members]
            twice = next((value for value in seen if seen.count(value) > 1), None) if len(set(seen)) < len(seen) else None
            if twice is not None:
                raise TopologyError(f"domain {self.name} has two members with {what} {twice}")


@frozen
class Partition:
    """One allocatable set of a domain's members."""

    name: str
    """DNS label, unique in the domain; names the Device."""
    members: tuple[Member, ...] = field(converter=frozen_tuple)
    domain: Domain = field(kw_only=True, eq=False, repr=False)
    shape: str = field(default="", kw_only=True)
    """Such as ``4x8``, in the unit of the shape family; empty where sets have no geometry."""
    origin: tuple[int, ...] = field(default=(), kw_only=True, converter=frozen_tuple)
    """Lowest coordinate, in the unit of the shape."""
    shares: Mapping[str, DeviceCapacity] = field(factory=dict[str, DeviceCapacity], kw_only=True, converter=frozen_mapping)
    """For a set that several claims may share: what they share of it, as capacities. Such a set excludes no other."""
