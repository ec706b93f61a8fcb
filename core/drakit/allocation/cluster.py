"""A cluster as far as allocation is concerned: an immutable set of objects, and the questions it answers.

Nothing here reads files or a clock. ``drakit.load`` makes a Cluster from files.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from drakit import cel
from drakit.allocation.decision import Decider
from drakit.allocation.errors import Reason
from drakit.allocation.nodes import node_refusal
from drakit.allocation.outcome import ClaimOutcome
from drakit.allocation.pools import PoolIndex
from drakit.allocation.search import DEFAULT_BUDGET
from drakit.allocation.selection import Selection
from drakit.allocation.state import AllocatedState
from drakit.cel.engines import Compile
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
from drakit.model.collections import frozen_mapping, frozen_tuple
from drakit.model.wire import KubernetesObject

__all__ = ["Cluster", "DuplicateObject"]


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
    order: Mapping[str, int] = field(factory=dict[str, int], converter=frozen_mapping, repr=False)
    """Place of each claim and pod in the input, by ``<kind> <namespace>/<name>``; what is not in it comes last."""

    @classmethod
    def of(cls, objects: Iterable[KubernetesObject]) -> Cluster:
        """The cluster with these objects.

        :raises DuplicateObject: two objects of one kind share a name; the message has kind and name.
        """
        by_type: dict[type, list[KubernetesObject]] = {}
        seen: dict[tuple[type, str], None] = {}
        for obj in objects:
            key = (type(obj), obj.metadata.key)
            if key in seen:
                raise DuplicateObject(f"two objects of kind {type(obj).__name__} are named {obj.metadata.key}")
            seen[key] = None
            by_type.setdefault(type(obj), []).append(obj)
        fields: dict[str, Any] = {name: by_type.get(type_, ()) for name, type_ in _FIELDS.items()}
        return cls(order={f"{type_.__name__} {name}": place for place, (type_, name) in enumerate(seen)}, **fields)

    @property
    def is_empty(self) -> bool:
        """Whether there is no object at all."""
        return not any(getattr(self, name) for name in _FIELDS)

    @property
    def consumers(self) -> list[ResourceClaim | Pod]:
        """Claims and pods together, in input order."""
        return sorted(
            (*self.claims, *self.pods), key=lambda obj: self.order.get(f"{type(obj).__name__} {obj.key}", len(self.order))
        )

    @functools.cached_property
    def pools(self) -> PoolIndex:
        return PoolIndex(self.slices, self.taint_rules)

    @property
    def state(self) -> AllocatedState:
        """What the cluster's claims hold; the caller's own to go on from."""
        return self._state.copy()

    @functools.cached_property
    def _state(self) -> AllocatedState:
        return AllocatedState.of(self.claims)

    def decider(self, budget: int = DEFAULT_BUDGET, compile_: Compile = cel.compile) -> Decider:
        """What decides claims of this cluster; keep it for as many as there are.

        :param compile_: how selectors are compiled; see ``drakit.cel.engines``.
        """
        return Decider(
            index=self.pools,
            classes={device_class.name: device_class for device_class in self.classes},
            namespaces={namespace.metadata.name: namespace for namespace in self.namespaces},
            budget=budget,
            selection=Selection(compile_),
        )

    @functools.cached_property
    def _decider(self) -> Decider:
        return self.decider()

    def allocate_on(
        self, node: Node, claims: Sequence[ResourceClaim], state: AllocatedState | None = None
    ) -> tuple[AllocationResult, ...] | None:
        """Allocate claims together on one node, as the scheduler does for the claims of a pod.

        :param state: what is taken; None: what the cluster's claims hold.
        :returns: one result per claim; None: they do not fit on this node.
        :raises AllocationError: fatal for the whole attempt, on every node.
        :raises SearchLimit: not decided: the search gave up.
        """
        return self._decider.on_node(node, claims, self._state if state is None else state)

    def allocate(self, claim: ResourceClaim) -> ClaimOutcome:
        """Allocate one claim on the first node that is not cordoned and fits, as things stand now."""
        refused = {node.name: why for node in self.nodes if (why := node_refusal(node, None))}
        nodes = [node for node in self.nodes if node.name not in refused]
        (outcome,) = self._decider.decide([claim], nodes, self._state, refused)
        return outcome

    def explain(self, claim: ResourceClaim) -> tuple[Reason, ...]:
        """Why :meth:`allocate` would not allocate a claim; empty if it would.

        :raises AllocationError: the claim, a class or a pool has an error.
        """
        outcome = self.allocate(claim)
        if outcome.error is not None:
            raise outcome.error
        return outcome.reasons


_FIELDS: Final[Mapping[str, type]] = {
    "nodes": Node,
    "slices": ResourceSlice,
    "classes": DeviceClass,
    "claims": ResourceClaim,
    "templates": ResourceClaimTemplate,
    "pods": Pod,
    "namespaces": Namespace,
    "taint_rules": DeviceTaintRule,
}
