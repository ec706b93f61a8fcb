"""``simulate -o json``: what stands where, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from drakit.allocation import simulate
from drakit.hooks import PluginError
from drakit.model import DeviceToleration
from drakit.views.contract import report_as_json
from tests.allocation.builders import (
    claim,
    cluster,
    device,
    devices,
    holding,
    labelled,
    node,
    pod,
    request,
    slice_,
)

CHECKS = {"pool", "node", "in-use", "selector", "capacity", "counters", "taint", "constraint", "limit"}


def document(*objects: Any) -> dict[str, Any]:
    """The report as a reader of the JSON sees it."""
    report = report_as_json(simulate(cluster(*objects)))
    read: dict[str, Any] = json.loads(json.dumps(report))
    assert read == report, "nothing but JSON types"
    return read


def test_an_allocated_claim_and_its_pod() -> None:
    assert document(slice_(*devices("d0")), claim(request()), pod("p", "c")) == {
        "verdict": "allocated",
        "claims": [
            {
                "namespace": "team-a",
                "name": "c",
                "allocated": True,
                "node": "node-a",
                "devices": [{"request": "r", "driver": "gpu.example.com", "pool": "node-a", "device": "d0"}],
                "nodeSelector": {
                    "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}]
                },
            }
        ],
        "pods": [{"namespace": "team-a", "name": "p", "node": "node-a", "reason": None}],
    }


def test_a_claim_that_was_not_allocated_has_reasons_and_no_devices() -> None:
    assert document(slice_(*devices("d0")), holding("d0"), claim(request()), pod("p", "c")) == {
        "verdict": "unschedulable",
        "claims": [
            {
                "namespace": "team-a",
                "name": "c",
                "allocated": False,
                "reasons": [
                    {
                        "node": "node-a",
                        "request": "r",
                        "device": "gpu.example.com/node-a/d0",
                        "check": "in-use",
                        "message": "held by team-a/holder",
                    }
                ],
            }
        ],
        "pods": [{"namespace": "team-a", "name": "p", "node": None, "reason": "claim team-a/c is not allocated"}],
    }


def test_an_input_without_claims_and_pods() -> None:
    assert document() == {"verdict": "allocated", "claims": [], "pods": []}


def test_shares_admin_access_and_tolerations_are_in_the_devices() -> None:
    shared = device("d0", shared=True, capacity={"memory": "80Gi"})
    tolerant = request(
        "s", capacity={"memory": "2Gi"}, tolerations=[DeviceToleration(key="broken", operator="Exists", effect="NoSchedule")]
    )
    (share,) = document(slice_(shared), claim(tolerant))["claims"][0]["devices"]
    assert set(share) == {"request", "driver", "pool", "device", "shareID", "consumedCapacity", "tolerations"}
    assert share["consumedCapacity"] == {"memory": "2Gi"}
    assert share["tolerations"] == [{"key": "broken", "operator": "Exists", "effect": "NoSchedule"}]
    (probe,) = document(slice_(*devices("d0")), claim(request(admin=True)))["claims"][0]["devices"]
    assert probe["adminAccess"] is True


def test_a_claim_without_devices_has_an_empty_list_of_them() -> None:
    (empty,) = document(claim())["claims"]
    assert empty["allocated"] is True
    assert empty["devices"] == []


def test_the_node_selector_is_left_out_when_the_claim_can_be_used_everywhere() -> None:
    assert "nodeSelector" not in document(slice_(*devices("d0"), all_nodes=True), claim(request()))["claims"][0]
    zoned = [node(labels={"zone": "east"}), slice_(*devices("d0"), node_selector=labelled("zone", "east"))]
    assert document(*zoned, claim(request()))["claims"][0]["nodeSelector"] == {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["east"]}]}]
    }


def test_an_error_says_where_on_which_device_and_what() -> None:
    read = document(slice_(*devices("d0")), claim(request("r", 'device.attributes["gpu.example.com"].model == "m1"')))
    assert read["verdict"] == "error"
    assert set(read["error"]) == {"kind", "where", "node", "device", "message"}
    assert read["error"]["where"] == {"claim": "team-a/c", "request": "r", "selector": 0}
    assert read["error"]["device"] == "gpu.example.com/node-a/d0"
    assert read["claims"][0]["error"] == read["error"]


def test_an_error_without_a_device_leaves_it_out() -> None:
    read = document(claim(request(of="none")))
    assert set(read["error"]) == {"kind", "where", "message"}
    assert read["error"]["where"] == {"claim": "team-a/c", "request": "r"}


def test_a_pool_that_is_being_updated_is_an_error_of_the_claim_only() -> None:
    read = document(slice_(*devices("d0"), count=2), claim(request(every=True)))
    assert read["verdict"] == "unschedulable"
    assert "error" not in read
    (outcome,) = read["claims"]
    assert "is currently being updated" in outcome["error"]["message"]
    assert [set(reason) for reason in outcome["reasons"]] == [{"check", "message"}]


def test_reasons_leave_out_what_is_empty() -> None:
    taken = slice_(*devices("d0"), all_nodes=True)
    updating = slice_(*devices("d1"), pool="updating", count=2, all_nodes=True)
    read = document(node("a"), node("b"), taken, updating, holding("d0"), claim(request()))
    assert {frozenset(reason) for reason in read["claims"][0]["reasons"]} == {
        frozenset({"check", "message"}),
        frozenset({"check", "message", "request", "device"}),
    }


def test_warnings_have_code_object_and_message() -> None:
    read = document(slice_(*devices("d0")), holding("gone"))
    assert [set(warning) for warning in read["warnings"]] == [{"code", "object", "message"}]
    assert read["warnings"][0]["code"] == "allocated-device-not-published"
    assert "warnings" not in document(slice_(*devices("d0")), holding("d0"))


def test_a_plugin_that_failed_is_a_warning() -> None:
    report = report_as_json(simulate(cluster()), [PluginError("fake", "drakit_discover", "no such file")])
    assert report["warnings"] == [
        {
            "code": "plugin-failed",
            "object": "plugin fake",
            "message": "plugin fake: drakit_discover: no such file",
        }
    ]


@pytest.mark.parametrize(
    "objects",
    [
        [claim(request(count=3))],
        [slice_(*devices("d0")), claim(request(count=2))],
        [node(cordoned=True), claim(request()), pod("p", "c")],
        [slice_(*devices("d0", "d0")), claim(request())],
        [slice_(device("d0", capacity={"m": 1})), claim(request(capacity={"m": 2}))],
    ],
)
def test_checks_are_among_those_that_are_documented(objects: list[Any]) -> None:
    reasons = [reason for outcome in document(*objects)["claims"] for reason in outcome["reasons"]]
    assert reasons
    assert {reason["check"] for reason in reasons} <= CHECKS
