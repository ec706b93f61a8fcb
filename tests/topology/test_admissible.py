"""Devices that the API server would refuse are found before they are published."""

from __future__ import annotations

from typing import Any

import pytest

from drakit import Device, semver
from drakit.model import DeviceAttribute, DeviceTaint
from drakit.topology.admissible import faults_of

C_IDENTIFIER = "must be a C identifier of at most 32 characters, with or without a domain before it"


def faults(name: str = "d", **fields: Any) -> list[str]:
    return list(faults_of(Device(name, **fields)))


@pytest.mark.parametrize("name", ["", "Gpu", "gpu.0", "gpu_0", "-gpu", "g" * 64])
def test_a_device_is_named_by_a_dns_label(name: str) -> None:
    assert faults(name) == [f"its name {name!r} must be a DNS label of at most 63 bytes"]


def test_a_device_has_32_attributes_and_capacities_at_most() -> None:
    attributes = {f"a{i}": i for i in range(20)}
    assert faults(attributes=attributes, capacity={f"c{i}": 1 for i in range(12)}) == []
    assert faults(attributes=attributes, capacity={f"c{i}": 1 for i in range(13)}) == [
        "it has 33 attributes and capacities, the most is 32"
    ]


@pytest.mark.parametrize("name", ["a", "_a1", "A" * 32, "example.com/a", f"{'a' * 63}/x"])
def test_attributes_and_capacities_are_named_by_identifiers(name: str) -> None:
    assert faults(attributes={name: 1}) == faults(capacity={name: 1}) == []


@pytest.mark.parametrize(
    "name", ["", "a-b", "1a", "A" * 33, "a.b", "ä", "example.com/", "/a", "Ex.com/a", f"{'a' * 64}/x", "a/b/c"]
)
def test_other_names_of_attributes_and_capacities_are_faults(name: str) -> None:
    assert faults(attributes={name: 1}) == faults(capacity={name: 1}) == [f"the name {name!r} {C_IDENTIFIER}"]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("x" * 64, ""),
        ("x" * 65, f"{'x' * 24!r}... has 65 bytes, the most is 64"),
        ("ä" * 33, f"{'ä' * 24!r}... has 66 bytes, the most is 64"),
        (["x", "y" * 65], f"{'y' * 24!r}... has 65 bytes, the most is 64"),
        (2**63 - 1, ""),
        (-(2**63), ""),
        (2**63, "9223372036854775808 does not fit in 64 bits"),
        (-(2**63) - 1, "-9223372036854775809 does not fit in 64 bits"),
        ([1, 2**63], "9223372036854775808 does not fit in 64 bits"),
        (True, ""),
        (semver("1.4.2-rc.1+b7"), ""),
        (DeviceAttribute(version="1.4"), "'1.4' is not a SemVer 2.0.0 version, such as 1.4.2"),
        (DeviceAttribute(version="v1.4.2"), "'v1.4.2' is not a SemVer 2.0.0 version, such as 1.4.2"),
        (DeviceAttribute(version="01.4.2"), "'01.4.2' is not a SemVer 2.0.0 version, such as 1.4.2"),
        (DeviceAttribute(version="1.4.2-01"), "'1.4.2-01' is not a SemVer 2.0.0 version, such as 1.4.2"),
        (DeviceAttribute(versions=("1.0.0", "x")), "'x' is not a SemVer 2.0.0 version, such as 1.4.2"),
        (
            DeviceAttribute(version=f"1.0.0-{'a' * 59}"),
            "'1.0.0-aaaaaaaaaaaaaaaaaa'... has 65 bytes, the most is 64",
        ),
    ],
)
def test_values_are_those_the_api_takes(value: Any, fault: str) -> None:
    assert faults(attributes={"a": value}) == ([f"attribute a: {fault}"] if fault else [])


def test_capacities_are_not_negative() -> None:
    assert faults(capacity={"memory": "0"}) == []
    assert faults(capacity={"memory": "-1Gi"}) == ["capacity memory: -1Gi is negative"]


@pytest.mark.parametrize(
    ("key", "value"), [("no key", ""), ("", ""), ("example.com/", ""), ("key", "no value"), ("key", "v" * 64)]
)
def test_taints_have_the_key_and_value_of_a_label(key: str, value: str) -> None:
    taint = DeviceTaint(key=key, value=value, effect="NoSchedule")
    assert faults(taints=[taint]) == [f"taint {taint}: the key must be a label's name and the value a label's value"]
    assert faults(taints=[DeviceTaint(key="example.com/key", value="Value_1", effect="NoSchedule")]) == []


def test_every_fault_of_a_device_is_told() -> None:
    assert len(faults("D", attributes={"a-b": 2**63}, capacity={"m": "-1"})) == 4
