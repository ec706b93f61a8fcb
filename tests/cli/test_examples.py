"""The examples show what they say they show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import drakit
from tests.cli.running import EXAMPLES
from tests.cli.running import drakit as run

TPU = EXAMPLES / "tpu-16x16-failed-host.yaml"
GB200 = EXAMPLES / "gb200-nvl72.yaml"
SECOND = EXAMPLES / "gb200-second-job.yaml"


def report(*files: Path, code: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    """The whole answer, and its claims by name."""
    result = run("simulate", *(word for file in files for word in ("-f", file)), "-o", "json")
    assert (result.code, result.err) == (code, "")
    document = json.loads(result.out)
    return document, {claim["name"]: claim for claim in document["claims"]}


@pytest.mark.needs("tpu")
def test_on_a_mesh_with_a_failed_host_the_whole_is_refused_with_the_host_named() -> None:
    document, claims = report(TPU)
    assert document["verdict"] == "partly"
    assert claims["whole-mesh"]["allocated"] is False
    (reason,) = claims["whole-mesh"]["reasons"]
    assert reason["check"] == "taint"
    assert "mesh-0-w27" in reason["message"]
    assert "warnings" not in document


@pytest.mark.needs("tpu")
def test_on_a_mesh_with_a_failed_host_half_of_it_and_less_is_allocated_side_by_side() -> None:
    _, claims = report(TPU)
    held = {name: claim["devices"][0]["device"] for name, claim in claims.items() if claim["allocated"]}
    assert {name: device.split("-")[1] for name, device in held.items()} == {
        "half-mesh": "8x16",
        "quarter-mesh": "8x8",
        "train": "4x8",
        "notebook": "2x2",
    }
    nodes = [
        node
        for claim in claims.values()
        if claim["allocated"]
        for term in claim["nodeSelector"]["nodeSelectorTerms"]
        for node in next(iter([*term.get("matchExpressions", []), *term.get("matchFields", [])]))["values"]
    ]
    assert len(nodes) == len(set(nodes)) == 32 + 16 + 8 + 1
    assert "mesh-0-w27" not in nodes


@pytest.mark.needs("tpu")
def test_the_picture_of_the_mesh_says_that_252_of_256_chips_are_usable() -> None:
    result = run("view", "-f", TPU)
    assert (result.code, result.err) == (0, "")
    assert "usable chips: 252 of 256\n" in result.out
    assert "tpu.google.com/host-down=mesh-0-w27:NoSchedule" in result.out
    grid = [line.split()[1:] for line in result.out.splitlines() if line.split() and line.split()[0].isdigit()][1:]
    drawn = {mark: sum(row.count(mark) for row in grid) for mark in "ABCDx."}
    assert drawn == {"A": 128, "B": 64, "C": 32, "D": 4, "x": 4, ".": 24}


@pytest.mark.needs("tpu")
def test_a_mesh_is_64_nodes_and_127_devices_in_3_slices() -> None:
    cluster = drakit.load(TPU)
    assert len(cluster.nodes) == 64
    assert [len(slice_.spec.devices) for slice_ in cluster.slices] == [0, 64, 63]


@pytest.mark.needs("tpu")
def test_the_slices_of_an_example_fed_back_give_the_same_answer() -> None:
    documents = list(yaml.safe_load_all(TPU.read_text(encoding="utf-8")))
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name, "labels": dict(node.labels)}}
        for node in drakit.load(TPU).nodes
    ]
    cls = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "tpu.google.com"},
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "tpu.google.com"'}}]},
    }
    slices = run("slices", "-f", TPU).out
    rest = yaml.safe_dump_all([*nodes, cls, *documents[1:]])
    again = run("simulate", "-f", "-", "-o", "json", stdin=f"{slices}---\n{rest}")
    assert (again.code, again.err) == (1, "")
    assert json.loads(again.out) == report(TPU)[0]


@pytest.mark.needs("nvidia_gb200")
def test_a_job_of_16_pods_has_16_trays_of_the_rack_with_all_their_gpus() -> None:
    document, claims = report(GB200, code=0)
    assert document["verdict"] == "allocated"
    nodes = [pod["node"] for pod in document["pods"]]
    assert len(nodes) == len(set(nodes)) == 16
    assert set(nodes) <= {f"rack-0-t{index:02}" for index in range(18)}
    for pod in document["pods"]:
        claim = claims[f"{pod['name']}-gpus"]
        assert claim["node"] == pod["node"]
        assert [(d["pool"], d["device"]) for d in claim["devices"]] == [(pod["node"], f"gpu-{index}") for index in range(4)]


@pytest.mark.needs("nvidia_gb200")
def test_a_second_job_is_refused_because_2_of_18_trays_are_left() -> None:
    document, claims = report(GB200, SECOND)
    assert document["verdict"] == "partly"
    (share,) = claims["train-nvlink"]["devices"]
    assert share["consumedCapacity"] == {"trays": "16"}
    assert share["shareID"]
    second = claims["second-job-nvlink"]
    assert second["allocated"] is False
    assert any(r["check"] == "capacity" and "2 of 18 left, 4 wanted" in r["message"] for r in second["reasons"])
    assert [name for name, claim in claims.items() if not claim["allocated"]] == ["second-job-nvlink"]


@pytest.mark.needs("nvidia_gb200")
def test_a_rack_has_no_mesh_to_draw() -> None:
    result = run("view", "-f", GB200)
    assert (result.code, result.out) == (1, "")


@pytest.mark.needs("tpu", "nvidia_gb200", "fake")
def test_a_folder_of_examples_is_one_cluster() -> None:
    cluster = drakit.load(EXAMPLES)
    assert {slice_.spec.driver for slice_ in cluster.slices} == {"tpu.google.com", "gpu.nvidia.com", "gpu.example.com"}
