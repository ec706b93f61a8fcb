"""Worlds: one node, what is published, what is held, and claims that are to be allocated there together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import attrs
from attrs import frozen
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from drakit.model import (
    Device,
    DeviceClass,
    DeviceID,
    DeviceRequestAllocationResult,
    Node,
    Quantity,
    ResourceClaim,
    ResourceSlice,
    quantity,
)
from drakit.model.wire import encode, encode_part
from drakit.testing.strategies.asked import draw_claim, draw_classes
from drakit.testing.strategies.features import ALL, some_features
from drakit.testing.strategies.odds import happens, pick
from drakit.testing.strategies.published import draw_slices
from drakit.testing.strategies.vocabulary import NODE

__all__ = ["World", "worlds"]


@frozen(kw_only=True, repr=False)
class World:
    """An allocation that can be asked of anybody who reads Kubernetes' objects. It is shown as its question."""

    node: Node
    slices: tuple[ResourceSlice, ...]
    """In no order."""
    classes: tuple[DeviceClass, ...]
    """All that the claims name."""
    claims: tuple[ResourceClaim, ...]
    """To be allocated together, as those of one pod, in this order."""
    allocated: tuple[DeviceRequestAllocationResult, ...] = ()
    """What claims that are not in the world hold; shares of one device may stand in it several times."""

    def question(self) -> dict[str, Any]:
        """The world as one line for ``drakit simulate --jsonl``: JSON objects without apiVersion and kind."""
        return {
            "node": _body(self.node),
            "classes": [_body(class_) for class_ in self.classes],
            "slices": [_body(slice_) for slice_ in self.slices],
            "claims": [_body(claim) for claim in self.claims],
            "allocated": _state(self.allocated),
        }

    def __repr__(self) -> str:
        return f"World({json.dumps(self.question())})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002 - Hypothesis' signature
        """For Hypothesis, which would spread every field over lines."""
        printer.text(repr(self))


def _body(obj: Node | DeviceClass | ResourceSlice | ResourceClaim) -> dict[str, Any]:
    return {key: value for key, value in encode(obj).items() if key not in ("apiVersion", "kind")}


def _state(results: Sequence[DeviceRequestAllocationResult]) -> dict[str, Any]:
    """What is held, as the scheduler counts it: whole devices, shares, and what the shares of a device take together."""
    shares = [result for result in results if result.share_id is not None]
    consumed: dict[DeviceID, dict[str, Quantity]] = {}
    for share in shares:
        taken = consumed.setdefault(share.id, {})
        for name, amount in share.consumed_capacity.items():
            taken[name] = taken[name] + amount if name in taken else amount
    return {
        "devices": [_entry(result.id) for result in results if result.share_id is None],
        "shared": [_entry(share.id) | {"shareID": share.share_id} for share in shares],
        "capacity": [_entry(id_) | {"consumed": encode_part(amounts)} for id_, amounts in consumed.items() if amounts],
    }


def _entry(id_: DeviceID) -> dict[str, Any]:
    return {"driver": id_.driver, "pool": id_.pool, "device": id_.device}


_NUMBER_OF_CLAIMS: Final = (1, 1, 1, 2, 2, 3)


@st.composite
def worlds(draw: DrawFn, features: Iterable[str] = ALL) -> World:
    """Small worlds in which most things are in conflict: at most 8 devices, 3 pools, 3 claims with 3 requests each.

    Some two fifths fit, as many do not, and the others end in an error. The API server would accept every object of them.

    :param features: what a world may be about, names from :data:`FEATURES`; each has a part of them, and what is common
        to all worlds (names, counts, several pools) needs none.
    :raises ValueError: a name that is not a feature.
    """
    active = some_features(draw, features)
    slices = draw_slices(draw, active)
    claims = tuple(draw_claim(draw, active, f"c{index}") for index in range(pick(draw, _NUMBER_OF_CLAIMS)))
    held = tuple(_held(draw, slices)) if "allocated" in active else ()
    return World(node=NODE, slices=slices, classes=draw_classes(draw, active, claims), claims=claims, allocated=held)


# -- what is held ----------------------------------------------------------------------------------------------------------

_HELD: Final = (25, 40, 60)
"""Percent of the devices, by world."""
_SHARES: Final = (1, 1, 2)
_CONSUMED: Final = tuple(map(quantity, ("1", "2", "500m", "3", "1", "0.5", "1e3", "1.50")))


def _held(draw: DrawFn, slices: Sequence[ResourceSlice]) -> Iterator[DeviceRequestAllocationResult]:
    seen: set[DeviceID] = set()
    percent = pick(draw, _HELD)
    for part in slices:
        for device in part.spec.devices:
            id_ = DeviceID(part.spec.driver, part.spec.pool.name, device.name)
            if id_ not in seen and happens(draw, percent):
                yield from _holding(draw, id_, device, len(seen))
            seen.add(id_)


def _holding(draw: DrawFn, id_: DeviceID, device: Device, number: int) -> Iterator[DeviceRequestAllocationResult]:
    """One device held whole, or shares of it."""
    whole = DeviceRequestAllocationResult(request="r", driver=id_.driver, pool=id_.pool, device=id_.device)
    if not device.allow_multiple_allocations or happens(draw, 10):
        yield whole
        return
    for share in range(pick(draw, _SHARES)):
        consumed = {name: pick(draw, _CONSUMED) for name in device.capacity}
        share_id = f"00000000-0000-4000-8000-{number:06}{share:06}"
        yield attrs.evolve(whole, share_id=share_id, consumed_capacity=consumed)
