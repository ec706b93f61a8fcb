"""Small random worlds, and their answer found the slow and obvious way.

Nothing of ``drakit.allocation`` is used here, and nothing is ever undone: every step checks an assignment from scratch.
The first complete assignment in lexicographic order (claims, requests, alternatives, increasing device positions) is the
answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

from drakit.model import (
    Device,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    Quantity,
    ResourceClaim,
    ResourceSlice,
)
from tests.allocation.builders import (
    alternative,
    capacity_in_range,
    capacity_of_values,
    claim,
    device,
    distinct,
    first_available,
    holding,
    match,
    request,
    slice_,
    taint,
)

DRIVERS: Final = ("a.example.com", "b.example.com")
HERE: Final = "node-a"
OTHER_NODE: Final = "node-b"
KIND: Final = 'device.attributes[device.driver].k == "{}"'
SHARED_NAME: Final = "test.example.com/x"
"""The attribute of constraints, which devices of every driver may have."""

Answer: TypeAlias = "list[list[str]] | str | None"
"""Per claim ``request=driver/pool/device``; None: does not fit; ``fatal``."""


class World(NamedTuple):
    slices: list[ResourceSlice]
    held: list[ResourceClaim]
    claims: list[ResourceClaim]


# -- worlds ---------------------------------------------------------------------------------------------------------------


def random_world(rng: Random) -> World:
    """At most 6 devices in at most 3 pools, and at most 3 claims."""
    names = [f"d{i}" for i in range(6)]
    rng.shuffle(names)
    names = names[: rng.randint(2, 6)]
    slices: list[ResourceSlice] = []
    pools = rng.sample([(d, p) for d in DRIVERS for p in ("p0", "p1")], rng.randint(1, 3))
    counting = rng.random() < 0.5
    sharing = rng.random() < 0.4
    for index, (driver, pool) in enumerate(pools):
        mine = names[index :: len(pools)]
        slices += _pool(rng, driver, pool, mine, counting=counting, sharing=sharing)
    rng.shuffle(slices)
    return World(slices, _held(rng, slices), [_claim(rng, f"c{i}") for i in range(rng.choice((1, 1, 1, 2, 2, 3)))])


def _pool(
    rng: Random, driver: str, pool: str, names: Sequence[str], *, counting: bool, sharing: bool
) -> Iterator[ResourceSlice]:
    counters = {"set": {"x": rng.randint(1, 4), "y": rng.randint(1, 4)}} if counting else {}
    per_device = rng.random() < 0.2
    made = [_device(rng, name, counting=counting, sharing=sharing, per_device=per_device) for name in names]
    cut = rng.randint(0, len(made))
    parts = [part for part in (made[:cut], made[cut:]) if part]
    slice_names = rng.sample(["s2", "s10", "s1", "t"], len(parts))
    count = len(parts) + bool(counters)
    where: dict[str, Any]
    for part, name in zip(parts, slice_names, strict=True):
        where = {"node_name": rng.choice((HERE, HERE, HERE, OTHER_NODE))} if rng.random() < 0.6 else {"all_nodes": True}
        if per_device:
            where = {"per_device": True}
        yield slice_(*part, name=f"{driver}-{pool}-{name}", driver=driver, pool=pool, count=count, **where)
    if counters:
        yield slice_(name=f"{driver}-{pool}-counters", driver=driver, pool=pool, count=count, counters=counters, all_nodes=True)


def _device(rng: Random, name: str, *, counting: bool, sharing: bool, per_device: bool) -> Device:
    attributes: dict[str, Any] = {"k": rng.choice("12")}
    attributes[SHARED_NAME] = rng.choice(("A", "B", "A", "B", ["A", "B"], ["B", "C"], None))
    shared = sharing and rng.random() < 0.6
    capacities: tuple[Any, ...] = (2, 3, capacity_in_range("4", least="1", step="2", most="3", default="1"))
    capacity = {"c": rng.choice((*capacities, capacity_of_values("5", "1", "3", default="3")))} if sharing else {}
    consumes = {"set": {key: rng.randint(0, 2) for key in rng.choice(("x", "y", "xy"))}}
    where: dict[str, Any] = {}
    if per_device:
        where = {"node_name": rng.choice((HERE, HERE, OTHER_NODE))} if rng.random() < 0.7 else {"all_nodes": True}
    return device(
        name,
        attributes=attributes,
        capacity=capacity,
        consumes=consumes if counting and rng.random() < 0.8 else {},
        taints=[taint("broken", effect=rng.choice(("NoSchedule", "NoExecute", "None")))] if rng.random() < 0.2 else [],
        shared=shared,
        binding_conditions=("ready",) if rng.random() < 0.08 else (),
        **where,
    )


def _held(rng: Random, slices: Sequence[ResourceSlice]) -> list[ResourceClaim]:
    held = []
    for published in slices:
        for found in published.spec.devices:
            if rng.random() < 0.75:
                continue
            share = {"c": rng.randint(1, 2)} if found.capacity else {}
            held.append(
                holding(
                    f"{published.spec.driver}/{published.spec.pool.name}/{found.name}",
                    name=f"holder-{found.name}",
                    share=share if found.allow_multiple_allocations and rng.random() < 0.8 else None,
                    admin=rng.random() < 0.15,
                )
            )
    return held


def _claim(rng: Random, name: str) -> ResourceClaim:
    requests = [_request(rng, f"r{i}") for i in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    constraints = []
    if rng.random() < 0.4:
        of = rng.choice(((), tuple(r.name for r in requests[:2]), ("r0/s1", "r1")))
        constraints.append(rng.choice((match, distinct))(SHARED_NAME, *of))
    return claim(*requests, name=name, constraints=constraints)


def _request(rng: Random, name: str) -> DeviceRequest:
    if rng.random() < 0.25:
        return first_available(name, *(alternative(f"s{i}", **_ask(rng)) for i in range(2)))
    return request(name, admin=rng.random() < 0.12, **_ask(rng))


def _ask(rng: Random) -> dict[str, Any]:
    every = rng.random() < 0.12
    return {
        "every": every,
        "of": rng.choice(("any", "any", "any", "kind-1", "kind-2")),
        "count": None if every else rng.choice((None, 1, 1, 1, 2, 2, 3, 0)),
        "tolerations": [DeviceToleration(operator="Exists")] if rng.random() < 0.25 else [],
        "capacity": {"c": rng.randint(1, 2)} if rng.random() < 0.3 else None,
    }


# -- the answer, by brute force -------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A device in stock order."""

    driver: str
    pool: str
    device: Device

    @property
    def id(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device.name}"


class Given(NamedTuple):
    """One device for one request."""

    claim: int
    request: str
    """``name`` or ``parent/sub``."""
    ask: ExactDeviceRequest | DeviceSubRequest
    place: Place


class _Fatal(Exception):
    pass


def answer(world: World) -> Answer:
    """What the claims get together on the node."""
    try:
        found = _Oracle(world).solve([], 0, 0)
    except _Fatal:
        return "fatal"
    if found is None:
        return None
    return [[f"{g.request}={g.place.id}" for g in found if g.claim == i] for i in range(len(world.claims))]


class _Oracle:
    def __init__(self, world: World) -> None:
        self.world = world
        self.places = _in_order(world.slices)
        self.everywhere = {p.id: p for s in world.slices for p in _places_of(s)}
        results = [r for c in world.held if c.status.allocation for r in c.status.allocation.devices.results]
        counting = [r for r in results if not r.admin_access]
        self.whole = {"/".join(r.id) for r in counting if r.share_id is None}
        self.shares = [("/".join(r.id), r.consumed_capacity) for r in counting if r.share_id is not None]
        self.held = self.whole | {id_ for id_, _ in self.shares}
        self.counters = {
            (s.spec.driver, s.spec.pool.name, name): int(counter.value.value)
            for s in world.slices
            for set_ in s.spec.shared_counters
            for name, counter in set_.counters.items()
        }

    def solve(self, given: list[Given], claim_index: int, request_index: int) -> list[Given] | None:
        """The first way to complete what is given so far."""
        if claim_index == len(self.world.claims):
            return given
        requests = self.world.claims[claim_index].spec.devices.requests
        if request_index == len(requests):
            return self.solve(given, claim_index + 1, 0)
        for name, ask in _alternatives(requests[request_index]):
            for more in self.choices(given, claim_index, name, ask):
                found = self.solve([*given, *more], claim_index, request_index + 1)
                if found is not None:
                    return found
        return None

    def choices(
        self, given: list[Given], claim_index: int, name: str, ask: ExactDeviceRequest | DeviceSubRequest
    ) -> Iterator[list[Given]]:
        suited = [Given(claim_index, name, ask, place) for place in self.places if _suits(place, ask)]
        if ask.allocation_mode == "All":
            if suited and self.all_go(given, suited):
                yield suited
            return
        for combination in combinations(suited, ask.count or 1):
            steps = range(len(combination))
            if all(self.refusal([*given, *combination[: i + 1]]) is None for i in steps):
                yield list(combination)

    def all_go(self, given: list[Given], members: list[Given]) -> bool:
        for i in range(len(members)):
            refusal = self.refusal([*given, *members[: i + 1]])
            if refusal == "constraint":
                raise _Fatal
            if refusal:
                return False
        return True

    def refusal(self, given: list[Given]) -> str | None:
        """Why an assignment does not hold, given that it did without its last device."""
        last = given[-1]
        if self.in_use(last, given[:-1]):
            return "in use"
        if not self.counters_last(given):
            return "counters"
        if not last.ask.tolerations and any(t.effect in ("NoSchedule", "NoExecute") for t in last.place.device.taints):
            return "taint"
        if not self.constraints_hold(given):
            return "constraint"
        return None if self.capacity_lasts(given, last.place) else "capacity"

    def in_use(self, new: Given, before: Sequence[Given]) -> bool:
        same = [g for g in before if g.place.id == new.place.id]
        if isinstance(new.ask, ExactDeviceRequest) and new.ask.admin_access:
            return any(g.claim == new.claim for g in same) and not new.place.device.allow_multiple_allocations
        return new.place.id in self.whole or (bool(same) and not new.place.device.allow_multiple_allocations)

    def counters_last(self, given: Sequence[Given]) -> bool:
        last = given[-1].place
        held_before = last.id in self.held or any(g.place.id == last.id for g in given[:-1])
        if not last.device.consumes_counters or (last.device.allow_multiple_allocations and held_before):
            return True
        charged = [self.everywhere[id_] for id_ in self.held if id_ in self.everywhere]
        charged += [g.place for g in given if not g.place.device.allow_multiple_allocations]
        shared = {g.place.id: g.place for g in given if g.place.device.allow_multiple_allocations}
        charged += [place for id_, place in shared.items() if id_ not in self.held]
        used: dict[tuple[str, str, str], int] = {}
        for place in charged:
            for consumption in place.device.consumes_counters:
                for name, counter in consumption.counters.items():
                    key = (place.driver, place.pool, name)
                    used[key] = used.get(key, 0) + int(counter.value.value)
        return all(used.get(key, 0) <= there for key, there in self.counters.items() if key[:2] == (last.driver, last.pool))

    def constraints_hold(self, given: Sequence[Given]) -> bool:
        return all(
            _satisfied(constraint, [_values(g.place.device) for g in given if g.claim == i and _concerns(constraint, g)])
            for i, claim_ in enumerate(self.world.claims)
            for constraint in claim_.spec.devices.constraints
        )

    def capacity_lasts(self, given: Sequence[Given], place: Place) -> bool:
        if not place.device.allow_multiple_allocations:
            return True
        for name, capacity in place.device.capacity.items():
            used = sum(int(amounts[name].value) for id_, amounts in self.shares if id_ == place.id)
            used += sum(consumed(g.place.device, g.ask)[name] for g in given if g.place.id == place.id)
            if used > capacity.value.value:
                return False
        return True


def _in_order(slices: Sequence[ResourceSlice]) -> list[Place]:
    """Devices of the node's slices; those of other nodes in a shared slice are not worth keeping."""
    mine = [s for s in slices if any(_is_here(s, d) for d in s.spec.devices)]
    late = {(s.spec.driver, s.spec.pool.name) for s in mine for d in s.spec.devices if d.binding_conditions}

    def key(s: ResourceSlice) -> tuple[bool, str, str, str]:
        return (s.spec.driver, s.spec.pool.name) in late, s.spec.driver, s.spec.pool.name, s.name

    return [place for s in sorted(mine, key=key) for place in _places_of(s) if _is_here(s, place.device)]


def _is_here(published: ResourceSlice, found: Device) -> bool:
    where = found if published.spec.per_device_node_selection else published.spec
    return bool(where.all_nodes) or where.node_name == HERE


def _places_of(published: ResourceSlice) -> Iterator[Place]:
    for found in published.spec.devices:
        yield Place(published.spec.driver, published.spec.pool.name, found)


def _alternatives(asked: DeviceRequest) -> Iterator[tuple[str, ExactDeviceRequest | DeviceSubRequest]]:
    if asked.exactly is not None:
        yield asked.name, asked.exactly
    for sub in asked.first_available:
        yield f"{asked.name}/{sub.name}", sub


def _suits(place: Place, ask: ExactDeviceRequest | DeviceSubRequest) -> bool:
    """Whether a device could serve the request on an empty cluster, as far as class and capacity go."""
    wanted_kind = ask.device_class_name.removeprefix("kind-")
    if wanted_kind != "any" and place.device.attributes["k"].string != wanted_kind:
        return False
    if ask.capacity and "c" not in place.device.capacity:
        return False
    for name, amount in consumed(place.device, ask).items():
        capacity = place.device.capacity[name]
        policy = capacity.request_policy
        if amount > capacity.value.value:
            return False
        if policy and policy.valid_range and policy.valid_range.max and amount > policy.valid_range.max.value:
            return False
        if policy and policy.valid_values and amount not in [int(v.value) for v in policy.valid_values]:
            return False
    return True


def consumed(found: Device, ask: ExactDeviceRequest | DeviceSubRequest) -> dict[str, int]:
    """What a request takes of each capacity; amounts here are whole numbers."""
    wanted: dict[str, Quantity] = dict(ask.capacity.requests) if ask.capacity else {}
    taken = {}
    for name, capacity in found.capacity.items():
        policy = capacity.request_policy
        amount = int(wanted[name].value) if name in wanted else None
        if amount is None:
            default = policy.default if policy and policy.default else capacity.value
            amount = int(default.value)
        elif policy and policy.valid_values:
            amount = min((int(v.value) for v in policy.valid_values if v.value >= amount), default=amount)
        elif policy and policy.valid_range:
            while (amount - 1) % 2 or amount < 1:  # least 1, step 2
                amount += 1
        taken[name] = amount
    return taken


def _concerns(constraint: DeviceConstraint, given: Given) -> bool:
    return not constraint.requests or bool({given.request, given.request.split("/")[0]} & set(constraint.requests))


def _values(found: Device) -> set[str]:
    value = found.attributes[SHARED_NAME].value if SHARED_NAME in found.attributes else ()
    return {str(v) for v in value} if isinstance(value, tuple) else {str(value)}


def _satisfied(constraint: DeviceConstraint, values: Sequence[set[str]]) -> bool:
    if not all(values):
        return False
    if constraint.match_attribute:
        return not values or bool(set.intersection(*values))
    return all(not one & other for one, other in combinations(values, 2))
