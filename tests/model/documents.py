"""Documents for the tests of the wire, and hypothesis' way of making up a ResourceSlice."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["claim", "device_class", "full_documents", "opaque_parameters", "resource_slice", "slices", "taint_rule"]


def resource_slice(*devices: dict[str, Any], name: str = "slice-a", **spec: Any) -> dict[str, Any]:
    """A ResourceSlice of these devices on one node; ``spec`` replaces fields, None removes them."""
    fields = {
        "driver": "gpu.example.com",
        "pool": {"name": "pool-a", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "node-a",
        "devices": list(devices),
        **spec,
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {key: value for key, value in fields.items() if value is not None},
    }


def device_class(**spec: Any) -> dict[str, Any]:
    """A DeviceClass with this spec."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": spec}


def claim(*requests: dict[str, Any]) -> dict[str, Any]:
    """A ResourceClaim of these requests, without a namespace."""
    spec = {"devices": {"requests": list(requests)}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": spec}


def opaque_parameters(parameters: Any) -> dict[str, Any]:
    """A DeviceClass with these parameters for a driver."""
    return device_class(config=[{"opaque": {"driver": "gpu.example.com", "parameters": parameters}}])


def taint_rule(**fields: Any) -> dict[str, Any]:
    """A DeviceTaintRule whose spec has these fields besides the taint."""
    spec = {"taint": {"key": "k", "effect": "NoExecute"}, **fields}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": spec}


def full_documents() -> list[dict[str, Any]]:
    """One document per kind with every field of it set to something that is not its default."""
    metadata = {
        "name": "it",
        "uid": "0a",
        "labels": {"a": "b"},
        "annotations": {"c": ""},
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "deletionTimestamp": "2026-01-02T03:04:06Z",
        "deletionGracePeriodSeconds": 0,
        "generation": 3,
        "resourceVersion": "77",
        "selfLink": "/it",
        "finalizers": ["resource.kubernetes.io/delete-protection"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1", "controller": True}],
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
    }
    namespaced = metadata | {"namespace": "team"}
    toleration = {"key": "k", "operator": "Exists", "value": "v", "effect": "NoExecute", "tolerationSeconds": 0}
    selectors = [{"cel": {"expression": "true"}}]
    opaque = {"driver": "gpu.example.com", "parameters": {"kind": "GpuConfig", "off": None, "deep": [{"a": [1, 2.5, None]}]}}
    alternative = {
        "deviceClassName": "gpu",
        "selectors": selectors,
        "allocationMode": "ExactCount",
        "count": 2,
        "tolerations": [toleration],
        "capacity": {"requests": {"memory": "10Gi"}},
        "derivedAttributes": [{"name": "a.example/n", "expression": "1"}],
    }
    claim_spec = {
        "devices": {
            "requests": [
                {"name": "a", "exactly": alternative | {"adminAccess": True}},
                {"name": "b", "firstAvailable": [{"name": "big"} | alternative, {"name": "small", "deviceClassName": "gpu"}]},
            ],
            "constraints": [{"requests": ["a"], "matchAttribute": "a.example/n"}, {"distinctAttribute": "a.example/m"}],
            "config": [{"requests": ["a"], "opaque": opaque}],
        }
    }
    result = {
        "request": "b/big",
        "driver": "gpu.example.com",
        "pool": "pool-a",
        "device": "gpu-0",
        "adminAccess": False,
        "tolerations": [toleration],
        "bindingConditions": ["ready"],
        "bindingFailureConditions": ["failed"],
        "shareID": "00000000-0000-4000-8000-000000000000",
        "consumedCapacity": {"memory": "10Gi"},
        "skipNodeOperations": ["*"],
    }
    node_selector = {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}],
                "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}],
            }
        ]
    }
    status = {
        "allocation": {
            "devices": {
                "results": [result],
                "config": [{"source": "FromClass", "requests": ["a"], "opaque": opaque}],
            },
            "nodeSelector": node_selector,
            "allocationTimestamp": "2026-01-02T03:04:05Z",
        },
        "reservedFor": [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "2"}],
        "devices": [
            {
                "driver": "gpu.example.com",
                "pool": "pool-a",
                "device": "gpu-0",
                "shareID": "00000000-0000-4000-8000-000000000000",
                "conditions": [{"type": "Ready", "status": "True"}],
                "data": {"any": [None]},
                "networkData": {"interfaceName": "eth0", "ips": ["10.0.0.1/24"]},
            }
        ],
    }
    taint = {"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-02T03:04:05Z"}
    pod_spec = {
        "nodeName": "node-a",
        "nodeSelector": {"zone": "a"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": node_selector}},
        "tolerations": [toleration],
        "resourceClaims": [
            {"name": "a", "resourceClaimName": "claim"},
            {"name": "b", "resourceClaimTemplateName": "template"},
        ],
    }
    pod_status = {"phase": "Running", "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "p-b-x"}]}
    device = {
        "name": "gpu-0",
        "attributes": {"a": {"int": 0}, "b": {"bool": False}, "c": {"string": ""}, "d": {"version": "1.0.0"}},
        "capacity": {
            "memory": {
                "value": "80Gi",
                "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "max": "80Gi", "step": "1Gi"}},
            },
            "cores": {"value": "4", "requestPolicy": {"default": "1", "validValues": ["1", "2", "4"]}},
        },
        "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}, "compatibilityGroups": ["g"]}],
        "nodeSelector": node_selector,
        "taints": [taint],
        "bindsToNode": True,
        "bindingConditions": ["ready"],
        "bindingFailureConditions": ["failed"],
        "allowMultipleAllocations": True,
        "nodeAllocatableResources": {
            "cpu": {"mapping": {"deviceMultiplier": "2"}, "overhead": {"perPod": "1", "perContainer": "100m"}},
            "memory": {"mapping": {"capacityKey": "memory", "capacityMultiplier": "1"}},
        },
    }
    slice_spec = {
        "driver": "gpu.example.com",
        "pool": {"name": "pool/a", "generation": 0, "resourceSliceCount": 2},
        "perDeviceNodeSelection": True,
        "devices": [device, {"name": "gpu-1", "allNodes": True}, {"name": "gpu-2", "nodeName": "node-a"}],
        "partitionTypeAttribute": "gpu.example.com/type",
        "skipNodeOperations": ["NodeUnprepareResources"],
    }
    counter_spec = {
        "driver": "gpu.example.com",
        "pool": {"name": "pool/a", "generation": 0, "resourceSliceCount": 2},
        "nodeSelector": node_selector,
        "sharedCounters": [{"name": "s", "counters": {"c": {"value": "4"}}}],
    }
    class_spec = {"selectors": selectors, "config": [{"opaque": opaque}], "extendedResourceName": "example.com/gpu"}
    rule_spec = {"deviceSelector": {"driver": "gpu.example.com", "pool": "pool-a", "device": "gpu-0"}, "taint": taint}
    node_spec = {"unschedulable": True, "taints": [taint]}
    dra = "resource.k8s.io/v1"
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": node_spec},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata},
        {"apiVersion": "v1", "kind": "Pod", "metadata": namespaced, "spec": pod_spec, "status": pod_status},
        {"apiVersion": dra, "kind": "DeviceClass", "metadata": metadata, "spec": class_spec},
        {"apiVersion": dra, "kind": "ResourceSlice", "metadata": metadata, "spec": slice_spec},
        {"apiVersion": dra, "kind": "ResourceSlice", "metadata": metadata, "spec": counter_spec},
        {"apiVersion": dra, "kind": "ResourceClaim", "metadata": namespaced, "spec": claim_spec, "status": status},
        {
            "apiVersion": dra,
            "kind": "ResourceClaimTemplate",
            "metadata": namespaced,
            "spec": {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": claim_spec},
        },
        {"apiVersion": dra, "kind": "DeviceTaintRule", "metadata": metadata, "spec": rule_spec},
    ]


# -- made-up slices --------------------------------------------------------------------------------------------------

_labels = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
_names = st.from_regex(r"([a-z]{1,5}\.example/)?[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
_ints = st.integers(-(2**63), 2**63 - 1)
_versions = st.from_regex(r"[0-9]\.[0-9]\.[0-9](-rc\.1)?", fullmatch=True)
_quantities = st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,3})?(m|k|M|G|Ki|Mi|Gi|e3)?", fullmatch=True)
_scalars: dict[str, st.SearchStrategy[Any]] = {
    "int": _ints,
    "bool": st.booleans(),
    "string": st.text(max_size=20),
    "version": _versions,
}


def _objects(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


def _some(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """A list that is not empty: what says nothing is left out on the wire."""
    return st.lists(items, min_size=1, max_size=3)


def _named(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(_names, values, min_size=1, max_size=3)


def _attributes() -> st.SearchStrategy[dict[str, Any]]:
    scalars = [st.fixed_dictionaries({kind: values}) for kind, values in _scalars.items()]
    lists = [st.fixed_dictionaries({f"{kind}s": _some(values)}) for kind, values in _scalars.items()]
    return st.one_of(*scalars, *lists)


def _capacities() -> st.SearchStrategy[dict[str, Any]]:
    range_ = _objects({"min": _quantities}, {"max": _quantities, "step": _quantities})
    policy = st.one_of(
        _objects({"default": _quantities}, {}),
        _objects({"default": _quantities, "validValues": _some(_quantities)}, {}),
        _objects({"default": _quantities, "validRange": range_}, {}),
    )
    return _objects({"value": _quantities}, {"requestPolicy": policy})


def _counters() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(_labels, st.fixed_dictionaries({"value": _quantities}), min_size=1, max_size=3)


def _node_selectors() -> st.SearchStrategy[dict[str, Any]]:
    words = st.lists(st.text(max_size=5), min_size=1, max_size=3)
    listing = _objects({"key": _names, "operator": st.sampled_from(["In", "NotIn"]), "values": words}, {})
    asking = _objects({"key": _names, "operator": st.sampled_from(["Exists", "DoesNotExist"])}, {})
    number = st.integers(-9, 9).map(str).map(lambda text: [text])
    comparing = _objects({"key": _names, "operator": st.sampled_from(["Gt", "Lt"]), "values": number}, {})
    name = _objects({"key": st.just("metadata.name"), "operator": st.just("In"), "values": _names.map(lambda text: [text])}, {})
    term = _objects({}, {"matchExpressions": _some(listing | asking | comparing), "matchFields": _some(name)})
    return st.fixed_dictionaries({"nodeSelectorTerms": _some(term)})


def _devices() -> st.SearchStrategy[dict[str, Any]]:
    taint = _objects(
        {"key": _names, "effect": st.sampled_from(["None", "NoSchedule", "NoExecute"])},
        {"value": _labels, "timeAdded": st.just("2026-01-02T03:04:05Z")},
    )
    consumption = _objects({"counterSet": _labels, "counters": _counters()}, {"compatibilityGroups": _some(_labels)})
    optional = {
        "attributes": _named(_attributes()),
        "capacity": _named(_capacities()),
        "consumesCounters": _some(consumption),
        "nodeName": _labels,
        "nodeSelector": _node_selectors(),
        "allNodes": st.booleans(),
        "taints": _some(taint),
        "allowMultipleAllocations": st.booleans(),
        "bindsToNode": st.booleans(),
    }
    return _objects({"name": _labels}, optional)


def slices() -> st.SearchStrategy[dict[str, Any]]:
    """ResourceSlices of any content; they need not be valid, only well-formed."""
    counters = st.lists(st.fixed_dictionaries({"name": _labels, "counters": _counters()}), max_size=2)
    return st.builds(
        lambda devices, sets, selector: resource_slice(
            devices=devices or (None if sets else []),
            sharedCounters=sets or None,
            nodeSelector=selector,
            nodeName=None if selector else "node-a",
        ),
        st.lists(_devices(), max_size=3),
        counters,
        st.none() | _node_selectors(),
    )
