from __future__ import annotations

import datetime as dt
import sys
from typing import Any

import pytest

from drakit.model import (
    InvalidObject,
    ResourceSlice,
)
from drakit.model.wire import KINDS, decode
from tests.model.documents import claim, device_class, opaque_parameters, resource_slice


def faults(document: dict[str, Any]) -> list[str]:
    """What is wrong with a document, as ``path: message`` each."""
    with pytest.raises(InvalidObject) as refused:
        decode(document)
    return [str(fault) for fault in refused.value.faults]


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (
            resource_slice({"name": "a", "atributes": {}}),
            'spec.devices[0]: unknown field "atributes", did you mean "attributes"?',
        ),
        (
            resource_slice({"name": "a"}, {"name": "b", "attributes": {"m": {"sting": "x"}}}),
            'spec.devices[1].attributes[m]: unknown field "sting", did you mean "string"?',
        ),
        (resource_slice(nodename="n"), 'spec: unknown field "nodename", did you mean "nodeName"?'),
        (resource_slice(node_name="n"), 'spec: unknown field "node_name", did you mean "nodeName"?'),
        (resource_slice() | {"sepc": {}}, 'unknown field "sepc", did you mean "spec"?'),
        (resource_slice() | {"zzz": {}}, 'unknown field "zzz"'),
        (device_class(selectors=[{"cel": {"expression": "true", "x": 1}}]), 'spec.selectors[0].cel: unknown field "x"'),
        (
            claim({"name": "a", "deviceClassName": "gpu"}),
            'spec.devices.requests[0]: unknown field "deviceClassName"',
        ),
    ],
)
def test_an_unknown_field_is_an_error_that_names_the_nearest_known_one(document: dict[str, Any], fault: str) -> None:
    assert faults(document) == [fault]


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        ({"count": "2"}, '.count: must be an integer, not the string "2"'),
        ({"count": 2.0}, ".count: must be an integer, not the number 2.0"),
        ({"count": True}, ".count: must be an integer, not true"),
        ({"count": 2**63}, ".count: does not fit in 64 bits"),
        ({"count": -(2**63) - 1}, ".count: does not fit in 64 bits"),
        ({"count": [1]}, ".count: must be an integer, not a list"),
        ({"adminAccess": "true"}, '.adminAccess: must be true or false, not the string "true"'),
        ({"adminAccess": 1}, ".adminAccess: must be true or false, not the number 1"),
        ({"deviceClassName": 7}, ".deviceClassName: must be a string, not the number 7"),
        ({"deviceClassName": False}, ".deviceClassName: must be a string, not false"),
        ({"deviceClassName": {}}, ".deviceClassName: must be a string, not an object"),
        ({"selectors": {}}, ".selectors: must be a list, not an object"),
        ({"selectors": "true"}, '.selectors: must be a list, not the string "true"'),
        ({"selectors": [None]}, ".selectors[0]: must be an object, not null"),
        ({"tolerations": [[]]}, ".tolerations[0]: must be an object, not a list"),
        ({"capacity": []}, ".capacity: must be an object, not a list"),
        ({"capacity": {"requests": [1]}}, ".capacity.requests: must be an object, not a list"),
        ({"capacity": {"requests": {1: "1"}}}, ".capacity.requests: key 1 must be a string: put it in quotes"),
        ({"capacity": {"requests": {"memory": True}}}, ".capacity.requests[memory]: must be a quantity such as 80Gi, not true"),
        (
            {"capacity": {"requests": {"memory": "80 GiB"}}},
            ".capacity.requests[memory]: '80 GiB' is not a quantity: did you mean '80Gi'?",
        ),
    ],
)
def test_no_value_is_taken_for_one_of_another_type(request_: dict[str, Any], fault: str) -> None:
    document = claim({"name": "a", "exactly": request_})
    assert faults(document) == [f"spec.devices.requests[0].exactly{fault}"]


def test_64_bit_integers_are_read_to_their_ends() -> None:
    for number in (2**63 - 1, -(2**63)):
        decoded = decode(resource_slice({"name": "a", "attributes": {"n": {"int": number}}}))
        assert isinstance(decoded, ResourceSlice)
        assert decoded.spec.devices[0].attributes["n"].value == number


def test_a_yaml_date_where_text_belongs_is_explained() -> None:
    document = resource_slice({"name": "a", "attributes": {"built": {"string": dt.date(2026, 1, 2)}}})
    (fault,) = faults(document)
    assert fault.startswith("spec.devices[0].attributes[built].string: ")
    assert fault.endswith("must be a string, not 2026-01-02, which YAML reads as a date: put it in quotes")


def test_an_unknown_operator_is_answered_with_the_known_ones() -> None:
    requirement = {"key": "zone", "operator": "in"}
    selector = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    (fault,) = faults(resource_slice(nodeName=None, nodeSelector=selector))
    assert fault.startswith("spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].operator: ")
    assert fault.endswith('must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, not the string "in"')


def test_all_faults_are_reported_in_one_go_with_their_paths() -> None:
    document = resource_slice(
        {"name": "a", "attributes": {"model": {"int": "3"}, "gpu.example.com/cores": {"bool": 1}}},
        {"capacity": {"memory": {"value": "1K"}}, "taints": [{"effect": "NoSchedule"}]},
        driver=5,
        pool={"name": "p", "resourceSliceCount": 1, "generatoin": 1},
    )
    assert sorted(faults(document)) == [
        "spec.devices[0].attributes[gpu.example.com/cores].bool: must be true or false, not the number 1",
        'spec.devices[0].attributes[model].int: must be an integer, not the string "3"',
        "spec.devices[1].capacity[memory].value: '1K' is not a quantity: did you mean '1k'?",
        "spec.devices[1].name: is required",
        "spec.devices[1].taints[0].key: is required",
        "spec.driver: must be a string, not the number 5",
        'spec.pool: unknown field "generatoin", did you mean "generation"?',
    ]


def test_the_message_names_the_object_on_every_line() -> None:
    document = resource_slice({"attributes": {"m": {"int": ""}}}, name="slice-a")
    with pytest.raises(InvalidObject) as refused:
        decode(document)
    assert refused.value.what == "ResourceSlice slice-a"
    assert all(line.startswith("ResourceSlice slice-a: spec.devices[0]") for line in str(refused.value).splitlines())


def test_null_is_an_absent_field() -> None:
    with_nulls = resource_slice({"name": "a", "attributes": None, "taints": None, "bindsToNode": None})
    with_nulls["spec"]["sharedCounters"] = None
    with_nulls["metadata"]["labels"] = None
    assert decode(with_nulls) == decode(resource_slice({"name": "a"}))
    assert faults(resource_slice({"name": None})) == ["spec.devices[0].name: is required"]


def test_a_slice_written_by_hand_must_not_forget_its_devices() -> None:
    (fault,) = faults(resource_slice(devices=None))
    assert fault.startswith("spec.devices: is required")
    assert "`devices: []`" in fault


def test_a_missing_name_is_reported_with_the_other_faults() -> None:
    nameless = device_class(selectors=1)
    nameless["metadata"] = {"labels": {}}
    assert sorted(faults(nameless)) == [
        "metadata.name: is required",
        "spec.selectors: must be a list, not the number 1",
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": None}, "kind: is required: a document must say what it is"),
        ({"kind": 5}, "kind: is required: a document must say what it is"),
        ({"apiVersion": None}, 'apiVersion: is required: "resource.k8s.io/v1"'),
        ({"apiVersion": "v1"}, 'apiVersion: "v1" cannot be read: must be resource.k8s.io/v1 or resource.k8s.io/v1beta2'),
        (
            {"apiVersion": "resource.k8s.io/v1beta1"},
            'apiVersion: "resource.k8s.io/v1beta1" cannot be read: must be resource.k8s.io/v1 or resource.k8s.io/v1beta2',
        ),
        ({"metadata": None}, "metadata: is required"),
        ({"metadata": {}}, "metadata.name: is required"),
        ({"metadata": {"name": ""}}, "metadata.name: is required"),
        ({"metadata": "gpu"}, 'metadata: must be an object, not the string "gpu"'),
        ({"spec": []}, "spec: must be an object, not a list"),
        ({5: 1}, "key 5 must be a string: put it in quotes"),
    ],
)
def test_a_document_must_say_what_it_is(change: dict[Any, Any], fault: str) -> None:
    assert faults(device_class() | change) == [fault]


def test_an_unknown_kind_is_answered_with_the_nearest_and_all_known_ones() -> None:
    (fault,) = faults(device_class() | {"kind": "deviceclass"})
    assert fault.startswith('kind: unknown kind "deviceclass", did you mean "DeviceClass"?; known are DeviceClass, ')
    assert all(kind in fault for kind in KINDS)
    (fault,) = faults(device_class() | {"kind": "Xyzzy"})
    assert fault.startswith('kind: unknown kind "Xyzzy"; known are ')


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "Node", "spec": {"podCIDR": "10.0.0.0/24", "taints": [{"key": "k", "effect": "NoSchedule", "x": 1}]}},
        {"kind": "Pod", "spec": {"containers": [{"name": "c"}], "resourceClaims": [{"name": "a", "x": 1}]}, "x": 1},
        {"kind": "Namespace", "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}},
    ],
    ids=lambda document: document["kind"],
)
def test_of_core_kinds_unknown_fields_are_passed_over(document: dict[str, Any]) -> None:
    decoded = decode({"apiVersion": "v1", "metadata": {"name": "it", "clusterName": "x"}} | document)
    assert decoded.metadata.name == "it"


def test_known_fields_of_core_kinds_are_still_checked() -> None:
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {1: "a"}}, "spec": {"nodeName": 5}}
    assert sorted(faults(document)) == [
        "metadata.labels: key 1 must be a string: put it in quotes",
        "spec.nodeName: must be a string, not the number 5",
    ]


def test_what_stays_in_the_process_is_not_read() -> None:
    assert faults(resource_slice({"name": "a", "source": 1})) == ['spec.devices[0]: unknown field "source"']


@pytest.mark.parametrize("written", [float("nan"), float("inf"), "", "1K", [], {}, False])
def test_what_is_no_quantity_is_refused_with_its_path(written: object) -> None:
    (fault,) = faults(resource_slice({"name": "a", "capacity": {"memory": {"value": written}}}))
    assert fault.startswith("spec.devices[0].capacity[memory].value: ")
    assert "quantity" in fault


def test_opaque_parameters_must_be_an_object() -> None:
    assert faults(opaque_parameters(["a"])) == ["spec.config[0].opaque.parameters: must be an object, not a list"]


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}], ids=["lists", "objects"])
def test_nesting_that_makes_no_sense_ends_in_invalid_object(wrap: Any) -> None:
    deep: Any = 0
    for _ in range(sys.getrecursionlimit() * 2):
        deep = wrap(deep)
    for document in (resource_slice(devices=deep), device_class() | {"metadata": deep}, opaque_parameters([deep])):
        assert faults(document)


@pytest.mark.parametrize(
    ("nodes", "given"),
    [
        ({"nodeName": None}, "none"),
        ({"allNodes": True}, "nodeName and allNodes"),
        ({"nodeName": None, "allNodes": True, "perDeviceNodeSelection": True}, "allNodes and perDeviceNodeSelection"),
    ],
)
def test_a_slice_must_say_in_one_way_for_which_nodes_it_is(nodes: dict[str, Any], given: str) -> None:
    (fault,) = faults(resource_slice(**nodes))
    assert fault.startswith("spec: exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection is required")
    assert fault.endswith(f"not {given}")


def test_a_slice_written_by_hand_must_have_devices_or_say_that_it_has_none() -> None:
    document = resource_slice()
    del document["spec"]["devices"]
    (fault,) = faults(document)
    assert fault.startswith("spec.devices: is required")
    document["metadata"]["uid"] = "1234"
    assert decode(document).metadata.uid == "1234"


@pytest.mark.parametrize(
    "time", ["yesterday", "2026-02-30T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31 12:00:00Z", "2026-01-31"]
)
def test_a_time_is_one_that_there_is(time: str) -> None:
    taint = {"key": "broken", "effect": "NoSchedule", "timeAdded": time}
    expected = f'spec.devices[0].taints[0].timeAdded: must be a time such as 2026-01-31T12:00:00Z, not the string "{time}"'
    assert faults(resource_slice({"name": "a", "taints": [taint]})) == [expected]
