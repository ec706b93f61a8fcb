"""Which node, in which order nodes are looked at, and when nobody can tell."""

from __future__ import annotations

import gc
from typing import Any, Final

import attrs
import pytest

from drakit.allocation import AllocationError, Cluster, Report, simulate
from drakit.allocation.decision import MAX_UNDECIDED, Decider
from drakit.model import Device, DeviceRequest, Node, NodeSelector, ResourceClaim, ResourceSlice
from drakit.model.claim import DeviceDerivedAttribute
from tests.allocation.builders import (
    ANY,
    HOSTNAME,
    claim,
    cluster,
    device,
    devices,
    distinct,
    holding,
    named,
    node,
    picked,
    request,
    slice_,
    term,
    with_name,
)

BUDGET: Final = 2_000


def puzzle(name: str) -> ResourceSlice:
    """A node's devices that have one distinct value too few for :data:`ASK`: hard to refuse within the budget."""
    return slice_(*(device(f"d{i}", attributes={"x": i % 3}) for i in range(36)), pool=name, node_name=name)


def easy(name: str) -> ResourceSlice:
    """A node's devices that satisfy :data:`ASK` at once."""
    return slice_(*(device(f"d{i}", attributes={"x": i}) for i in range(4)), pool=name, node_name=name)


ASK: Final = claim(request("r", count=4), constraints=[distinct("gpu.example.com/x")])


def world(*names: str, ask: ResourceClaim = ASK) -> Cluster:
    """Nodes in this order; ``hard...`` cannot be decided, ``easy...`` fit, others have no devices."""
    made = [puzzle(name) if name.startswith("hard") else easy(name) for name in names if not name.startswith("bare")]
    return cluster([node(name) for name in names], made, ask)


def tried_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes on which an allocation is tried, as they come."""
    tried: list[str] = []
    original = Decider._try

    def noting(self: Decider, node: Node, *rest: Any) -> Any:
        tried.append(node.name)
        return original(self, node, *rest)

    monkeypatch.setattr(Decider, "_try", noting)
    return tried


def only_outcome(report: Report) -> Any:
    (found,) = report.claims
    return found


# -- nodes that cannot be decided --------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("hard", "easy"), ("bare", "hard", "easy"), ("hard",), ("hard", "bare")])
def test_a_node_that_cannot_be_decided_before_the_first_that_fits_is_an_error_that_names_it(names: tuple[str, ...]) -> None:
    report = simulate(world(*names), budget=BUDGET)
    found = only_outcome(report)
    assert found.allocation is None
    assert (found.error.kind, found.error.node) == ("undecided", "hard")
    assert found.error.message == (
        f"not decided whether team-a/c fits on node hard: gave up after looking at {BUDGET} candidates"
    )
    assert report.verdict == "error"


@pytest.mark.parametrize("names", [("easy", "hard"), ("bare", "easy", "hard", "hard-too", "hard-as-well", "hard-again")])
def test_a_node_that_cannot_be_decided_after_one_that_fits_does_not_matter(names: tuple[str, ...]) -> None:
    report = simulate(world(*names), budget=BUDGET)
    assert only_outcome(report).node == "easy"
    assert report.verdict == "allocated"


def may_fail() -> ResourceClaim:
    """As :data:`ASK`, with a selector that fails on a device that is nowhere to be had."""
    return claim(request("r", 'device.attributes["gpu.example.com"].x >= 0', count=4), constraints=ASK.spec.devices.constraints)


def test_after_some_nodes_that_cannot_be_decided_the_others_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"hard{i}" for i in range(MAX_UNDECIDED + 4)]
    old = slice_(device("without-x"), pool="elsewhere", node_name="nowhere")
    asked = may_fail()
    tried = tried_on(monkeypatch)
    report = simulate(cluster([node(name) for name in names], map(puzzle, names), old, asked), budget=BUDGET)
    assert tried == names[:MAX_UNDECIDED]
    assert only_outcome(report).error.node == "hard0"


def test_where_no_selector_can_fail_the_first_node_that_cannot_be_decided_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = tried_on(monkeypatch)
    simulate(world("hard0", "hard1", "easy"), budget=BUDGET)
    assert tried == ["hard0"]


# -- what drakit cannot decide -----------------------------------------------------------------------------------------


def undecided(*objects: Any) -> str:
    report = simulate(cluster(*objects))
    error = only_outcome(report).error
    assert isinstance(error, AllocationError)
    assert error.kind == "undecided"
    assert report.verdict == "error"
    assert "\n" not in error.message
    return error.message


def test_an_expression_that_drakit_does_not_support_is_undecided_and_says_which_part() -> None:
    grows = "cel.bind(none, [], none + [1] == [1] && none == [])"
    message = undecided(slice_(*devices("d0")), claim(request("r", grows)))
    assert message.startswith("claim team-a/c: selector #0: drakit cannot decide this yet: ")
    assert "is not supported" in message


def test_an_expression_that_is_not_supported_is_undecided_and_says_where() -> None:
    pattern = r'device.attributes["gpu.example.com"].model.matches(r"' + r"\pL{1000}" * 10 + '")'
    message = undecided(slice_(device("d0", attributes={"model": "m1"})), claim(request("r", pattern)))
    assert "regular expression" in message
    assert "(line 1, column " in message


def test_derived_attributes_are_undecided() -> None:
    asked = request()
    assert asked.exactly is not None
    derived = DeviceDerivedAttribute(name="example.com/x", expression="1")
    exactly = attrs.evolve(asked.exactly, derived_attributes=[derived])
    made = claim(DeviceRequest(name="r", exactly=exactly))
    message = undecided(slice_(*devices("d0")), made)
    assert message == "claim team-a/c, request r: drakit does not support derivedAttributes yet"


# -- one answer for each node ------------------------------------------------------------------------------------------


def test_nodes_that_live_for_one_question_only_have_an_answer_each() -> None:
    """A node that is gone leaves its identity to the next: answers must not be kept by it."""
    slices = [slice_(device(f"gpu-{i}"), pool=f"n{i}", node_name=f"n{i}") for i in range(0, 400, 2)]
    asked = claim(request())
    where = Cluster(slices=slices, classes=[ANY])
    for i in range(400):
        results = where.allocate_on(node(f"n{i}"), [asked])
        got = None if results is None else [pick for result in results for pick in picked(result)]
        assert got == (None if i % 2 else [f"r=gpu-{i}"])
        gc.collect(0)


def test_one_node_that_is_described_anew_is_looked_at_anew() -> None:
    where = Cluster(slices=[slice_(device("gpu"), node_selector=None, node_name="a", pool="a")], classes=[ANY])
    assert where.allocate_on(node("a"), [claim(request())]) is not None
    assert where.allocate_on(node("b"), [claim(request())]) is None


# -- how many nodes are looked at --------------------------------------------------------------------------------------


def on_nodes(count: int, *expressions: str, odd: Device | None = None) -> Cluster:
    """Nodes with a device each; the last has an odd one instead."""
    made = [with_name(f"gpu-{i}") for i in range(count - 1)] + [odd or with_name("last")]
    slices = [slice_(each, pool=f"n{i}", node_name=f"n{i}") for i, each in enumerate(made)]
    return cluster([node(f"n{i}") for i in range(count)], slices, claim(request("r", *expressions)))


def test_where_no_selector_can_fail_the_first_node_that_fits_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = tried_on(monkeypatch)
    assert simulate(on_nodes(5, named("gpu-1", "gpu-3"))).verdict == "allocated"
    assert tried == ["n0", "n1"]


def test_where_a_selector_can_fail_every_node_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = tried_on(monkeypatch)
    report = simulate(on_nodes(5, named("gpu-1", "gpu-3"), odd=device("nameless")))
    assert tried == ["n0", "n1", "n2", "n3", "n4"]
    error = only_outcome(report).error
    assert (error.kind, error.node, error.device) == ("error", "n4", "gpu.example.com/n4/nameless")


def test_where_an_amount_can_be_unusable_every_node_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = tried_on(monkeypatch)
    report = simulate(on_nodes(3, odd=device("odd", capacity={"memory": "-1"})))
    assert tried == ["n0", "n1", "n2"]
    error = only_outcome(report).error
    assert (error.kind, error.node, error.device) == ("error", "n2", "gpu.example.com/n2/odd")


def test_an_unusable_amount_of_a_device_in_use_is_told_where_it_is_not_what_matters() -> None:
    odd = device("odd", capacity={"memory": "-1"})
    held = slice_(device("held", capacity={"memory": 1}))
    report = simulate(cluster(node(), held, slice_(odd, pool="b"), holding("held", "b/odd"), claim(request())))
    assert report.verdict == "unschedulable"


def test_what_is_wrong_with_a_claim_is_an_error_where_there_are_no_nodes() -> None:
    where = Cluster(nodes=[], classes=[ANY], claims=[claim(request(every=True), request("s", of="missing"))])
    assert "could not retrieve device class missing" in str(only_outcome(simulate(where)).error)


def test_a_request_for_all_devices_looks_at_every_node_because_a_pool_may_be_in_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = tried_on(monkeypatch)
    nodes = [node("a"), node("b")]
    slices = [slice_(*devices("d0"), pool="a", node_name="a"), slice_(*devices("d0"), pool="b", node_name="b", count=2)]
    report = simulate(cluster(nodes, slices, claim(request(every=True))))
    assert tried == ["a", "b"]
    assert only_outcome(report).error.kind == "updating"


def test_a_device_whose_selector_no_allocation_can_express_ends_the_attempt_on_any_node() -> None:
    wide = NodeSelector(node_selector_terms=(term(HOSTNAME, "b"), term(HOSTNAME, "nowhere")))
    fits = slice_(device("gpu"), pool="a", node_name="a")
    report = simulate(
        cluster(node("a"), node("b"), fits, slice_(device("odd"), pool="b", node_selector=wide), claim(request()))
    )
    assert report.verdict == "error"
    assert only_outcome(report).error.node == "b"
