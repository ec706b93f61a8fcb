"""Pods and the claims they use, where names, states and nodes are not what one expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import pytest

from drakit.allocation import Cluster, Notice, simulate
from drakit.model import (
    AllocatedDeviceStatus,
    DeviceClass,
    Pod,
    PodResourceClaimStatus,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceSlice,
    Timestamp,
    device_class,
    hostnames,
    only_node,
)
from drakit.model.pod import Container, PodSchedulingGate, ResourceRequirements
from tests.allocation.builders import (
    HOSTNAME,
    claim,
    device,
    devices,
    had,
    holding,
    named,
    node,
    picked,
    placed,
    pod,
    request,
    simulated,
    slice_,
    template,
    why_not,
    with_name,
)


def with_statuses(of: Pod, **made: str | None) -> Pod:
    """The pod with the claims that were made for its entries."""
    statuses = [PodResourceClaimStatus(name=entry, resource_claim_name=name) for entry, name in made.items()]
    return attrs.evolve(of, status=attrs.evolve(of.status, resource_claim_statuses=statuses))


def one_each(*names: str) -> list[ResourceSlice]:
    """A pool with one device on each of these nodes."""
    return [slice_(device(f"gpu-{name}"), pool=name, node_name=name) for name in names]


# -- which claim an entry means ----------------------------------------------------------------------------------------


def test_a_pod_that_names_one_claim_twice_gets_one_device_and_is_one_holder() -> None:
    report = simulated(slice_(*devices("d0", "d1")), claim(request()), pod("p", "c", "c"))
    assert had(report) == {"c": ["r=d0"]}
    assert placed(report) == {"p": "node-a"}
    ((_, holders),) = report.cluster.state.holders.items()
    assert [holder.claim for holder in holders] == ["team-a/c"]


def test_a_claim_named_twice_by_each_of_its_pods_still_has_room_for_256_of_them() -> None:
    report = simulated(slice_(*devices("d0")), claim(request()), *(pod(f"p{i}", "c", "c") for i in range(256)))
    assert [outcome.node for outcome in report.pods] == ["node-a"] * 256


def test_claims_made_from_templates_never_collide_however_pods_and_entries_are_named() -> None:
    report = simulated(
        slice_(*devices("d0", "d1", "d2")),
        template("tpl", request()),
        pod("web", templates={"0-gpu": "tpl"}),
        pod("web-0", templates={"gpu": "tpl"}),
    )
    assert [picked(outcome.allocation) for outcome in report.claims] == [["r=d0"], ["r=d1"]]
    assert len({outcome.claim.key for outcome in report.claims}) == 2
    assert placed(report) == {"web": "node-a", "web-0": "node-a"}


@pytest.mark.parametrize("first", ["claim", "pod"])
def test_a_claim_that_is_called_like_one_to_be_made_is_not_taken_for_it(first: str) -> None:
    objects: list[Any] = [claim(request(), name="p-gpu"), pod("p", templates={"gpu": "tpl"})]
    report = simulated(
        slice_(*devices("d0", "d1")), template("tpl", request()), objects if first == "claim" else reversed(objects)
    )
    names = [c.metadata.name for c in report.cluster.claims]
    assert len(set(names)) == len(names) == 2
    assert sorted(pick for outcome in report.claims for pick in picked(outcome.allocation)) == ["r=d0", "r=d1"]
    (after,) = report.cluster.pods
    (status,) = after.status.resource_claim_statuses
    assert status.resource_claim_name != "p-gpu"
    assert status.resource_claim_name in names
    assert report.verdict == "allocated"


def test_a_claim_of_the_same_name_in_another_namespace_is_in_nobodys_way() -> None:
    report = simulated(
        slice_(*devices("d0", "d1")),
        template("tpl", request()),
        claim(request(), name="p-gpu", namespace="team-b"),
        pod("p", templates={"gpu": "tpl"}),
    )
    assert {outcome.claim.key for outcome in report.claims} == {"team-b/p-gpu", "team-a/p-gpu"}


def test_an_entry_for_which_nothing_had_to_be_made_needs_no_claim() -> None:
    report = simulated(with_statuses(pod("p", templates={"gpu": "no-such-template"}), gpu=None))
    assert report.claims == ()
    assert placed(report) == {"p": "node-a"}


def test_a_claim_that_was_made_for_an_entry_is_used_and_not_made_again() -> None:
    report = simulated(
        slice_(*devices("d0", "d1")),
        template("tpl", request()),
        holding("d1", name="p-gpu-x7"),
        with_statuses(pod("p", templates={"gpu": "tpl"}), gpu="p-gpu-x7"),
    )
    assert report.claims == ()
    assert placed(report) == {"p": "node-a"}


def test_a_claim_that_was_made_for_an_entry_and_is_gone_is_not_found() -> None:
    orphan = with_statuses(pod("p", templates={"gpu": "tpl"}), gpu="p-gpu-x7")
    report = simulated(slice_(*devices("d0")), orphan)
    assert placed(report) == {"p": ""}
    assert "not found" in why_not(report)


# -- the cluster afterwards --------------------------------------------------------------------------------------------


def test_the_cluster_afterwards_has_the_claims_made_and_the_pods_know_them() -> None:
    report = simulated(
        slice_(*devices("d0", "d1", "d2")),
        template("tpl", request()),
        claim(request(), name="shared"),
        pod("p", "shared", templates={"gpu": "tpl", "nic": "tpl"}),
    )
    (after,) = report.cluster.pods
    assert {s.name: s.resource_claim_name for s in after.status.resource_claim_statuses} == {"gpu": "p-gpu", "nic": "p-nic"}
    assert {c.key: picked(c.status.allocation) for c in report.cluster.claims} == {
        "team-a/shared": ["r=d0"],
        "team-a/p-gpu": ["r=d1"],
        "team-a/p-nic": ["r=d2"],
    }


def test_what_comes_out_of_a_simulation_asks_for_nothing_when_it_is_simulated_again() -> None:
    world = [
        [node("a"), node("b"), *one_each("a", "b")],
        template("tpl", request()),
        [pod("web", templates={"0-gpu": "tpl"}), pod("web-0", templates={"gpu": "tpl"})],
    ]
    once = simulated(*world)
    again = simulate(once.cluster)
    assert again.claims == ()
    assert placed(again) == placed(once)
    assert again.cluster.claims == once.cluster.claims
    assert again.cluster.pods == once.cluster.pods


def test_a_claim_that_was_made_but_not_had_is_served_when_there_is_room_and_not_made_twice() -> None:
    once = simulated(template("tpl", request()), pod("p", templates={"gpu": "tpl"}))
    assert had(once) == {"p-gpu": []}
    more = simulate(attrs.evolve(once.cluster, slices=[slice_(*devices("d0"))]))
    assert had(more) == {"p-gpu": ["r=d0"]}
    assert [c.metadata.name for c in more.cluster.claims] == ["p-gpu"]
    assert placed(more) == {"p": "node-a"}


# -- pods that wait, leave, or ask in the old way ----------------------------------------------------------------------


def test_a_pod_behind_a_scheduling_gate_waits_and_its_claims_take_nothing() -> None:
    waiting = pod("p", "c")
    gates = [PodSchedulingGate(name="example.com/quota")]
    waiting = attrs.evolve(waiting, spec=attrs.evolve(waiting.spec, scheduling_gates=gates))
    report = simulated(slice_(*devices("d0")), claim(request()), waiting, claim(request(), name="next"))
    assert why_not(report) == "the pod waits for its scheduling gate example.com/quota"
    assert had(report) == {"c": [], "next": ["r=d0"]}
    (reason,) = next(outcome for outcome in report.claims if outcome.claim.metadata.name == "c").reasons
    assert reason.message == ("pod team-a/p uses it, but cannot run: the pod waits for its scheduling gate example.com/quota")


def leaving(name: str, *claims: str, **options: Any) -> Pod:
    """A pod that is being deleted."""
    made = pod(name, *claims, **options)
    return attrs.evolve(made, metadata=attrs.evolve(made.metadata, deletion_timestamp=Timestamp("2026-01-01T00:00:00Z")))


def test_a_pod_that_is_deleted_before_it_had_a_node_wants_nothing() -> None:
    report = simulated(slice_(*devices("d0")), template("tpl", request()), leaving("p", templates={"gpu": "tpl"}))
    assert (report.claims, report.pods) == ((), ())
    assert report.verdict == "allocated"


def test_a_claim_whose_only_pod_is_deleted_before_it_had_a_node_is_decided_alone() -> None:
    gone = leaving("p", "c", node_selector={HOSTNAME: "b"})
    report = simulated(node("a"), node("b"), one_each("a", "b"), claim(request()), gone)
    assert had(report) == {"c": ["r=gpu-a"]}


def test_a_pod_that_is_deleted_while_it_runs_still_uses_its_claim() -> None:
    report = simulated(slice_(*devices("d0")), holding("d0", name="c"), leaving("p", "c", node_name="node-a"))
    assert placed(report) == {"p": "node-a"}


def served(extended: str) -> DeviceClass:
    made = device_class("gpu")
    return attrs.evolve(made, spec=attrs.evolve(made.spec, extended_resource_name=extended))


def wanting(where: str, field: str, resource: str) -> Pod:
    """A pod with a container that asks for an extended resource."""
    amounts: Mapping[str, Any] = {"cpu": "1", resource: 2}
    container = Container(name="main", resources=ResourceRequirements(**{field: amounts}))
    containers: dict[str, Any] = {where: [Container(name="other"), container]}
    made = pod("p")
    return attrs.evolve(made, spec=attrs.evolve(made.spec, **containers))


@pytest.mark.parametrize("where", ["containers", "init_containers"])
@pytest.mark.parametrize("field", ["limits", "requests"])
@pytest.mark.parametrize("resource", ["example.com/gpu", "deviceclass.resource.kubernetes.io/gpu"])
def test_a_pod_that_asks_for_an_extended_resource_a_class_serves_is_not_placed_and_told_so(
    where: str, field: str, resource: str
) -> None:
    report = simulated(served("example.com/gpu"), slice_(*devices("d0")), wanting(where, field, resource))
    assert placed(report) == {"p": ""}
    assert why_not(report) == f"it asks for {resource}, which DeviceClass gpu serves: drakit cannot decide that yet"
    assert report.verdict != "allocated"


@pytest.mark.parametrize("resource", ["example.com/other", "deviceclass.resource.kubernetes.io/other", "memory"])
def test_resources_that_no_class_serves_are_none_of_our_business(resource: str) -> None:
    report = simulated(served("example.com/gpu"), wanting("containers", "limits", resource))
    assert placed(report) == {"p": "node-a"}


# -- when and for whom a claim is decided ------------------------------------------------------------------------------


def test_a_claim_of_several_pods_is_decided_at_its_place_even_if_the_first_pod_cannot_have_it() -> None:
    stuck = pod("p0", "c", "missing")
    report = simulated(slice_(*devices("d0")), claim(request()), claim(request(), name="late"), stuck, pod("p1", "c"))
    assert had(report) == {"c": ["r=d0"], "late": []}
    assert placed(report) == {"p0": "", "p1": "node-a"}


def test_a_claim_is_had_where_the_first_of_its_pods_that_can_have_it_may_run() -> None:
    elsewhere = pod("p0", "c", node_selector={HOSTNAME: "no-such-node"})
    here = pod("p1", "c", node_selector={HOSTNAME: "b"})
    report = simulated(node("a"), node("b"), one_each("a", "b"), claim(request()), elsewhere, here)
    assert had(report) == {"c": ["r=gpu-b"]}
    assert placed(report) == {"p0": "", "p1": "b"}


# -- why a pod has no node ---------------------------------------------------------------------------------------------


def test_the_nodes_that_do_not_take_a_pod_are_counted_by_reason_the_commonest_first() -> None:
    nodes = [node("a", cordoned=True), node("b"), node("c"), node("d")]
    report = simulated(nodes, pod("p", node_selector={HOSTNAME: "e"}))
    wish = f"the node does not have the labels of the pod's nodeSelector ({HOSTNAME}=e)"
    assert why_not(report) == f"no node takes the pod: 3 nodes: {wish}; 1 node: the node is cordoned"


def test_a_single_node_that_does_not_take_a_pod_is_named() -> None:
    assert why_not(simulated(node("a", cordoned=True), pod("p"))) == "no node takes the pod: a: the node is cordoned"


def test_a_pod_without_any_node_is_told_that_there_are_none() -> None:
    assert why_not(simulate(Cluster.of([pod("p")]))) == "there are no nodes"


def test_a_claim_for_hosts_that_are_not_here_is_said_to_live_on_the_hosts_it_names() -> None:
    held = holding("d0", name="c", node_selector=hostnames("x1", "x2"))
    report = simulated(slice_(*devices("d0")), held, pod("p", "c"))
    assert why_not(report) == "the pod can run on node-a, but claim team-a/c lives on x1, x2"


def test_claims_of_one_pod_that_live_apart_are_all_named() -> None:
    report = simulated(
        node("a"),
        node("b"),
        one_each("a", "b"),
        holding("a/gpu-a", name="c0", node_selector=only_node("a")),
        holding("b/gpu-b", name="c1", node_selector=only_node("b")),
        pod("p", "c0", "c1"),
    )
    assert why_not(report) == "the pod can run on a, b, but claim team-a/c0 lives on a and claim team-a/c1 lives on b"


def test_cordoned_nodes_are_among_the_reasons_beside_those_that_were_tried() -> None:
    report = simulated(node("a", cordoned=True), node("b"), one_each("a"), claim(request()))
    (outcome,) = report.claims
    assert ("a", "the node is cordoned") in {(reason.node, reason.message) for reason in outcome.reasons}
    assert any(reason.node != "a" for reason in outcome.reasons), "the node that was tried is there too"


def test_nodes_that_refuse_a_pod_are_among_the_reasons_of_its_claims() -> None:
    report = simulated(node("a"), node("b"), one_each("a"), claim(request()), pod("p", "c", node_selector={HOSTNAME: "b"}))
    (outcome,) = report.claims
    refusal = f"the node does not have the labels of the pod's nodeSelector ({HOSTNAME}=b)"
    assert ("a", refusal) in {(reason.node, reason.message) for reason in outcome.reasons}


# -- warnings ----------------------------------------------------------------------------------------------------------


def warned(*objects: Any) -> dict[str, Notice]:
    return {notice.code: notice for notice in simulated(*objects).warnings}


def test_a_claim_for_hosts_that_are_not_here_brings_a_warning_that_names_them() -> None:
    found = warned(slice_(*devices("d0")), holding("d0", node_selector=hostnames("node-a", "x1")))
    assert list(found) == ["unknown-hosts"]
    assert found["unknown-hosts"].object == "ResourceClaim team-a/holder"
    assert "x1" in found["unknown-hosts"].message
    assert "node-a" not in found["unknown-hosts"].message


def test_hosts_are_known_by_their_hostname_label_and_not_by_the_name_of_the_node() -> None:
    relabelled = node("a", labels={HOSTNAME: "host-a"})
    held = holding("a/gpu-a", node_selector=hostnames("host-a"))
    assert warned(relabelled, one_each("a"), held) == {}


def test_a_pool_that_lacks_slices_brings_a_warning_whether_or_not_somebody_asks() -> None:
    found = warned(slice_(*devices("d0"), count=2))
    assert list(found) == ["pool-incomplete"]
    assert found["pool-incomplete"].object == "pool gpu.example.com/node-a"
    assert found["pool-incomplete"].message == "none of its devices can be had: generation 1 has 1 of 2 slices"


def test_a_pool_that_contradicts_itself_brings_a_warning() -> None:
    found = warned(slice_(*devices("d0", "d0")))
    assert list(found) == ["pool-invalid"]
    assert found["pool-invalid"].message == "none of its devices can be had: duplicate device name d0"


def test_a_pool_that_many_nodes_see_is_warned_of_once() -> None:
    report = simulated(node("a"), node("b"), slice_(*devices("d0"), all_nodes=True, pool="shared", count=2))
    assert [notice.code for notice in report.warnings] == ["pool-incomplete"]


def whole(share: Mapping[str, Any] | None = None) -> list[Any]:
    """Two hosts, and a device of both that is held, whole or in shares."""
    both = slice_(device("d0", shared=share is not None), pool="fabric", node_selector=hostnames("a", "b"))
    held = holding("fabric/d0", name="c", node_selector=hostnames("a", "b"), share=share)
    return [node("a"), node("b"), both, held]


@pytest.mark.parametrize(("pods", "warns"), [(2, False), (3, True)])
def test_more_pods_than_hosts_of_a_claim_bring_a_warning(pods: int, warns: bool) -> None:
    users = [pod(f"p{i}", "c") for i in range(pods)]
    assert ("pods-share-a-host" in warned(*whole(), users)) == warns


def test_shares_of_a_device_may_be_used_several_times_on_a_host() -> None:
    users = [pod(f"p{i}", "c") for i in range(3)]
    assert warned(*whole({"memory": "1Gi"}), users) == {}


def test_a_device_that_is_held_but_in_no_slice_brings_a_warning_for_its_claim() -> None:
    found = warned(slice_(*devices("d0")), holding("gone", name="c"))
    assert list(found) == ["allocated-device-not-published"]
    assert found["allocated-device-not-published"].object == "ResourceClaim team-a/c"


def test_a_cluster_in_which_all_is_well_brings_no_warning() -> None:
    shared: Iterable[Any] = [slice_(with_name("d0")), claim(request("r", named("d0"))), pod("p", "c")]
    assert warned(*shared) == {}


def test_a_running_pod_and_one_that_wants_none_are_not_asked_about_extended_resources() -> None:
    wanting_two = wanting("containers", "limits", "example.com/gpu")
    running = attrs.evolve(wanting_two, spec=attrs.evolve(wanting_two.spec, node_name="node-a"))
    assert placed(simulated(served("example.com/gpu"), running)) == {"p": "node-a"}
    nothing = Container(name="main", resources=ResourceRequirements(limits={"example.com/gpu": "0"}))
    made = pod("p")
    made = attrs.evolve(made, spec=attrs.evolve(made.spec, containers=[nothing]))
    assert placed(simulated(served("example.com/gpu"), made)) == {"p": "node-a"}


def test_the_claims_of_a_pod_that_cannot_be_decided_take_nothing_from_others() -> None:
    asking = wanting("containers", "limits", "example.com/gpu")
    both = attrs.evolve(asking, spec=attrs.evolve(asking.spec, resource_claims=pod("p", "c").spec.resource_claims))
    report = simulated(
        served("example.com/gpu"),
        slice_(*devices("d0")),
        claim(request()),
        both,
        claim(request(), name="later"),
        pod("q", "later"),
    )
    assert had(report) == {"c": [], "later": ["r=d0"]}
    assert placed(report) == {"p": "", "q": "node-a"}


# -- claims that are allocated, and yet of no use ----------------------------------------------------------------------


def about(held: ResourceClaim, **metadata: Any) -> ResourceClaim:
    return attrs.evolve(held, metadata=attrs.evolve(held.metadata, **metadata))


def with_uid(of: Pod, uid: str) -> Pod:
    return attrs.evolve(of, metadata=attrs.evolve(of.metadata, uid=uid))


@pytest.mark.parametrize(("node_name", "expected"), [("", ""), ("node-a", "node-a")])
def test_a_claim_that_is_being_deleted_is_for_the_pods_that_run_already(node_name: str, expected: str) -> None:
    leaving = about(holding("d0", name="c"), deletion_timestamp="2026-01-01T00:00:00Z")
    report = simulated(slice_(*devices("d0")), leaving, pod("p", "c", node_name=node_name))
    assert placed(report) == {"p": expected}
    assert why_not(report) == ("" if expected else "resourceclaim team-a/c is being deleted")


@pytest.mark.parametrize(("owner", "expected"), [("u-p", "node-a"), ("u-other", "")])
def test_a_claim_that_was_made_for_another_pod_is_not_taken(owner: str, expected: str) -> None:
    made = about(holding("d0", name="p-gpu"), owner_references=[{"kind": "Pod", "uid": owner, "controller": True}])
    user = with_uid(with_statuses(pod("p", templates={"gpu": "tpl"}), gpu="p-gpu"), "u-p")
    report = simulated(slice_(*devices("d0")), made, user)
    assert placed(report) == {"p": expected}
    assert ("(pod is not owner)" in why_not(report)) == (not expected)


@pytest.mark.parametrize("pending_first", [True, False])
def test_running_pods_keep_their_place_in_a_full_claim_whatever_the_order(pending_first: bool) -> None:
    running = [pod(f"run-{index}", "c", node_name="node-a") for index in range(256)]
    pending = [pod("p", "c")]
    report = simulated(
        slice_(*devices("d0")), holding("d0", name="c"), *(pending + running if pending_first else running + pending)
    )
    assert why_not(report) == "claim team-a/c already has 256 pods, the most a claim can be reserved for"
    assert sum(outcome.node == "node-a" for outcome in report.pods) == 256


def test_pods_that_are_not_here_keep_their_place_in_a_claim_too() -> None:
    held = holding("d0", name="c")
    consumers = [ResourceClaimConsumerReference(resource="pods", name=f"run-{i}", uid=f"u-{i}") for i in range(256)]
    full = attrs.evolve(held, status=attrs.evolve(held.status, reserved_for=consumers))
    report = simulated(slice_(*devices("d0")), full, pod("p", "c"), pod("run-7", "c"))
    assert placed(report) == {"p": "", "run-7": "node-a"}


@pytest.mark.parametrize(("status", "expected"), [("True", ""), ("False", "node-a")])
def test_a_claim_whose_device_failed_to_bind_is_of_no_use(status: str, expected: str) -> None:
    held = holding("d0", name="c")
    assert held.status.allocation is not None
    (result,) = held.status.allocation.devices.results
    conditional = attrs.evolve(result, binding_failure_conditions=["example.com/failed"])
    allocation = attrs.evolve(
        held.status.allocation, devices=attrs.evolve(held.status.allocation.devices, results=[conditional])
    )
    condition = {"type": "example.com/failed", "status": status}
    state = AllocatedDeviceStatus(driver=result.driver, pool=result.pool, device=result.device, conditions=(condition,))
    bound = attrs.evolve(held, status=attrs.evolve(held.status, allocation=allocation, devices=[state]))
    report = simulated(slice_(*devices("d0")), bound, pod("p", "c"))
    assert placed(report) == {"p": expected}
    assert ("condition example.com/failed" in why_not(report)) == (not expected)
