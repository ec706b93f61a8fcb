"""drakit against the real scheduler, on what examples/ describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

import drakit
from drakit.allocation import Report
from drakit.model.wire import decode, encode_part
from drakit.testing.cluster import Cluster, Rejected, lost
from tests.cli.running import EXAMPLES
from tests.cluster.comparing import absent
from tests.cluster.examples import SCENARIOS, Scenario

pytestmark = pytest.mark.cluster

FILLED_IN: Final = {
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.managedFields",
    "spec.metadata",  # of a ResourceClaimTemplate
}
"""What the API server adds to every object."""
DEFAULTED: Final = {"allocationMode", "count", "status", "timeAdded"}
"""What it fills in where nothing is said."""

DUMPED: Final = (
    "Namespace",
    "Node",
    "DeviceClass",
    "ResourceSlice",
    "DeviceTaintRule",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "Pod",
)

each_example = pytest.mark.parametrize(
    "example", [pytest.param(one, id=one.name, marks=pytest.mark.needs(one.plugin)) for one in SCENARIOS]
)


def test_every_example_is_tried() -> None:
    assert {file for scenario in SCENARIOS for file in scenario.files} >= set(EXAMPLES.iterdir())


@each_example
def test_what_drakit_makes_of_an_example_is_stored_field_for_field(cluster: Cluster, example: Scenario) -> None:
    populate(cluster, example)
    for document in example.claims:
        cluster.create(document)
    for document in (*example.published, *example.claims):
        kind, metadata = document["kind"], document["metadata"]
        stored = cluster.get(kind, metadata["name"], namespace=metadata.get("namespace", ""))
        what = f"{kind} {metadata['name']}"
        assert (what, list(lost(document, stored))) == (what, [])
        assert (what, [path for path in absent(document, stored) if not is_filled_in(path)]) == (what, [])
    assert cluster.warnings == ()


@each_example
def test_the_scheduler_allocates_what_simulate_said(cluster: Cluster, example: Scenario) -> None:
    """Devices, amounts and node selector of every claim, and the node of every pod.

    Where several nodes would do, the scheduler takes the one with the best score, or any; drakit takes the first. Which
    devices a claim gets follows from the node. So each pod is confined to the node that drakit says; one that drakit
    leaves without a node is not confined, and must stay without.
    """
    populate(cluster, example)
    pending: list[dict[str, Any]] = []
    for step in example.steps():
        if step["kind"] != "Pod":
            cluster.create(step)
        elif node := example.node(step):
            pod = bound(cluster, cluster.create(confined(step, node)))
            assert pod["spec"]["nodeName"] == node
            for claim, said in claims_of(pod):
                real = cluster.get("ResourceClaim", claim, namespace=pod["metadata"]["namespace"])["status"]["allocation"]
                told = example.claim(pod["metadata"]["namespace"], said)
                assert (said, without_share_ids(real["devices"]["results"])) == (said, without_share_ids(told["devices"]))
                assert (said, real.get("nodeSelector")) == (said, told.get("nodeSelector"))
        else:
            pending.append(unschedulable(cluster, cluster.create(step)))
    assert_still_pending(cluster, pending)


@each_example
def test_whatever_node_the_scheduler_takes_drakit_gives_the_same_devices_there(cluster: Cluster, example: Scenario) -> None:
    """The other way round: the scheduler is free, and drakit is asked about its node.

    drakit reads what the API server has just before, as from ``kubectl get -o json``; a scheduling gate holds the pod back
    until then. Where drakit finds no node the pod must stay pending; else the allocations that the scheduler writes must be
    drakit's, to the last field.
    """
    populate(cluster, example)
    compared: set[str] = set()
    pending: list[dict[str, Any]] = []
    for step in example.steps():
        if step["kind"] != "Pod":
            cluster.create(step)
            continue
        created = cluster.create({**step, "spec": {**step["spec"], "schedulingGates": [{"name": "drakit/not-yet"}]}})
        names = with_claims(cluster, created)
        before = dump(cluster)
        metadata = created["metadata"]
        cluster.patch("Pod", metadata["name"], {"spec": {"schedulingGates": None}}, namespace=metadata["namespace"])
        if not node_of(drakit.simulate(before), created):
            pending.append(unschedulable(cluster, created))
            continue
        node = bound(cluster, created)["spec"]["nodeName"]
        claims = {claim.key: claim for claim in before.claims}
        asked = [claims[f"{metadata['namespace']}/{name}"] for name in names]
        undecided = [claim for claim in asked if claim.status.allocation is None]
        told = before.allocate_on(next(one for one in before.nodes if one.name == node), undecided)
        assert told is not None
        for claim, allocation in zip(undecided, told, strict=True):
            real = cluster.get("ResourceClaim", claim.metadata.name, namespace=claim.metadata.namespace)
            assert comparable(real["status"]["allocation"]) == comparable(encode_part(allocation))
            compared.add(claim.key)
    assert_still_pending(cluster, pending)
    assert compared == {claim.key for claim in dump(cluster).claims if claim.status.allocation is not None}


# -- what the tests do -------------------------------------------------------------------------------------------------


def populate(cluster: Cluster, example: Scenario) -> None:
    """Everything up to claims and pods."""
    for namespace in example.namespaces:
        try:
            cluster.create(namespace)
        except Rejected as error:
            if error.reason != "AlreadyExists":
                raise
    for node in example.nodes:
        cluster.add_node(node)
    for document in example.published:
        cluster.create(document)
        assert cluster.warnings == ()


def confined(pod: dict[str, Any], node: str) -> dict[str, Any]:
    spec = pod["spec"]
    return {**pod, "spec": {**spec, "nodeSelector": {**spec.get("nodeSelector", {}), "kubernetes.io/hostname": node}}}


def bound(cluster: Cluster, pod: Mapping[str, Any]) -> dict[str, Any]:
    """The pod, once it has a node."""
    return until(cluster, pod, "has a node", lambda now: bool(now["spec"].get("nodeName")))


def unschedulable(cluster: Cluster, pod: Mapping[str, Any]) -> dict[str, Any]:
    """The pod, once the scheduler has said that no node will do because of its claims."""

    def refused(now: Mapping[str, Any]) -> bool:
        conditions = {condition["type"]: condition for condition in now["status"].get("conditions", ())}
        scheduled = conditions.get("PodScheduled", {})
        return scheduled.get("reason") == "Unschedulable" and "cannot allocate all claims" in scheduled["message"]

    return until(cluster, pod, "is unschedulable", refused)


def with_claims(cluster: Cluster, pod: Mapping[str, Any]) -> list[str]:
    """The names of a pod's claims, once those from templates are made."""

    def has_all(now: Mapping[str, Any]) -> bool:
        return len(list(claims_of(now))) == len(now["spec"]["resourceClaims"])

    return [name for name, _ in claims_of(until(cluster, pod, "has its claims", has_all))]


def until(cluster: Cluster, pod: Mapping[str, Any], what: str, question: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
    metadata = pod["metadata"]

    def look() -> dict[str, Any] | None:
        now = cluster.get("Pod", metadata["name"], namespace=metadata["namespace"])
        return now if question(now) else None

    found = cluster.wait_for(look, what=f"pod {metadata['namespace']}/{metadata['name']} {what}")
    assert found is not None
    return found


def assert_still_pending(cluster: Cluster, pods: list[dict[str, Any]]) -> None:
    for pod in pods:
        metadata = pod["metadata"]
        assert "nodeName" not in cluster.get("Pod", metadata["name"], namespace=metadata["namespace"])["spec"]
        for claim, _ in claims_of(pod):
            assert "allocation" not in cluster.get("ResourceClaim", claim, namespace=metadata["namespace"]).get("status", {})


def claims_of(pod: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A pod's claims by their names on the server and in drakit's answer, which ends no name at random."""
    made = {status["name"]: status["resourceClaimName"] for status in pod["status"].get("resourceClaimStatuses", ())}
    for entry in pod["spec"]["resourceClaims"]:
        if name := entry.get("resourceClaimName"):
            yield name, name
        elif entry["name"] in made:
            yield made[entry["name"]], f"{pod['metadata']['name']}-{entry['name']}"


def without_share_ids(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results as they can be compared: a share has an id, but which one is chance."""
    return [{**result, "shareID": "some"} if "shareID" in result else result for result in results]


def comparable(allocation: Mapping[str, Any]) -> dict[str, Any]:
    devices = {**allocation["devices"], "results": without_share_ids(allocation["devices"]["results"])}
    return {**{key: value for key, value in allocation.items() if key != "allocationTimestamp"}, "devices": devices}


def node_of(report: Report, pod: Mapping[str, Any]) -> str:
    key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    return next(outcome.node for outcome in report.pods if outcome.pod.key == key)


def is_filled_in(path: str) -> bool:
    return path in FILLED_IN or path.rpartition(".")[2] in DEFAULTED


def dump(cluster: Cluster) -> drakit.Cluster:
    """What the API server has, as drakit reads it; gates of pods are left out, for they are about to go."""
    documents = [document for kind in DUMPED for document in cluster.list(kind)]
    for document in documents:
        document.get("spec", {}).pop("schedulingGates", None)
    return drakit.Cluster.of(map(decode, documents))
