from __future__ import annotations

import copy
import json
from typing import Any, get_args

import attrs
import pytest
from hypothesis import HealthCheck, given, settings

from drakit.model import (
    AllocationResult,
    DeviceClass,
    DeviceTaintRule,
    DeviceTaintSelector,
    InvalidObject,
    Node,
    Pod,
    Quantity,
    ResourceClaim,
    ResourceSlice,
    only_node,
)
from drakit.model.wire import KINDS, KubernetesObject, decode, decode_as, encode, encode_part
from tests.model.documents import claim, full_documents, opaque_parameters, resource_slice, slices, taint_rule


def _kind(document: dict[str, Any]) -> str:
    return f"{document['kind']} of {len(document.get('spec', ()))}"


@pytest.mark.parametrize("document", full_documents(), ids=_kind)
def test_every_field_of_every_kind_survives_reading_and_writing(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    decoded = decode(document)
    assert encode(decoded) == before
    assert document == before
    assert decode(json.loads(json.dumps(encode(decoded)))) == decoded


def test_every_kind_has_a_full_document() -> None:
    assert {document["kind"] for document in full_documents()} == set(KINDS)
    assert {kind.type for kind in KINDS.values()} == set(get_args(KubernetesObject))


@given(slices())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_slice_survives_reading_and_writing(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    decoded = decode(document)
    assert encode(decoded) == before
    assert decode(encode(decoded)) == decoded


def test_what_says_nothing_is_not_written() -> None:
    document = resource_slice({"name": "gpu-0", "attributes": {}, "taints": [], "nodeName": None})
    assert encode(decode(document))["spec"]["devices"] == [{"name": "gpu-0"}]


def test_an_empty_slice_is_written_as_one() -> None:
    empty = resource_slice()
    assert empty["spec"]["devices"] == []
    assert encode(decode(empty)) == empty


def test_a_slice_from_the_cluster_may_leave_its_empty_lists_out() -> None:
    from_cluster = resource_slice(devices=None)
    from_cluster["metadata"]["uid"] = "0a"
    decoded = decode(from_cluster)
    assert isinstance(decoded, ResourceSlice)
    assert decoded.spec.devices == ()


def test_false_zero_and_the_empty_string_are_written() -> None:
    attributes = {"a": {"int": 0}, "b": {"bool": False}, "c": {"string": ""}}
    device = {"name": "gpu-0", "attributes": attributes, "allowMultipleAllocations": False}
    assert encode(decode(resource_slice(device)))["spec"]["devices"] == [device]


def test_a_beta_document_is_written_in_the_newest_version() -> None:
    document = resource_slice({"name": "gpu-0"})
    assert encode(decode(document | {"apiVersion": "resource.k8s.io/v1beta2"})) == document
    old_rule = taint_rule() | {"apiVersion": "resource.k8s.io/v1alpha3"}
    assert encode(decode(old_rule))["apiVersion"] == "resource.k8s.io/v1"


def test_what_stays_in_the_process_is_not_written() -> None:
    decoded = decode(resource_slice({"name": "gpu-0"}))
    assert isinstance(decoded, ResourceSlice)
    with_source = attrs.evolve(decoded.spec.devices[0], source=object())
    assert encode_part(with_source) == {"name": "gpu-0"}


def test_a_part_is_read_and_written_by_itself() -> None:
    allocation = AllocationResult(node_selector=only_node("node-a"))
    written = encode_part(allocation)
    field = {"key": "metadata.name", "operator": "In", "values": ["node-a"]}
    assert written == {"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    assert decode_as(written, AllocationResult, "allocation") == allocation
    with pytest.raises(InvalidObject, match=r'^allocation: unknown field "nodeselector", did you mean "nodeSelector"\?$'):
        decode_as({"nodeselector": {}}, AllocationResult, "allocation")


def test_namespaced_objects_are_in_the_default_namespace_unless_they_say_otherwise() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    decoded = [decode(claim()), decode(pod)]
    assert [obj.metadata.key for obj in decoded] == ["default/c", "default/p"]
    team = decode(pod | {"metadata": {"name": "p", "namespace": "team"}})
    assert isinstance(team, Pod)
    assert team.key == "team/p"
    cluster_scoped = decode(resource_slice())
    assert cluster_scoped.metadata.namespace == ""


def test_a_generated_name_is_a_name() -> None:
    decoded = decode(claim() | {"metadata": {"generateName": "c-"}})
    assert isinstance(decoded, ResourceClaim)
    assert (decoded.metadata.name, decoded.metadata.generate_name) == ("", "c-")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (4, "4"),
        (-4, "-4"),
        (0, "0"),
        (1.5, "1500m"),
        (1e22, "1e22"),
        (1e-10, "1n"),
        (2**80, str(2**80)),
        ("1500m", "1.5"),
        (" 4Gi ", "4Gi"),
    ],
)
def test_a_quantity_is_text_or_a_number(written: object, value: str) -> None:
    decoded = decode(resource_slice({"name": "a", "capacity": {"memory": {"value": written}}}))
    assert isinstance(decoded, ResourceSlice)
    assert decoded.spec.devices[0].capacity["memory"].value == Quantity.parse(value)


def test_a_quantity_is_written_as_it_was_read() -> None:
    device = {"name": "a", "capacity": {"memory": {"value": "1024Mi"}}}
    assert encode(decode(resource_slice(device)))["spec"]["devices"] == [device]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"apiVersion": "x/v1", "off": None, "list": [None, {"off": None}], "n": 1.5, "Unknown": {"a": True}},
        {"a": {"b": [[], {}, ""]}},
    ],
)
def test_opaque_parameters_are_kept_as_they_are(parameters: dict[str, Any]) -> None:
    document = opaque_parameters(parameters)
    decoded = decode(document)
    assert isinstance(decoded, DeviceClass)
    opaque = decoded.spec.config[0].opaque
    assert opaque is not None
    assert opaque.parameters == parameters
    assert encode(decoded) == document


def test_opaque_parameters_of_any_depth_are_kept_and_written_or_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(600):
        deep = {"a": deep}
    try:
        written = encode(decode(opaque_parameters(deep)))
    except InvalidObject as refused:
        assert "too deeply" in str(refused)  # noqa: PT017 - either answer is right
    else:
        assert json.dumps(written["spec"]["config"][0]["opaque"]["parameters"]) == json.dumps(deep)


def test_a_taint_rule_without_selector_is_not_one_with_an_empty_selector() -> None:
    absent, empty, null = decode(taint_rule()), decode(taint_rule(deviceSelector={})), decode(taint_rule(deviceSelector=None))
    assert isinstance(absent, DeviceTaintRule)
    assert isinstance(empty, DeviceTaintRule)
    assert absent.spec.device_selector is None
    assert empty.spec.device_selector == DeviceTaintSelector()
    assert absent == null != empty
    assert "deviceSelector" not in encode(absent)["spec"]
    assert encode(empty)["spec"]["deviceSelector"] == {}


def test_a_taint_rule_may_come_with_the_status_the_cluster_gave_it() -> None:
    status = {"conditions": [{"type": "EvictionInProgress", "status": "False", "observedGeneration": 1}]}
    decoded = decode(taint_rule() | {"status": status})
    assert isinstance(decoded, DeviceTaintRule)
    assert decoded.spec.taint.key == "k"


def test_a_node_reads_its_labels() -> None:
    decoded = decode({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"zone": "a"}}})
    assert isinstance(decoded, Node)
    assert (decoded.name, dict(decoded.labels)) == ("n", {"zone": "a"})
