"""What the API server refuses of a claim: no allocation, and no error of the cluster either."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from drakit.allocation import AllocationError, ClaimOutcome, Report, simulate
from drakit.model import DeviceConstraint, DeviceRequest, ResourceClaim, Timestamp
from tests.allocation.builders import (
    alternative,
    claim,
    cluster,
    device,
    devices,
    distinct,
    first_available,
    match,
    namespace,
    picked,
    pod,
    request,
    slice_,
    template,
)

ADMIN_RULE = (
    "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"
)
NAME_RULE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


def simulated(*objects: Any) -> Report:
    return simulate(cluster(slice_(*devices("d0", "d1")), *objects))


def outcome(*objects: Any) -> ClaimOutcome:
    (found,) = simulated(*objects).claims
    return found


def refusal(*objects: Any) -> str:
    """What is refused, without the claim's name."""
    report = simulated(*objects)
    (found,) = report.claims
    assert found.allocation is None
    assert isinstance(found.error, AllocationError)
    assert found.error.kind == "refused"
    assert found.error.place.as_json() == {"claim": "team-a/c"}
    assert (report.verdict, report.error) == ("unschedulable", None), "nothing in the cluster must be mended"
    return found.error.message.removeprefix("claim team-a/c: ")


def both() -> DeviceRequest:
    """A request that is exact and has alternatives."""
    exact, choice = request("r"), first_available("r", alternative("s"))
    return attrs.evolve(exact, first_available=choice.first_available)


@pytest.mark.parametrize(
    ("made", "fault"),
    [
        pytest.param(
            claim(request("x"), request("x")),
            'spec.devices.requests[1]: Duplicate value: "x"',
            id="two requests of one name",
        ),
        pytest.param(
            claim(DeviceRequest(name="r")),
            "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
            id="neither",
        ),
        pytest.param(
            claim(both()),
            "spec.devices.requests[0]: Invalid value: exactly one of `exactly` or `firstAvailable` is required",
            id="both",
        ),
        pytest.param(
            claim(request(count=2, every=True)),
            "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
            id="a count of all",
        ),
        pytest.param(
            claim(request(count=-1)),
            "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero",
            id="less than none",
        ),
        pytest.param(
            claim(request("x"), first_available("r", alternative("s"), alternative("t", count=-7))),
            "spec.devices.requests[1].firstAvailable[1].count: Invalid value: -7: must be greater than zero",
            id="less than none in an alternative",
        ),
        pytest.param(
            claim(first_available("r", alternative("s", count=1, every=True))),
            "spec.devices.requests[0].firstAvailable[0].count: Invalid value: 1: "
            "must not be specified when allocationMode is 'All'",
            id="a count of all in an alternative",
        ),
        pytest.param(
            claim(request("r"), constraints=[match("example.com/x", "r", "q")]),
            f'spec.devices.constraints[0].requests[1]: Invalid value: "q": {NAME_RULE}',
            id="a constraint on no request",
        ),
        pytest.param(
            claim(first_available("r", alternative("s")), constraints=[match("example.com/x"), match("example.com/x", "s")]),
            f'spec.devices.constraints[1].requests[0]: Invalid value: "s": {NAME_RULE}',
            id="a sub-request without its request",
        ),
        pytest.param(
            claim(request("r"), constraints=[match("model")]),
            'spec.devices.constraints[0].matchAttribute: Invalid value: "model": must include a domain',
            id="matchAttribute without domain",
        ),
        pytest.param(
            claim(request("r"), constraints=[distinct("model")]),
            'spec.devices.constraints[0].distinctAttribute: Invalid value: "model": must include a domain',
            id="distinctAttribute without domain",
        ),
    ],
)
def test_what_the_api_server_refuses_is_refused_in_its_words(made: ResourceClaim, fault: str) -> None:
    assert refusal(made) == fault


def test_the_first_of_several_faults_is_told() -> None:
    made = claim(request("x", count=-1), request("x"), constraints=[match("model")])
    assert refusal(made).startswith("spec.devices.requests[0].exactly.count: ")


def test_a_claim_that_is_being_deleted_gets_nothing() -> None:
    made = claim(request())
    leaving = attrs.evolve(made, metadata=attrs.evolve(made.metadata, deletion_timestamp=Timestamp("2026-01-01T00:00:00Z")))
    assert refusal(leaving) == "claim team-a/c is being deleted"


def test_admin_access_without_the_label_is_refused_also_behind_other_requests() -> None:
    made = claim(request("x"), request("y", admin=True))
    assert refusal(namespace("team-a"), made) == f"spec.devices.requests[1].adminAccess: Forbidden: {ADMIN_RULE}"
    assert picked(outcome(namespace("team-a", admin=True), made).allocation) == ["x=d0", "y=d1"]


@pytest.mark.parametrize(
    "made",
    [
        claim(request(count=0)),
        claim(request(count=None)),
        claim(request(count=1)),
    ],
    ids=["0", "none", "1"],
)
def test_a_count_that_is_0_or_absent_is_1(made: ResourceClaim) -> None:
    assert picked(outcome(made).allocation) == ["r=d0"]


def test_a_count_of_0_is_1_in_an_alternative_too() -> None:
    assert picked(outcome(claim(first_available("r", alternative("s", count=0)))).allocation) == ["r/s=d0"]


def test_a_count_of_0_beside_mode_all_is_let_in() -> None:
    assert picked(outcome(claim(request(count=0, every=True))).allocation) == ["r=d0", "r=d1"]


@pytest.mark.parametrize(
    "constraint",
    [match("example.com/x", "r"), match("example.com/x", "r/s"), match("example.com/x"), distinct("example.com/x", "q", "r")],
)
def test_constraints_may_name_requests_and_sub_requests(constraint: DeviceConstraint) -> None:
    made = claim(first_available("r", alternative("s")), request("q"), constraints=[constraint])
    many = slice_(*(device(f"x{i}", attributes={"example.com/x": i}) for i in range(2)), pool="x")
    (found,) = simulate(cluster(many, made)).claims
    assert found.error is None


def test_a_claim_that_is_refused_leaves_the_others_alone_but_not_its_pods_other_claims() -> None:
    report = simulated(
        claim(request(count=-1), name="wrong"), claim(request(), name="with"), claim(request(), name="other"),
        pod("p", "wrong", "with"),
    )  # fmt: skip
    found = {o.claim.metadata.name: (o.error.kind if o.error else "", picked(o.allocation)) for o in report.claims}
    assert found == {"wrong": ("refused", []), "with": ("refused", []), "other": ("", ["r=d0"])}
    assert report.verdict == "partly"


def test_what_a_template_makes_is_refused_like_any_claim() -> None:
    found = outcome(template("tpl", request(count=-1)), pod("p", templates={"t": "tpl"}))
    assert found.error is not None
    assert (found.error.kind, found.error.place.claim) == ("refused", "team-a/p-t")
