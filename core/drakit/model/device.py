"""A device as a ResourceSlice lists it, and what it consumes and offers.

Source: k8s.io/api ``resource/v1/types.go``, up to 1.37.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from attrs import field, frozen

from drakit.model.attributes import DeviceAttribute, attributes
from drakit.model.collections import frozen_mapping, frozen_tuple
from drakit.model.meta import Timestamp
from drakit.model.nodes import NodeSelector
from drakit.model.quantity import Quantity, quantity

__all__ = [
    "CapacityRequestPolicy",
    "CapacityRequestPolicyRange",
    "Counter",
    "CounterSet",
    "Device",
    "DeviceCapacity",
    "DeviceCounterConsumption",
    "DeviceID",
    "DeviceTaint",
    "NodeAllocatableMapping",
    "NodeAllocatableOverhead",
    "NodeAllocatableResource",
]


class DeviceID(NamedTuple):
    """What names a device in a cluster. Two drivers may use one pool name; it is another pool then."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


@frozen(kw_only=True)
class CapacityRequestPolicyRange:
    """Amounts from min to max, in steps from min."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


@frozen(kw_only=True)
class CapacityRequestPolicy:
    """Which amounts of a capacity may be taken by one request."""

    default: Quantity | None = None
    """Taken by a request that names no amount."""
    valid_values: tuple[Quantity, ...] = field(default=(), converter=frozen_tuple)
    """Ascending; a request is rounded up to the next one."""
    valid_range: CapacityRequestPolicyRange | None = None


@frozen
class DeviceCapacity:
    """An amount a device has; on a device for several claims, what they share."""

    value: Quantity = field(converter=quantity)
    request_policy: CapacityRequestPolicy | None = field(default=None, kw_only=True)


def _capacities(values: Mapping[str, Any]) -> Mapping[str, DeviceCapacity]:
    """Capacities from plain amounts: an int, text such as ``80Gi``, a Quantity; None leaves it out."""
    return frozen_mapping(
        {
            name: value if isinstance(value, DeviceCapacity) else DeviceCapacity(value)
            for name, value in values.items()
            if value is not None
        }
    )


@frozen
class Counter:
    """One counter: an amount of something that partitions of one piece of hardware share."""

    value: Quantity = field(converter=quantity)


def _counters(values: Mapping[str, Any]) -> Mapping[str, Counter]:
    return frozen_mapping({name: value if isinstance(value, Counter) else Counter(value) for name, value in values.items()})


@frozen(kw_only=True)
class CounterSet:
    """A named set of counters of a pool."""

    name: str
    counters: Mapping[str, Counter] = field(factory=dict[str, Counter], converter=_counters)


@frozen(kw_only=True)
class DeviceCounterConsumption:
    """What one device takes from one counter set while it is allocated."""

    counter_set: str
    counters: Mapping[str, Counter] = field(factory=dict[str, Counter], converter=_counters)
    compatibility_groups: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    """Since 1.37 (DRADeviceCompatibilityGroups)."""


@frozen(kw_only=True)
class DeviceTaint:
    """A problem of a device that keeps claims without the toleration away."""

    key: str
    value: str = ""
    effect: Literal["None", "NoSchedule", "NoExecute"]
    time_added: Timestamp | None = None

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@frozen(kw_only=True)
class NodeAllocatableMapping:
    """A device's share of a native node resource, by one of its capacities or per device."""

    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


@frozen(kw_only=True)
class NodeAllocatableOverhead:
    """What each pod, and each container reference, costs on top."""

    per_pod: Quantity | None = None
    per_container: Quantity | None = None


@frozen(kw_only=True)
class NodeAllocatableResource:
    """How using a device is charged to the node's own resources. Since 1.37 (DRANodeAllocatableResources)."""

    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


@frozen(kw_only=True)
class Device:
    """One allocatable device.

    Plain Python values are taken for attributes and capacities: ``Device("gpu-0", attributes={"model": "m1",
    "firmware": semver("1.4.0")}, capacity={"memory": "80Gi"})``.
    """

    name: str = field(kw_only=False)
    """DNS label, unique in the pool."""
    attributes: Mapping[str, DeviceAttribute] = field(factory=dict[str, Any], converter=attributes)
    """By qualified name; a name without a domain is the driver's own."""
    capacity: Mapping[str, DeviceCapacity] = field(factory=dict[str, Any], converter=_capacities)
    consumes_counters: tuple[DeviceCounterConsumption, ...] = field(default=(), converter=frozen_tuple)
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = field(default=(), converter=frozen_tuple)
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    binding_failure_conditions: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: Mapping[str, NodeAllocatableResource] = field(
        factory=dict[str, NodeAllocatableResource], converter=frozen_mapping
    )
    source: object = field(default=None, eq=False, repr=False)
    """Whatever a plugin wants to find again in its other hooks. Never leaves the process."""

    def attribute(self, name: str, driver: str) -> DeviceAttribute | None:
        """The attribute of a fully qualified name; in the driver's own domain the short name is found too."""
        found = self.attributes.get(name)
        if found is None and name.startswith(f"{driver}/"):
            found = self.attributes.get(name[len(driver) + 1 :])
        return found
