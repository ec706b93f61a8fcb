"""What an Inventory document says to this plugin."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from drakit import Checked, Host, Inventory
from drakit.model import Fault, is_dns_label

__all__ = ["CLIQUE_LABEL", "GB200Inventory", "Rack"]

CLIQUE_LABEL: Final = "nvidia.com/gpu.clique"
TRAYS_PER_RACK: Final = 18
DEFAULT_CLIQUE: Final = 32766
"""The partition a rack has when nobody made others."""
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_DNS, "nvlink.gpu.nvidia.com")


@frozen(kw_only=True)
class Rack(Checked):
    """An NVL72 rack, or what of it is there: trays joined by NVLink into one clique."""

    name: str
    trays: int = TRAYS_PER_RACK
    nodes: tuple[str, ...] = ()
    """Node names by tray; ``<name>-t00`` and so on where none are given."""
    cluster_uuid: str = ""
    """Of the NVLink domain; derived from the name where none is given."""
    clique_id: int = DEFAULT_CLIQUE
    failed_trays: tuple[str, ...] = ()
    """Nodes that are down: their GPUs are tainted, and the clique has that much less to give."""

    def mistakes(self) -> Iterator[Fault]:
        if not is_dns_label(self.name):
            yield Fault("name", f'"{self.name}" is not a DNS label: lower-case letters, digits and dashes')
            return
        if not 1 <= self.trays <= TRAYS_PER_RACK:
            yield Fault("trays", f"a rack has 1 to {TRAYS_PER_RACK} compute trays, not {self.trays}")
            return
        if self.nodes and len(self.nodes) != self.trays:
            yield Fault("nodes", f"{self.trays} trays need as many node names, not {len(self.nodes)}")
            return
        if len(set(self.nodes)) < len(self.nodes):
            twice = next(node for node in self.nodes if self.nodes.count(node) > 1)
            yield Fault("nodes", f'"{twice}" stands twice; each node is one tray')
        if not 0 <= self.clique_id < 2**32:
            yield Fault("cliqueId", f"must be from 0 to {2**32 - 1}, not {self.clique_id}")
        if self.cluster_uuid and not _UUID.fullmatch(self.cluster_uuid):
            yield Fault("clusterUuid", f'"{self.cluster_uuid}" is not a UUID in lower case')
        for index, node in enumerate(self.failed_trays):
            if node not in self.node_names():
                first, last = self.node_names()[0], self.node_names()[-1]
                yield Fault(f"failedTrays[{index}]", f'there is no tray "{node}"; they are {first} to {last}')

    def node_names(self) -> list[str]:
        return list(self.nodes) or [f"{self.name}-t{index:02}" for index in range(self.trays)]

    @property
    def domain_uuid(self) -> str:
        return self.cluster_uuid or str(uuid.uuid5(_NAMESPACE, self.name))

    @property
    def clique(self) -> str:
        """``<cluster UUID>.<clique id>``: the id alone says nothing, unrelated racks share it."""
        return f"{self.domain_uuid}.{self.clique_id}"


@frozen(kw_only=True)
class GB200Inventory(Inventory):
    """The fields of an Inventory document for this plugin."""

    racks: tuple[Rack, ...] = ()
    trays: tuple[str, ...] = ()
    """Nodes that are trays of their own, in no multi-node NVLink domain."""

    def mistakes(self) -> Iterator[Fault]:
        home: dict[str, str] = {}
        cliques: set[str] = set()
        for index, rack in enumerate(self.racks):
            if rack.clique in cliques:
                yield Fault(f"racks[{index}]", f"clique {rack.clique} is that of another rack; name it otherwise")
                continue
            cliques.add(rack.clique)
            taken = next((node for node in rack.node_names() if node in home), None)
            if taken is not None:
                yield Fault(f"racks[{index}].nodes", f'"{taken}" is a tray of rack "{home[taken]}" already')
            home.update(dict.fromkeys(rack.node_names(), rack.name))
        for index, node in enumerate(self.trays):
            if node in home:
                yield Fault(f"trays[{index}]", f'"{node}" is a tray of {home[node]} already')
            home[node] = f'"{node}"'

    def hosts(self) -> Iterator[Host]:
        for rack in self.racks:
            for node in rack.node_names():
                yield Host(node, labels={CLIQUE_LABEL: rack.clique})
        for node in self.trays:
            yield Host(node)

    def rack_of(self, node: str) -> Rack | None:
        """The rack a node is a tray of."""
        return next((rack for rack in self.racks if node in rack.node_names()), None)
