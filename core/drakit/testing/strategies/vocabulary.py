"""The few words that worlds are made of: so few that their objects keep meeting each other.

Everything here would pass the API server's validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drakit.model import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    DeviceAttribute,
    DeviceCapacity,
    DeviceTaint,
    DeviceToleration,
    Node,
    NodeSelector,
    NodeSelectorOperator,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    attribute,
    hostnames,
    only_node,
    quantity,
    semver,
)

__all__ = [
    "CAPACITIES",
    "CLASSES",
    "CONDITIONS",
    "CONSTRAINT_ATTRIBUTES",
    "DRIVERS",
    "FAILING",
    "HERE",
    "NODE",
    "PLACES",
    "PLAIN_CAPACITIES",
    "SELECTORS",
    "TAINTS",
    "TOLERATIONS",
    "X_LISTS",
    "X_VALUES",
    "X",
]

DRIVERS: Final = ("a.example.com", "b.example.com")
HERE: Final = "node-a"
NODE: Final = Node(metadata=ObjectMeta(name=HERE, labels={"kubernetes.io/hostname": HERE, "zone": "z1", "generation": "3"}))


# -- where slices and devices are ------------------------------------------------------------------------------------------


def _selector(key: str, operator: NodeSelectorOperator, *values: str) -> NodeSelector:
    requirement = NodeSelectorRequirement(key=key, operator=operator, values=values)
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(requirement,)),))


_BOTH: Final = NodeSelector(
    node_selector_terms=(
        NodeSelectorTerm(
            match_expressions=(
                NodeSelectorRequirement(key="zone", operator="In", values=("z1", "z2")),
                NodeSelectorRequirement(key="generation", operator="Lt", values=("4",)),
            ),
        ),
    ),
)
PLACES: Final[tuple[Mapping[str, Any], ...]] = (
    {"all_nodes": True},
    {"node_name": HERE},
    {"node_selector": _selector("zone", "In", "z1", "z2")},
    {"node_name": HERE},
    {"node_name": "node-b"},
    {"all_nodes": True},
    {"node_selector": hostnames(HERE)},
    {"node_selector": only_node(HERE)},
    {"all_nodes": True},
    {"node_name": HERE},
    {"node_selector": _selector("zone", "NotIn", "z1")},
    {"node_selector": _selector("zone", "Exists")},
    {"node_selector": _selector("generation", "Gt", "2")},
    {"node_selector": _selector("gpu", "DoesNotExist")},
    {"node_selector": _BOTH},
    {"node_selector": _selector("generation", "Lt", "3")},
)
"""Node fields of a slice or device; most of them are for the node of the world."""


# -- devices ---------------------------------------------------------------------------------------------------------------

X: Final = "test.example.com/x"
"""An attribute that devices of every driver may have."""
CONSTRAINT_ATTRIBUTES: Final = (X, X, X, X, "a.example.com/k", "a.example.com/m")
X_VALUES: Final[tuple[DeviceAttribute | None, ...]] = (*map(attribute, ("A", "B", "A", "B", "C")), None, attribute("B"))
_PAIRS: Final = (["A", "B"], ["B", "C"], ["A", "C"])
_LETTERS: Final = tuple(map(attribute, ("A", *_PAIRS, "B", *_PAIRS, ["B"])))
"""Of three pairs any two have a letter in common, but not all three."""
X_LISTS: Final[tuple[DeviceAttribute | None, ...]] = (
    *(*_LETTERS, *_LETTERS, *_LETTERS),
    *(None, attribute(1), attribute([1, 2]), semver("1.0.0"), DeviceAttribute(versions=("1.0.0", "2.0.0")), attribute([True])),
)


def _ranged(value: str, default: str, least: str, most: str | None, step: str | None) -> DeviceCapacity:
    allowed = CapacityRequestPolicyRange(
        min=quantity(least),
        max=None if most is None else quantity(most),
        step=None if step is None else quantity(step),
    )
    return DeviceCapacity(value, request_policy=CapacityRequestPolicy(default=quantity(default), valid_range=allowed))


def _valued(value: str, default: str, *values: str) -> DeviceCapacity:
    policy = CapacityRequestPolicy(default=quantity(default), valid_values=tuple(map(quantity, values)))
    return DeviceCapacity(value, request_policy=policy)


_USUAL: Final = tuple(map(DeviceCapacity, ("2", "3", "4", "1", "2500m", "4Ki")))
_ODD: Final = ("1000", "1e1", "1000m", "2.50", ".5", "5.", "1e30", "1n", "-5", "0", "3e0", "1500m")
PLAIN_CAPACITIES: Final = (*_USUAL, *_USUAL, *map(DeviceCapacity, _ODD))
"""Without a policy; half of them in a notation that Kubernetes does not always keep, huge, tiny or less than nothing."""
_POLICIES: Final = (
    *_USUAL[:3],
    _ranged("4", "1", "1", "3", "2"),
    _valued("5", "3", "1", "3"),
    DeviceCapacity("4", request_policy=CapacityRequestPolicy(default=quantity("2"))),
    _ranged("6", "2", "2", "6", "2"),
    _valued("4", "1", "1", "2", "4"),
    _ranged("4", "1", "1", None, "1"),
    _ranged("5", "2", "1", "4", None),
    _ranged("3", "1", "1", None, None),
    _ranged("2", "500m", "500m", "2", "500m"),
    _valued("4Ki", "1Ki", "1Ki", "2Ki"),
)
_ODD_POLICIES: Final = (
    *(_ranged("100k", "1k", "1k", None, "1k"), _ranged("8e3", "1e3", "1e3", "8e3", "1e3"), _ranged("4k", "1", "1", None, "1")),
    *(
        _ranged("4Ki", "1Ki", "1Ki", None, "512"),
        _ranged("3", "100m", "0.1", None, "100m"),
        _ranged("4k", "0.50", "0", None, ".5"),
    ),
    *(_ranged("1e30", "1", "1", None, "1"), _ranged("1e30", "5e15", "5e15", None, "9000000000000000")),
    *(_ranged("1e30", "1", "1", None, "9223372036854775806"), _ranged("1e30", "0", "0", None, "9223372036854775")),
    *(_ranged("5", "1", "-1", None, None), _ranged("5", "0", "-500m", "2", "500m"), _valued("4", "-1", "-1", "2")),
    *(_valued("1e3", "0.5", "0.5", "1.50", "1e3"), *map(DeviceCapacity, _ODD)),
)
CAPACITIES: Final = (*_POLICIES, *_POLICIES, *_ODD_POLICIES)
"""For devices that take several allocations: without a policy, with a default alone, with a range, with values."""

TAINTS: Final = (
    *(DeviceTaint(key="broken", effect="NoSchedule"), DeviceTaint(key="broken", effect="None")),
    *(DeviceTaint(key="broken", value="a", effect="NoExecute"), DeviceTaint(key="example.com/slow", effect="NoSchedule")),
)
CONDITIONS: Final[Mapping[str, Any]] = {
    "binding_conditions": ("example.com/up",),
    "binding_failure_conditions": ("example.com/lost",),
}
"""Fields of a device that must be waited for."""
TOLERATIONS: Final = (
    *(DeviceToleration(operator="Exists"), DeviceToleration(key="broken", operator="Exists")),
    *(DeviceToleration(key="broken", operator="Equal", value="a"), DeviceToleration(key="broken", effect="NoSchedule")),
    DeviceToleration(key="example.com/slow", operator="Exists", effect="NoExecute", toleration_seconds=30),
)


# -- selectors -------------------------------------------------------------------------------------------------------------

_OWN: Final = "device.attributes[device.driver]"
CLASSES: Final[Mapping[str, str]] = {
    "any": "",
    "kind-1": f'{_OWN}.k == "1"',
    "kind-2": f'device.driver in ["a.example.com", "b.example.com"] && {_OWN}.k == "2"',
    "driver-a": 'device.driver == "a.example.com"',
    "numbered": f"{_OWN}.m > 0",
}
"""Classes by name; the last one fails on devices without the attribute."""
SELECTORS: Final = (
    *(f'{_OWN}.k == "1"', f'{_OWN}.k != "1"', f"{_OWN}.?m.orValue(0) >= 1", f"has({_OWN}.m)", f'!("m" in {_OWN})'),
    *('device.attributes["test.example.com"].?x.orValue("") == "A"', 'device.driver.startsWith("b")', "true", "1 > 2"),
    *("device.allowMultipleAllocations", "!device.allowMultipleAllocations", f'{_OWN}.k.matches("^[12]$")'),
    'device.capacity[device.driver].?c.orValue(quantity("0")).compareTo(quantity("3")) >= 0',
    'device.attributes["test.example.com"].?x.orValue("") in ["A", "C"]',
)
"""They work on every device."""
FAILING: Final = (
    *(f"{_OWN}.m > 1", f"{_OWN}.m != 2", 'device.attributes["test.example.com"].x == "A"', f"{_OWN}.k"),
    *('device.capacity[device.driver].c.isGreaterThan(quantity("2"))', f"{_OWN}.k > 1", f"{_OWN}.m / 0 == 1 || {_OWN}.m == 1"),
    *(f'{_OWN}.k == "1" || {_OWN}.m == 1', 'device.attributes["none.example.com"].y == 1'),
)
"""They fail on devices without the attribute or capacity, some on all."""
