"""What an Inventory document says to this plugin."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from drakit import Checked, Domain, Grid, Inventory, Member, TopologyError
from drakit.model import DrakitError, Fault, is_dns_label
from drakit_tpu.generations import GENERATIONS, Generation

__all__ = ["TpuDomain", "TpuInventory"]

MAX_HOSTS: Final = 64
"""Of one mesh: a device may draw on 2 counter sets of 32 counters, one for each host."""


@frozen(kw_only=True)
class TpuDomain(Checked):
    """One ICI mesh."""

    name: str
    """DNS label; names the pool, ``tpu.google.com/<name>``, and the nodes unless they are listed."""
    topology: str
    """Chips in each dimension, such as ``16x16``."""
    generation: str = "v6e"
    nodes: tuple[str, ...] = ()
    """Node names by position, the first dimension running fastest; ``<name>-w00`` and so on where none are given."""
    failed_hosts: tuple[str, ...] = ()
    """Nodes that are down: every device with one of them is tainted."""

    def mistakes(self) -> Iterator[Fault]:
        if not is_dns_label(self.name):
            yield Fault("name", f'"{self.name}" is not a DNS label: lower-case letters, digits and dashes')
            return
        if self.generation not in GENERATIONS:
            yield Fault("generation", f'there is no generation "{self.generation}"; known are {", ".join(GENERATIONS)}')
            return
        try:
            hosts = math.prod(self.grid.hosts)
        except DrakitError as error:
            yield Fault("topology", f'"{self.topology}" is not a mesh of {self.generation} hosts, such as 4x4: {error}')
            return
        if hosts > MAX_HOSTS:
            yield Fault("topology", f"a {self.topology} mesh has {hosts} hosts; the counters of a device reach {MAX_HOSTS}")
            return
        if self.nodes and len(self.nodes) != hosts:
            yield Fault("nodes", f"a {self.topology} mesh has {hosts} hosts, not {len(self.nodes)}")
            return
        known = self.node_names()
        twice = next((node for node in known if known.count(node) > 1), None)
        if twice is not None:
            yield Fault("nodes", f'"{twice}" stands twice; each host is at one place of the mesh')
        for index, node in enumerate(self.failed_hosts):
            if node not in known:
                yield Fault(f"failedHosts[{index}]", f'there is no host "{node}"; they are {known[0]} to {known[-1]}')

    @property
    def hardware(self) -> Generation:
        return GENERATIONS[self.generation]

    @property
    def grid(self) -> Grid:
        """:raises TopologyError: the topology is not one of whole hosts."""
        sizes = self.topology.split("x")
        if not all(re.fullmatch(r"[1-9][0-9]{0,8}", size) for size in sizes):
            raise TopologyError("must be sizes joined by x")
        return Grid(map(int, sizes), self.hardware.block)

    def node_names(self) -> list[str]:
        positions = list(self.grid.positions())
        width = max(2, len(str(len(positions) - 1)))
        return list(self.nodes) or [f"{self.name}-w{index:0{width}}" for index in range(len(positions))]

    def domain(self) -> Domain:
        """The mesh with its hosts; members are called ``h000`` and so on, in the order of the node names."""
        members = [
            Member(f"h{index:03}", node=node, position=position)
            for index, (node, position) in enumerate(zip(self.node_names(), self.grid.positions(), strict=True))
        ]
        return Domain(self.name, members, source=self)


@frozen(kw_only=True)
class TpuInventory(Inventory):
    """The fields of an Inventory document for this plugin."""

    domains: tuple[TpuDomain, ...]

    def mistakes(self) -> Iterator[Fault]:
        home: dict[str, str] = {}
        names: set[str] = set()
        for index, domain in enumerate(self.domains):
            if domain.name in names:
                yield Fault(f"domains[{index}].name", f'there is another domain "{domain.name}"')
                continue
            names.add(domain.name)
            taken = next((node for node in domain.node_names() if node in home), None)
            if taken is not None:
                yield Fault(f"domains[{index}].nodes", f'"{taken}" is a host of domain "{home[taken]}" already')
            home.update(dict.fromkeys(domain.node_names(), domain.name))
