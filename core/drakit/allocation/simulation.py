"""Claims and pods one after the other, each keeping what the former got: what the scheduler would do with them.

Order is file order. A claim that pods use is decided for the first of them that can have it, together with the other claims
of that pod, because all must be had on one node; a claim nobody uses is decided alone, and one made from a template when
its pod's turn comes. Then each pod is put on a node where all its claims can be used.

Only devices are looked at; CPU, memory and pod affinity are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from drakit.allocation.cluster import Cluster
from drakit.allocation.errors import Reason
from drakit.allocation.nodes import node_refusal
from drakit.allocation.outcome import ClaimOutcome, Notice, PodOutcome, Report
from drakit.allocation.search import DEFAULT_BUDGET
from drakit.model import Node, Pod, PodResourceClaim, ResourceClaim

__all__ = ["simulate"]

MAX_CONSUMERS: Final = 256
"""``ResourceClaimReservedForMaxSize``"""


def simulate(cluster: Cluster, *, budget: int = DEFAULT_BUDGET) -> Report:
    """Serve every unallocated claim and every pod of a cluster.

    :param budget: candidates to look at for one claim on one node before giving up.
    """
    return _Simulation(cluster, budget).run()


class _Simulation:
    """Mutable while it runs: claims by key, and where pods went."""

    def __init__(self, cluster: Cluster, budget: int) -> None:
        self.cluster = cluster
        self.decider = cluster.decider(budget)
        self.claims = {claim.key: claim for claim in cluster.claims}
        self.state = cluster.state
        self.outcomes: dict[str, ClaimOutcome] = {}
        self.chosen: dict[str, str] = {}
        """Node by pod, for the pod with which claims were decided."""
        self.nodes_used: dict[str, list[str]] = {}
        """Nodes of the pods already placed, by claim: pods that share a claim spread over its nodes."""
        self.pods = [pod for pod in cluster.pods if pod.status.phase not in ("Succeeded", "Failed")]
        self.users = _users(self.pods)
        self.templates = {template.key: template for template in cluster.templates}

    def run(self) -> Report:
        living = {pod.metadata.key for pod in self.pods}
        for consumer in self.cluster.consumers:
            if isinstance(consumer, ResourceClaim):
                self._serve_claim(consumer)
            elif consumer.metadata.key in living:
                self._serve_pod(consumer)
        pods = [self._place(pod) for pod in self.pods]
        return Report(
            claims=self.outcomes.values(),
            pods=pods,
            warnings=self._warnings(),
            cluster=self._afterwards(),
        )

    def _afterwards(self) -> Cluster:
        return attrs.evolve(self.cluster, claims=self.claims.values())

    # -- claims -------------------------------------------------------------------------------------------------------

    def _serve_claim(self, claim: ResourceClaim) -> None:
        if claim.status.allocation is not None:
            return
        users = self.users.get(claim.key)
        if not users:
            self._decide([claim], None)
        for pod in users or ():
            self._serve_pod(pod)
            if self.claims[claim.key].status.allocation is not None:
                break

    def _serve_pod(self, pod: Pod) -> None:
        """Decide the claims of a pod that have no allocation yet, together."""
        claims = [self._claim_of(pod, key) for key in _claim_keys(pod)]
        undecided = [claim for claim in claims if claim is not None and claim.status.allocation is None]
        if undecided and None not in claims:
            self._decide(undecided, pod)
        for claim in undecided if None in claims else ():
            reason = Reason(check="node", message=f"pod {pod.key} uses it, but cannot run: {self._missing(pod)}")
            self.outcomes[claim.key] = ClaimOutcome(claim=claim, reasons=[reason])

    def _claim_of(self, pod: Pod, key: str) -> ResourceClaim | None:
        """A claim of a pod, made from its template if need be; None if there is neither."""
        if key not in self.claims:
            entry = next(entry for entry in pod.spec.resource_claims if _claim_key(pod, entry) == key)
            template = self.templates.get(f"{pod.metadata.namespace}/{entry.resource_claim_template_name or ''}")
            if template is None:
                return None
            meta = attrs.evolve(
                template.spec.metadata, name=key.partition("/")[2], namespace=pod.metadata.namespace, generate_name=""
            )
            self.claims[key] = ResourceClaim(metadata=meta, spec=template.spec.spec)
        return self.claims[key]

    def _decide(self, claims: Sequence[ResourceClaim], pod: Pod | None) -> None:
        refused = {node.name: why for node in self.cluster.nodes if (why := self._refusal(node, pod))}
        nodes = [node for node in self.cluster.nodes if node.name not in refused]
        for outcome in self.decider.decide(claims, nodes, self.state, refused):
            self.outcomes[outcome.claim.key] = outcome
            self.claims[outcome.claim.key] = outcome.claim
            self.state.add(outcome.claim)
            if pod is not None and outcome.node:
                self.chosen[pod.key] = outcome.node

    def _refusal(self, node: Node, pod: Pod | None) -> str:
        """Why a node is out of the question for a pod, by the pod's own wishes or by the claims it has already."""
        elsewhere = next((key for key in _claim_keys(pod) if not self._usable_on(key, node)), "") if pod else ""
        return node_refusal(node, pod) or (f"claim {elsewhere} of the pod is for other nodes" if elsewhere else "")

    def _usable_on(self, key: str, node: Node) -> bool:
        allocation = self.claims[key].status.allocation if key in self.claims else None
        return allocation is None or allocation.node_selector is None or allocation.node_selector.matches(node)

    # -- pods ---------------------------------------------------------------------------------------------------------

    def _place(self, pod: Pod) -> PodOutcome:
        """A node for a pod: where its claims were decided, else the least used one of those its claims are for."""
        reason = self._missing(pod)
        if reason:
            return PodOutcome(pod=pod, reason=reason)
        keys = _claim_keys(pod)
        nodes = [node.name for node in self.cluster.nodes if not self._refusal(node, pod)]
        chosen = self.chosen.get(pod.metadata.key)
        if chosen not in nodes and nodes:
            chosen = min(nodes, key=lambda name: sum(self.nodes_used.get(key, []).count(name) for key in keys))
        if not nodes or chosen is None:
            return PodOutcome(pod=pod, reason=self._nowhere(pod))
        for key in keys:
            self.nodes_used.setdefault(key, []).append(chosen)
        return PodOutcome(pod=pod, node=chosen)

    def _missing(self, pod: Pod) -> str:
        for entry in pod.spec.resource_claims:
            key = _claim_key(pod, entry)
            if key not in self.claims and entry.resource_claim_template_name is not None:
                return f"resourceclaimtemplate {pod.metadata.namespace}/{entry.resource_claim_template_name} not found"
            if key not in self.claims:
                return f"resourceclaim {key} not found"
        for key in _claim_keys(pod):
            if self.claims[key].status.allocation is None:
                return f"claim {key} is not allocated"
            if len(self.nodes_used.get(key, ())) + self._others(key) >= MAX_CONSUMERS:
                return f"claim {key} already has {MAX_CONSUMERS} pods, the most a claim can be reserved for"
        return ""

    def _others(self, key: str) -> int:
        """Consumers a claim is reserved for that are not among the pods here."""
        namespace = key.partition("/")[0]
        reserved = {f"{namespace}/{consumer.name}" for consumer in self.claims[key].status.reserved_for}
        return len(reserved - {pod.key for pod in self.users.get(key, ())})

    def _nowhere(self, pod: Pod) -> str:
        """Why no node will do: the pod's own wishes, or the nodes its claims are for."""
        willing = [node.name for node in self.cluster.nodes if not node_refusal(node, pod)]
        if not willing:
            refusals = [node_refusal(node, pod) for node in self.cluster.nodes] or ["there are no nodes"]
            return refusals[0] if len(refusals) == 1 else f"no node takes the pod: {refusals[0]}"
        homes = []
        for key in _claim_keys(pod):
            names = [node.name for node in self.cluster.nodes if self._usable_on(key, node)]
            homes.append(f"claim {key} lives on {_shortened(names)}")
        return f"the pod can run on {_shortened(willing)}, but {' and '.join(homes)}"

    # -- warnings -----------------------------------------------------------------------------------------------------

    def _warnings(self) -> Iterator[Notice]:
        published = self.cluster.pools.published()
        for claim in self.cluster.claims:
            allocation = claim.status.allocation
            for result in allocation.devices.results if allocation else ():
                if result.id not in published:
                    yield Notice(
                        code="allocated-device-not-published",
                        object=f"ResourceClaim {claim.key}",
                        message=f"device {result.id} is allocated but in no slice: what it consumes is not known",
                    )
        for key, nodes in self.nodes_used.items():
            doubled = sorted({node for node in nodes if nodes.count(node) > 1})
            if doubled and self._spans_hosts(key):
                yield Notice(
                    code="pods-share-a-host",
                    object=f"ResourceClaim {key}",
                    message=f"{len(nodes)} pods use this multi-host claim, several of them on {_shortened(doubled)}: "
                    "one pod per host is what such devices expect",
                )

    def _spans_hosts(self, key: str) -> bool:
        """Whether a claim holds whole devices on some nodes but not all; a share of a device may be used twice on one."""
        allocation = self.claims[key].status.allocation
        if allocation is None or allocation.node_selector is None:
            return False
        whole = all(result.share_id is None for result in allocation.devices.results)
        return whole and sum(self._usable_on(key, node) for node in self.cluster.nodes) > 1


def _users(pods: Iterable[Pod]) -> Mapping[str, list[Pod]]:
    users: dict[str, list[Pod]] = {}
    for pod in pods:
        for key in _claim_keys(pod):
            users.setdefault(key, []).append(pod)
    return users


def _claim_keys(pod: Pod) -> list[str]:
    return [_claim_key(pod, entry) for entry in pod.spec.resource_claims]


def _claim_key(pod: Pod, entry: PodResourceClaim) -> str:
    """The claim behind an entry of a pod; one made from a template is named ``<pod>-<entry>`` until it exists."""
    made = next((s.resource_claim_name for s in pod.status.resource_claim_statuses if s.name == entry.name), None)
    name = entry.resource_claim_name or made or f"{pod.metadata.name}-{entry.name}"
    return f"{pod.metadata.namespace}/{name}"


def _shortened(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"
