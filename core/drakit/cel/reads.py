"""What of a device an expression can read, so that devices which agree in it are evaluated once.

Only constant names are followed; an expression that runs over attributes, or computes their names, reads everything.

What an evaluation comes to, its message included, depends on nothing else: on the values under these names, on their
being there, and on whether the device can be converted at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

from attrs import frozen

from drakit.cel.checking.checker import Checked
from drakit.cel.checking.types import QUANTITY
from drakit.cel.device import CelDevice
from drakit.cel.fast.places import DRIVER, Place, is_device, place
from drakit.cel.library.semver import Semver
from drakit.cel.syntax.ast import Call, Comprehension, Literal, Node, children
from drakit.cel.values import Value

__all__ = ["Reads", "reads", "tells_holding"]

_DEVICE: Final = "device"
_COMPARISONS: Final = frozenset({"compareTo", "isGreaterThan", "isLessThan"})


@frozen
class Reads:
    """What an expression reads of a device."""

    everything: bool = False
    driver: bool = False
    shared: bool = False
    """``device.allowMultipleAllocations``."""
    domains: tuple[str, ...] = ()
    """Asked for by themselves, ``"x" in device.attributes``, of attributes or capacity."""
    attributes: tuple[str, ...] = ()
    """By ``domain/identifier``; ``/identifier`` is the driver's own."""
    capacity: tuple[str, ...] = ()

    def key(self, device: CelDevice) -> Hashable | None:
        """What is the same for devices that come to the same; None: nothing less than the whole device."""
        if self.everything:
            return None
        own, values = device.driver, device.attributes
        amounts = device.capacity if self.capacity else {}
        return (
            device.fault,
            own if self.driver else None,
            self.shared and device.shared,
            *[_has_domain(device, domain) for domain in self.domains],
            *[_token(values.get(own + name if name[0] == "/" else name)) for name in self.attributes],
            *[_amount(amounts.get(own + name if name[0] == "/" else name)) for name in self.capacity],
        )


def _has_domain(device: CelDevice, domain: str) -> tuple[bool, bool]:
    start = f"{domain}/"
    return any(name.startswith(start) for name in device.attributes), any(name.startswith(start) for name in device.capacity)


def _token(value: Value) -> Hashable:
    """Equal for equal values of one type only: Python's True is 1."""
    kind = value.__class__
    if kind is str or kind is int:
        return value  # type: ignore[no-any-return]  # mypy does not narrow by __class__
    if kind is tuple:
        return (kind, *map(_token, value))
    if kind is Semver:
        return kind, str(value)
    return kind, value


def _amount(quantity: Value) -> str | None:
    """As it is written: that also says how it is held."""
    return None if quantity is None else str(quantity.quantity)


def reads(checked: Checked) -> Reads:
    """What an expression reads."""
    found = set(_places(checked))
    if None in found:
        return Reads(everything=True)
    places = [where for where in found if where is not None]
    return Reads(
        driver=any(where.part == "driver" for where in places),
        shared=any(where.part == "allowMultipleAllocations" for where in places),
        domains=tuple(sorted({str(where.domain) for where in places if where.domain is not None and where.identifier is None})),
        attributes=_names(places, "attributes"),
        capacity=_names(places, "capacity"),
    )


def tells_holding(checked: Checked) -> bool:
    """Whether an expression can tell how a quantity is held, which comparing may change."""
    return any(
        QUANTITY in overload.parameters and function not in _COMPARISONS
        for node, function in checked.functions.items()
        for overload in checked.overloads.get(node, ())
    )


def _names(places: list[Place], part: str) -> tuple[str, ...]:
    named = {
        f"{'' if where.domain is DRIVER else where.domain}/{where.identifier}"
        for where in places
        if where.part == part and where.identifier is not None
    }
    return tuple(sorted(named))


def _places(checked: Checked) -> Iterator[Place | None]:
    """Each place that is read; None for what cannot be said."""
    pending, seen = [checked.root], set[Node]()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        where = _asked_for(checked, node) or place(checked, node, shadowed=False)
        if where is not None:
            yield where if _is_precise(where, node) else None
            continue
        if is_device(checked, node, shadowed=False):
            yield None
        if isinstance(node, Comprehension) and _DEVICE in (node.variable, node.accumulator, node.second_variable):
            yield None
        pending.extend(children(node))


def _asked_for(checked: Checked, node: Node) -> Place | None:
    """``"x" in device.attributes`` and ``"x" in device.attributes["y"]``, as the place of x."""
    match node:
        case Call(function="@in", args=(Literal(value=str() as name), container)):
            where = place(checked, container, shadowed=False)
            if where is None or where.identifier is not None or where.part not in ("attributes", "capacity"):
                return None
            if where.optional or where.tested:
                return None
            return Place(where.part, name) if where.domain is None else Place(where.part, where.domain, name)
    return None


def _is_precise(where: Place, node: Node) -> bool:
    if where.part in ("driver", "allowMultipleAllocations"):
        return where.domain is None
    return where.identifier is not None or (where.domain is not None and isinstance(node, Call) and node.function == "@in")
