"""The allocator: the lexicographically smallest feasible assignment in stock order, by plain depth-first search.

Order: claims, requests, alternatives of a request, then increasing device positions. The first complete assignment is
the answer, exactly as Kubernetes' allocator finds it, without its known faults (they are named where the code differs).

How the search runs: each decision is a generator. It makes one choice, yields the next decision, and when it is resumed
takes the choice back and makes the next one; a stack of them is the whole search, however deep it gets. When dead ends
pile up, what is left to place is counted against the devices that could still serve it, for the request at hand and for
all that follow; that changes no answer and hides no error, because it is not done where a selector fails on a device, or
an All, could still end the search with one.

Source: k8s.io/dynamic-resource-allocation ``structured/internal/experimental/allocator_experimental.go``.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import frozen

from drakit.allocation import capacity
from drakit.allocation.amounts import nano
from drakit.allocation.constraints import ConstraintState, Values
from drakit.allocation.counters import CounterLedger
from drakit.allocation.errors import AllocationError, Place, SearchLimit
from drakit.allocation.pools import WAIT, Candidate, Pool
from drakit.allocation.requests import MAX_DEVICES_PER_CLAIM, Alternative, ClaimPlan, RequestPlan, check_limit
from drakit.allocation.selection import Selection
from drakit.allocation.state import AllocatedState
from drakit.allocation.tolerations import first_untolerated
from drakit.model import DeviceID, Node, Quantity

__all__ = ["Pick", "search"]

DEFAULT_BUDGET: Final = 300_000
"""Candidates looked at before the search gives up."""
LOOK_AHEAD_AFTER: Final = 16
"""Dead ends after which positions are checked ahead."""

Spot: TypeAlias = tuple[Candidate, Pool]


@frozen(kw_only=True, eq=False)
class Pick:
    """One device given to one request."""

    claim: int
    """Index of the claim."""
    alternative: Alternative
    candidate: Candidate
    consumed: Mapping[str, Quantity] | None = None
    """What a share takes of each capacity; None for a device held as a whole."""


Decision: TypeAlias = "Iterator[Decision | None]"
"""Yields the decision that follows each choice, or None when there is nothing left to decide."""


def search(
    node: Node,
    pools: Sequence[Pool],
    plans: Sequence[ClaimPlan],
    state: AllocatedState,
    selection: Selection,
    *,
    budget: int = DEFAULT_BUDGET,
) -> list[Pick] | None:
    """Devices for all claims together on one node.

    :param pools: the node's pools in order.
    :param budget: candidates to look at before giving up.
    :returns: picks in claim and request order; None: they do not fit on this node.
    :raises AllocationError: a fatal error: the pod cannot be scheduled anywhere until something is mended.
    :raises SearchLimit: not decided within the budget.
    """
    return _Search(node, pools, plans, state, selection, budget).run()


class _Search:
    """One attempt on one node. Mutable; every choice has an exact undo."""

    def __init__(
        self,
        node: Node,
        pools: Sequence[Pool],
        plans: Sequence[ClaimPlan],
        state: AllocatedState,
        selection: Selection,
        budget: int,
    ) -> None:
        self.node = node
        self.pools = pools
        self.plans = plans
        self.state = state
        self.selection = selection
        self.budget = budget
        self.places: list[Spot] = [(candidate, pool) for pool in pools for candidate in pool.candidates]
        self.constraints = [[ConstraintState(constraint) for constraint in plan.constraints] for plan in plans]
        self.all_places: dict[int, list[Spot]] = {}
        for plan in plans:
            self._prepare(plan)
        self.picks: list[Pick] = []
        self.ledgers: dict[Pool, CounterLedger] = {}
        self.picked: dict[DeviceID, int] = {}
        """How many requests hold a device as a whole; more than one only with admin access."""
        self.shares: dict[DeviceID, list[Mapping[str, Quantity]]] = {}
        """Consumption of each share taken by this search."""
        self.dead_ends = 0
        self._usable: dict[int, list[float]] = {}
        self._masks: dict[int, int | None] = {}
        self._position_of = {id(candidate): position for position, (candidate, _) in enumerate(self.places)}

    def run(self) -> list[Pick] | None:
        if not self.plans:
            return []
        stack = [self._next_request(0, -1)]
        while stack:
            decision = next(stack[-1], _EXHAUSTED)
            if decision is _EXHAUSTED:
                stack.pop()
                self.dead_ends += 1
            elif decision is None:
                return self.picks
            else:
                stack.append(decision)
        return None

    # -- decisions ----------------------------------------------------------------------------------------------------

    def _next_request(self, claim: int, request: int) -> Decision:
        """Which alternative of the request after this one to take, in order of preference."""
        request += 1
        while claim < len(self.plans) and request == len(self.plans[claim].requests):
            claim, request = claim + 1, 0
        if claim == len(self.plans):
            yield None
            return
        for ask in self.plans[claim].requests[request].alternatives:
            places = self.all_places[id(ask)] if ask.all else self.places
            count = self._count(ask)
            placed = sum(pick.claim == claim for pick in self.picks)
            if placed + count > MAX_DEVICES_PER_CLAIM or (ask.all and not places):
                continue
            yield self._next_device(claim, request, ask, places, count, 0)

    def _next_device(
        self, claim: int, request: int, ask: Alternative, places: Sequence[Spot], missing: int, start: int
    ) -> Decision:
        """Which device to take next for an alternative; those of All have no choice."""
        if not missing:
            yield self._next_request(claim, request)
            return
        if self.dead_ends > LOOK_AHEAD_AFTER and self._overbooked(claim, request, ask, missing):
            return
        for position in range(start, start + 1 if ask.all else len(places)):
            if self.dead_ends > LOOK_AHEAD_AFTER and not ask.all and self._usable_from(position, ask) < missing:
                return
            candidate, pool = places[position]
            if not ask.all and not self._is_candidate(claim, ask, candidate):
                continue
            values = self._values_if_free(claim, ask, candidate, pool)
            if values is None:
                continue
            pick = self._take(claim, ask, candidate, pool, values)
            yield self._next_device(claim, request, ask, places, missing - 1, position + 1)
            self._take_back(pick, pool, values)

    # -- checks, in the order Kubernetes makes them -------------------------------------------------------------------

    def _is_candidate(self, claim: int, ask: Alternative, candidate: Candidate) -> bool:
        """In use, asked for, on this node, large enough. Only a device that is not in use is shown to the selectors."""
        self.budget -= 1
        if self.budget < 0:
            raise SearchLimit
        return (
            not self._in_use(claim, ask, candidate)
            and self.selection.selects(candidate, ask, self.node)
            and not _unfit(self.plans[claim], ask, candidate, str(candidate.id))
        )

    def _in_use(self, claim: int, ask: Alternative, candidate: Candidate) -> bool:
        if ask.admin_access:
            taken = any(pick.claim == claim and pick.candidate is candidate for pick in self.picks)
            return taken and not candidate.shareable
        if candidate.id in self.state.devices or self.picked.get(candidate.id):
            return True
        return candidate.id in self.state.shared and not candidate.shareable

    def _values_if_free(self, claim: int, ask: Alternative, candidate: Candidate, pool: Pool) -> list[Values] | None:
        """Counters, taints, constraints and shared capacity; what each constraint would hold, or None.

        :raises AllocationError: a device that All must have violates a constraint.
        """
        if self._in_use(claim, ask, candidate):
            return None
        if self._must_be_charged(candidate) and not self._ledger(pool).fits(candidate):
            return None
        if first_untolerated(candidate.taints, ask.tolerations) is not None:
            return None
        values = [self.constraints[claim][index].next(candidate) for index in ask.constraints]
        if None in values:
            if ask.all:
                raise self._violated(claim, ask, candidate)
            return None
        if candidate.shareable:
            wanted = capacity.consumed_capacity(candidate, ask)
            if capacity.shortage(candidate, wanted, self._taken(candidate)):
                return None
        return [value for value in values if value is not None]

    def _must_be_charged(self, candidate: Candidate) -> bool:
        if not candidate.counters:
            return False
        held = self.state.consumes_counters(candidate.id) or bool(self.shares.get(candidate.id))
        return not (candidate.shareable and held)

    def _taken(self, candidate: Candidate) -> Mapping[str, int]:
        """What is consumed of a shared device, by the state and by this search."""
        taken = dict(self.state.capacity.get(candidate.id, {}))
        for share in self.shares.get(candidate.id, ()):
            for name, amount in share.items():
                taken[name] = taken.get(name, 0) + nano(amount)
        return taken

    def _violated(self, claim: int, ask: Alternative, candidate: Candidate) -> AllocationError:
        place = Place(claim=self.plans[claim].claim.key, request=ask.name.rpartition("/")[2])
        message = f"{place}: cannot add device {candidate.id} because a claim constraint would not be satisfied"
        return AllocationError(message, place, device=str(candidate.id))

    # -- taking, and taking back --------------------------------------------------------------------------------------

    def _take(self, claim: int, ask: Alternative, candidate: Candidate, pool: Pool, values: list[Values]) -> Pick:
        if self._must_be_charged(candidate):
            self._ledger(pool).charge(candidate)
        consumed = None
        if candidate.shareable:
            consumed = capacity.consumed_capacity(candidate, ask)
            self.shares.setdefault(candidate.id, []).append(consumed)
        else:
            self.picked[candidate.id] = self.picked.get(candidate.id, 0) + 1
        for index, value in zip(ask.constraints, values, strict=True):
            self.constraints[claim][index].push(value)
        self.picks.append(Pick(claim=claim, alternative=ask, candidate=candidate, consumed=consumed))
        return self.picks[-1]

    def _take_back(self, pick: Pick, pool: Pool, values: list[Values]) -> None:
        self.picks.pop()
        for index, _ in zip(pick.alternative.constraints, values, strict=True):
            self.constraints[pick.claim][index].pop()
        if pick.candidate.shareable:
            self.shares[pick.candidate.id].pop()
        else:
            self.picked[pick.candidate.id] -= 1
        if self._must_be_charged(pick.candidate):
            self._ledger(pool).give_back(pick.candidate)

    def _ledger(self, pool: Pool) -> CounterLedger:
        ledger = self.ledgers.get(pool)
        if ledger is None:
            ledger = self.ledgers[pool] = CounterLedger(pool, self.state)
        return ledger

    # -- before the search, and looking ahead -------------------------------------------------------------------------

    def _prepare(self, plan: ClaimPlan) -> None:
        """Look up the devices of every All, and raise what Kubernetes finds wrong meanwhile, in its order."""
        accounted = 0
        for request in plan.requests:
            self._look_up(plan, request.alternatives)
            wanted = min(self._count(ask) for ask in request.alternatives)
            check_limit(plan.claim, request, wanted, accounted)
            accounted += wanted
        self._look_up(plan, plan.begun)
        if plan.fault is not None:
            raise plan.fault

    def _look_up(self, plan: ClaimPlan, asks: Iterable[Alternative]) -> None:
        for ask in asks:
            if ask.all:
                self.all_places[id(ask)] = self._all_devices(plan, ask)

    def _count(self, ask: Alternative) -> int:
        return len(self.all_places[id(ask)]) if ask.all else ask.count

    def _all_devices(self, plan: ClaimPlan, ask: Alternative) -> list[Spot]:
        """Every device All stands for, held ones too: it fails if one of them cannot be had (kubernetes#140769).

        :raises AllocationError: a pool, of whatever driver, cannot be counted now, or a selector fails on a device of a
            pool before it, or an amount is unusable there.
        """
        place = Place(claim=plan.claim.key, request=ask.name.rpartition("/")[2])
        found: list[Spot] = []
        for pool in self.pools:
            if pool.incomplete:
                message = f"{place}: asks for all devices, but resource pool {pool.key} is currently being updated"
                raise AllocationError(f"{message}: {pool.incomplete}; {WAIT}", place, kind="updating")
            if pool.invalid:
                message = f"{place}: asks for all devices, but resource pool {pool.key} is currently invalid"
                raise AllocationError(f"{message}: {pool.invalid}", place)
            found += [
                (candidate, pool)
                for candidate in pool.candidates
                if self.selection.selects(candidate, ask, self.node) and not _unfit(plan, ask, candidate, candidate.id.device)
            ]
        return found

    def _usable_from(self, position: int, ask: Alternative) -> float:
        """At most how many devices from a position on could serve; infinite where an error lies ahead."""
        usable = self._usable.get(id(ask))
        if usable is None:
            usable = [0.0] * (len(self.places) + 1)
            for index in range(len(self.places) - 1, -1, -1):
                usable[index] = usable[index + 1] + self._could_serve(ask, self.places[index][0])
            self._usable[id(ask)] = usable
        return usable[position]

    def _could_serve(self, ask: Alternative, candidate: Candidate) -> float:
        if not ask.admin_access and candidate.id in self.state.devices:
            return 0
        try:
            fits = self.selection.selects(candidate, ask, self.node) and not capacity.unfit(candidate, ask)
        except (AllocationError, capacity.UnusableAmount):
            return float("inf")
        return float(fits and first_untolerated(candidate.taints, ask.tolerations) is None)

    def _overbooked(self, claim: int, request: int, ask: Alternative, missing: int) -> bool:
        """Whether this request and those that follow want more devices than could serve any of them."""
        wanted, useful = missing, self._whole_devices(ask)
        for following in self._following(claim, request):
            masks = [self._whole_devices(alternative) for alternative in following.alternatives]
            if useful is None or None in masks:
                return False
            wanted += min(alternative.count for alternative in following.alternatives)
            useful = functools.reduce(operator.or_, filter(None, masks), useful)
        if useful is None:
            return False
        positions = (self._position_of[id(pick.candidate)] for pick in self.picks if not pick.candidate.shareable)
        taken = functools.reduce(operator.or_, (1 << position for position in positions), 0)  # admins may pick one twice
        return wanted > (useful & ~taken).bit_count()

    def _following(self, claim: int, request: int) -> Iterator[RequestPlan]:
        yield from self.plans[claim].requests[request + 1 :]
        for plan in self.plans[claim + 1 :]:
            yield from plan.requests

    def _whole_devices(self, ask: Alternative) -> int | None:
        """The devices that could serve a request, each at most one, as bits; None where that cannot be said."""
        if id(ask) not in self._masks:
            serving = [self._could_serve(ask, candidate) for candidate, _ in self.places] if not ask.all else [float("inf")]
            countable = not ask.admin_access and float("inf") not in serving
            shared = any(usable and place[0].shareable for usable, place in zip(serving, self.places, strict=False))
            bits = "".join("1" if usable else "0" for usable in reversed(serving))
            self._masks[id(ask)] = int(bits or "0", 2) if countable and not shared else None
        return self._masks[id(ask)]


def _unfit(plan: ClaimPlan, ask: Alternative, candidate: Candidate, shown: str) -> str:
    """As :func:`capacity.unfit`; of an unusable amount Kubernetes tells the device, which it shows in two ways."""
    try:
        return capacity.unfit(candidate, ask)
    except capacity.UnusableAmount as error:
        place = Place(claim=plan.claim.key, request=ask.name.rpartition("/")[2])
        message = f"{place}: checking capacity for device {shown}: {error}"
        raise AllocationError(message, place, device=str(candidate.id)) from error


_EXHAUSTED: Final[Decision] = iter(())
