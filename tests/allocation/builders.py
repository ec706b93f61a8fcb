"""Builds small clusters for the allocation tests. What a test does not say is the simplest thing that can be.

One driver, one node and one pool, ``gpu.example.com``, ``node-a`` and ``node-a``, unless a test names others; a class
``any`` of all devices is in every cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pytest

from drakit.allocation import AllocatedState, AllocationError, Cluster, Report, simulate
from drakit.allocation.search import DEFAULT_BUDGET
from drakit.model import (
    AllocationResult,
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    CapacityRequirements,
    CELDeviceSelector,
    CounterSet,
    Device,
    DeviceAllocationResult,
    DeviceCapacity,
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceClass,
    DeviceClassConfiguration,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceRequestAllocationResult,
    DeviceSelector,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
    ExactDeviceRequest,
    Namespace,
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    NodeSpec,
    NodeTaint,
    ObjectMeta,
    OpaqueDeviceConfiguration,
    Pod,
    PodResourceClaim,
    PodSpec,
    PodStatus,
    PodToleration,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
    device_class,
    only_node,
    quantity,
)
from drakit.model.wire import KubernetesObject

DRIVER: Final = "gpu.example.com"
ANY: Final = device_class("any")
"""A class without selectors."""
HOSTNAME: Final = "kubernetes.io/hostname"


# -- nodes ----------------------------------------------------------------------------------------------------------------


def node(
    name: str = "node-a",
    *,
    labels: Mapping[str, str] | None = None,
    cordoned: bool = False,
    taints: Iterable[NodeTaint] = (),
) -> Node:
    """A node with its hostname label."""
    metadata = ObjectMeta(name=name, labels={HOSTNAME: name} | dict(labels or {}))
    return Node(metadata=metadata, spec=NodeSpec(unschedulable=cordoned, taints=tuple(taints)))


def namespace(name: str, *, admin: bool = False) -> Namespace:
    labels = {"resource.kubernetes.io/admin-access": "true"} if admin else {}
    return Namespace(metadata=ObjectMeta(name=name, labels=labels))


def term(key: str, *values: str) -> NodeSelectorTerm:
    """The label has one of the values."""
    return NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key=key, operator="In", values=values),))


def labelled(key: str, *values: str) -> NodeSelector:
    """Nodes whose label has one of the values, in one term."""
    return NodeSelector(node_selector_terms=(term(key, *values),))


# -- devices --------------------------------------------------------------------------------------------------------------


def device(
    name: str,
    *,
    attributes: Mapping[str, Any] | None = None,
    capacity: Mapping[str, Any] | None = None,
    consumes: Mapping[str, Mapping[str, Any]] | None = None,
    taints: Iterable[DeviceTaint] = (),
    groups: Iterable[str] = (),
    shared: bool = False,
    **fields: Any,
) -> Device:
    """A device; ``consumes`` is by counter set and counter, ``groups`` are its compatibility groups in all of them."""
    consumption = [
        DeviceCounterConsumption(counter_set=s, counters=c, compatibility_groups=tuple(groups))
        for s, c in (consumes or {}).items()
    ]
    return Device(
        name,
        attributes=attributes or {},
        capacity=capacity or {},
        consumes_counters=tuple(consumption),
        taints=tuple(taints),
        allow_multiple_allocations=shared or None,
        **fields,
    )


def devices(*names: str) -> list[Device]:
    return [device(name) for name in names]


def taint(key: str = "broken", value: str = "", effect: Any = "NoSchedule") -> DeviceTaint:
    return DeviceTaint(key=key, value=value, effect=effect)


def capacity_in_range(value: str, *, least: str, most: str = "", step: str = "", default: str = "") -> DeviceCapacity:
    """A capacity of which a request takes an amount of a range."""
    range_ = CapacityRequestPolicyRange(
        min=quantity(least), max=quantity(most) if most else None, step=quantity(step) if step else None
    )
    policy = CapacityRequestPolicy(valid_range=range_, default=quantity(default) if default else None)
    return DeviceCapacity(value, request_policy=policy)


def capacity_of_values(value: str, *values: str, default: str = "") -> DeviceCapacity:
    """A capacity of which a request takes one of a few amounts."""
    policy = CapacityRequestPolicy(valid_values=tuple(map(quantity, values)), default=quantity(default) if default else None)
    return DeviceCapacity(value, request_policy=policy)


def slice_(
    *of: Device,
    name: str = "",
    driver: str = DRIVER,
    pool: str = "node-a",
    node_name: str | None = None,
    node_selector: NodeSelector | None = None,
    all_nodes: bool = False,
    per_device: bool = False,
    generation: int = 1,
    count: int = 1,
    counters: Mapping[str, Mapping[str, Any]] | None = None,
    skip_node_operations: Sequence[str] = (),
) -> ResourceSlice:
    """A slice of devices or of counter sets. For node ``node-a`` unless it says for which."""
    if node_name is None and not (node_selector or all_nodes or per_device):
        node_name = "node-a"
    kind = "counters" if counters else "devices"
    return ResourceSlice(
        metadata=ObjectMeta(name=name or f"{driver}-{pool}-{node_name or 'nodes'}-{kind}"),
        spec=ResourceSliceSpec(
            driver=driver,
            pool=ResourcePool(name=pool, generation=generation, resource_slice_count=count),
            node_name=node_name,
            node_selector=node_selector,
            all_nodes=all_nodes or None,
            per_device_node_selection=per_device or None,
            devices=of,
            shared_counters=tuple(CounterSet(name=set_, counters=c) for set_, c in (counters or {}).items()),
            skip_node_operations=tuple(skip_node_operations),
        ),
    )


def counted(counters: Mapping[str, Mapping[str, Any]], *of: Device, **options: Any) -> list[ResourceSlice]:
    """A pool of two slices: the counter sets, and the devices."""
    return [slice_(counters=counters, count=2, **options), slice_(*of, count=2, **options)]


# -- requests -------------------------------------------------------------------------------------------------------------


def _selectors(expressions: Iterable[str]) -> tuple[DeviceSelector, ...]:
    return tuple(DeviceSelector(cel=CELDeviceSelector(expression=expression)) for expression in expressions)


def _ask(
    class_name: str,
    expressions: Iterable[str],
    count: int | None,
    every: bool,
    capacity: Mapping[str, Any] | None,
    tolerations: Iterable[DeviceToleration],
) -> dict[str, Any]:
    return {
        "device_class_name": class_name,
        "selectors": _selectors(expressions),
        "allocation_mode": "All" if every else None,
        "count": count,
        "capacity": CapacityRequirements(requests={n: quantity(v) for n, v in capacity.items()}) if capacity else None,
        "tolerations": tuple(tolerations),
    }


def request(
    name: str = "r",
    *expressions: str,
    of: str = "any",
    count: int | None = None,
    every: bool = False,
    capacity: Mapping[str, Any] | None = None,
    tolerations: Iterable[DeviceToleration] = (),
    admin: bool = False,
) -> DeviceRequest:
    """A request for devices of a class that satisfy CEL expressions; ``every`` is allocation mode All."""
    ask = _ask(of, expressions, count, every, capacity, tolerations)
    return DeviceRequest(name=name, exactly=ExactDeviceRequest(**ask, admin_access=admin or None))


def alternative(
    name: str,
    *expressions: str,
    of: str = "any",
    count: int | None = None,
    every: bool = False,
    capacity: Mapping[str, Any] | None = None,
    tolerations: Iterable[DeviceToleration] = (),
) -> DeviceSubRequest:
    """One sub-request."""
    return DeviceSubRequest(name=name, **_ask(of, expressions, count, every, capacity, tolerations))


def first_available(name: str, *alternatives: DeviceSubRequest) -> DeviceRequest:
    return DeviceRequest(name=name, first_available=alternatives)


def named(*names: str) -> str:
    """A CEL expression for devices by their attribute ``name``; see :func:`with_name`."""
    return f"device.attributes[device.driver].name in [{', '.join(map(repr, names))}]".replace("'", '"')


def with_name(name: str, **options: Any) -> Device:
    """A device that carries its name as an attribute too."""
    return device(name, attributes={"name": name} | options.pop("attributes", {}), **options)


def match(attribute: str, *requests: str) -> DeviceConstraint:
    return DeviceConstraint(match_attribute=attribute, requests=requests)


def distinct(attribute: str, *requests: str) -> DeviceConstraint:
    return DeviceConstraint(distinct_attribute=attribute, requests=requests)


def opaque(value: str) -> OpaqueDeviceConfiguration:
    return OpaqueDeviceConfiguration(driver=DRIVER, parameters={"value": value})


def config(value: str, *requests: str) -> DeviceClaimConfiguration:
    return DeviceClaimConfiguration(opaque=opaque(value), requests=requests)


def configured_class(name: str, *values: str) -> DeviceClass:
    """A class of all devices, with configuration."""
    spec = DeviceClassSpec(config=tuple(DeviceClassConfiguration(opaque=opaque(value)) for value in values))
    return DeviceClass(metadata=ObjectMeta(name=name), spec=spec)


# -- claims and pods ------------------------------------------------------------------------------------------------------


def claim(
    *requests: DeviceRequest,
    name: str = "c",
    namespace: str = "team-a",
    constraints: Iterable[DeviceConstraint] = (),
    config: Iterable[DeviceClaimConfiguration] = (),
) -> ResourceClaim:
    spec = DeviceClaim(requests=requests, constraints=tuple(constraints), config=tuple(config))
    return ResourceClaim(metadata=ObjectMeta(name=name, namespace=namespace), spec=ResourceClaimSpec(devices=spec))


def holding(
    *held: str,
    name: str = "holder",
    namespace: str = "team-a",
    share: Mapping[str, Any] | None = None,
    admin: bool = False,
    node_selector: NodeSelector | None = None,
) -> ResourceClaim:
    """A claim that has devices already, by ``device``, ``pool/device`` or ``driver/pool/device``.

    :param share: consumed capacity; the claim then holds shares.
    """
    results = [
        DeviceRequestAllocationResult(
            request="r",
            driver=driver,
            pool=pool,
            device=device_name,
            admin_access=admin or None,
            share_id=None if share is None else f"00000000-0000-4000-8000-{index:012}",
            consumed_capacity={key: quantity(amount) for key, amount in (share or {}).items()},
        )
        for index, (driver, pool, device_name) in enumerate(map(_id, held))
    ]
    allocation = AllocationResult(
        devices=DeviceAllocationResult(results=results), node_selector=node_selector or only_node("node-a")
    )
    return ResourceClaim(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=ResourceClaimSpec(devices=DeviceClaim(requests=(request(),))),
        status=ResourceClaimStatus(allocation=allocation),
    )


def _id(path: str) -> tuple[str, str, str]:
    *before, name = path.split("/")
    driver, pool = ([DRIVER, "node-a"] if not before else [DRIVER, *before])[-2:]
    return driver, pool, name


def template(name: str, *requests: DeviceRequest, namespace: str = "team-a") -> ResourceClaimTemplate:
    spec = ResourceClaimTemplateSpec(spec=ResourceClaimSpec(devices=DeviceClaim(requests=requests)))
    return ResourceClaimTemplate(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


def pod(
    name: str,
    *claims: str,
    templates: Mapping[str, str] | None = None,
    namespace: str = "team-a",
    phase: str = "",
    node_name: str = "",
    node_selector: Mapping[str, str] | None = None,
    tolerations: Iterable[PodToleration] = (),
) -> Pod:
    """A pod that uses claims by name, and claims made from templates (entry name to template)."""
    entries = [PodResourceClaim(name=used, resource_claim_name=used) for used in claims]
    entries += [PodResourceClaim(name=e, resource_claim_template_name=t) for e, t in (templates or {}).items()]
    spec = PodSpec(
        node_name=node_name,
        node_selector=node_selector or {},
        tolerations=tuple(tolerations),
        resource_claims=tuple(entries),
    )
    return Pod(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec, status=PodStatus(phase=phase))


# -- clusters and answers -------------------------------------------------------------------------------------------------

Objects: TypeAlias = Iterable[Any]
"""Objects, and lists of objects."""


def cluster(*objects: KubernetesObject | Iterable[KubernetesObject]) -> Cluster:
    """The cluster of these objects and lists of objects, the class ``any``, and ``node-a`` where none is given."""
    flat = [o for item in objects for o in ([item] if isinstance(item, KubernetesObject) else item)]
    if not any(isinstance(o, Node) for o in flat):
        flat.insert(0, node())
    return Cluster.of([ANY, *flat])


def allocate(
    objects: Objects,
    *claims: ResourceClaim,
    on: str = "node-a",
    budget: int = DEFAULT_BUDGET,
    state: AllocatedState | None = None,
) -> tuple[AllocationResult, ...] | None:
    """Allocate claims together on one node."""
    world = cluster(*objects)
    here = next(n for n in world.nodes if n.name == on)
    return world.decider(budget).on_node(here, claims, world.state if state is None else state)


def picks(objects: Objects, *claims: ResourceClaim, on: str = "node-a", budget: int = DEFAULT_BUDGET) -> list[str] | None:
    """The devices that claims get together on one node, as ``request=device``; None: they do not fit."""
    results = allocate(objects, *claims, on=on, budget=budget)
    return None if results is None else [pick for result in results for pick in picked(result)]


def picked(result: AllocationResult | None) -> list[str]:
    """The devices of one claim, as ``request=device``."""
    return [f"{r.request}={r.device}" for r in result.devices.results] if result else []


def fatal(objects: list[Any], *claims: ResourceClaim) -> AllocationError:
    """The error that claims end in on one node."""
    with pytest.raises(AllocationError) as caught:
        allocate(objects, *claims)
    return caught.value


def one(objects: list[Any], *claims: ResourceClaim) -> AllocationResult:
    """The result of the first claim."""
    results = allocate(objects, *claims)
    assert results is not None
    return results[0]


def simulated(*objects: Any) -> Report:
    return simulate(cluster(*objects))


def had(report: Report) -> dict[str, list[str]]:
    """Devices by claim, in the order claims were decided."""
    return {outcome.claim.metadata.name: picked(outcome.allocation) for outcome in report.claims}


def placed(report: Report) -> dict[str, str]:
    """Node by pod."""
    return {outcome.pod.metadata.name: outcome.node for outcome in report.pods}


def why_not(report: Report, pod_name: str = "p") -> str:
    """Why a pod has no node."""
    return next(outcome.reason for outcome in report.pods if outcome.pod.metadata.name == pod_name)
