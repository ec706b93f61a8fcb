"""Claims made ready for the search: defaults applied, classes looked up, everything fatal found before it starts.

Source: k8s.io/dynamic-resource-allocation ``structured`` (validateDeviceRequest), messages included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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

__all__ = ["MAX_DEVICES_PER_CLAIM", "Alternative", "ClaimPlan", "RequestPlan", "check_limit", "plan_claims"]

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
    """A claim ready for the search; or as much of it as there is before its fault."""

    claim: ResourceClaim
    requests: tuple[RequestPlan, ...]
    constraints: tuple[DeviceConstraint, ...]
    begun: tuple[Alternative, ...] = ()
    """Of the request with the fault, what comes before that."""
    fault: AllocationError | None = None
    """What ends the attempt, unless an All before it does."""

    @property
    def has_all(self) -> bool:
        asks = (ask for request in self.requests for ask in request.alternatives)
        return any(ask.all for ask in (*asks, *self.begun))


def plan_claims(claims: Iterable[ResourceClaim], classes: Mapping[str, DeviceClass]) -> list[ClaimPlan]:
    """The plans for claims that are to be allocated together.

    :returns: one plan each; fewer, where the last one has a fault that waits for the devices of an All before it.
    :raises AllocationError: what Kubernetes finds wrong before it looks at any device.
    """
    plans: list[ClaimPlan] = []
    for claim in claims:
        plans.append(_plan_claim(claim, classes))
        if (fault := plans[-1].fault) is not None:
            if not any(plan.has_all for plan in plans):
                raise fault
            break
    return plans


def _plan_claim(claim: ResourceClaim, classes: Mapping[str, DeviceClass]) -> ClaimPlan:
    spec = claim.spec.devices
    requests: list[RequestPlan] = []
    begun: list[Alternative] = []
    fault: AllocationError | None = None
    try:
        for request in spec.requests:
            for name, ask in _asked(claim, request):
                begun.append(_alternative(claim, request.name, name, ask, classes))
            requests.append(RequestPlan(name=request.name, alternatives=tuple(begun)))
            begun = []
            _check_limit(claim, requests)
        _check_constraints(claim)
    except AllocationError as error:
        fault = error
    return ClaimPlan(claim=claim, requests=tuple(requests), constraints=spec.constraints, begun=tuple(begun), fault=fault)


def _asked(claim: ResourceClaim, request: DeviceRequest) -> list[tuple[str, ExactDeviceRequest | DeviceSubRequest]]:
    if request.exactly is not None:
        return [(request.name, request.exactly)]
    if not request.first_available:
        place = Place(claim=claim.key, request=request.name)
        raise AllocationError(f"{place}: missing device class name (unsupported request type?)", place)
    return [(f"{request.name}/{sub.name}", sub) for sub in request.first_available]


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


def _check_constraints(claim: ResourceClaim) -> None:
    for index, constraint in enumerate(claim.spec.devices.constraints):
        if constraint.match_attribute is None and constraint.distinct_attribute is None:
            place = Place(claim=claim.key, constraint=index)
            raise AllocationError(f"{place}: empty constraint (unsupported constraint type?)", place)


def _check_limit(claim: ResourceClaim, requests: Sequence[RequestPlan]) -> None:
    """Whether the last request is one too many; where there is an All, the search sees to it."""
    if any(ask.all for request in requests for ask in request.alternatives):
        return
    counts = [min(ask.count for ask in request.alternatives) for request in requests]
    check_limit(claim, requests[-1], counts[-1], sum(counts[:-1]))


def check_limit(claim: ResourceClaim, request: RequestPlan, wanted: int, accounted: int) -> None:
    """Whether a result can hold so many devices.

    :param wanted: at least so many are for the request.
    :param accounted: and so many for those before it.
    :raises AllocationError: it cannot.
    """
    if wanted > MAX_DEVICES_PER_CLAIM - accounted:
        place = Place(claim=claim.key, request=request.name)
        limit = f"the claim limit of {MAX_DEVICES_PER_CLAIM}, with {accounted} already accounted for"
        raise AllocationError(f"{place}: adding {wanted} devices exceeds {limit}", place)
