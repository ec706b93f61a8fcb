"""From picks to what the scheduler writes into a claim's status.

Source: k8s.io/dynamic-resource-allocation ``structured`` (result assembly, createNodeSelector).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from drakit.allocation.errors import AllocationError, Place
from drakit.allocation.pools import Candidate
from drakit.allocation.requests import Alternative, ClaimPlan
from drakit.allocation.search import Pick
from drakit.model import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    only_node,
)

__all__ = ["assemble"]

_SHARE_IDS: Final = uuid.UUID("6f0bbe5d-6d0c-4d6b-9d0f-0a1c5d2b7e11")
"""Namespace of share ids. The scheduler draws them at random; here the same question gets the same answer."""


def assemble(node: Node, plan: ClaimPlan, picks: Sequence[Pick]) -> AllocationResult:
    """The allocation of one claim.

    :raises AllocationError: the node selectors of the devices cannot be expressed in one.
    """
    results = tuple(_result(plan, index, pick) for index, pick in enumerate(picks))
    chosen = list(dict.fromkeys(pick.alternative for pick in picks))
    return AllocationResult(
        devices=DeviceAllocationResult(results=results, config=tuple(_configuration(plan, chosen))),
        node_selector=_node_selector(node, plan, [pick.candidate for pick in picks]),
    )


def _result(plan: ClaimPlan, index: int, pick: Pick) -> DeviceRequestAllocationResult:
    device, ask = pick.candidate.device, pick.alternative
    shared = pick.consumed is not None
    return DeviceRequestAllocationResult(
        request=ask.name,
        driver=pick.candidate.id.driver,
        pool=pick.candidate.id.pool,
        device=device.name,
        admin_access=True if ask.admin_access else None,
        tolerations=ask.tolerations,
        binding_conditions=device.binding_conditions,
        binding_failure_conditions=device.binding_failure_conditions,
        share_id=str(uuid.uuid5(_SHARE_IDS, f"{plan.claim.key}/{index}/{pick.candidate.id}")) if shared else None,
        consumed_capacity=pick.consumed or {},
        skip_node_operations=pick.candidate.slice.spec.skip_node_operations,
    )


def _configuration(plan: ClaimPlan, chosen: Sequence[Alternative]) -> Iterator[DeviceAllocationConfiguration]:
    """The configuration of each class in use, then the claim's own that apply; no requests named: all of them."""
    everything = {ask.name for ask in chosen}
    by_class: dict[str, list[Alternative]] = {}
    for ask in chosen:
        by_class.setdefault(ask.device_class.name, []).append(ask)
    for asks in by_class.values():
        names = tuple(ask.name for ask in asks)
        for entry in asks[0].device_class.spec.config:
            yield DeviceAllocationConfiguration(source="FromClass", requests=_named(names, everything), opaque=entry.opaque)
    for config in plan.claim.spec.devices.config:
        applies = [ask.name for ask in chosen if {ask.name, ask.main} & set(config.requests)]
        if applies or not config.requests:
            requests = () if set(applies) == everything else config.requests
            yield DeviceAllocationConfiguration(source="FromClaim", requests=requests, opaque=config.opaque)


def _named(names: tuple[str, ...], everything: set[str]) -> tuple[str, ...]:
    return () if set(names) == everything else names


def _node_selector(node: Node, plan: ClaimPlan, candidates: Iterable[Candidate]) -> NodeSelector | None:
    """The nodes on which every device can be used; None: all nodes."""
    expressions: list[NodeSelectorRequirement] = []
    fields: list[NodeSelectorRequirement] = []
    for candidate in candidates:
        where = candidate.device if candidate.slice.spec.per_device_node_selection else candidate.slice.spec
        if where.node_name is not None or candidate.device.binds_to_node:
            return only_node(node.name)
        terms = where.node_selector.node_selector_terms if where.node_selector else ()
        if len(terms) > 1:
            at = f"create NodeSelector for claim {plan.claim.metadata.name}"
            message = f"{at}: unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
            raise AllocationError(message, Place(claim=plan.claim.key), device=str(candidate.id))
        for term in terms:
            _state_all(term.match_expressions, expressions)
            _state_all(term.match_fields, fields)
    if not expressions and not fields:
        return None
    term = NodeSelectorTerm(match_expressions=expressions, match_fields=fields)
    return NodeSelector(node_selector_terms=(term,))


def _state_all(requirements: Iterable[NodeSelectorRequirement], stated: list[NodeSelectorRequirement]) -> None:
    """Add those that are not among the others; one that stands twice in a term is added once."""
    for requirement in requirements:
        if not _stated(requirement, stated):
            stated.append(requirement)


def _stated(new: NodeSelectorRequirement, stated: Iterable[NodeSelectorRequirement]) -> bool:
    wanted = (new.key, new.operator, frozenset(new.values))
    return any((old.key, old.operator, frozenset(old.values)) == wanted for old in stated)
