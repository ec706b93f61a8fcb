"""One question, asked of drakit and of Kubernetes, and the two answers in one form."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from drakit.allocation import AllocatedState
from drakit.allocation.amounts import shown
from drakit.cli.questions import answer_lines
from drakit.model import DeviceClass, Node, ResourceClaim, ResourceSlice
from drakit.model.wire import KubernetesObject, encode
from tests.allocation.builders import cluster
from tests.upstream.client import Oracle, Question

Allocation: TypeAlias = "list[Any] | str | None"
"""One AllocationResult for each claim; None: they do not fit; a text: the error that ends the attempt."""


def question(objects: Iterable[KubernetesObject | Iterable[KubernetesObject]], claims: Iterable[ResourceClaim]) -> Question:
    """The question about claims on ``node-a`` among objects that the builders of the allocation tests made."""
    world = cluster(*objects)
    return {
        "node": _body(world.nodes[0]),
        "slices": [_body(item) for item in world.slices],
        "classes": [_body(item) for item in world.classes],
        "claims": [_body(item) for item in claims],
        "allocated": _allocated(world.state),
    }


def drakit_allocates(asked: Question) -> Allocation:
    """What ``drakit simulate --jsonl`` answers."""
    answers = io.StringIO()
    answer_lines([json.dumps(asked)], answers)
    answer = json.loads(answers.getvalue())
    return answer["error"] or _comparable(answer["results"])


def stock_allocates(oracle: Oracle, asked: Question) -> Allocation:
    """What Kubernetes' allocator answers. An error about the node alone is no error of the attempt: nothing fits there."""
    answer = oracle.ask("allocate", **asked)
    (on_node,) = answer["nodes"]
    if "error" in on_node and not on_node.get("local"):
        return "; ".join(on_node["error"].splitlines())
    return _comparable(on_node["results"])


def picks(allocation: Allocation) -> list[str] | str | None:
    """Only the devices, as ``request=driver/pool/device``."""
    if not isinstance(allocation, list):
        return allocation
    results = [result for claim in allocation for result in claim.get("devices", {}).get("results", [])]
    return ["{request}={driver}/{pool}/{device}".format_map(result) for result in results]


def _comparable(results: list[Any] | None) -> list[Any] | None:
    """Share ids are random: what is left of them is that there is one."""
    for claim in results or []:
        devices = claim.setdefault("devices", {})
        for result in devices.get("results", []):
            if "shareID" in result:
                result["shareID"] = "some"
    return results


def _body(item: Node | DeviceClass | ResourceClaim | ResourceSlice) -> dict[str, Any]:
    return {name: value for name, value in encode(item).items() if name not in ("apiVersion", "kind")}


def _allocated(state: AllocatedState) -> dict[str, Any]:
    return {
        "devices": [device._asdict() for device in sorted(state.devices)],
        "shared": [device._asdict() | {"shareID": "some"} for device in sorted(state.shared)],
        "capacity": [
            device._asdict() | {"consumed": {name: str(shown(amount)) for name, amount in amounts.items()}}
            for device, amounts in sorted(state.capacity.items())
        ],
    }
