"""Pods onto nodes, as far as their own wishes and the claims they use decide it.

Source: kube-scheduler plugin DynamicResources (Filter for claims that are allocated already).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from drakit.allocation.cluster import Cluster
from drakit.allocation.nodes import node_refusal, summarized
from drakit.allocation.report import PodOutcome
from drakit.model import Node, Pod, PodResourceClaim, ResourceClaim

__all__ = ["Placement", "claim_key", "claim_keys"]

MAX_CONSUMERS: Final = 256
"""``ResourceClaimReservedForMaxSize``"""


class Placement:
    """Where pods go. It looks at the claims as they are when it is asked."""

    def __init__(self, cluster: Cluster, claims: Mapping[str, ResourceClaim], pods: Iterable[Pod]) -> None:
        self.cluster = cluster
        self.claims = claims
        self.users: dict[str, list[Pod]] = {}
        """Pods by claim, in input order."""
        self.used: dict[str, Counter[str]] = {}
        """How many pods of each claim went to each node: pods that share a claim spread over its nodes."""
        self._consumers: dict[str, set[str]] = {}
        """Pods of each claim that have their place: it is reserved for them, they run, or they were placed here."""
        self._refused: dict[object, Mapping[str, str]] = {}
        for pod in pods:
            for key in claim_keys(pod):
                self.users.setdefault(key, []).append(pod)

    def refusals(self, pod: Pod) -> Mapping[str, str]:
        """The nodes that are out of the question for a pod and why, by its own wishes or by the claims it has already."""
        own = self._wishes(pod)
        allocated = [key for key in claim_keys(pod) if key in self.claims and self.claims[key].status.allocation is not None]
        if not allocated:
            return own
        refused = dict(own)
        for node in self.cluster.nodes:
            elsewhere = next((key for key in allocated if not self.usable_on(key, node)), None)
            if elsewhere is not None and node.name not in refused:
                refused[node.name] = f"claim {self.claims[elsewhere].key} of the pod is for other nodes"
        return refused

    def _wishes(self, pod: Pod) -> Mapping[str, str]:
        """What the pod itself refuses; asked once for all pods with the same wishes."""
        spec = pod.spec
        wishes = (spec.node_name, spec.node_selector, spec.affinity, spec.tolerations)
        if wishes not in self._refused:
            self._refused[wishes] = {node.name: why for node in self.cluster.nodes if (why := node_refusal(node, pod))}
        return self._refused[wishes]

    def usable_on(self, key: str, node: Node) -> bool:
        """Whether a claim can be used on a node; one that is not allocated can, for all that is known."""
        allocation = self.claims[key].status.allocation if key in self.claims else None
        return allocation is None or allocation.node_selector is None or allocation.node_selector.matches(node)

    def place(self, pod: Pod, chosen: str) -> PodOutcome:
        """A node for a pod: where its claims were decided, else the least used one of those its claims are for.

        :param chosen: the node its claims were decided for; empty if they were not decided with this pod.
        """
        reason = self.missing(pod)
        if reason:
            return PodOutcome(pod=pod, reason=reason)
        keys = claim_keys(pod)
        if not chosen:
            refused = self.refusals(pod)
            nodes = [node.name for node in self.cluster.nodes if node.name not in refused]
            if not nodes:
                return PodOutcome(pod=pod, reason=self._nowhere(pod))
            chosen = min(nodes, key=lambda name: sum(self.used.get(key, Counter())[name] for key in keys))
        for key in keys:
            self.used.setdefault(key, Counter())[chosen] += 1
            self._consumers_of(key).add(pod.key)
        return PodOutcome(pod=pod, node=chosen)

    def missing(self, pod: Pod) -> str:
        """What keeps a pod from any node: a claim that is not there, not allocated, on its way out, or full."""
        held_back = self.held_back(pod)
        if held_back:
            return held_back
        for entry in pod.spec.resource_claims:
            if claim_key(pod, entry) in self.claims or _needs_none(pod, entry):
                continue
            if entry.resource_claim_template_name is not None:
                return f"resourceclaimtemplate {pod.metadata.namespace}/{entry.resource_claim_template_name} not found"
            if entry.resource_claim_name is None:
                return f"entry {entry.name} of its resourceClaims names neither a claim nor a template"
            return f"resourceclaim {claim_key(pod, entry)} not found"
        return next(filter(None, (self._unusable(pod, key) for key in claim_keys(pod))), "")

    def held_back(self, pod: Pod) -> str:
        """What keeps a pod that has no node yet from being scheduled at all, whatever its claims."""
        if pod.spec.node_name:
            return ""
        if pod.spec.scheduling_gates:
            return f"the pod waits for its scheduling gate {pod.spec.scheduling_gates[0].name}"
        foreign = (self._foreign(pod, entry) for entry in pod.spec.resource_claims)
        return self._extended_resource(pod) or next(filter(None, foreign), "")

    def _foreign(self, pod: Pod, entry: PodResourceClaim) -> str:
        """Whether a claim made from a template was made for another pod, as far as both say who they are."""
        claim = self.claims.get(claim_key(pod, entry))
        if claim is None or entry.resource_claim_template_name is None or not pod.metadata.uid:
            return ""
        owners = [reference.get("uid") for reference in claim.metadata.owner_references if reference.get("controller")]
        if not owners or pod.metadata.uid in owners:
            return ""
        return f"ResourceClaim {claim.key} was not created for Pod {pod.key} (pod is not owner)"

    def _unusable(self, pod: Pod, key: str) -> str:
        claim = self.claims[key]
        allocation = claim.status.allocation
        if allocation is None:
            return f"claim {claim.key} is not allocated"
        if pod.key not in self._consumers_of(key) and len(self._consumers_of(key)) >= MAX_CONSUMERS:
            return f"claim {key} already has {MAX_CONSUMERS} pods, the most a claim can be reserved for"
        if pod.spec.node_name:
            return ""
        if claim.metadata.deletion_timestamp is not None:
            return f"resourceclaim {claim.key} is being deleted"
        return _binding_failure(claim)

    def _consumers_of(self, key: str) -> set[str]:
        if key not in self._consumers:
            namespace = key.partition("/")[0]
            reserved = {f"{namespace}/{consumer.name}" for consumer in self.claims[key].status.reserved_for}
            running = {pod.key for pod in self.users.get(key, ()) if pod.spec.node_name}
            self._consumers[key] = reserved | running
        return self._consumers[key]

    def _extended_resource(self, pod: Pod) -> str:
        """Devices asked for in the old way, which the scheduler would serve from a DeviceClass; drakit does not yet."""
        served = {c.spec.extended_resource_name: c.name for c in self.cluster.classes if c.spec.extended_resource_name}
        served |= {f"deviceclass.resource.kubernetes.io/{c.name}": c.name for c in self.cluster.classes}
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            for name, amount in (*container.resources.limits.items(), *container.resources.requests.items()):
                if name in served and str(amount) != "0":
                    return f"it asks for {name}, which DeviceClass {served[name]} serves: drakit cannot decide that yet"
        return ""

    def _nowhere(self, pod: Pod) -> str:
        """Why no node will do: the pod's own wishes, or the nodes its claims are for."""
        refusals = self._wishes(pod)
        willing = [node.name for node in self.cluster.nodes if node.name not in refusals]
        if not willing:
            return f"no node takes the pod: {summarized(refusals)}" if refusals else "there are no nodes"
        homes = " and ".join(f"claim {self.claims[key].key} lives on {self._home(key)}" for key in claim_keys(pod))
        return f"the pod can run on {shortened(willing)}, but {homes}"

    def _home(self, key: str) -> str:
        """The nodes a claim is for: those its selector names, known here or not, else those it matches."""
        allocation = self.claims[key].status.allocation
        named = allocation.node_selector.hostnames() if allocation and allocation.node_selector else ()
        return (
            shortened(named or [node.name for node in self.cluster.nodes if self.usable_on(key, node)])
            or "no node that is here"
        )


def _binding_failure(claim: ResourceClaim) -> str:
    """A device's condition that says its claim cannot be bound, which makes the scheduler give the allocation up."""
    assert claim.status.allocation is not None
    for result in claim.status.allocation.devices.results:
        for status in claim.status.devices:
            if (status.driver, status.pool, status.device, status.share_id) == (*result.id, result.share_id):
                true = {condition.get("type") for condition in status.conditions or () if condition.get("status") == "True"}
                failed = next((name for name in result.binding_failure_conditions if name in true), None)
                if failed is not None:
                    return f"claim {claim.key} cannot be bound: condition {failed} of {result.id} is True"
    return ""


def claim_keys(pod: Pod) -> list[str]:
    """The claims of a pod, in its order, each once."""
    keys = [claim_key(pod, entry) for entry in pod.spec.resource_claims if not _needs_none(pod, entry)]
    return list(dict.fromkeys(keys))


def claim_key(pod: Pod, entry: PodResourceClaim) -> str:
    """The claim behind an entry of a pod; one that is still to be made from a template is ``<pod>/<entry>``.

    No claim's name has a slash, so a claim to be made is never taken for one that is there.
    """
    made = next((s.resource_claim_name for s in pod.status.resource_claim_statuses if s.name == entry.name), None)
    name = entry.resource_claim_name or made or f"{pod.metadata.name}/{entry.name}"
    return f"{pod.metadata.namespace}/{name}"


def _needs_none(pod: Pod, entry: PodResourceClaim) -> bool:
    """Whether the control plane found that nothing has to be claimed for an entry."""
    return any(s.name == entry.name and s.resource_claim_name is None for s in pod.status.resource_claim_statuses)


def shortened(names: Iterable[str]) -> str:
    """A few names of many."""
    names = list(names)
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"
