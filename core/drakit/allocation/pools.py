"""Pools as one node sees them: which slices count, which devices they offer, and in which order.

The rules, in the order they are applied: slices relevant for the node; of those the highest generation; complete or not
(judged with all slices of the pool, wherever they belong); counter sets; and whether the pool contradicts itself.

Source: k8s.io/dynamic-resource-allocation ``structured/internal/*/pools_*.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from attrs import field, frozen

from drakit.allocation.amounts import nano
from drakit.cel import CelDevice
from drakit.model import Device, DeviceID, DeviceTaint, DeviceTaintRule, Node, ResourceSlice, ResourceSliceSpec

__all__ = ["WAIT", "Candidate", "Pool", "PoolIndex"]

WAIT: Final = "this is transient: wait for the missing slice; if it does not come, the publisher is broken"
"""Advice for an incomplete pool."""

CounterKey = tuple[str, str]
"""Counter set and counter."""


@frozen(eq=False)
class Candidate:
    """One published device, as the allocator looks at it. Compared by identity."""

    id: DeviceID
    device: Device
    slice: ResourceSlice
    taints: tuple[DeviceTaint, ...]
    """The device's own and those of taint rules."""
    cel: CelDevice = field(repr=False)
    counters: Mapping[CounterKey, int] = field(repr=False)
    """What the device consumes while it is allocated, in 1e-9."""

    @property
    def shareable(self) -> bool:
        return bool(self.device.allow_multiple_allocations)

    def is_for(self, node: Node) -> bool:
        """Whether the device can be used on a node; its slice says so, or the device itself."""
        if self.slice.spec.per_device_node_selection:
            return _selects(self.device, node)
        return _selects(self.slice.spec, node)


@frozen(kw_only=True, eq=False)
class Pool:
    """A pool as one node sees it."""

    driver: str
    name: str
    generation: int
    candidates: tuple[Candidate, ...] = ()
    """Devices the node may get, in the order they are tried. Empty when the pool is incomplete or invalid."""
    elsewhere: tuple[Candidate, ...] = ()
    """Devices of slices for other nodes: they share the counters."""
    counters: Mapping[CounterKey, int] = field(factory=dict[CounterKey, int])
    """What there is of each counter, in 1e-9."""
    withheld: tuple[Candidate, ...] = ()
    """Devices that are published but cannot be had, because the pool is incomplete or invalid."""
    incomplete: str = ""
    """Why nothing can be taken for now: a publisher is in the middle of an update."""
    invalid: str = ""
    """Why nothing can be taken at all: the pool contradicts itself."""

    @property
    def key(self) -> str:
        return f"{self.driver}/{self.name}"

    @property
    def has_binding_conditions(self) -> bool:
        return any(candidate.device.binding_conditions for candidate in self.candidates)


PoolID = tuple[str, str]


class PoolIndex:
    """The slices of a cluster, grouped once so that each node only looks at its own and the shared ones."""

    def __init__(self, slices: Iterable[ResourceSlice], rules: Iterable[DeviceTaintRule] = ()) -> None:
        self._rules: Final = tuple(rules)
        self._local: Final[dict[str, list[ResourceSlice]]] = {}
        self._shared: Final[list[ResourceSlice]] = []
        self._by_pool: Final[dict[PoolID, list[ResourceSlice]]] = {}
        self._views: Final[dict[int, tuple[Candidate, ...]]] = {}
        self._pools: Final[dict[tuple[int, ...], Pool | None]] = {}
        self._pools_of: Final[dict[int, tuple[Node, tuple[Pool, ...]]]] = {}
        """By identity; the node is kept, so that its identity is not given to another one."""
        self._counting: Final[set[PoolID]] = set()
        """Pools with counters: only there, what other nodes hold matters."""
        for slice_ in slices:
            if slice_.spec.shared_counters or any(device.consumes_counters for device in slice_.spec.devices):
                self._counting.add(_pool_of(slice_))
            if slice_.spec.node_name:
                self._local.setdefault(slice_.spec.node_name, []).append(slice_)
            else:
                self._shared.append(slice_)
            self._by_pool.setdefault(_pool_of(slice_), []).append(slice_)

    def pools(self, node: Node) -> tuple[Pool, ...]:
        """The pools of a node in the order they are tried: by driver and name, those with binding conditions last.

        Nodes for which the same slices of a pool are relevant share the pool.
        """
        known = self._pools_of.get(id(node))
        if known is None:
            known = self._pools_of[id(node)] = (node, self._gather(node))
        return known[1]

    def _gather(self, node: Node) -> tuple[Pool, ...]:
        relevant: dict[PoolID, list[ResourceSlice]] = {}
        for slice_ in (*self._local.get(node.name, ()), *self._shared):
            if _is_relevant(slice_, node):
                relevant.setdefault(_pool_of(slice_), []).append(slice_)
        pools = [pool for key in sorted(relevant) if (pool := self._pool(key, relevant[key])) is not None]
        return tuple(sorted(pools, key=lambda pool: pool.has_binding_conditions))

    def candidates(self, slice_: ResourceSlice) -> tuple[Candidate, ...]:
        """The devices of a slice, made once: CEL values and selector results hang on them."""
        view = self._views.get(id(slice_))
        if view is None:
            view = self._views[id(slice_)] = tuple(self._candidate(slice_, device) for device in slice_.spec.devices)
        return view

    @property
    def slices(self) -> Iterable[ResourceSlice]:
        """Every slice, of whatever generation."""
        return (slice_ for slices in self._by_pool.values() for slice_ in slices)

    def every_candidate(self) -> Iterator[Candidate]:
        """Every device of every slice, of whatever generation."""
        for slices in self._by_pool.values():
            for slice_ in slices:
                yield from self.candidates(slice_)

    def published(self) -> Mapping[DeviceID, Candidate]:
        """Every device in any slice of the newest generation of its pool."""
        newest = {key: max(s.spec.pool.generation for s in slices) for key, slices in self._by_pool.items()}
        return {
            candidate.id: candidate
            for key, slices in self._by_pool.items()
            for slice_ in slices
            if slice_.spec.pool.generation == newest[key]
            for candidate in self.candidates(slice_)
        }

    def _candidate(self, slice_: ResourceSlice, device: Device) -> Candidate:
        spec = slice_.spec
        id_ = DeviceID(spec.driver, spec.pool.name, device.name)
        taints = [*device.taints, *(rule.spec.taint for rule in self._rules if rule.matches(id_))]
        counters: dict[CounterKey, int] = {}
        for consumption in device.consumes_counters:
            for name, counter in consumption.counters.items():
                key = (consumption.counter_set, name)
                counters[key] = counters.get(key, 0) + nano(counter.value)
        return Candidate(id_, device, slice_, tuple(taints), CelDevice(spec.driver, device), counters)

    def _pool(self, key: PoolID, relevant: list[ResourceSlice]) -> Pool | None:
        """The pool from its relevant slices; None when those are of an old generation."""
        slices = tuple(map(id, relevant))
        if slices not in self._pools:
            self._pools[slices] = self._made(key, relevant)
        return self._pools[slices]

    def _made(self, key: PoolID, relevant: list[ResourceSlice]) -> Pool | None:
        generation = max(slice_.spec.pool.generation for slice_ in relevant)
        current = [slice_ for slice_ in relevant if slice_.spec.pool.generation == generation]
        wanted = current[0].spec.pool.resource_slice_count
        if len(current) == wanted:  # those for other nodes do not count then, even where there are more than it says
            return self._complete(key, generation, current, [])
        everywhere = self._by_pool[key]
        if any(slice_.spec.pool.generation > generation for slice_ in everywhere):
            return None
        same = [slice_ for slice_ in everywhere if slice_.spec.pool.generation == generation]
        if len(same) != wanted:
            return Pool(
                driver=key[0],
                name=key[1],
                generation=generation,
                withheld=tuple(c for slice_ in current for c in self.candidates(slice_)),
                incomplete=self._incomplete(key, generation, same),
            )
        here = set(map(id, current))
        others = [slice_ for slice_ in same if id(slice_) not in here] if key in self._counting else []
        return self._complete(key, generation, current, others)

    def _incomplete(self, key: PoolID, generation: int, same: list[ResourceSlice]) -> str:
        wanted = same[0].spec.pool.resource_slice_count
        older = sorted({s.spec.pool.generation for s in self._by_pool[key]} - {generation})
        message = f"generation {generation} has {len(same)} of {wanted} slices"
        if older:
            named = " and ".join(map(str, older))
            message += f"; generation {named} is obsolete" if len(older) == 1 else f"; generations {named} are obsolete"
        return message

    def _complete(self, key: PoolID, generation: int, relevant: list[ResourceSlice], others: list[ResourceSlice]) -> Pool:
        by_name = sorted(relevant, key=lambda slice_: slice_.name)
        # Devices beside counters in one slice are ignored: that layout ended with 1.34.
        mine = [c for slice_ in by_name if not slice_.spec.shared_counters for c in self.candidates(slice_)]
        elsewhere = [c for slice_ in others if not slice_.spec.shared_counters for c in self.candidates(slice_)]
        counters: dict[CounterKey, int] = {}
        set_names: list[str] = []
        for slice_ in (*by_name, *others):
            for counter_set in slice_.spec.shared_counters:
                set_names.append(counter_set.name)
                counters.update({(counter_set.name, name): nano(c.value) for name, c in counter_set.counters.items()})
        invalid = _contradiction(mine, elsewhere, set_names, counters)
        if invalid:
            return Pool(driver=key[0], name=key[1], generation=generation, withheld=tuple(mine), invalid=invalid)
        return Pool(
            driver=key[0],
            name=key[1],
            generation=generation,
            candidates=tuple(mine),
            elsewhere=tuple(elsewhere),
            counters=counters,
        )


def _pool_of(slice_: ResourceSlice) -> PoolID:
    return slice_.spec.driver, slice_.spec.pool.name


def _is_relevant(slice_: ResourceSlice, node: Node) -> bool:
    if slice_.spec.per_device_node_selection:
        # A slice of counters has no devices to ask, and belongs to whoever has the pool's devices.
        return any(_selects(device, node) for device in slice_.spec.devices)
    return _selects(slice_.spec, node)


def _selects(where: ResourceSliceSpec | Device, node: Node) -> bool:
    if where.node_name is not None:
        return where.node_name == node.name
    if where.all_nodes:
        return True
    return where.node_selector is not None and where.node_selector.matches(node)


def _contradiction(
    mine: list[Candidate], elsewhere: list[Candidate], set_names: list[str], counters: Mapping[CounterKey, int]
) -> str:
    """The first thing in which a complete pool contradicts itself, or nothing."""
    twice = _first_twice([candidate.id.device for candidate in mine])
    if twice:
        return f"duplicate device name {twice}"
    twice = _first_twice(set_names)
    if twice:
        return f"duplicate counter set name {twice}"
    known_sets = set(set_names)
    for candidate in (*mine, *elsewhere):
        at = f"(device {candidate.id.device}, slice {candidate.slice.name})"
        for counter_set, counter in candidate.counters:
            if counter_set not in known_sets:
                return f"counter set {counter_set} not found {at}"
            if (counter_set, counter) not in counters:
                return f"counter {counter} not found in counter set {counter_set} {at}"
    return ""


def _first_twice(names: list[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return ""
