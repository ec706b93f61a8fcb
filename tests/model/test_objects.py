from __future__ import annotations

from typing import Any

import pytest
from attrs.exceptions import FrozenInstanceError

from drakit.model import (
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClass,
    DeviceID,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    InvalidObject,
    Node,
    ObjectMeta,
    attribute,
    attributes,
    device_class,
    qualify,
    quantity,
    semver,
    split_name,
)
from drakit.model.errors import DrakitError, Fault, did_you_mean


def test_objects_cannot_be_changed() -> None:
    device = Device("gpu-0", attributes={"model": "m1"}, capacity={"memory": "80Gi"})
    with pytest.raises(FrozenInstanceError):
        device.name = "gpu-1"  # type: ignore[misc]  # it is frozen
    with pytest.raises(TypeError):
        device.attributes["model"] = attribute("m2")  # type: ignore[index]  # it is frozen
    with pytest.raises(TypeError):
        device.capacity["memory"] = DeviceCapacity(1)  # type: ignore[index]  # it is frozen


def test_what_an_object_was_made_from_may_change_without_changing_it() -> None:
    labels, taints = {"zone": "a"}, [DeviceTaint(key="k", effect="None")]
    meta, device = ObjectMeta(name="n", labels=labels), Device("d", taints=taints)
    labels["zone"] = "b"
    taints.clear()
    assert dict(meta.labels) == {"zone": "a"}
    assert [taint.key for taint in device.taints] == ["k"]


def test_the_order_of_attributes_is_kept() -> None:
    assert list(Device("d", attributes={"z": 1, "a": 2, "m": 3}).attributes) == ["z", "a", "m"]


@pytest.mark.parametrize(
    ("value", "kind", "made"),
    [
        (5, "int", DeviceAttribute(int_=5)),
        (0, "int", DeviceAttribute(int_=0)),
        (True, "bool", DeviceAttribute(bool_=True)),
        (False, "bool", DeviceAttribute(bool_=False)),
        ("", "string", DeviceAttribute(string="")),
        ("m1", "string", DeviceAttribute(string="m1")),
        (semver("1.2.3"), "version", DeviceAttribute(version="1.2.3")),
        ([1, 2], "ints", DeviceAttribute(ints=(1, 2))),
        ((True,), "bools", DeviceAttribute(bools=(True,))),
        (("a", "b"), "strings", DeviceAttribute(strings=("a", "b"))),
        ((n for n in (1, 2)), "ints", DeviceAttribute(ints=(1, 2))),
        (DeviceAttribute(versions=["1.0.0"]), "versions", DeviceAttribute(versions=("1.0.0",))),
    ],
)
def test_a_plain_value_becomes_the_attribute_of_its_kind(value: Any, kind: str, made: DeviceAttribute) -> None:
    converted = attribute(value)
    assert converted == made
    assert converted.kind == kind
    assert type(next(value for _, value in converted.set_values())) is type(converted.value)


@pytest.mark.parametrize("wrong", [1.5, None, {"a": 1}, [], [1, "a"], [True, 1], [1.5], [None], [[1]], b"bytes", object()])
def test_any_other_value_is_no_attribute_and_says_what_is(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"must be an int, a bool, a str, semver\(...\)"):
        attribute(wrong)


def test_a_wrong_attribute_is_named_in_the_error() -> None:
    with pytest.raises(TypeError, match=r"attribute 'power': 1\.5 cannot be an attribute"):
        Device("d", attributes={"model": "m1", "power": 1.5})


def test_an_attribute_or_capacity_of_none_is_left_out() -> None:
    device = Device("d", attributes={"model": "m1", "numa": None}, capacity={"memory": 1, "cores": None})
    assert list(device.attributes) == ["model"]
    assert list(device.capacity) == ["memory"]
    assert attributes({}) == {}


def test_an_attribute_prints_as_its_value() -> None:
    printed = [str(attribute(value)) for value in (True, False, 5, "m1", [1, 2], ["a"])]
    assert printed == ["true", "false", "5", "m1", "[1, 2]", "['a']"]
    assert str(semver("1.2.3")) == "1.2.3"


def test_an_attribute_with_nothing_set_has_neither_kind_nor_value() -> None:
    nothing = DeviceAttribute()
    assert (nothing.kind, nothing.value, list(nothing.set_values())) == ("", None, [])


def test_every_value_that_is_set_is_listed() -> None:
    both = DeviceAttribute(string="a", int_=0, bools=[False])
    assert list(both.set_values()) == [("int", 0), ("string", "a"), ("bools", (False,))]


@pytest.mark.parametrize("amount", [85899345920, "80Gi", quantity("80Gi"), DeviceCapacity("80Gi")])
def test_plain_amounts_become_capacities(amount: object) -> None:
    assert Device("d", capacity={"memory": amount}).capacity["memory"].value == quantity("80Gi")


@pytest.mark.parametrize(("wrong", "error"), [(1.5, TypeError), (True, TypeError), ("80 GiB", ValueError)])
def test_a_capacity_that_is_not_exact_is_refused(wrong: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="is not a quantity"):
        Device("d", capacity={"memory": wrong})


def test_plain_amounts_become_counters() -> None:
    counters = CounterSet(name="s", counters={"a": 1, "b": "2k", "c": Counter(3)}).counters
    assert {name: counter.value.to_int() for name, counter in counters.items()} == {"a": 1, "b": 2000, "c": 3}


def test_an_attribute_is_found_by_its_qualified_name_and_in_the_drivers_domain_by_the_short_one() -> None:
    device = Device("d", attributes={"model": "own", "gpu.example.com/serial": "s", "other.example.com/model": "foreign"})

    def found(name: str) -> object:
        value = device.attribute(name, "gpu.example.com")
        return value and value.value

    assert found("gpu.example.com/model") == "own"
    assert found("gpu.example.com/serial") == "s"
    assert found("other.example.com/model") == "foreign"
    assert found("other.example.com/serial") is None
    assert found("gpu.example.com/none") is None
    assert device.attribute("xgpu.example.com/model", "gpu.example.com") is None


def test_a_falsy_attribute_is_found_too() -> None:
    value = Device("d", attributes={"index": 0}).attribute("a.example/index", "a.example")
    assert value is not None
    assert value.value == 0


def test_names_are_qualified_and_split() -> None:
    assert qualify("model", "a.example") == "a.example/model"
    assert qualify("b.example/model", "a.example") == "b.example/model"
    assert split_name("b.example/model") == ("b.example", "model")
    assert split_name("model") == ("", "model")
    assert split_name(qualify("model", "a.example")) == ("a.example", "model")


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        (DeviceTaintSelector(), True),
        (DeviceTaintSelector(driver="a.example"), True),
        (DeviceTaintSelector(pool="pool"), True),
        (DeviceTaintSelector(device="gpu-0"), True),
        (DeviceTaintSelector(driver="a.example", pool="pool", device="gpu-0"), True),
        (DeviceTaintSelector(driver="b.example", pool="pool", device="gpu-0"), False),
        (DeviceTaintSelector(driver="a.example", pool="loop", device="gpu-0"), False),
        (DeviceTaintSelector(driver="a.example", pool="pool", device="gpu-1"), False),
        (DeviceTaintSelector(driver=""), False),
    ],
)
def test_a_taint_selector_matches_where_every_field_it_sets_is_equal(selector: DeviceTaintSelector, matches: bool) -> None:
    assert selector.matches(DeviceID("a.example", "pool", "gpu-0")) is matches


def test_a_taint_rule_without_selector_matches_no_device_and_with_an_empty_one_all() -> None:
    def rule(selector: DeviceTaintSelector | None) -> DeviceTaintRule:
        spec = DeviceTaintRuleSpec(device_selector=selector, taint=DeviceTaint(key="k", effect="NoExecute"))
        return DeviceTaintRule(metadata=ObjectMeta(name="r"), spec=spec)

    device = DeviceID("a.example", "pool", "gpu-0")
    assert not rule(None).matches(device)
    assert rule(DeviceTaintSelector()).matches(device)
    assert not rule(DeviceTaintSelector(driver="b.example")).matches(device)


def test_taints_and_device_names_print_as_kubectl_writes_them() -> None:
    assert str(DeviceTaint(key="k", value="v", effect="NoSchedule")) == "k=v:NoSchedule"
    assert str(DeviceTaint(key="k", effect="NoExecute")) == "k:NoExecute"
    assert str(DeviceID("a.example", "pool", "gpu-0")) == "a.example/pool/gpu-0"


def test_a_device_class_is_made_from_its_expressions() -> None:
    made = device_class("gpu", "a", "b", extended_resource_name="example.com/gpu")
    assert isinstance(made, DeviceClass)
    assert made.name == "gpu"
    assert [selector.cel and selector.cel.expression for selector in made.spec.selectors] == ["a", "b"]
    assert made.spec.extended_resource_name == "example.com/gpu"


def test_an_object_is_keyed_by_namespace_and_name() -> None:
    assert ObjectMeta(name="c", namespace="team").key == "team/c"
    assert Node(metadata=ObjectMeta(name="n")).metadata.key == "n"


def test_what_a_plugin_keeps_with_a_device_is_no_part_of_its_value() -> None:
    assert Device("d", source=object()) == Device("d")
    assert "secret" not in repr(Device("d", source="secret"))


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("atributes", ', did you mean "attributes"?'),
        ("ATTRIBUTES", ', did you mean "attributes"?'),
        ("nodename", ', did you mean "nodeName"?'),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_the_nearest_known_word_is_suggested(word: str, hint: str) -> None:
    assert did_you_mean(word, ["name", "nodeName", "attributes"]) == hint


def test_an_invalid_object_has_a_line_per_fault() -> None:
    error = InvalidObject("Pod a", [Fault("spec.x", "is wrong"), Fault("", "is odd")])
    assert str(error) == "Pod a: spec.x: is wrong\nPod a: is odd"
    assert str(InvalidObject("", [Fault("kind", "is required")])) == "kind: is required"
    assert isinstance(error, DrakitError)
