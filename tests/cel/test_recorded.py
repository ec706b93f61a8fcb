"""Answers of Kubernetes' own code that were recorded: verdict, message, type and both costs.

Most are of Kubernetes 1.36 and made to be hard; those that people might have written are of 1.37.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from drakit import cel
from drakit.cel.judging import judge
from drakit.model import Device, DeviceAttribute, semver
from tests.cel.builders import card

CASES: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in Path(__file__).with_name("recorded.jsonl").read_text(encoding="utf-8").splitlines()
]
DEVICE: Final = cel.CelDevice(
    "dra.example.com",
    Device(
        "d0",
        attributes={
            "string": "fish",
            "sym": "asymetric",
            "services": "some_example_value",
            "empty": "",
            "uni": "héllo→😀",
            "csv": "a,b,c",
            "num": "42",
            "ip": "192.168.1.7",
            "url": "https://example.com:8080/p?x=1",
            "int": 1,
            "neg": -7,
            "big": 2**63 - 1,
            "bool": True,
            "boolF": False,
            "version": semver("1.0.0"),
            "pre": semver("1.2.3-alpha.1+build.5"),
            "ints": [1, 2, 3],
            "one": [5],
            "bools": [True, False],
            "strings": ["fish", "bird"],
            "versions": DeviceAttribute(versions=("1.0.0", "2.0.0")),
            "other.example.com/name": True,
        },
        capacity={
            "name": "1Mi",
            "memory": "80Gi",
            "half": "500m",
            "zero": "0",
            "huge": "9999999999999999999999G",
            "other.example.com/q": "3",
        },
    ),
)


@pytest.mark.parametrize("case", CASES, ids=[f"line {number}: {case['why']}" for number, case in enumerate(CASES, start=1)])
def test_the_answer_is_the_recorded_one(case: dict[str, Any]) -> None:
    minor = case.get("minor", 36)
    answer = judge(case["expr"], card() if minor == 37 else DEVICE, cel.Environment(minor=minor))
    assert answer.verdict == case["verdict"]
    assert answer.message == case.get("message", "")
    assert (answer.output_type, answer.max_cost) == (case.get("output_type"), case.get("max_cost"))
    cost = case.get("cost", 0)
    assert answer.cost == cost or cost is None  # which depends on the order in which Go goes over a map
