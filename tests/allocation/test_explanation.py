from __future__ import annotations

from typing import Any

import pytest

from drakit.allocation import Reason, simulate
from drakit.model import DeviceToleration, hostnames
from tests.allocation.builders import (
    DRIVER,
    alternative,
    capacity_in_range,
    claim,
    cluster,
    counted,
    device,
    devices,
    distinct,
    first_available,
    holding,
    match,
    named,
    node,
    request,
    slice_,
    taint,
    with_name,
)


def why(*objects: Any) -> tuple[Reason, ...]:
    """The reasons for the last object, a claim."""
    *others, asked = objects
    return cluster(*others).explain(asked)


def why_not(*objects: Any) -> Reason:
    """The only reason."""
    (reason,) = why(*objects)
    return reason


def test_a_claim_that_fits_has_no_reasons() -> None:
    assert why(slice_(*devices("d0")), claim(request())) == ()


# -- one check each -------------------------------------------------------------------------------------------------------


def test_pool_that_is_being_updated() -> None:
    reasons = why(slice_(*devices("d0"), generation=2, count=2), claim(request()))
    assert reasons == (
        Reason(
            check="pool",
            message=f"pool {DRIVER}/node-a generation 2 has 1 of 2 slices; "
            "this is transient: wait for the missing slice; if it does not come, the publisher is broken",
        ),
    )


def test_pool_of_which_only_the_counters_have_come() -> None:
    """What the missing slices hold is not known, so the pool is not ruled out."""
    counters = slice_(counters={"set": {"x": 1}}, count=2)
    assert "pool" in [reason.check for reason in why(counters, claim(request()))]


def test_pool_that_is_being_updated_but_has_nothing_of_what_is_wanted() -> None:
    objects = [slice_(with_name("other"), pool="updating", count=2), slice_(with_name("d0")), holding("d0")]
    assert [reason.check for reason in why(*objects, claim(request("r", named("d0"))))] == ["in-use"]


def test_pool_that_contradicts_itself() -> None:
    reason = why(*counted({"set": {"x": 1}}, device("d0", consumes={"sett": {"x": 1}})), claim(request()))[0]
    assert (reason.check, reason.device, reason.request) == ("pool", "", "")
    assert reason.message.startswith(f"pool {DRIVER}/node-a is invalid: counter set sett not found (device d0, slice ")


def test_in_use() -> None:
    assert why_not(slice_(*devices("d0")), holding("d0", name="train"), claim(request())) == Reason(
        check="in-use",
        node="node-a",
        request="r",
        device=f"{DRIVER}/node-a/d0",
        message="held by team-a/train",
    )


def test_in_use_through_one_pool_name_on_two_nodes() -> None:
    """Both devices have one name in the cluster, so that who holds the one holds the other."""
    slices = [slice_(*devices("0"), pool="same", node_name=name) for name in ("node-a", "node-b")]
    reason = why_not(node("node-a"), node("node-b"), slices, holding("same/0", name="c1"), claim(request()))
    assert (reason.check, reason.device, reason.message) == ("in-use", f"{DRIVER}/same/0", "held by team-a/c1")


def test_selector() -> None:
    reason = why_not(slice_(with_name("d0")), claim(request("r", named("d1"))))
    assert (reason.check, reason.request, reason.device) == ("selector", "r", "")
    assert "claim team-a/c: selector #0 is false" in reason.message
    assert named("d1") in reason.message


def test_selector_of_many_devices_is_counted_not_listed() -> None:
    reason = why_not(slice_(*(with_name(f"d{i}") for i in range(50))), claim(request("r", named("none"))))
    assert "for 50 of 50 devices, claim team-a/c: selector #0 is false" in reason.message


def test_selector_where_there_is_no_device_at_all() -> None:
    assert why_not(claim(request())).message == "no device matches request 'r'"
    assert why_not(claim(request(every=True))).message == "no device matches request 'r' (All needs at least one)"


def test_devices_of_another_kind_are_not_mentioned_beside_those_that_are_meant() -> None:
    objects = [slice_(with_name("d0"), with_name("other")), holding("d0"), claim(request("r", named("d0")))]
    assert [(r.check, r.device) for r in why(*objects)] == [("in-use", f"{DRIVER}/node-a/d0")]


def test_capacity_that_a_device_never_had() -> None:
    reason = why_not(slice_(device("d0", capacity={"memory": "40Gi"})), claim(request(capacity={"memory": "80Gi"})))
    assert (reason.check, reason.device, reason.request) == ("capacity", f"{DRIVER}/node-a/d0", "r")
    assert reason.message == "capacity memory: 80Gi wanted, the device has 40Gi"


def test_capacity_that_a_device_does_not_know() -> None:
    reason = why_not(slice_(device("d0", capacity={"memory": "40Gi"})), claim(request(capacity={"cores": 1})))
    assert (reason.check, reason.message) == ("capacity", "the device has no capacity cores")


def test_capacity_in_amounts_that_the_policy_refuses() -> None:
    ranged = device("d0", shared=True, capacity={"memory": capacity_in_range("80Gi", least="1Gi", most="8Gi")})
    reason = why_not(slice_(ranged), claim(request(capacity={"memory": "16Gi"})))
    assert (reason.check, reason.message) == ("capacity", "capacity memory: 16Gi is not an amount its request policy allows")


def test_capacity_that_others_have_taken() -> None:
    shared = device("d0", shared=True, capacity={"bandwidth": "10G"})
    reason = why_not(
        slice_(shared), holding("d0", name="tenant", share={"bandwidth": "10G"}), claim(request(capacity={"bandwidth": "1G"}))
    )
    assert reason.check == "capacity"
    assert reason.message == "capacity bandwidth has 0 of 10G left, 1G wanted (taken by team-a/tenant)"


def test_counters_with_who_holds_them() -> None:
    half = [with_name(f"half-{i}", consumes={"card": {"units": 4}}) for i in range(2)]
    whole = with_name("whole", consumes={"card": {"units": 8}})
    reason = why_not(
        *counted({"card": {"units": 8}}, whole, *half), holding("half-0", name="train"), claim(request("r", named("whole")))
    )
    assert (reason.check, reason.device) == ("counters", f"{DRIVER}/node-a/whole")
    assert reason.message == "counter set card: units has 4 of 8 left (half-0, team-a/train)"


def test_counters_held_by_a_share() -> None:
    whole = with_name("whole", consumes={"card": {"units": 8}}, shared=True, capacity={"memory": "80Gi"})
    half = with_name("half", consumes={"card": {"units": 4}})
    reason = why_not(
        *counted({"card": {"units": 8}}, whole, half),
        holding("whole", name="first", share={"memory": "10Gi"}),
        claim(request("r", named("half"))),
    )
    assert reason.message == "counter set card: units has 0 of 8 left (8 held by whole, team-a/first, as a share)"


def test_counters_overdrawn_elsewhere_in_the_pool() -> None:
    objects = counted(
        {"a": {"x": 1}, "b": {"x": 1}},
        with_name("of-a", consumes={"a": {"x": 2}}),
        with_name("of-b", consumes={"b": {"x": 1}}),
    )
    reason = why_not(*objects, holding("of-a"), claim(request("r", named("of-b"))))
    assert reason.check == "counters"
    assert "counter set a: x has -1 of 1 left" in reason.message


def test_taint() -> None:
    objects = slice_(device("d0", taints=[taint("fan", "broken")]))
    reason = why_not(objects, claim(request(tolerations=[DeviceToleration(key="other", operator="Exists")])))
    assert (reason.check, reason.request, reason.device) == ("taint", "r", f"{DRIVER}/node-a/d0")
    assert reason.message == "taint fan=broken:NoSchedule is not tolerated"


def test_constraint_on_an_attribute_that_a_device_has_not() -> None:
    root = "resource.kubernetes.io/pcieRoot"
    asked = claim(request("gpu"), constraints=[match(root)])
    reason = why_not(slice_(device("d0", attributes={"pciRoot": "pci0000:00"})), asked)
    assert (reason.check, reason.request, reason.device) == ("constraint", "gpu", f"{DRIVER}/node-a/d0")
    assert reason.message == f"constraint #0 (matchAttribute {root}): the device has no attribute {root}"


@pytest.mark.parametrize(("constraint", "values"), [(match, "AB"), (distinct, "AA")])
def test_constraint_that_no_combination_satisfies(constraint: Any, values: str) -> None:
    objects = slice_(*(device(f"d{i}", attributes={"x": value}) for i, value in enumerate(values)))
    asked = claim(request("a"), request("b"), constraints=[constraint(f"{DRIVER}/x")])
    reason = why_not(objects, asked)
    assert (reason.check, reason.device) == ("constraint", "")
    kind = "matchAttribute" if constraint is match else "distinctAttribute"
    assert reason.message == f"no combination of the devices satisfies constraint #0 ({kind} {DRIVER}/x)"


def test_limit_when_there_are_too_few() -> None:
    reasons = why(slice_(*devices("d0", "d1")), holding("d1", name="train"), claim(request(count=2)))
    assert [(r.check, r.message) for r in reasons] == [
        ("limit", "2 devices wanted, 1 can be had"),
        ("in-use", "held by team-a/train"),
    ]


def test_limit_when_requests_compete() -> None:
    reason = why_not(slice_(*devices("d0")), claim(request("a"), request("b")))
    assert (reason.check, reason.message) == ("limit", "2 devices wanted together, 1 can be had")


def test_node_when_the_pod_or_the_cordon_leaves_none() -> None:
    outcome = cluster(node(cordoned=True), slice_(*devices("d0"))).allocate(claim(request()))
    assert outcome.allocation is None
    assert [reason.check for reason in outcome.reasons] == ["node"], "a claim without an answer has a reason"


# -- several requests and alternatives ------------------------------------------------------------------------------------


def test_only_the_requests_that_cannot_be_served_are_explained() -> None:
    objects = [slice_(with_name("d0"), with_name("d1")), holding("d1")]
    reasons = why(*objects, claim(request("fine", named("d0")), request("held", named("d1"))))
    assert {reason.request for reason in reasons} == {"held"}


def test_every_alternative_of_a_request_is_explained() -> None:
    objects = [slice_(with_name("d0"), with_name("d1", taints=[taint()])), holding("d0")]
    either = first_available("r", alternative("first", named("d0")), alternative("second", named("d1")))
    assert {(r.request, r.check) for r in why(*objects, claim(either))} == {("r/first", "in-use"), ("r/second", "taint")}


def test_a_request_with_one_alternative_that_could_be_served_is_not_to_blame() -> None:
    objects = [slice_(with_name("d0"), with_name("d1")), holding("d0")]
    either = first_available("r", alternative("first", named("d0")), alternative("second", named("d1")))
    assert {r.request for r in why(*objects, claim(either, request("s", named("d0"))))} == {"s"}


def test_all_names_the_devices_that_cannot_be_had() -> None:
    objects = [slice_(*devices("d0", "d1", "d2")), holding("d1", name="train")]
    reason = why_not(*objects, claim(request(every=True)))
    assert (reason.check, reason.device, reason.message) == (
        "in-use",
        f"{DRIVER}/node-a/d1",
        "held by team-a/train (All needs every matching device)",
    )


# -- which node -----------------------------------------------------------------------------------------------------------

A, B = node("node-a"), node("node-b")


def test_a_device_of_one_node_names_it() -> None:
    slices = [slice_(*devices("a")), slice_(*devices("b"), pool="node-b", node_name="node-b")]
    reasons = why(A, B, slices, holding("a", name="x"), holding("node-b/b", name="y"), claim(request()))
    assert [(r.node, r.message) for r in reasons] == [("node-a", "held by team-a/x"), ("node-b", "held by team-a/y")]


def test_a_device_of_several_nodes_is_said_once_and_names_none() -> None:
    objects = [slice_(*devices("d0"), all_nodes=True), holding("d0")]
    assert [r.node for r in why(A, B, *objects, claim(request()))] == [""]
    pair = slice_(device("d0", node_selector=hostnames("node-a", "node-b")), per_device=True)
    assert [r.node for r in why(A, B, pair, holding("d0"), claim(request()))] == [""]


def test_what_no_node_has_is_said_once() -> None:
    assert [(r.check, r.node) for r in why(A, B, claim(request()))] == [("selector", "")]


def test_a_cluster_of_many_equal_nodes_has_one_reason() -> None:
    nodes = [node(f"n{i}") for i in range(100)]
    assert len(why(*nodes, slice_(*devices("d0"), all_nodes=True), holding("d0"), claim(request()))) == 1
    assert len(why(*nodes, claim(request(count=3)))) == 1


def test_the_most_telling_reasons_come_first() -> None:
    objects = [
        slice_(device("held"), device("tainted", taints=[taint()]), device("small", capacity={"m": 1})),
        slice_(device("later", capacity={"m": 2}), pool="updating", count=2),
        holding("held"),
    ]
    reasons = why(*objects, claim(request(capacity={"m": 2})))
    checks = [reason.check for reason in reasons]
    assert checks[0] == "pool"
    assert checks == sorted(checks, key=["pool", "taint", "counters", "capacity", "in-use"].index)


def test_the_reasons_of_a_16_by_16_mesh_stay_few() -> None:
    """64 hosts of 2x2 chips: partitions of 1, 4, 16 and 64 hosts, of which one running host blocks one of each size."""
    hosts = [node(f"h{i:02}") for i in range(64)]
    parts = [
        with_name(
            f"p{size}-{first:02}",
            consumes={"mesh": {f"h{i:02}": 4 for i in range(first, first + size)}},
            node_selector=hostnames(*(f"h{i:02}" for i in range(first, first + size))),
            attributes={"hosts": size},
        )
        for size in (1, 4, 16, 64)
        for first in range(0, 64, size)
    ]
    pool = [
        slice_(pool="mesh", counters={"mesh": {f"h{i:02}": 4 for i in range(64)}}, count=2, all_nodes=True),
        slice_(*parts, pool="mesh", count=2, per_device=True),
    ]
    running = holding("mesh/p1-05", name="running", node_selector=hostnames("h05"))
    whole = claim(request("t", 'device.attributes["gpu.example.com"].hosts == 64'))
    (reason,) = why(*hosts, pool, running, whole)
    assert (reason.check, reason.node) == ("counters", "")
    assert reason.message == "counter set mesh: h05 has 0 of 4 left (p1-05, team-a/running)"
    quarters = claim(request("t", 'device.attributes["gpu.example.com"].hosts == 16', count=4))
    assert len(why(*hosts, pool, running, quarters)) <= 2 * 4


def test_a_reason_that_holds_on_some_nodes_says_on_which() -> None:
    slices = [slice_(device(f"gpu-{name}"), pool=name, node_name=name) for name in ("b", "c")]
    held = slice_(device("gpu-a"), pool="a", node_name="a")
    wanted = claim(request("r", 'device.driver == "nobody"'), name="wanted")
    nodes = [node(name) for name in ("a", "b", "c", "empty")]
    (outcome,) = simulate(cluster(*nodes, held, *slices, wanted)).claims
    said = {reason.message: reason.node for reason in outcome.reasons}
    assert said.pop("no device matches request 'r'") == "empty"
    ((message, where),) = said.items()
    assert message.endswith("(on a, b and c)")
    assert where == ""


def test_all_taints_that_are_in_the_way_are_told() -> None:
    tainted = device("d0", taints=[taint("hot"), taint("told", effect="None"), taint("loose")])
    (outcome,) = simulate(cluster(slice_(tainted), claim(request()))).claims
    assert [reason.message for reason in outcome.reasons] == ["taints hot:NoSchedule and loose:NoSchedule are not tolerated"]
