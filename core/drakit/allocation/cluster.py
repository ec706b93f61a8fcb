"""A cluster as far as allocation is concerned: an immutable set of objects, and the questions it answers.

Nothing here reads files or a clock. ``drakit.load`` makes a Cluster from files.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
from attrs import field, frozen

from drakit.allocation.errors import AllocationError, Reason, SearchLimit
from drakit.allocation.explanation import explain
from drakit.allocation.outcome import ClaimOutcome
from drakit.allocation.pools import PoolIndex
from drakit.allocation.requests import ClaimPlan, plan_claim
from drakit.allocation.result import assemble
from drakit.allocation.search import DEFAULT_BUDGET, search
from drakit.allocation.selection import Selection
from drakit.allocation.state import AllocatedState
from drakit.model import (
    AllocationResult,
    DeviceClass,
    DeviceTaintRule,
    DrakitError,
    Namespace,
    Node,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from drakit.model._convert import frozen_tuple
from drakit.model.wire import KubernetesObject

__all__ = ["Cluster", "DuplicateObject"]

ADMIN_ACCESS_LABEL: Final = "resource.kubernetes.io/admin-access"


class DuplicateObject(DrakitError):
    """Two objects of one kind have the same name."""


@frozen(kw_only=True, eq=False)
class Cluster:
    """Objects in input order, which is the order claims and pods are served and nodes are tried in."""

    nodes: tuple[Node, ...] = field(default=(), converter=frozen_tuple)
    slices: tuple[ResourceSlice, ...] = field(default=(), converter=frozen_tuple)
    classes: tuple[DeviceClass, ...] = field(default=(), converter=frozen_tuple)
    claims: tuple[ResourceClaim, ...] = field(default=(), converter=frozen_tuple)
    templates: tuple[ResourceClaimTemplate, ...] = field(default=(), converter=frozen_tuple)
    pods: tuple[Pod, ...] = field(default=(), converter=frozen_tuple)
    namespaces: tuple[Namespace, ...] = field(default=(), converter=frozen_tuple)
    taint_rules: tuple[DeviceTaintRule, ...] = field(default=(), converter=frozen_tuple)
    consumers: tuple[ResourceClaim | Pod, ...] = field(default=(), converter=frozen_tuple)
    """Claims and pods together, in input order."""

    @classmethod
    def of(cls, objects: Iterable[KubernetesObject]) -> Cluster:
        """The cluster with these objects.

        :raises DuplicateObject: two objects of one kind share a name; the message has kind and name.
        """
        by_type: dict[type, list[KubernetesObject]] = {}
        seen: set[tuple[type, str]] = set()
        for obj in objects:
            key = (type(obj), obj.metadata.key)
            if key in seen:
                raise DuplicateObject(f"two objects of kind {type(obj).__name__} are named {obj.metadata.key}")
            seen.add(key)
            by_type.setdefault(type(obj), []).append(obj)
            if isinstance(obj, ResourceClaim | Pod):
                by_type.setdefault(object, []).append(obj)
        return cls(**{name: by_type.get(type_, ()) for name, type_ in _FIELDS.items()})

    @functools.cached_property
    def pools(self) -> PoolIndex:
        return PoolIndex(self.slices, self.taint_rules)

    @functools.cached_property
    def selection(self) -> Selection:
        return Selection()

    @functools.cached_property
    def classes_by_name(self) -> Mapping[str, DeviceClass]:
        return {device_class.name: device_class for device_class in self.classes}

    @functools.cached_property
    def state(self) -> AllocatedState:
        """What the cluster's claims hold."""
        return AllocatedState().with_claims(self.claims)

    def plan(self, claim: ResourceClaim) -> ClaimPlan:
        """:raises AllocationError: the claim asks for what cannot be."""
        return plan_claim(claim, self.classes_by_name)

    def allocate_on(
        self,
        node: Node,
        claims: Sequence[ResourceClaim],
        state: AllocatedState | None = None,
        *,
        budget: int = DEFAULT_BUDGET,
    ) -> tuple[AllocationResult, ...] | None:
        """Allocate claims together on one node, as the scheduler does for the claims of a pod.

        :param state: what is taken; None: what the cluster's claims hold.
        :returns: one result per claim; None: they do not fit on this node.
        :raises AllocationError: fatal for the whole attempt, on every node.
        :raises SearchLimit: not decided within the budget.
        """
        plans = [self.plan(claim) for claim in claims]
        taken = self.state if state is None else state
        picks = search(node, self.pools.pools(node), plans, taken, self.selection, budget=budget)
        if picks is None:
            return None
        return tuple(assemble(node, plan, [pick for pick in picks if pick.claim == index]) for index, plan in enumerate(plans))

    def decide(
        self,
        claims: Sequence[ResourceClaim],
        nodes: Sequence[Node],
        state: AllocatedState | None = None,
        *,
        budget: int = DEFAULT_BUDGET,
    ) -> list[ClaimOutcome]:
        """Allocate claims together on the first node that fits, or say why not.

        The other nodes are tried too: an error on one of them ends the attempt on all, whatever their order.

        :param nodes: in the order to try them.
        :param state: what is taken; None: what the cluster's claims hold.
        """
        taken = self.state if state is None else state
        try:
            for claim in claims:
                self._check_admin_access(claim)
                self.plan(claim)
            fits = [(node, self.allocate_on(node, claims, taken, budget=budget)) for node in nodes]
        except AllocationError as error:
            reasons = [Reason(check="pool", message=error.message)] if error.transient else []
            return [ClaimOutcome(claim=claim, error=error, reasons=reasons) for claim in claims]
        except SearchLimit:
            reason = Reason(check="limit", message=f"not decided: gave up after looking at {budget} candidates")
            return [ClaimOutcome(claim=claim, reasons=[reason]) for claim in claims]
        for node, allocations in fits:
            if allocations is not None:
                return [
                    ClaimOutcome(claim=_allocated(claim, allocation), node=node.name)
                    for claim, allocation in zip(claims, allocations, strict=True)
                ]
        return [ClaimOutcome(claim=claim, reasons=self._reasons(claim, nodes, taken)) for claim in claims]

    def allocate(self, claim: ResourceClaim) -> ClaimOutcome:
        """Allocate one claim on the first node that is not cordoned and fits, as things stand now."""
        (outcome,) = self.decide([claim], [node for node in self.nodes if not node.spec.unschedulable])
        return outcome

    def explain(self, claim: ResourceClaim) -> tuple[Reason, ...]:
        """Why :meth:`allocate` would not allocate a claim; empty if it would.

        :raises AllocationError: the claim, a class or a pool has an error.
        """
        outcome = self.allocate(claim)
        if outcome.error is not None:
            raise outcome.error
        return outcome.reasons

    def _reasons(self, claim: ResourceClaim, nodes: Sequence[Node], state: AllocatedState) -> tuple[Reason, ...]:
        pools = {node.name: self.pools.pools(node) for node in nodes}
        return explain(nodes, pools, self.plan(claim), state, self.selection)

    def _check_admin_access(self, claim: ResourceClaim) -> None:
        """What admission does: admin access needs a label on the namespace. One that is not known is taken to have it."""
        namespace = next((n for n in self.namespaces if n.metadata.name == claim.metadata.namespace), None)
        if namespace is None or namespace.metadata.labels.get(ADMIN_ACCESS_LABEL) == "true":
            return
        for index, request in enumerate(claim.spec.devices.requests):
            if request.exactly is not None and request.exactly.admin_access:
                where = f"claim {claim.key}, request {request.name}"
                rule = f"admin access to devices requires the `{ADMIN_ACCESS_LABEL}: true` label on the containing namespace"
                path = f"spec.devices.requests[{index}].adminAccess"
                raise AllocationError(f"claim {claim.key}: {path}: Forbidden: {rule}", where=where)


def _allocated(claim: ResourceClaim, allocation: AllocationResult) -> ResourceClaim:
    return attrs.evolve(claim, status=attrs.evolve(claim.status, allocation=allocation))


_FIELDS: Mapping[str, type] = {
    "nodes": Node,
    "slices": ResourceSlice,
    "classes": DeviceClass,
    "claims": ResourceClaim,
    "templates": ResourceClaimTemplate,
    "pods": Pod,
    "namespaces": Namespace,
    "taint_rules": DeviceTaintRule,
    "consumers": object,
}
