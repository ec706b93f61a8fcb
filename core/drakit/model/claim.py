"""DeviceClass, ResourceClaim, ResourceClaimTemplate and the result of an allocation.

Source: k8s.io/api ``resource/v1/types.go``, up to 1.37.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from drakit.model.collections import frozen_json, frozen_mapping, frozen_tuple
from drakit.model.device import DeviceID
from drakit.model.meta import ObjectMeta, Timestamp
from drakit.model.nodes import NodeSelector
from drakit.model.quantity import Quantity

__all__ = [
    "AllocatedDeviceStatus",
    "AllocationResult",
    "CELDeviceSelector",
    "CapacityRequirements",
    "DeviceAllocationConfiguration",
    "DeviceAllocationResult",
    "DeviceClaim",
    "DeviceClaimConfiguration",
    "DeviceClass",
    "DeviceClassConfiguration",
    "DeviceClassSpec",
    "DeviceConstraint",
    "DeviceDerivedAttribute",
    "DeviceRequest",
    "DeviceRequestAllocationResult",
    "DeviceSelector",
    "DeviceSubRequest",
    "DeviceToleration",
    "ExactDeviceRequest",
    "OpaqueDeviceConfiguration",
    "ResourceClaim",
    "ResourceClaimConsumerReference",
    "ResourceClaimSpec",
    "ResourceClaimStatus",
    "ResourceClaimTemplate",
    "ResourceClaimTemplateSpec",
    "device_class",
]


@frozen(kw_only=True)
class CELDeviceSelector:
    """A CEL expression over ``device``."""

    expression: str


@frozen(kw_only=True)
class DeviceSelector:
    """One condition on a device; CEL is the only kind there is."""

    cel: CELDeviceSelector | None = None


@frozen(kw_only=True)
class OpaqueDeviceConfiguration:
    """Parameters for one driver, which alone knows what they mean."""

    driver: str
    parameters: Mapping[str, Any] = field(converter=frozen_json)


@frozen(kw_only=True)
class DeviceClassConfiguration:
    """Configuration a class brings along."""

    opaque: OpaqueDeviceConfiguration | None = None


@frozen(kw_only=True)
class DeviceClassSpec:
    """What devices are of the class."""

    selectors: tuple[DeviceSelector, ...] = field(default=(), converter=frozen_tuple)
    config: tuple[DeviceClassConfiguration, ...] = field(default=(), converter=frozen_tuple)
    extended_resource_name: str | None = None


@frozen(kw_only=True)
class DeviceClass:
    """Cluster-scoped; made by the administrator or the driver's chart."""

    metadata: ObjectMeta
    spec: DeviceClassSpec = field(factory=DeviceClassSpec)

    @property
    def name(self) -> str:
        return self.metadata.name


def device_class(name: str, *expressions: str, extended_resource_name: str | None = None) -> DeviceClass:
    """A DeviceClass of this name whose devices satisfy every expression."""
    selectors = tuple(DeviceSelector(cel=CELDeviceSelector(expression=expression)) for expression in expressions)
    spec = DeviceClassSpec(selectors=selectors, extended_resource_name=extended_resource_name)
    return DeviceClass(metadata=ObjectMeta(name=name), spec=spec)


@frozen(kw_only=True)
class DeviceToleration:
    """Which taints of a device a request accepts."""

    key: str = ""
    """Empty: every key."""
    operator: Literal["", "Equal", "Exists"] = field(default="Equal", metadata={"always": True})
    """Empty: Equal. Written even so, as the API server does."""
    value: str = ""
    effect: Literal["", "NoSchedule", "NoExecute"] = ""
    """Empty: every effect."""
    toleration_seconds: int | None = None


@frozen(kw_only=True)
class CapacityRequirements:
    """How much of each capacity a request takes."""

    requests: Mapping[str, Quantity] = field(factory=dict[str, Quantity], converter=frozen_mapping)


@frozen(kw_only=True)
class DeviceDerivedAttribute:
    """An attribute computed by CEL for the constraints of a claim. Since 1.37 (DRADerivedAttributes)."""

    name: str
    expression: str


@frozen(kw_only=True)
class ExactDeviceRequest:
    """What one request asks for. Defaults are the API server's."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = field(default=(), converter=frozen_tuple)
    allocation_mode: str | None = None
    """ExactCount or All; absent: ExactCount."""
    count: int | None = None
    """Absent: 1 for ExactCount."""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = field(default=(), converter=frozen_tuple)
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DeviceDerivedAttribute, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class DeviceSubRequest:
    """One alternative of a ``firstAvailable`` request; as an exact one, but never with admin access."""

    name: str
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = field(default=(), converter=frozen_tuple)
    allocation_mode: str | None = None
    count: int | None = None
    tolerations: tuple[DeviceToleration, ...] = field(default=(), converter=frozen_tuple)
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DeviceDerivedAttribute, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class DeviceRequest:
    """A named request: exactly one of ``exactly`` and ``first_available`` is set."""

    name: str
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class DeviceConstraint:
    """What the devices of several requests must have in common, or must not."""

    requests: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    """Names, or ``main/sub``; empty: all requests."""
    match_attribute: str | None = None
    distinct_attribute: str | None = None


@frozen(kw_only=True)
class DeviceClaimConfiguration:
    """Configuration for the devices of some requests; no names: of all."""

    requests: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    opaque: OpaqueDeviceConfiguration | None = None


@frozen(kw_only=True)
class DeviceClaim:
    """``spec.devices`` of a claim."""

    requests: tuple[DeviceRequest, ...] = field(default=(), converter=frozen_tuple)
    constraints: tuple[DeviceConstraint, ...] = field(default=(), converter=frozen_tuple)
    config: tuple[DeviceClaimConfiguration, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class ResourceClaimSpec:
    """Immutable once created."""

    devices: DeviceClaim = field(factory=DeviceClaim)


@frozen(kw_only=True)
class DeviceRequestAllocationResult:
    """One device given to one request."""

    request: str
    """``name``, or ``name/sub`` for a request with alternatives."""
    driver: str
    pool: str
    device: str
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = field(default=(), converter=frozen_tuple)
    binding_conditions: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    binding_failure_conditions: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    share_id: str | None = field(default=None, metadata={"wire": "shareID"})
    """UUID; set if and only if the device takes several allocations."""
    consumed_capacity: Mapping[str, Quantity] = field(factory=dict[str, Quantity], converter=frozen_mapping)
    skip_node_operations: tuple[str, ...] = field(default=(), converter=frozen_tuple)

    @property
    def id(self) -> DeviceID:
        return DeviceID(self.driver, self.pool, self.device)


@frozen(kw_only=True)
class DeviceAllocationConfiguration:
    """Configuration that goes with an allocation, and where it came from."""

    source: str
    """FromClass or FromClaim."""
    requests: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    opaque: OpaqueDeviceConfiguration | None = None


@frozen(kw_only=True)
class DeviceAllocationResult:
    """The devices of a claim, in request order, and their configuration: class entries first."""

    results: tuple[DeviceRequestAllocationResult, ...] = field(default=(), converter=frozen_tuple)
    config: tuple[DeviceAllocationConfiguration, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class AllocationResult:
    """What a claim got, and on which nodes it can be used; no selector: everywhere."""

    devices: DeviceAllocationResult = field(factory=DeviceAllocationResult)
    node_selector: NodeSelector | None = None
    allocation_timestamp: Timestamp | None = None


@frozen(kw_only=True)
class ResourceClaimConsumerReference:
    """Who uses a claim."""

    api_group: str = ""
    resource: str
    name: str
    uid: str


@frozen(kw_only=True)
class AllocatedDeviceStatus:
    """What a driver says about a device it prepared."""

    driver: str
    pool: str
    device: str
    share_id: str | None = field(default=None, metadata={"wire": "shareID"})
    conditions: tuple[Mapping[str, Any], ...] | None = None
    data: Any = None
    network_data: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ResourceClaimStatus:
    """Allocation, consumers and device states."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = field(default=(), converter=frozen_tuple)
    devices: tuple[AllocatedDeviceStatus, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class ResourceClaim:
    """Namespaced."""

    metadata: ObjectMeta
    spec: ResourceClaimSpec = field(factory=ResourceClaimSpec)
    status: ResourceClaimStatus = field(factory=ResourceClaimStatus)

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.metadata.key


@frozen(kw_only=True)
class ResourceClaimTemplateSpec:
    """Metadata and spec of the claims made from a template."""

    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: ResourceClaimSpec = field(factory=ResourceClaimSpec)


@frozen(kw_only=True)
class ResourceClaimTemplate:
    """Namespaced; one claim is made from it for each pod that names it."""

    metadata: ObjectMeta
    spec: ResourceClaimTemplateSpec = field(factory=ResourceClaimTemplateSpec)

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.metadata.key
