"""Small clusters, as text."""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["DRIVER", "cluster", "device_claim", "device_class", "device_slice", "listing", "node", "pod"]

DRIVER: Final = "gpu.example.com"


def node(name: str = "n0") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}


def device_class(expression: str = f'device.driver == "{DRIVER}"') -> dict[str, Any]:
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": spec}


def device_slice(*devices: dict[str, Any], node: str = "n0") -> dict[str, Any]:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": list(devices)}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{node}-gpus"}, "spec": spec}


def device_claim(name: str, count: int = 1, **request: Any) -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu", "count": count, **request}
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}


def pod(name: str, claim: str) -> dict[str, Any]:
    spec = {"resourceClaims": [{"name": "r", "resourceClaimName": claim}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def listing(*objects: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def cluster(*objects: dict[str, Any], devices: int = 2) -> str:
    """A node with GPUs and their class, and what is asked of them."""
    gpus = [{"name": f"gpu-{index}"} for index in range(devices)]
    return listing(node(), device_class(), device_slice(*gpus), *objects)
