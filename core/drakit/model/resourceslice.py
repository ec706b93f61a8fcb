"""ResourceSlice: the devices (or counter sets) a driver publishes for one pool.

Source: k8s.io/api ``resource/v1/types.go``.
"""

from __future__ import annotations

from attrs import field, frozen

from drakit.model.collections import frozen_tuple
from drakit.model.device import CounterSet, Device
from drakit.model.meta import ObjectMeta
from drakit.model.nodes import NodeSelector

__all__ = ["ResourcePool", "ResourceSlice", "ResourceSliceSpec"]


@frozen(kw_only=True)
class ResourcePool:
    """The pool a slice belongs to."""

    name: str
    """DNS subdomains joined by ``/``, at most 253 bytes."""
    generation: int = field(default=0, metadata={"always": True})
    """Only slices of the highest generation count."""
    resource_slice_count: int
    """How many slices the pool has at this generation, counter-only and empty ones included."""


@frozen(kw_only=True)
class ResourceSliceSpec:
    """Exactly one of node_name, node_selector, all_nodes, per_device_node_selection is set."""

    driver: str
    pool: ResourcePool
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] = field(default=(), converter=frozen_tuple)
    shared_counters: tuple[CounterSet, ...] = field(default=(), converter=frozen_tuple)
    partition_type_attribute: str | None = None
    """Since 1.37 (DRAPartitionableDevicesType)."""
    skip_node_operations: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    """Since 1.37 (DRAOptionalNodeOperations)."""


@frozen(kw_only=True)
class ResourceSlice:
    """Cluster-scoped."""

    metadata: ObjectMeta
    spec: ResourceSliceSpec

    @property
    def name(self) -> str:
        return self.metadata.name
