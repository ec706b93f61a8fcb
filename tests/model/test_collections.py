"""What nobody can change: the mappings of the model, and the objects that hold them; and names as Kubernetes allows them."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from drakit.model import (
    Device,
    DeviceClaim,
    DeviceClaimConfiguration,
    ObjectMeta,
    OpaqueDeviceConfiguration,
    ResourceClaim,
    ResourceClaimSpec,
)
from drakit.model.collections import FrozenDict, frozen_mapping
from drakit.model.names import is_dns_label, is_dns_subdomain, is_label_name, is_label_value


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 2),
        lambda d: d.__delitem__("a"),
        lambda d: d.clear(),
        lambda d: d.pop("a"),
        lambda d: d.pop("b", None),
        lambda d: d.popitem(),
        lambda d: d.setdefault("a", 1),
        lambda d: d.setdefault("b", 1),
        lambda d: d.update({"b": 1}),
        lambda d: d.update(b=1),
        lambda d: d.update(),
        lambda d: d.__ior__({"b": 1}),
    ],
    ids=map(str, range(12)),
)
def test_a_frozen_dict_cannot_be_changed_by_any_method(change: Callable[[Any], object]) -> None:
    frozen = FrozenDict(a=1)
    with pytest.raises(TypeError, match="a FrozenDict cannot be changed"):
        change(frozen)
    assert frozen == {"a": 1}


def test_a_frozen_dict_hashes_where_its_values_do_whatever_their_order() -> None:
    assert hash(FrozenDict(a=1, b=2)) == hash(FrozenDict(b=2, a=1))
    assert len({FrozenDict(a=1), FrozenDict(a=1), FrozenDict(a=2)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(FrozenDict(a=[1]))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])  # noqa: S301 - our own
def test_a_copy_of_a_frozen_dict_is_equal_in_the_same_order_and_frozen_too(copied: Callable[[Any], Any]) -> None:
    frozen = FrozenDict({"b": FrozenDict(x=1), "a": 2})
    again = copied(frozen)
    assert again == frozen
    assert list(again) == ["b", "a"]
    assert type(again) is type(again["b"]) is FrozenDict


def test_json_writes_a_frozen_dict_as_a_dict() -> None:
    assert json.dumps(FrozenDict(a=FrozenDict(b=[1]))) == '{"a": {"b": [1]}}'


def test_the_mapping_a_frozen_dict_was_made_from_may_change_without_changing_it() -> None:
    given = {"a": 1}
    frozen = frozen_mapping(given)
    given["a"] = 2
    assert frozen == {"a": 1}
    assert frozen_mapping(frozen) is frozen


def configured(parameters: dict[str, Any]) -> ResourceClaim:
    """A claim with opaque parameters."""
    opaque = OpaqueDeviceConfiguration(driver="gpu.example.com", parameters=parameters)
    spec = ResourceClaimSpec(devices=DeviceClaim(config=[DeviceClaimConfiguration(opaque=opaque)]))
    return ResourceClaim(metadata=ObjectMeta(name="c"), spec=spec)


OBJECTS = [
    pytest.param(Device("d", attributes={"model": "m1", "lanes": [1, 2]}, capacity={"memory": "80Gi"}), id="device"),
    pytest.param(configured({"kind": "GpuConfig", "strategy": "x"}), id="claim"),
]


@pytest.mark.parametrize("made", OBJECTS)
def test_objects_of_the_model_hash_where_their_values_do(made: object) -> None:
    assert hash(made) == hash(copy.deepcopy(made))
    assert {made: 1}[copy.deepcopy(made)] == 1


@pytest.mark.parametrize("made", [*OBJECTS, pytest.param(configured({"deep": {"list": [1, {"x": None}]}}), id="deep")])
def test_objects_of_the_model_are_pickled_and_copied(made: object) -> None:
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - our own
    assert copy.deepcopy(made) == made


def test_opaque_parameters_do_not_change_with_what_they_were_made_from() -> None:
    given: dict[str, Any] = {"sharing": {"clients": [1, 2]}}
    made = configured(given)
    given["sharing"]["clients"].append(3)
    given["more"] = True
    (entry,) = made.spec.devices.config
    assert entry.opaque is not None
    assert entry.opaque.parameters == {"sharing": {"clients": [1, 2]}}


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "label", "subdomain", "label_name", "label_value"),
    [
        ("a", True, True, True, True),
        ("a-b", True, True, True, True),
        ("0", True, True, True, True),
        ("a" * 63, True, True, True, True),
        ("a" * 64, False, True, False, False),
        ("a." + "b" * 251, False, True, False, False),
        ("a." + "b" * 252, False, False, False, False),
        ("", False, False, False, True),
        ("A", False, False, True, True),
        ("a_b", False, False, True, True),
        ("a.b", False, True, True, True),
        ("a..b", False, False, True, True),
        ("-a", False, False, False, False),
        ("a-", False, False, False, False),
        ("a.-b", False, False, True, True),
        (".a", False, False, False, False),
        ("a\n", False, False, False, False),
        ("ä", False, False, False, False),
        ("a b", False, False, False, False),
        ("٣", False, False, False, False),
        ("example.com/a", False, False, True, False),
        ("example.com/A_b", False, False, True, False),
        ("Example.com/a", False, False, False, False),
        ("example.com/", False, False, False, False),
        ("/a", False, False, False, False),
        ("a/b/c", False, False, False, False),
    ],
)
def test_names_are_what_kubernetes_allows(name: str, label: bool, subdomain: bool, label_name: bool, label_value: bool) -> None:
    assert is_dns_label(name) == label
    assert is_dns_subdomain(name) == subdomain
    assert is_label_name(name) == label_name
    assert is_label_value(name) == label_value


def test_a_subdomain_may_be_held_to_fewer_bytes() -> None:
    assert is_dns_subdomain("a" * 63, limit=63)
    assert not is_dns_subdomain("a" * 64, limit=63)
