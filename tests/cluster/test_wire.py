"""Every field of drakit's model is one the API server knows, and comes back as it was sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs
import pytest

from drakit import model
from drakit.model.wire import decode, encode
from drakit.testing.cluster import Cluster, lost

pytestmark = pytest.mark.cluster

DRA: Final = "resource.k8s.io/v1"
SELECTOR: Final = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
OPAQUE: Final = {"driver": "gpu.example.com", "parameters": {"kind": "Any", "apiVersion": "gpu.example.com/v1", "level": 3}}
CEL: Final = [{"cel": {"expression": "true"}}]
TAINT: Final = {"key": "example.com/down", "value": "x", "effect": "NoSchedule", "timeAdded": "2026-01-02T03:04:05Z"}
TOLERATIONS: Final = [
    {"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 60},
    {"operator": "Exists"},
]
CONDITIONS: Final = {"bindingConditions": ["example.com/ready"], "bindingFailureConditions": ["example.com/failed"]}


def published(name: str, **spec: Any) -> dict[str, Any]:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": DRA,
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {"driver": "gpu.example.com", "pool": pool, **spec},
    }


ATTRIBUTES: Final = {
    "int": {"int": 1},
    "bool": {"bool": False},
    "string": {"string": ""},
    "version": {"version": "1.2.3-rc.1+build"},
    "profile": {"string": "half"},
}
LISTS: Final = {
    "example.com/ints": {"ints": [1, 2]},
    "example.com/bools": {"bools": [True, False]},
    "example.com/strings": {"strings": ["a", "b"]},
    "example.com/versions": {"versions": ["1.0.0", "2.0.0"]},
}
CAPACITY: Final = {
    "memory": {"value": "16Gi", "requestPolicy": {"default": "1Gi", "validValues": ["1Gi", "2Gi"]}},
    "cores": {"value": "8", "requestPolicy": {"default": "2", "validRange": {"min": "2", "max": "8", "step": "2"}}},
}
SHARED: Final = {
    "name": "shared",
    "attributes": ATTRIBUTES,
    "capacity": CAPACITY,
    "nodeName": "node-0",
    "taints": [TAINT],
    "bindsToNode": True,
    **CONDITIONS,
    "allowMultipleAllocations": True,
    "nodeAllocatableResources": {
        "memory": {
            "mapping": {"capacityKey": "memory", "capacityMultiplier": "500m"},
            "overhead": {"perPod": "1Mi", "perContainer": "2Mi"},
        },
        "cpu": {"mapping": {"deviceMultiplier": "2"}},
    },
}
HALF: Final = {
    "name": "half",
    "attributes": {"profile": {"string": "half"}},
    "nodeSelector": SELECTOR,
    "consumesCounters": [{"counterSet": "cs", "counters": {"memory": {"value": "8Gi"}}, "compatibilityGroups": ["halves"]}],
}
SLICES: Final = (
    published("counters", allNodes=True, sharedCounters=[{"name": "cs", "counters": {"memory": {"value": "16Gi"}}}]),
    published(
        "devices",
        perDeviceNodeSelection=True,
        partitionTypeAttribute="gpu.example.com/profile",
        skipNodeOperations=["*"],
        devices=[SHARED, HALF, {"name": "everywhere", "allNodes": True}],
    ),
    published("on-one-node", nodeName="node-0", devices=[{"name": "d0"}]),
    published("on-some-nodes", nodeSelector=SELECTOR, devices=[{"name": "d0"}]),
    published("lists", nodeName="node-0", devices=[{"name": "d0", "attributes": LISTS}]),
)
ASKED: Final = {
    "deviceClassName": "gpu.example.com",
    "selectors": CEL,
    "allocationMode": "ExactCount",
    "count": 2,
    "tolerations": TOLERATIONS,
    "capacity": {"requests": {"memory": "1Gi"}},
    "derivedAttributes": [{"name": "example.com/half", "expression": "device.attributes['gpu.example.com'].int / 2"}],
}
SPEC: Final = {
    "devices": {
        "requests": [
            {"name": "exact", "exactly": ASKED},
            {"name": "either", "firstAvailable": [{"name": "big", **ASKED}, {"name": "small", **ASKED, "count": 1}]},
        ],
        "constraints": [
            {"requests": ["exact", "either"], "matchAttribute": "example.com/half"},
            {"requests": ["either/big"], "distinctAttribute": "gpu.example.com/index"},
        ],
        "config": [{"requests": ["exact"], "opaque": OPAQUE}],
    }
}
METADATA: Final = {"namespace": "default", "labels": {"a": "b"}, "annotations": {"c": "d"}}
RESULT: Final = {
    "request": "exact",
    "driver": "gpu.example.com",
    "pool": "devices",
    "device": "shared",
    "tolerations": TOLERATIONS,
    **CONDITIONS,
    "shareID": "7c4cbbd4-3a3e-4ba8-8bd5-4f4ef4d4f1e2",
    "consumedCapacity": {"memory": "1Gi"},
    "skipNodeOperations": ["*"],
}
STATUS: Final = {
    "allocation": {
        "devices": {"results": [RESULT], "config": [{"source": "FromClaim", "requests": ["exact"], "opaque": OPAQUE}]},
        "nodeSelector": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-0"]}]}]
        },
        "allocationTimestamp": "2026-01-02T03:04:05Z",
    },
    "reservedFor": [
        {"resource": "pods", "name": "pod-0", "uid": "1234"},
        {"apiGroup": "a.com", "resource": "r", "name": "n", "uid": "2"},
    ],
    "devices": [
        {
            "driver": "gpu.example.com",
            "pool": "devices",
            "device": "shared",
            "shareID": RESULT["shareID"],
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "Prepared",
                    "message": "",
                    "lastTransitionTime": "2026-01-02T03:04:05Z",
                }
            ],
            "data": {"state": "x"},
            "networkData": {"interfaceName": "eth0", "ips": ["10.0.0.1/24"]},
        }
    ],
}
ADMIN_RESULT: Final = {
    "request": "exact",
    "driver": "gpu.example.com",
    "pool": "devices",
    "device": "half",
    "adminAccess": True,
}
ADMIN: Final = {
    "name": "exact",
    "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "All", "adminAccess": True},
}
OTHERS: Final = (
    {
        "apiVersion": DRA,
        "kind": "DeviceClass",
        "metadata": {"name": "gpu.example.com"},
        "spec": {"selectors": CEL, "config": [{"opaque": OPAQUE}], "extendedResourceName": "example.com/gpu"},
    },
    {
        "apiVersion": DRA,
        "kind": "DeviceTaintRule",
        "metadata": {"name": "rule"},
        "spec": {"deviceSelector": {"driver": "gpu.example.com", "pool": "devices", "device": "shared"}, "taint": TAINT},
    },
    {
        "apiVersion": DRA,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "full", "namespace": "default"},
        "spec": {"metadata": {"labels": {"a": "b"}}, "spec": SPEC},
    },
)
CLAIMS: Final = (
    {
        "apiVersion": DRA,
        "kind": "ResourceClaim",
        "metadata": {"name": "full", **METADATA},
        "spec": SPEC,
        "status": STATUS,
    },
    {
        "apiVersion": DRA,
        "kind": "ResourceClaim",
        "metadata": {"name": "admin", "namespace": "wire-admins"},
        "spec": {"devices": {"requests": [ADMIN]}},
        "status": {"allocation": {"devices": {"results": [ADMIN_RESULT]}}},
    },
)


def test_every_field_is_stored_as_it_was_sent(with_all_gates: Cluster) -> None:
    with_all_gates.clear()
    label = {"resource.kubernetes.io/admin-access": "true"}
    with_all_gates.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "wire-admins", "labels": label}})
    with_all_gates.add_node({"metadata": {"name": "node-0"}, "status": {"declaredFeatures": ["DRANodeAllocatableResources"]}})
    for document in (*SLICES, *OTHERS, *CLAIMS):
        sent = encode(decode(document))
        assert list(lost(document, sent)) == []
        for part, send in (("spec", with_all_gates.create), ("status", with_all_gates.update_status)):
            if part in sent:
                stored = send(sent)
                assert list(with_all_gates.warnings) == []
                assert list(lost(sent[part], stored[part])) == []
                assert list(lost(stored[part], encode(decode(stored))[part])) == []
    with_all_gates.clear()


def test_no_field_of_the_model_is_left_out_above() -> None:
    used = {field for document in (*SLICES, *OTHERS, *CLAIMS) for field in fields_said(decode(document))}
    modules = {f"drakit.model.{name}" for name in ("attributes", "claim", "device", "resourceslice", "taintrule")}
    classes = [value for value in vars(model).values() if isinstance(value, type) and value.__module__ in modules]
    known = {f"{cls.__name__}.{field.name}" for cls in classes if attrs.has(cls) for field in attrs.fields(cls)}
    assert known - used == {"Device.source", "DeviceTaintRule.status"}


DROPPED_BY_DEFAULT: Final = {
    "spec.partitionTypeAttribute: dropped",
    "spec.skipNodeOperations: dropped",
    "spec.devices[0].nodeAllocatableResources: dropped",
    "spec.devices[1].consumesCounters[0].compatibilityGroups: dropped",
}


def test_with_default_gates_the_alpha_fields_are_dropped_in_silence(with_default_gates: Cluster) -> None:
    with_default_gates.clear()
    found: set[str] = set()
    for document in SLICES[:-1]:  # lists are refused, see rejections.py
        found |= set(lost(document, with_default_gates.create(document)))
    assert found == DROPPED_BY_DEFAULT
    assert list(with_default_gates.warnings) == []
    with_default_gates.clear()


def fields_said(value: Any) -> Iterator[str]:
    """Fields of attrs classes that are not at their default, as ``Class.field``, through everything inside."""
    if attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            inner = getattr(value, field.name)
            if inner is not None and inner not in ((), {}):
                yield f"{type(value).__name__}.{field.name}"
                yield from fields_said(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from fields_said(inner)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for inner in value:
            yield from fields_said(inner)
