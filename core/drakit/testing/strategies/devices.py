"""Devices and pools of every shape the API allows: for round trips, packing and everything else that must not be choosy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from drakit.model import Device, DeviceAttribute, DeviceCapacity, ResourceSlice
from drakit.testing.strategies.features import ALL, some_features
from drakit.testing.strategies.odds import happens, pick
from drakit.testing.strategies.published import draw_pool
from drakit.testing.strategies.values import dns_labels, quantities, versions
from drakit.testing.strategies.vocabulary import CAPACITIES, CONDITIONS, TAINTS

__all__ = ["device_attributes", "devices", "pools"]


# -- attributes ------------------------------------------------------------------------------------------------------------

_INTS: Final = (0, 1, 2, 3, -1, -7, 42, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
_STRINGS: Final = (
    *("a", "", "b", "A100", "42", "1.0.0", "a,b", "2x2", "GPU-18b5b8b4-1111", "0000:65:00.0", "true", "-1", "with space"),
    *(
        "\u00e9",
        "h\u00e9llo\u2192\U0001f600",
        "tab\tnew\nline",
        'quo"ted',
        "back\\slash",
        "x" * 64,
        "\u00e9" * 32,
        "<&>",
        "null",
    ),
)
_BOOLS: Final = (False, True)


@st.composite
def device_attributes(draw: DrawFn, *, lists: bool = True) -> DeviceAttribute:
    """Attributes with one value, and lists of up to three, of every type.

    :param lists: whether lists are wanted (1.36, DRAListTypeAttributes).
    """
    match draw(_KINDS if lists else _SCALARS):
        case "int":
            return DeviceAttribute(int_=pick(draw, _INTS))
        case "bool":
            return DeviceAttribute(bool_=pick(draw, _BOOLS))
        case "string":
            return DeviceAttribute(string=pick(draw, _STRINGS))
        case "version":
            return DeviceAttribute(version=draw(versions()))
        case kind:
            several: dict[str, Any] = {kind: draw(_LISTS[kind])}
            return DeviceAttribute(**several)


_SCALARS: Final = st.sampled_from(("int", "bool", "string", "version"))
_KINDS: Final = st.sampled_from(("int", "bool", "string", "version", "int", "string", "ints", "bools", "strings", "versions"))


def _list_of(items: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=1, max_size=3, unique=True).map(tuple)


_LISTS: Final = {
    "ints": _list_of(st.sampled_from(_INTS)),
    "bools": _list_of(st.sampled_from(_BOOLS)),
    "strings": _list_of(st.sampled_from(_STRINGS)),
    "versions": _list_of(st.sampled_from(("1.0.0", "2.0.0", "1.0.0-rc.1", "1.0.0+b", "10.0.0"))),
}


# -- devices ---------------------------------------------------------------------------------------------------------------

_NAMES: Final = (
    *("model", "index", "x", "_x", "A1", "firmware", "in_use", "namespace", "i" * 32, "resource.kubernetes.io/pcieRoot"),
    *("other.example.com/model", "test.example.com/x", "a/x", "other.example.com/index"),
)
_CAPACITY_NAMES: Final = ("memory", "c", "cores", "other.example.com/memory")


@st.composite
def devices(draw: DrawFn, names: SearchStrategy[str] | None = None) -> Device:
    """Devices by themselves, without node fields and counters: those belong to a pool.

    :param names: of the devices; none: any DNS label.
    """
    shared = happens(draw, 25)
    return Device(
        draw(dns_labels() if names is None else names),
        attributes={name: draw(device_attributes()) for name in _some(draw, _NAMES, (1, 0, 2, 3, 4, 5))},
        capacity={name: _capacity(draw, shared=shared) for name in _some(draw, _CAPACITY_NAMES, (0, 1, 1, 2))},
        taints=(pick(draw, TAINTS),) if happens(draw, 15) else (),
        allow_multiple_allocations=True if shared else None,
        **(CONDITIONS if happens(draw, 10) else {}),
    )


def _some(draw: DrawFn, names: Sequence[str], sizes: Sequence[int]) -> Sequence[str]:
    """So many neighbours of a list, which needs two draws for any number of them."""
    size = pick(draw, sizes)
    start = draw(st.integers(0, len(names) - 1)) if size else 0
    return [names[(start + step * 3) % len(names)] for step in range(size)]


def _capacity(draw: DrawFn, *, shared: bool) -> DeviceCapacity:
    return pick(draw, CAPACITIES) if shared and happens(draw, 60) else DeviceCapacity(draw(quantities()))


# -- pools -----------------------------------------------------------------------------------------------------------------

_SOUND: Final = ALL - {"stale-pools", "invalid-pools", "same-pool-name"}


@st.composite
def pools(draw: DrawFn, driver: str = "a.example.com", name: str = "p0") -> tuple[ResourceSlice, ...]:
    """The slices of one whole pool: 1..6 devices in one or two of them, and one with counter sets where devices consume some.

    They are by node name, by node selector, for all nodes, or leave it to their devices, and say rightly how many they are.
    """
    slices = draw_pool(draw, some_features(draw, _SOUND), driver, name)
    if happens(draw, 50):
        slices = [_with_any_attributes(draw, part) for part in slices]
    return tuple(slices)


def _with_any_attributes(draw: DrawFn, part: ResourceSlice) -> ResourceSlice:
    """The slice with other attributes on its devices: any there can be, not those that worlds are about."""
    found = [{name: draw(device_attributes()) for name in _some(draw, _NAMES, (1, 0, 2, 3))} for _ in part.spec.devices]
    devices_ = [attrs.evolve(device, attributes=own) for device, own in zip(part.spec.devices, found, strict=True)]
    return attrs.evolve(part, spec=attrs.evolve(part.spec, devices=tuple(devices_)))
