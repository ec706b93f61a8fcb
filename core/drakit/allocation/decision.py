"""Which node, and what if there is none: claims against the nodes of a cluster, as the scheduler goes about it.

An error on any node ends the attempt on all, whatever their order. So where an error is possible the nodes after the first
that fits are tried too; where it is not, they are not.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Final

import attrs
from attrs import field, frozen

from drakit.allocation import capacity
from drakit.allocation.admission import admit
from drakit.allocation.errors import AllocationError, Place, Reason, SearchLimit
from drakit.allocation.explanation import explain
from drakit.allocation.outcome import ClaimOutcome
from drakit.allocation.pools import Candidate, PoolIndex
from drakit.allocation.requests import Alternative, ClaimPlan, plan_claims
from drakit.allocation.result import assemble
from drakit.allocation.search import search
from drakit.allocation.selection import Selection
from drakit.allocation.state import AllocatedState
from drakit.model import AllocationResult, DeviceClass, Namespace, Node, ResourceClaim

__all__ = ["Decider"]

MAX_UNDECIDED: Final = 3
"""Nodes on which the search may give up, before the others are not looked at for errors any more."""

Fit = tuple[Node, tuple[AllocationResult, ...]]


@frozen(kw_only=True, eq=False)
class Decider:
    """Decides claims of one cluster; what it learns about devices on the way serves every claim."""

    index: PoolIndex
    classes: Mapping[str, DeviceClass]
    namespaces: Mapping[str, Namespace]
    budget: int
    """Candidates to look at for one attempt on one node."""
    selection: Selection = field(factory=Selection)
    _failing_amounts: dict[tuple[tuple[str, str], ...], bool] = field(factory=dict[tuple[tuple[str, str], ...], bool])
    """Whether a request for these capacities fails on any device."""

    def on_node(
        self, node: Node, claims: Sequence[ResourceClaim], state: AllocatedState
    ) -> tuple[AllocationResult, ...] | None:
        """Allocate claims together on one node; see :meth:`drakit.allocation.Cluster.allocate_on`."""
        return self._try(node, self._plans(claims), state)

    def decide(
        self,
        claims: Sequence[ResourceClaim],
        nodes: Sequence[Node],
        state: AllocatedState,
        refused: Mapping[str, str],
    ) -> list[ClaimOutcome]:
        """Allocate claims together on the first node that fits, or say why not.

        :param nodes: in the order to try them.
        :param state: what is taken.
        :param refused: why the other nodes are out of the question, by name.
        """
        try:
            for claim in claims:
                admit(claim, self.namespaces.get(claim.metadata.namespace))
            fit = self.first_fit(claims, nodes, state)
        except AllocationError as error:
            reasons = [Reason(check="pool", message=error.message)] if error.kind == "updating" else []
            return [ClaimOutcome(claim=claim, error=error, reasons=reasons) for claim in claims]
        if fit is None:
            plans = self._plans(claims)
            return [ClaimOutcome(claim=plan.claim, reasons=self._reasons(plan, nodes, state, refused)) for plan in plans]
        node, allocations = fit
        return [
            ClaimOutcome(claim=_allocated(claim, allocation), node=node.name)
            for claim, allocation in zip(claims, allocations, strict=True)
        ]

    def _plans(self, claims: Sequence[ResourceClaim]) -> list[ClaimPlan]:
        return plan_claims(claims, self.classes)

    def _try(self, node: Node, plans: Sequence[ClaimPlan], state: AllocatedState) -> tuple[AllocationResult, ...] | None:
        picks = search(node, self.index.pools(node), plans, state, self.selection, budget=self.budget)
        if picks is None:
            return None
        return tuple(assemble(node, plan, [pick for pick in picks if pick.claim == index]) for index, plan in enumerate(plans))

    def first_fit(self, claims: Sequence[ResourceClaim], nodes: Sequence[Node], state: AllocatedState) -> Fit | None:
        """The first node that fits all claims together, and what each gets; None: there is none.

        :raises AllocationError: an error on any node; else, that a node before the first that fits was not decided.
        """
        plans = self._plans(claims)
        fit: Fit | None = None
        undecided: AllocationError | None = None
        tries = MAX_UNDECIDED
        for node in nodes:
            try:
                allocations = self._try(node, plans, state)
            except SearchLimit:
                undecided = undecided or (None if fit else self._undecided(node, plans))
                tries -= 1
                if not tries or not self._can_fail(plans):
                    break
                continue
            except AllocationError as error:
                error.node = node.name
                raise
            if allocations is not None and fit is None:
                fit = node, allocations
                if not self._can_fail(plans):
                    break
        if undecided is not None:
            raise undecided
        if not nodes and plans and (fault := plans[-1].fault) is not None:
            raise fault
        return fit

    def _undecided(self, node: Node, plans: Sequence[ClaimPlan]) -> AllocationError:
        names = " and ".join(plan.claim.key for plan in plans)
        message = f"not decided whether {names} fits on node {node.name}: gave up after looking at {self.budget} candidates"
        error = AllocationError(message, Place(claim=plans[0].claim.key), kind="undecided")
        error.node = node.name
        return error

    def _can_fail(self, plans: Sequence[ClaimPlan]) -> bool:
        """Whether a node could end the attempt: All stumbles over pools and constraints, selectors and amounts over devices."""
        asks = [ask for plan in plans for request in plan.requests for ask in request.alternatives]
        return (
            self._has_wide_selectors
            or any(ask.all for ask in asks)
            or any(self.selection.fails_on_any(ask, self._every_candidate) for ask in asks)
            or any(self._has_failing_amounts(ask) for ask in asks)
        )

    def _has_failing_amounts(self, ask: Alternative) -> bool:
        key = tuple((name, str(amount)) for name, amount in ask.capacity.items())
        if key not in self._failing_amounts:
            self._failing_amounts[key] = capacity.fails_on_any(ask, self._every_candidate)
        return self._failing_amounts[key]

    @functools.cached_property
    def _every_candidate(self) -> tuple[Candidate, ...]:
        return tuple(self.index.every_candidate())

    @functools.cached_property
    def _has_wide_selectors(self) -> bool:
        """Whether a slice or device has a node selector of several terms, which no allocation can express."""
        selectors = [
            selector
            for candidate in self._every_candidate
            for selector in (candidate.device.node_selector, candidate.slice.spec.node_selector)
        ]
        return any(selector is not None and len(selector.node_selector_terms) > 1 for selector in selectors)

    def _reasons(
        self, plan: ClaimPlan, nodes: Sequence[Node], state: AllocatedState, refused: Mapping[str, str]
    ) -> tuple[Reason, ...]:
        pools = {node.name: self.index.pools(node) for node in nodes}
        reasons = explain(nodes, pools, plan, state, self.selection)
        if not nodes and not refused:
            return (Reason(check="node", message="there are no nodes: add them to the input"),)
        return (*reasons, *(Reason(check="node", node=node, message=why) for node, why in refused.items()))


def _allocated(claim: ResourceClaim, allocation: AllocationResult) -> ResourceClaim:
    return attrs.evolve(claim, status=attrs.evolve(claim.status, allocation=allocation))
