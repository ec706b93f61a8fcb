"""The pools of a world: few devices, in an order that is not that of their names, with much to collide on.

Sources for what a slice may say: k8s.io/api ``resource/v1/types.go``; for what makes a pool stale, incomplete or invalid:
k8s.io/dynamic-resource-allocation ``structured/internal/experimental/pools_experimental.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
from hypothesis.strategies import DrawFn

from drakit.model import (
    CounterSet,
    Device,
    DeviceCounterConsumption,
    ObjectMeta,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from drakit.testing.strategies.odds import happens, pick
from drakit.testing.strategies.vocabulary import (
    CAPACITIES,
    DRIVERS,
    PLACES,
    PLAIN_CAPACITIES,
    TAINTS,
    X_LISTS,
    X_VALUES,
    X,
)

__all__ = ["draw_pool", "draw_slices"]

_A, _B = DRIVERS
_LAYOUTS: Final = (
    ((_A, "p0"),),
    ((_A, "p0"),),
    ((_A, "p0"), (_B, "q0")),
    ((_A, "p1"), (_A, "p0")),
    ((_B, "p0"), (_A, "q0")),
    ((_A, "p0"), (_B, "q0"), (_A, "p1")),
)
_SAME_NAME: Final = (
    ((_A, "p0"), (_B, "p0")),
    ((_B, "p0"), (_A, "p0")),
    ((_B, "p0"), (_A, "p0"), (_A, "p1")),
)
_DEVICES: Final[Mapping[int, Sequence[int]]] = {1: (1, 2, 3, 4, 5, 6), 2: (1, 2, 3, 4), 3: (1, 2)}
"""How many devices a pool has, by the number of pools."""
_DEVICE_NAMES: Final = ("d1", "d0", "d9", "d10", "d5", "d3")
_SLICE_NAMES: Final = (("s1", "s2"), ("s2", "s10"), ("s1", "s10"), ("t", "s"))
_KINDS: Final = (("1", None), ("1", 1), ("2", 1), ("2", None), ("2", 2), ("1", 2))
"""Of a device: its attributes ``k`` and ``m``."""


def draw_slices(draw: DrawFn, active: frozenset[str]) -> tuple[ResourceSlice, ...]:
    """All slices of a world: 1..3 pools with 1..8 devices together, in an order that means nothing."""
    layout = pick(draw, _SAME_NAME if "same-pool-name" in active else _LAYOUTS)
    slices = [part for driver, name in layout for part in draw_pool(draw, active, driver, name, len(layout))]
    return tuple(slices[::-1] if len(slices) > 1 and happens(draw, 50) else slices)


def draw_pool(draw: DrawFn, active: frozenset[str], driver: str, name: str, pools: int = 1) -> list[ResourceSlice]:
    """The slices of one pool: one or two with devices, and one with counter sets where the pool has some.

    :param active: the features it may have.
    :param pools: the number of pools in the world, 1..3: the more, the smaller they are.
    """
    pool = _Pool(draw, active, driver, name)
    number = pick(draw, _DEVICES[pools])
    counters = _counter_sets(draw) if active & {"counters", "compatibility-groups"} and happens(draw, 90) else ()
    devices = [_device(pool, device_name, counters) for device_name in _DEVICE_NAMES[:number]]
    cut = pick(draw, range(number)) if number > 1 and happens(draw, 40) else 0
    slices = [pool.slice(slice_name, part) for slice_name, part in _cut(draw, devices, cut)]
    if counters:
        place = slices[0].spec if slices[0].spec.per_device_node_selection is None else None
        slices.append(pool.counters("counters", counters, place))
    slices = _spoilt(pool, slices) if "invalid-pools" in active and happens(draw, 60) else slices
    count = len(slices)
    slices = [_with_pool(part, attrs.evolve(part.spec.pool, resource_slice_count=count)) for part in slices]
    return _stale(pool, slices) if "stale-pools" in active and happens(draw, 60) else slices


def _cut(draw: DrawFn, devices: list[Device], cut: int) -> list[tuple[str, list[Device]]]:
    if not cut:
        return [("s1", devices)]
    return list(zip(pick(draw, _SLICE_NAMES), (devices[:cut], devices[cut:]), strict=True))


class _Pool:
    """What the slices of one pool have in common."""

    def __init__(self, draw: DrawFn, active: frozenset[str], driver: str, name: str) -> None:
        self.draw, self.active, self.driver, self.name = draw, active, driver, name
        self.per_device = "per-device-node-selection" in active and happens(draw, 60)
        self.usual = pick(draw, PLACES[:2])
        self.policies = CAPACITIES if {"capacity", "shared"} <= active else PLAIN_CAPACITIES

    def place(self) -> Mapping[str, Any]:
        """The node fields of one slice."""
        return pick(self.draw, PLACES) if "node-selection" in self.active else self.usual

    def slice(self, name: str, devices: Sequence[Device]) -> ResourceSlice:
        if not self.per_device:
            return self._made(name, self.place(), devices=tuple(devices))
        placed = tuple(attrs.evolve(device, **pick(self.draw, PLACES)) for device in devices)
        return self._made(name, {"per_device_node_selection": True}, devices=placed)

    def counters(self, name: str, sets: Sequence[CounterSet], like: ResourceSliceSpec | None) -> ResourceSlice:
        """A slice with counter sets, for the same nodes as a slice of devices, or for all."""
        fields = ("node_name", "node_selector", "all_nodes")
        place = {"all_nodes": True} if like is None else {name: getattr(like, name) for name in fields}
        return self._made(name, place, shared_counters=tuple(sets))

    def _made(self, name: str, place: Mapping[str, Any], **content: Any) -> ResourceSlice:
        pool = ResourcePool(name=self.name, generation=2, resource_slice_count=1)
        spec = ResourceSliceSpec(driver=self.driver, pool=pool, **place, **content)
        return ResourceSlice(metadata=ObjectMeta(name=f"{name}-{self.driver[0]}-{self.name}"), spec=spec)


def _with_pool(part: ResourceSlice, pool: ResourcePool) -> ResourceSlice:
    return attrs.evolve(part, spec=attrs.evolve(part.spec, pool=pool))


# -- devices ---------------------------------------------------------------------------------------------------------------

_SETS: Final = tuple(
    CounterSet(name="set", counters={"x": x, "y": y}) for x, y in ((2, 2), (1, 4), (3, 2), (1, 3), (4, 4), (1, 1))
)
_OTHER_SETS: Final = (None, None, *(CounterSet(name="other", counters=counters) for counters in ({"x": 1}, {"z": "1500m"})))
_CONSUMES: Final[tuple[Mapping[str, int], ...]] = (
    *({"x": 1}, {"x": 2}, {"y": 1}, {"x": 1, "y": 1}, {"y": 1}, {"x": 2}, {"y": 1}, {"x": 2, "y": 1}, {"x": 0}, {}),
)
_GROUPS: Final = ((), ("g1",), ("g2",), ("g1", "g2"))


def _counter_sets(draw: DrawFn) -> tuple[CounterSet, ...]:
    first, second = pick(draw, _SETS), pick(draw, _OTHER_SETS)
    return (first,) if second is None else (first, second)


def _device(pool: _Pool, name: str, sets: tuple[CounterSet, ...]) -> Device:
    draw, active = pool.draw, pool.active
    kind, number = pick(draw, _KINDS)
    shared = "shared" in active and happens(draw, 60)
    capacities = pool.policies if shared else PLAIN_CAPACITIES
    return Device(
        name,
        attributes={"k": kind, "m": number, X: _x(draw, active)},
        capacity={"c": pick(draw, capacities)} if "capacity" in active and happens(draw, 75) else {},
        consumes_counters=_consumption(pool, sets) if sets else (),
        taints=(pick(draw, TAINTS),) if "taints" in active and happens(draw, 35) else (),
        allow_multiple_allocations=True if shared else None,
        **(_binding(draw) if "binding-conditions" in active and happens(draw, 25) else {}),
    )


def _x(draw: DrawFn, active: frozenset[str]) -> Any:
    if "match-list" in active:
        return pick(draw, X_LISTS)
    return pick(draw, X_VALUES) if active & {"match", "distinct", "distinct-count", "selectors", "failing-selectors"} else None


def _consumption(pool: _Pool, sets: tuple[CounterSet, ...]) -> tuple[DeviceCounterConsumption, ...]:
    first = pick(pool.draw, _CONSUMES)
    taken: dict[str, Mapping[str, Any]] = {"set": first} if first else {}
    if len(sets) > 1 and happens(pool.draw, 50):
        taken["other"] = dict.fromkeys(sets[1].counters, 1)
    groups = pick(pool.draw, _GROUPS) if "compatibility-groups" in pool.active else ()
    return tuple(
        DeviceCounterConsumption(counter_set=name, counters=counters, compatibility_groups=groups)
        for name, counters in taken.items()
    )


def _binding(draw: DrawFn) -> Mapping[str, Any]:
    conditions: Mapping[str, Any] = {
        "binding_conditions": ("example.com/up",),
        "binding_failure_conditions": ("example.com/lost",),
    }
    return pick(draw, (conditions, {"binds_to_node": True}, {"binds_to_node": True, **conditions}))


# -- pools that are not as they should be ----------------------------------------------------------------------------------


def _spoilt(pool: _Pool, slices: list[ResourceSlice]) -> list[ResourceSlice]:
    """The pool with a fault that the API server cannot see, for each slice alone is sound."""
    first = slices[0]
    device = first.spec.devices[0]
    match pick(pool.draw, ("twice", "unknown set", "unknown counter", "set twice")):
        case "twice":
            return [*slices, pool.slice("again", [attrs.evolve(device, node_name=None, node_selector=None, all_nodes=None)])]
        case "unknown set":
            spoilt = attrs.evolve(device, consumes_counters=(_consuming("nowhere", "x"),))
        case "unknown counter" if len(slices) > 1 and slices[-1].spec.shared_counters:
            spoilt = attrs.evolve(device, consumes_counters=(_consuming("set", "w"),))
        case _:
            sets = [CounterSet(name="set", counters={"x": 4, "y": 4})]
            return [*slices, *(pool.counters(name, sets, None) for name in ("sets-1", "sets-2"))]
    spec = attrs.evolve(first.spec, devices=(spoilt, *first.spec.devices[1:]))
    return [attrs.evolve(first, spec=spec), *slices[1:]]


def _consuming(counter_set: str, counter: str) -> DeviceCounterConsumption:
    return DeviceCounterConsumption(counter_set=counter_set, counters={counter: 1})


def _stale(pool: _Pool, slices: list[ResourceSlice]) -> list[ResourceSlice]:
    """The pool while it is being updated: with slices of another generation, or fewer or more slices than it says."""
    one = slices[0].spec.pool
    older = attrs.evolve(one, generation=1)
    match pick(pool.draw, ("older", "incomplete", "more than it says", "the rest is older", "newer elsewhere")):
        case "older":
            return [*slices, _with_pool(pool.slice("old", [Device("gone", attributes={"k": "1"})]), older)]
        case "incomplete":
            return [_with_pool(part, attrs.evolve(one, resource_slice_count=len(slices) + 1)) for part in slices]
        case "more than it says":
            more = pool.slice("more", [Device("more", attributes={"k": "2"})])
            return [*slices, _with_pool(more, one)]
        case "the rest is older":
            kept = [part is slices[0] or bool(part.spec.shared_counters) for part in slices]
            newest = attrs.evolve(one, resource_slice_count=sum(kept))
            return [_with_pool(part, newest if keep else older) for part, keep in zip(slices, kept, strict=True)]
    elsewhere = ResourceSliceSpec(driver=pool.driver, pool=attrs.evolve(one, generation=3), node_name="node-b")
    name = f"new-{slices[0].name}"
    return [*slices, ResourceSlice(metadata=ObjectMeta(name=name), spec=attrs.evolve(elsewhere, devices=(Device("new"),)))]
