"""The claims of a world: small, greedy and full of conditions; and the classes they name.

Everything has its defaults filled in, as the API server does: the allocator relies on that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hypothesis.strategies import DrawFn

from drakit.model import (
    CapacityRequirements,
    CELDeviceSelector,
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceClass,
    DeviceClassConfiguration,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
    ObjectMeta,
    OpaqueDeviceConfiguration,
    ResourceClaim,
    ResourceClaimSpec,
    quantity,
)
from drakit.testing.strategies.odds import happens, pick
from drakit.testing.strategies.vocabulary import CLASSES, CONSTRAINT_ATTRIBUTES, DRIVERS, FAILING, SELECTORS, TOLERATIONS

__all__ = ["draw_claim", "draw_class", "draw_classes"]

_NUMBER_OF_REQUESTS: Final = (1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 1, 0)
_COUNTS: Final = (1, 1, 2, 1, 3, 1, 2, 3)
_USUAL: Final = ("1", "2", "3", "500m", "1500m", "1Ki")
_ODD: Final = (
    *("0.5", "1000m", "1e1", "1.50", ".5", "2.", "+1", "1e3", "1500", "1024", "0.7", "1n", "0", "-1", "1000100u"),
    *("1e30", "1e19", "9223372036854775807", "9223372036854775.5", "9000000000000001"),
)
_AMOUNTS: Final = tuple(map(quantity, (*_USUAL * 5, *_ODD)))
"""Two fifths of them in a notation that Kubernetes does not always keep, or beyond what it can round."""
_UNKNOWN_CAPACITY: Final = "nowhere.example.com/c"


def draw_claim(draw: DrawFn, active: frozenset[str], name: str) -> ResourceClaim:
    """A claim with 1..3 requests and, by the features that are active, constraints and configuration."""
    requests = tuple(_request(draw, active, f"r{index}") for index in range(pick(draw, _NUMBER_OF_REQUESTS)))
    devices = DeviceClaim(
        requests=requests,
        constraints=tuple(_constraints(draw, active, requests)),
        config=tuple(_config(draw, requests)) if "config" in active and happens(draw, 60) else (),
    )
    metadata = ObjectMeta(name=name, namespace="default", uid=f"uid-{name}")
    return ResourceClaim(metadata=metadata, spec=ResourceClaimSpec(devices=devices))


# -- requests --------------------------------------------------------------------------------------------------------------


def _request(draw: DrawFn, active: frozenset[str], name: str) -> DeviceRequest:
    if "prioritized-list" in active and happens(draw, 35):
        number = pick(draw, (1, 2, 2, 3))
        subs = [DeviceSubRequest(name=f"s{index}", **_ask(draw, active)) for index in range(number)]
        return DeviceRequest(name=name, first_available=tuple(subs))
    admin = pick(draw, (True, True, True, False)) if "admin" in active and happens(draw, 40) else None
    return DeviceRequest(name=name, exactly=ExactDeviceRequest(**_ask(draw, active), admin_access=admin))


def _ask(draw: DrawFn, active: frozenset[str]) -> dict[str, Any]:
    ask: dict[str, Any] = {"device_class_name": _class_name(draw, active), "selectors": tuple(_selectors(draw, active))}
    if "all" in active and happens(draw, 35):
        ask["allocation_mode"] = "All"
    else:
        ask |= {"allocation_mode": "ExactCount", "count": pick(draw, _COUNTS)}
    if "taints" in active and happens(draw, 40):
        ask["tolerations"] = (pick(draw, TOLERATIONS),)
    if "capacity" in active and happens(draw, 55):
        key = _UNKNOWN_CAPACITY if happens(draw, 5) else "c"
        ask["capacity"] = CapacityRequirements(requests={key: pick(draw, _AMOUNTS)})
    return ask


def _class_name(draw: DrawFn, active: frozenset[str]) -> str:
    names = list(CLASSES)
    if "failing-selectors" in active and happens(draw, 20):
        return names[-1]
    return pick(draw, (names[0], *names[:-1])) if "selectors" in active else names[0]


def _selectors(draw: DrawFn, active: frozenset[str]) -> Iterable[DeviceSelector]:
    if "selectors" in active and happens(draw, 35):
        yield _selector(pick(draw, SELECTORS))
    if "failing-selectors" in active and happens(draw, 50):
        yield _selector(pick(draw, FAILING))


def _selector(expression: str) -> DeviceSelector:
    return DeviceSelector(cel=CELDeviceSelector(expression=expression))


# -- constraints and configuration -----------------------------------------------------------------------------------------


def _constraints(draw: DrawFn, active: frozenset[str], requests: Sequence[DeviceRequest]) -> Iterable[DeviceConstraint]:
    if "match" in active and happens(draw, 60):
        name = pick(draw, CONSTRAINT_ATTRIBUTES)
        yield DeviceConstraint(requests=pick(draw, _references(requests)), match_attribute=name)
    single = [request for request in requests if _for_one(request)]
    if "distinct-count" in active and len(single) < len(requests) and happens(draw, 60):
        several = [request.name for request in requests if not _for_one(request)]
        about = [*((name,) for name in several), ()]
        yield DeviceConstraint(requests=pick(draw, about), distinct_attribute=pick(draw, CONSTRAINT_ATTRIBUTES))
    elif "distinct" in active and single and happens(draw, 60):
        references = _references(single) if len(single) == len(requests) else _references(single)[1:]
        yield DeviceConstraint(requests=pick(draw, references), distinct_attribute=pick(draw, CONSTRAINT_ATTRIBUTES))


def _for_one(request: DeviceRequest) -> bool:
    return all(ask.count == 1 for ask in _asks(request))


def _asks(request: DeviceRequest) -> list[ExactDeviceRequest | DeviceSubRequest]:
    return [request.exactly] if request.exactly is not None else list(request.first_available)


def _references(requests: Sequence[DeviceRequest]) -> list[tuple[str, ...]]:
    """Lists of requests that a constraint may be about; the first one means all of the claim."""
    names = [request.name for request in requests]
    subs = [f"{request.name}/{sub.name}" for request in requests for sub in request.first_available]
    return [(), tuple(names), *((name,) for name in subs), *((name, sub) for sub in subs for name in names), *zip(names)]


def _config(draw: DrawFn, requests: Sequence[DeviceRequest]) -> Iterable[DeviceClaimConfiguration]:
    for number in range(pick(draw, (1, 2))):
        yield DeviceClaimConfiguration(requests=pick(draw, _references(requests)), opaque=_opaque(draw, number))


def _opaque(draw: DrawFn, number: int) -> OpaqueDeviceConfiguration:
    return OpaqueDeviceConfiguration(driver=pick(draw, DRIVERS), parameters={"kind": "Settings", "number": number})


# -- classes ---------------------------------------------------------------------------------------------------------------


def draw_classes(draw: DrawFn, active: frozenset[str], claims: Iterable[ResourceClaim]) -> tuple[DeviceClass, ...]:
    """The classes that the claims name, in the order of :data:`CLASSES`."""
    requests = (request for claim in claims for request in claim.spec.devices.requests)
    named = {ask.device_class_name for request in requests for ask in _asks(request)}
    return tuple(draw_class(draw, active, name, (expression,)) for name, expression in CLASSES.items() if name in named)


def draw_class(draw: DrawFn, active: frozenset[str], name: str, expressions: Iterable[str]) -> DeviceClass:
    """A class of this name for devices that satisfy every expression that is not empty."""
    config: Mapping[str, Any] = {}
    if "config" in active and happens(draw, 60):
        entries = [DeviceClassConfiguration(opaque=_opaque(draw, 10 + number)) for number in range(pick(draw, (1, 2)))]
        config = {"config": tuple(entries)}
    selectors = tuple(_selector(expression) for expression in expressions if expression)
    return DeviceClass(metadata=ObjectMeta(name=name), spec=DeviceClassSpec(selectors=selectors, **config))
