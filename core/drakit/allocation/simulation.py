"""Claims and pods one after the other, each keeping what the former got: what the scheduler would do with them.

Order is file order. A claim that pods use is decided for the first of them that can have it, together with the other claims
of that pod, because all must be had on one node; a claim nobody uses is decided alone, and one made from a template when
its pod's turn comes. Then each pod is put on a node where all its claims can be used.

Only devices are looked at; CPU, memory, pod affinity and topology spread are not.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import attrs

from drakit.allocation.cluster import Cluster
from drakit.allocation.errors import Reason
from drakit.allocation.nodes import node_refusal
from drakit.allocation.notices import notices
from drakit.allocation.outcome import ClaimOutcome
from drakit.allocation.placement import Placement, claim_key, claim_keys
from drakit.allocation.report import Report
from drakit.allocation.search import DEFAULT_BUDGET
from drakit.cel.engines import Compile, Engine, engine
from drakit.model import Pod, PodResourceClaimStatus, ResourceClaim

__all__ = ["simulate"]


def simulate(cluster: Cluster, *, budget: int = DEFAULT_BUDGET, cel_engine: Engine = "drakit") -> Report:
    """Serve every unallocated claim and every pod of a cluster.

    :param budget: candidates to look at for one claim on one node before giving up.
    :param cel_engine: what runs the selectors.
    :raises MissingEngine: that is not installed.
    """
    return _Simulation(cluster, budget, engine(cel_engine)).run()


class _Simulation:
    """Mutable while it runs: claims by key, what is taken, and where pods went."""

    def __init__(self, cluster: Cluster, budget: int, compile_: Compile) -> None:
        self.cluster = cluster
        self.decider = cluster.decider(budget, compile_)
        self.claims = {claim.key: claim for claim in cluster.claims}
        self.names = set(self.claims)
        self.made: set[str] = set()
        """Claims made from templates, by the key they have here."""
        self.state = cluster.state
        self.outcomes: dict[str, ClaimOutcome] = {}
        self.chosen: dict[str, str] = {}
        """Node by pod, for the pod with which claims were decided."""
        self.pods = {pod.key: pod for pod in cluster.pods if not _has_ended(pod)}
        self.placement = Placement(cluster, self.claims, self.pods.values())
        self.templates = {template.key: template for template in cluster.templates}
        self.cordoned = {node.name: why for node in cluster.nodes if (why := node_refusal(node, None))}

    def run(self) -> Report:
        for consumer in self.cluster.consumers:
            if isinstance(consumer, ResourceClaim):
                self._serve_claim(consumer)
            elif consumer.key in self.pods:
                self._serve_pod(consumer)
        pods = [self.placement.place(pod, self.chosen.get(pod.key, "")) for pod in self.pods.values()]
        return Report(
            claims=self.outcomes.values(),
            pods=pods,
            warnings=notices(self.cluster, self.claims, self.placement.used),
            cluster=attrs.evolve(self.cluster, claims=self.claims.values(), pods=map(self._afterwards, self.cluster.pods)),
        )

    def _afterwards(self, pod: Pod) -> Pod:
        """The pod with the claims that were made for it in its status, where the control plane writes them."""
        made = [
            PodResourceClaimStatus(name=entry.name, resource_claim_name=self.claims[key].metadata.name)
            for entry in pod.spec.resource_claims
            if entry.resource_claim_template_name is not None and (key := claim_key(pod, entry)) in self.made
        ]
        if not made:
            return pod
        statuses = (*pod.status.resource_claim_statuses, *made)
        return attrs.evolve(pod, status=attrs.evolve(pod.status, resource_claim_statuses=statuses))

    def _serve_claim(self, claim: ResourceClaim) -> None:
        if claim.status.allocation is not None:
            return
        users = self.placement.users.get(claim.key)
        if not users:
            self._decide([claim.key], None)
        for pod in users or ():
            self._serve_pod(pod)
            if self.claims[claim.key].status.allocation is not None:
                break

    def _serve_pod(self, pod: Pod) -> None:
        """Decide the claims of a pod that have no allocation yet, together."""
        claims = {key: self._claim_of(pod, key) for key in claim_keys(pod)}
        undecided = [key for key, claim in claims.items() if claim is not None and claim.status.allocation is None]
        if undecided and None not in claims.values() and not self.placement.held_back(pod):
            self._decide(undecided, pod)
            return
        for key in undecided:
            reason = Reason(check="node", message=f"pod {pod.key} uses it, but cannot run: {self.placement.missing(pod)}")
            self.outcomes[key] = ClaimOutcome(claim=self.claims[key], reasons=[reason])

    def _claim_of(self, pod: Pod, key: str) -> ResourceClaim | None:
        """A claim of a pod, made from its template if need be; None if there is neither."""
        if key not in self.claims:
            entry = next(entry for entry in pod.spec.resource_claims if claim_key(pod, entry) == key)
            template = self.templates.get(f"{pod.metadata.namespace}/{entry.resource_claim_template_name or ''}")
            if template is None:
                return None
            name = self._free_name(pod.metadata.namespace, f"{pod.metadata.name}-{entry.name}")
            meta = attrs.evolve(template.spec.metadata, name=name, namespace=pod.metadata.namespace, generate_name="")
            self.claims[key] = ResourceClaim(metadata=meta, spec=template.spec.spec)
            self.made.add(key)
        return self.claims[key]

    def _free_name(self, namespace: str, name: str) -> str:
        """The name of a claim made from a template, which the API server would end at random."""
        names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
        free = next(name for name in names if f"{namespace}/{name}" not in self.names)
        self.names.add(f"{namespace}/{free}")
        return free

    def _decide(self, keys: Sequence[str], pod: Pod | None) -> None:
        refused: Mapping[str, str] = self.cordoned
        if pod is not None:
            refused = self.placement.refusals(pod)
        nodes = [node for node in self.cluster.nodes if node.name not in refused]
        outcomes = self.decider.decide([self.claims[key] for key in keys], nodes, self.state, refused)
        for key, outcome in zip(keys, outcomes, strict=True):
            self.outcomes[key] = outcome
            self.claims[key] = outcome.claim
            self.state.add(outcome.claim)
            if pod is not None and outcome.node:
                self.chosen[pod.key] = outcome.node


def _has_ended(pod: Pod) -> bool:
    """Ended, or on its way out before it ever had a node: it wants nothing any more."""
    leaving = pod.metadata.deletion_timestamp is not None and not pod.spec.node_name
    return leaving or pod.status.phase in ("Succeeded", "Failed")
