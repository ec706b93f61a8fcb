"""Claims made ready for the search: defaults applied, classes looked up, everything fatal found before it starts.

Source: k8s.io/dynamic-resource-allocation ``structured`` (validateDeviceRequest), messages included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from drakit.allocation.errors import AllocationError, Place
from drakit.model import (
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    Quantity,
    ResourceClaim,
)

__all__ = ["MAX_DEVICES_PER_CLAIM", "Alternative", "ClaimPlan", "RequestPlan", "plan_claim"]

MAX_DEVICES_PER_CLAIM: Final = 32
"""``AllocationResultsMaxSize``"""


@frozen(kw_only=True)
class Selector:
    """One CEL expression, and how errors name it."""

    expression: str
    name: str
    """As Kubernetes' messages call it: ``class gpu.example.com: selector #0``."""
    place: Place


@frozen(kw_only=True, eq=False)
class Alternative:
    """One way to satisfy a request: the request itself, or one of its sub-requests."""

    name: str
    """``request``, or ``request/sub``."""
    main: str
    """Name of the request."""
    device_class: DeviceClass
    selectors: tuple[Selector, ...]
    """The class's first."""
    count: int
    """Devices wanted; 0 for :attr:`all`."""
    all: bool
    admin_access: bool
    tolerations: tuple[DeviceToleration, ...]
    capacity: Mapping[str, Quantity]
    """Requested amounts; a device has to spell the capacity's name in the same way."""
    constraints: tuple[int, ...]
    """Indices of the claim's constraints that apply."""


@frozen(kw_only=True, eq=False)
class RequestPlan:
    """A request and the ways to satisfy it, in order of preference."""

    name: str
    alternatives: tuple[Alternative, ...]


@frozen(kw_only=True, eq=False)
class ClaimPlan:
    """A claim ready for the search."""

    claim: ResourceClaim
    requests: tuple[RequestPlan, ...]
    constraints: tuple[DeviceConstraint, ...]


def plan_claim(claim: ResourceClaim, classes: Mapping[str, DeviceClass]) -> ClaimPlan:
    """The plan for a claim.

    :raises AllocationError: what Kubernetes finds wrong before it looks at any device.
    """
    spec = claim.spec.devices
    requests = tuple(_plan_request(claim, request, classes) for request in spec.requests)
    _check_limit(claim, requests)
    for index, constraint in enumerate(spec.constraints):
        if constraint.match_attribute is None and constraint.distinct_attribute is None:
            place = Place(claim=claim.key, constraint=index)
            raise AllocationError(f"{place}: empty constraint (unsupported constraint type?)", place)
    return ClaimPlan(claim=claim, requests=requests, constraints=spec.constraints)


def _plan_request(claim: ResourceClaim, request: DeviceRequest, classes: Mapping[str, DeviceClass]) -> RequestPlan:
    asked: Sequence[tuple[str, ExactDeviceRequest | DeviceSubRequest]]
    if request.exactly is not None:
        asked = [(request.name, request.exactly)]
    else:
        asked = [(f"{request.name}/{sub.name}", sub) for sub in request.first_available]
    if not asked:
        place = Place(claim=claim.key, request=request.name)
        raise AllocationError(f"{place}: missing device class name (unsupported request type?)", place)
    return RequestPlan(
        name=request.name,
        alternatives=tuple(_alternative(claim, request.name, name, ask, classes) for name, ask in asked),
    )


def _alternative(
    claim: ResourceClaim,
    main: str,
    name: str,
    ask: ExactDeviceRequest | DeviceSubRequest,
    classes: Mapping[str, DeviceClass],
) -> Alternative:
    place = Place(claim=claim.key, request=name.rpartition("/")[2])
    _refuse_unsupported(ask, place)
    device_class = _class(ask.device_class_name, classes, place)
    mode = ask.allocation_mode or "ExactCount"
    if mode not in ("ExactCount", "All"):
        raise AllocationError(f"{place}: unsupported count mode {mode}", place)
    return Alternative(
        name=name,
        main=main,
        device_class=device_class,
        selectors=(
            *_selectors(device_class.spec.selectors, Place(device_class=device_class.name)),
            *_selectors(ask.selectors, place),
        ),
        count=0 if mode == "All" else max(ask.count or 1, 0),  # the API server takes 0 for "not said"
        all=mode == "All",
        admin_access=isinstance(ask, ExactDeviceRequest) and bool(ask.admin_access),
        tolerations=ask.tolerations,
        capacity=ask.capacity.requests if ask.capacity else {},
        constraints=tuple(_applying(claim.spec.devices.constraints, main, name)),
    )


def _refuse_unsupported(ask: ExactDeviceRequest | DeviceSubRequest, place: Place) -> None:
    if ask.derived_attributes:
        raise AllocationError(f"{place}: drakit does not support derivedAttributes yet", place, kind="undecided")


def _class(name: str, classes: Mapping[str, DeviceClass], place: Place) -> DeviceClass:
    if not name:
        raise AllocationError(f"{place}: missing device class name (unsupported request type?)", place)
    if name not in classes:
        missing = f'deviceclass.resource.k8s.io "{name}" not found'
        raise AllocationError(f"{place}: could not retrieve device class {name}: {missing}", place)
    return classes[name]


def _selectors(selectors: Sequence[DeviceSelector], owner: Place) -> list[Selector]:
    """:raises AllocationError: a selector that is not CEL."""
    found = []
    for index, selector in enumerate(selectors):
        place = evolve(owner, selector=index)
        if selector.cel is None or not selector.cel.expression:
            raise AllocationError(f"{place}: CEL expression empty (unsupported selector type?)", place)
        # Kubernetes names no request here.
        name = f"{evolve(owner, request='')}: selector #{index}"
        found.append(Selector(expression=selector.cel.expression, name=name, place=place))
    return found


def _applying(constraints: Sequence[DeviceConstraint], main: str, name: str) -> list[int]:
    return [index for index, c in enumerate(constraints) if not c.requests or main in c.requests or name in c.requests]


def _check_limit(claim: ResourceClaim, requests: Sequence[RequestPlan]) -> None:
    total = sum(min(alternative.count for alternative in request.alternatives) for request in requests)
    if total > MAX_DEVICES_PER_CLAIM:
        raise too_many(claim, total)


def too_many(claim: ResourceClaim, total: int) -> AllocationError:
    """The error for a claim that wants more devices than a result can hold."""
    place = Place(claim=claim.key)
    limit = f"exceeds the claim limit of {MAX_DEVICES_PER_CLAIM}"
    return AllocationError(f"{place}: number of requested devices {total} {limit}", place)
