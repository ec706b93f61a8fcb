from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from drakit.allocation import Cluster, DuplicateObject, Report, simulate
from drakit.model import (
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    NodeTaint,
    ObjectMeta,
    PodToleration,
    ResourceSlice,
    hostnames,
    only_node,
)
from tests.allocation.builders import (
    ANY,
    HOSTNAME,
    claim,
    cluster,
    counted,
    device,
    devices,
    distinct,
    had,
    holding,
    named,
    namespace,
    node,
    picked,
    placed,
    pod,
    request,
    simulated,
    slice_,
    taint,
    template,
    why_not,
    with_name,
)


def messages(report: Report, claim_name: str) -> list[str]:
    return [r.message for o in report.claims if o.claim.metadata.name == claim_name for r in o.reasons]


def one_each(*names: str) -> list[ResourceSlice]:
    """A pool with one device on each of these nodes."""
    return [slice_(device(f"gpu-{name}"), pool=name, node_name=name) for name in names]


# -- claims without pods --------------------------------------------------------------------------------------------------


def test_claims_are_served_in_file_order_and_each_keeps_what_it_got() -> None:
    report = simulated(slice_(*devices("d0", "d1")), *(claim(request(), name=name) for name in ("z", "a", "m")))
    assert had(report) == {"z": ["r=d0"], "a": ["r=d1"], "m": []}
    assert [outcome.node for outcome in report.claims] == ["node-a", "node-a", ""]


def test_nodes_are_tried_in_file_order() -> None:
    slices = one_each("b", "a")
    report = simulated(node("b"), node("a"), slices, claim(request(), name="c0"), claim(request(), name="c1"))
    assert [outcome.node for outcome in report.claims] == ["b", "a"]


def test_claims_that_have_their_devices_are_no_outcome_but_hold_them() -> None:
    report = simulated(slice_(*devices("d0", "d1")), holding("d0"), claim(request()))
    assert had(report) == {"c": ["r=d1"]}


def test_what_shares_of_earlier_claims_consume_is_gone_for_later_ones() -> None:
    shared = device("d0", shared=True, capacity={"memory": "80Gi"})
    asks = [claim(request(capacity={"memory": "30Gi"}), name=f"c{i}") for i in range(3)]
    assert had(simulated(slice_(shared), asks)) == {"c0": ["r=d0"], "c1": ["r=d0"], "c2": []}


def test_the_cluster_afterwards_has_the_allocations() -> None:
    before = cluster(slice_(*devices("d0")), claim(request()))
    report = simulate(before)
    (after,) = report.cluster.claims
    assert picked(after.status.allocation) == ["r=d0"]
    assert before.claims[0].status.allocation is None, "the input is not changed"
    assert simulate(report.cluster).claims == ()


def test_a_cluster_put_together_by_hand_serves_its_claims_and_then_its_pods() -> None:
    world = Cluster(
        nodes=[node()], slices=[slice_(*devices("d0"))], classes=[ANY], claims=[claim(request())], pods=[pod("p", "c")]
    )
    report = simulate(world)
    assert had(report) == {"c": ["r=d0"]}
    assert placed(report) == {"p": "node-a"}


def test_two_objects_of_one_name_are_refused() -> None:
    with pytest.raises(DuplicateObject, match="two objects of kind ResourceClaim are named team-a/c"):
        cluster(claim(request()), claim(request("other")))
    assert len(cluster(claim(namespace="a"), claim(namespace="b")).claims) == 2


# -- pods and their claims ------------------------------------------------------------------------------------------------


def test_the_claims_of_a_pod_are_had_on_one_node() -> None:
    slices = [
        slice_(with_name("gpu-a"), pool="a", node_name="a"),
        slice_(with_name("gpu-b"), with_name("nic-b"), pool="b", node_name="b"),
    ]
    gpu, nic = claim(request("g", named("gpu-a", "gpu-b")), name="gpu"), claim(request("n", named("nic-b")), name="nic")
    report = simulated(node("a"), node("b"), slices, gpu, nic, pod("p", "gpu", "nic"))
    assert had(report) == {"gpu": ["g=gpu-b"], "nic": ["n=nic-b"]}
    assert placed(report) == {"p": "b"}
    alone = simulated(node("a"), node("b"), slices, gpu, nic)
    assert had(alone) == {"gpu": ["g=gpu-a"], "nic": ["n=nic-b"]}


def test_if_one_claim_of_a_pod_cannot_be_had_none_is() -> None:
    claims = [claim(request(), name="fine"), claim(request(count=5), name="greedy")]
    report = simulated(slice_(*devices("d0")), claims, pod("p", "fine", "greedy"))
    assert had(report) == {"fine": [], "greedy": []}
    assert placed(report) == {"p": ""}
    assert report.verdict == "unschedulable"


def test_a_claim_used_by_a_pod_is_decided_where_the_pod_may_run() -> None:
    report = simulated(
        node("a"),
        node("b"),
        one_each("a", "b"),
        claim(request()),
        pod("p", "c", node_selector={HOSTNAME: "b"}),
    )
    assert had(report) == {"c": ["r=gpu-b"]}
    assert placed(report) == {"p": "b"}


def test_what_one_claim_of_a_pod_already_has_decides_where_the_others_are_had() -> None:
    report = simulated(
        node("a"),
        node("b"),
        one_each("a", "b"),
        slice_(*devices("nic"), pool="nics", node_name="b"),
        holding("nics/nic", name="nic", node_selector=only_node("b")),
        claim(request(), name="gpu"),
        pod("p", "nic", "gpu"),
    )
    assert had(report) == {"gpu": ["r=gpu-b"]}
    assert placed(report) == {"p": "b"}


def test_a_pod_that_names_a_claim_that_is_not_there_says_so_and_so_do_its_other_claims() -> None:
    report = simulated(slice_(*devices("d0")), claim(request()), pod("p", "c", "missing"))
    assert why_not(report, "p") == "resourceclaim team-a/missing not found"
    assert had(report) == {"c": []}
    assert messages(report, "c") == ["pod team-a/p uses it, but cannot run: resourceclaim team-a/missing not found"]


def test_a_claim_of_another_namespace_is_not_found() -> None:
    report = simulated(slice_(*devices("d0")), claim(request(), namespace="team-b"), pod("p", "c"))
    assert why_not(report, "p") == "resourceclaim team-a/c not found"


def test_a_pod_without_claims_runs_on_the_first_node_that_takes_it() -> None:
    assert placed(simulated(node("a", cordoned=True), node("b"), pod("p"))) == {"p": "b"}


def test_a_pod_whose_claim_could_not_be_had_names_the_claim() -> None:
    assert why_not(simulated(claim(request()), pod("p", "c")), "p") == "claim team-a/c is not allocated"


def test_finished_pods_use_nothing() -> None:
    report = simulated(
        node("a"),
        node("b"),
        one_each("a", "b"),
        claim(request()),
        pod("done", "c", phase="Succeeded", node_selector={HOSTNAME: "b"}),
        pod("dead", templates={"t": "gone"}, phase="Failed"),
    )
    assert had(report) == {"c": ["r=gpu-a"]}
    assert report.pods == ()
    assert report.verdict == "allocated"


# -- templates ------------------------------------------------------------------------------------------------------------


def test_each_pod_gets_a_claim_of_its_own_from_a_template() -> None:
    pods = [pod(f"p{i}", templates={"gpu": "tpl"}) for i in range(2)]
    report = simulated(slice_(*devices("d0", "d1")), template("tpl", request()), pods)
    assert had(report) == {"p0-gpu": ["r=d0"], "p1-gpu": ["r=d1"]}
    assert {outcome.claim.key for outcome in report.claims} == {"team-a/p0-gpu", "team-a/p1-gpu"}
    assert [c.metadata.name for c in report.cluster.claims] == ["p0-gpu", "p1-gpu"]


def test_pods_and_claims_take_turns_in_file_order() -> None:
    objects = [slice_(*devices("d0", "d1", "d2")), template("tpl", request())]
    first, middle, last = claim(request(), name="first"), pod("p", templates={"t": "tpl"}), claim(request(), name="last")
    assert had(simulated(*objects, first, middle, last)) == {"first": ["r=d0"], "p-t": ["r=d1"], "last": ["r=d2"]}
    assert had(simulated(*objects, last, middle, first)) == {"last": ["r=d0"], "p-t": ["r=d1"], "first": ["r=d2"]}


def test_a_template_that_is_not_there_is_named() -> None:
    report = simulated(pod("p", templates={"t": "tpl"}))
    assert why_not(report, "p") == "resourceclaimtemplate team-a/tpl not found"
    assert report.verdict == "unschedulable"


def test_a_claim_made_from_a_template_before_is_used_again() -> None:
    before = simulated(slice_(*devices("d0", "d1")), template("tpl", request()), pod("p", templates={"t": "tpl"}))
    again = simulate(before.cluster)
    assert again.claims == ()
    assert placed(again) == {"p": "node-a"}


# -- claims that several pods share ---------------------------------------------------------------------------------------


HOSTS = [node(f"h{i}") for i in range(4)]


def mesh() -> list[ResourceSlice]:
    """Two halves of two hosts each, and the whole of all four."""

    def part(name: str, *hosts: str) -> Any:
        consumes = {"mesh": {f"chips-{host}": 4 for host in hosts}}
        return with_name(name, consumes=consumes, node_selector=hostnames(*hosts))

    return [
        slice_(pool="mesh", counters={"mesh": {f"chips-h{i}": 4 for i in range(4)}}, count=2, all_nodes=True),
        slice_(
            part("whole", "h0", "h1", "h2", "h3"),
            part("half-0", "h0", "h1"),
            part("half-1", "h2", "h3"),
            pool="mesh",
            count=2,
            per_device=True,
        ),
    ]


def test_pods_of_a_shared_multi_host_claim_spread_over_its_hosts() -> None:
    half = claim(request("t", named("half-1")))
    report = simulated(HOSTS, mesh(), half, *(pod(f"w{i}", "c") for i in range(2)))
    assert had(report) == {"c": ["t=half-1"]}
    assert placed(report) == {"w0": "h2", "w1": "h3"}
    assert report.warnings == ()
    assert report.verdict == "allocated"


def test_a_pod_that_wants_another_host_than_its_claim_is_told_where_the_claim_lives() -> None:
    half = claim(request("t", named("half-1")))
    stray = pod("stray", "c", node_selector={HOSTNAME: "h0"})
    report = simulated(HOSTS, mesh(), half, pod("w0", "c"), stray)
    assert placed(report) == {"w0": "h2", "stray": ""}
    assert why_not(report, "stray") == "the pod can run on h0, but claim team-a/c lives on h2, h3"
    assert report.verdict == "partly"


def test_the_second_pod_of_a_node_local_claim_must_go_where_the_claim_is() -> None:
    report = simulated(
        node("a"), node("b"), one_each("a", "b"), claim(request()), pod("p", "c"), pod("q", "c", node_selector={HOSTNAME: "b"})
    )
    assert placed(report) == {"p": "a", "q": ""}
    assert why_not(report, "q") == "the pod can run on b, but claim team-a/c lives on a"


def test_whole_slices_are_never_put_together_from_smaller_ones() -> None:
    report = simulated(
        HOSTS,
        mesh(),
        holding("mesh/half-0", name="running", node_selector=hostnames("h0", "h1")),
        claim(request("t", named("whole")), name="large"),
        claim(request("t", named("half-0", "half-1")), name="small"),
    )
    assert had(report) == {"large": [], "small": ["t=half-1"]}
    assert report.verdict == "partly"
    assert "counter set mesh: chips-h0 and chips-h1 have 0 of 4 left (half-0, team-a/running)" in messages(report, "large")


def test_more_pods_than_hosts_bring_a_warning() -> None:
    half = claim(request("t", named("half-1")))
    report = simulated(HOSTS, mesh(), half, *(pod(f"w{i}", "c") for i in range(3)))
    (warning,) = report.warnings
    assert (warning.code, warning.object) == ("pods-share-a-host", "ResourceClaim team-a/c")
    assert "3 pods use this claim of 2 hosts, several of them on h2" in warning.message


def test_several_pods_on_a_claim_of_one_node_bring_no_warning() -> None:
    assert simulated(slice_(*devices("d0")), claim(request()), pod("p", "c"), pod("q", "c")).warnings == ()


def test_a_claim_is_reserved_for_256_pods_at_most() -> None:
    report = simulated(slice_(*devices("d0")), claim(request()), *(pod(f"p{i}", "c") for i in range(257)))
    assert [outcome.node for outcome in report.pods].count("node-a") == 256
    assert why_not(report, "p256") == "claim team-a/c already has 256 pods, the most a claim can be reserved for"
    assert report.verdict == "partly"


# -- nodes that take no pods ----------------------------------------------------------------------------------------------

GPU_TAINT = NodeTaint(key="gpu", value="yes", effect="NoSchedule")


def on_two(first: Any, *pods: Any) -> Report:
    """A claim, with pods, on a node with a peculiarity and then one without."""
    return simulated(first, node("b"), one_each("a", "b"), claim(request()), *pods)


def test_cordoned_nodes_are_passed_over() -> None:
    assert had(on_two(node("a", cordoned=True))) == {"c": ["r=gpu-b"]}
    assert placed(on_two(node("a", cordoned=True), pod("p", "c"))) == {"p": "b"}


def test_a_pod_may_tolerate_that_a_node_is_cordoned() -> None:
    tolerant = pod("p", "c", tolerations=[PodToleration(key="node.kubernetes.io/unschedulable", operator="Exists")])
    assert placed(on_two(node("a", cordoned=True), tolerant)) == {"p": "a"}


@pytest.mark.parametrize(
    ("tolerations", "effect", "expected"),
    [
        ([], "NoSchedule", "b"),
        ([], "NoExecute", "b"),
        ([], "PreferNoSchedule", "a"),
        ([PodToleration(key="gpu", value="yes")], "NoSchedule", "a"),
        ([PodToleration(key="gpu", value="no")], "NoSchedule", "b"),
        ([PodToleration(operator="Exists")], "NoExecute", "a"),
    ],
)
def test_tainted_nodes_are_for_pods_that_tolerate_it(tolerations: Iterable[PodToleration], effect: Any, expected: str) -> None:
    tainted = node("a", taints=[NodeTaint(key="gpu", value="yes", effect=effect)])
    assert placed(on_two(tainted, pod("p", "c", tolerations=tolerations))) == {"p": expected}


def test_a_claim_without_a_pod_does_not_mind_node_taints() -> None:
    assert had(on_two(node("a", taints=[GPU_TAINT]))) == {"c": ["r=gpu-a"]}


def test_a_pod_that_is_bound_to_a_node_gets_its_claims_there() -> None:
    assert placed(on_two(node("a"), pod("p", "c", node_name="b"))) == {"p": "b"}


@pytest.mark.parametrize("peculiar", [{"cordoned": True}, {"taints": [GPU_TAINT]}], ids=["cordoned", "tainted"])
def test_a_pod_that_runs_already_stays_where_it_is(peculiar: dict[str, Any]) -> None:
    """Cordons and NoSchedule taints keep new pods away; nobody schedules a bound pod again."""
    held = holding("a/gpu-a", name="c", node_selector=only_node("a"))
    report = simulated(node("a", **peculiar), one_each("a"), held, pod("p", "c", node_name="a", phase="Running"))
    assert placed(report) == {"p": "a"}


def test_when_no_node_takes_a_pod_its_claims_say_why() -> None:
    report = simulated(node("a", cordoned=True), one_each("a"), claim(request()), pod("p", "c"))
    (outcome,) = report.claims
    assert [(r.check, r.node, r.message) for r in outcome.reasons] == [("node", "a", "the node is cordoned")]


def test_a_cluster_without_nodes_says_so() -> None:
    report = simulate(Cluster.of([ANY, claim(request())]))
    assert messages(report, "c") == ["there are no nodes: add them to the input"]


# -- errors ---------------------------------------------------------------------------------------------------------------

ADMIN_RULE = (
    "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"
)
MODEL = 'device.attributes["gpu.example.com"].model == "m1"'


@pytest.mark.parametrize("order", [("good", "bad"), ("bad", "good")])
def test_an_error_on_any_node_ends_the_attempt_whatever_the_order_of_nodes(order: tuple[str, str]) -> None:
    report = simulated(
        [node(name) for name in order],
        slice_(device("d0", attributes={"model": "m1"}), pool="good", node_name="good"),
        slice_(device("d0"), pool="bad", node_name="bad"),
        claim(request("r", MODEL)),
    )
    assert had(report) == {"c": []}
    assert report.verdict == "error"
    assert report.error is not None
    assert report.error.message.startswith(
        "claim team-a/c: selector #0 on device gpu.example.com/bad/d0: CEL runtime error: no such key: model"
    )


@pytest.mark.parametrize("order", [("hard", "bad"), ("bad", "hard")])
def test_an_error_is_found_behind_a_node_that_cannot_be_decided(order: tuple[str, str]) -> None:
    many = [device(f"d{i}", attributes={"model": "m1", "x": i % 3}) for i in range(36)]
    world = cluster(
        [node(name) for name in order],
        slice_(*many, pool="hard", node_name="hard"),
        slice_(device("nameless"), pool="bad", node_name="bad"),
        claim(request("a", MODEL, count=4), constraints=[distinct("gpu.example.com/x")]),
    )
    assert simulate(world, budget=2_000).verdict == "error"


def test_an_error_of_one_claim_leaves_the_others_alone() -> None:
    report = simulated(slice_(*devices("d0")), claim(request("r", MODEL), name="broken"), claim(request(), name="fine"))
    assert had(report) == {"broken": [], "fine": ["r=d0"]}
    assert report.verdict == "error"


def test_all_claims_of_a_pod_share_its_error() -> None:
    claims = [claim(request(of="none"), name="broken"), claim(request(), name="fine")]
    report = simulated(slice_(*devices("d0")), claims, pod("p", "broken", "fine"))
    assert [outcome.error is not None for outcome in report.claims] == [True, True]
    assert why_not(report, "p") == "claim team-a/broken is not allocated"


def test_a_pool_that_is_being_updated_is_no_error_to_mend() -> None:
    report = simulated(slice_(*devices("d0"), count=2), claim(request(every=True)))
    assert report.error is None
    assert report.verdict == "unschedulable"
    (outcome,) = report.claims
    assert outcome.error is not None
    assert outcome.error.kind == "updating"
    assert [reason.check for reason in outcome.reasons] == ["pool"]


def test_admin_access_needs_the_label_on_the_namespace() -> None:
    probe = claim(request("x"), request("y", admin=True))
    refused = simulated(namespace("team-a"), slice_(*devices("d0", "d1")), probe)
    assert (refused.verdict, refused.error) == ("unschedulable", None)
    (outcome,) = refused.claims
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.message) == (
        "refused",
        f"claim team-a/c: spec.devices.requests[1].adminAccess: Forbidden: {ADMIN_RULE}",
    )
    allowed = simulated(namespace("team-a", admin=True), slice_(*devices("d0", "d1")), probe)
    assert had(allowed) == {"c": ["x=d0", "y=d1"]}


def test_a_namespace_that_is_not_in_the_input_is_taken_to_have_the_label() -> None:
    assert had(simulated(namespace("other"), slice_(*devices("d0")), claim(request(admin=True)))) == {"c": ["r=d0"]}


def test_admin_access_in_a_template_needs_the_label_too() -> None:
    made = [template("tpl", request(admin=True)), pod("p", templates={"t": "tpl"})]
    (outcome,) = simulated(namespace("team-a"), slice_(*devices("d0")), made).claims
    assert outcome.error is not None
    assert outcome.error.kind == "refused"


def test_what_admin_access_got_is_free_for_the_next_claim() -> None:
    claims = [claim(request(admin=True), name="probe"), claim(request(), name="normal")]
    assert had(simulated(slice_(*devices("d0")), claims)) == {"probe": ["r=d0"], "normal": ["r=d0"]}


# -- verdicts and warnings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "pods", "verdict"),
    [
        (0, [], "allocated"),
        (1, [], "allocated"),
        (2, [], "partly"),
        (1, [pod("p", "c0")], "allocated"),
        (1, [pod("p", "c0"), pod("q", "missing")], "partly"),
        (0, [pod("q", "missing")], "unschedulable"),
    ],
)
def test_the_verdict_is_of_all_claims_and_pods(claims: int, pods: list[Any], verdict: str) -> None:
    report = simulated(slice_(*devices("d0")), [claim(request(), name=f"c{i}") for i in range(claims)], pods)
    assert report.verdict == verdict


def test_no_device_for_anybody_is_unschedulable() -> None:
    assert simulated(claim(request())).verdict == "unschedulable"


def test_a_device_that_is_allocated_but_no_longer_published_is_pointed_out() -> None:
    report = simulated(slice_(*devices("d0")), holding("d0", "gone"), claim(request()))
    (warning,) = report.warnings
    assert (warning.code, warning.object) == ("allocated-device-not-published", "ResourceClaim team-a/holder")
    assert "gpu.example.com/node-a/gone" in warning.message


def test_a_device_of_an_obsolete_generation_counts_as_not_published() -> None:
    slices = [slice_(*devices("old"), name="s1", generation=1), slice_(*devices("new"), name="s2", generation=2)]
    assert [w.code for w in simulated(slices, holding("old")).warnings] == ["allocated-device-not-published"]


# -- taint rules, and the small interface ---------------------------------------------------------------------------------


def rule(effect: str = "NoSchedule", **selector: str) -> DeviceTaintRule:
    spec = DeviceTaintRuleSpec(device_selector=DeviceTaintSelector(**selector), taint=taint(effect=effect))
    return DeviceTaintRule(metadata=ObjectMeta(name="rule"), spec=spec)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"device": "d0"}, ["r=d1"]),
        ({"pool": "node-a"}, []),
        ({"driver": "other.example.com"}, ["r=d0"]),
        ({"driver": "gpu.example.com", "pool": "node-a", "device": "d0"}, ["r=d1"]),
        ({}, []),
    ],
)
def test_taint_rules_taint_devices_from_outside(selector: dict[str, str], expected: list[str]) -> None:
    assert had(simulated(slice_(*devices("d0", "d1")), rule(**selector), claim(request()))) == {"c": expected}


def test_a_taint_rule_without_a_selector_taints_nothing() -> None:
    nothing = DeviceTaintRule(metadata=ObjectMeta(name="rule"), spec=DeviceTaintRuleSpec(taint=taint()))
    assert had(simulated(slice_(*devices("d0")), nothing, claim(request()))) == {"c": ["r=d0"]}


def test_one_claim_can_be_allocated_or_explained_without_a_simulation() -> None:
    world = cluster(slice_(*devices("d0")))
    outcome = world.allocate(claim(request()))
    assert (outcome.node, picked(outcome.allocation)) == ("node-a", ["r=d0"])
    assert world.explain(claim(request())) == ()
    (reason, *_) = world.explain(claim(request(count=2)))
    assert reason.message == "2 devices wanted, 1 can be had"
    with pytest.raises(Exception, match="could not retrieve device class none"):
        world.explain(claim(request(of="none")))


def test_the_same_input_gives_the_same_report_share_ids_included() -> None:
    shared = device("d0", shared=True, capacity={"memory": "80Gi"})
    objects = [*counted({"set": {"x": 1}}, shared), claim(request(capacity={"memory": "1Gi"}))]
    first, second = simulated(objects), simulated(objects)
    assert [o.allocation for o in first.claims] == [o.allocation for o in second.claims]
