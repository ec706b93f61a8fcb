"""Nodes, and the rules by which a device or an allocation says which nodes it is for.

Source: k8s.io/api ``core/v1`` and k8s.io/component-helpers ``scheduling/corev1/nodeaffinity``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from attrs import field, frozen

from drakit.model.collections import frozen_tuple
from drakit.model.meta import ObjectMeta, Timestamp

__all__ = [
    "HOSTNAME_LABEL",
    "Node",
    "NodeSelector",
    "NodeSelectorOperator",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeTaint",
    "hostnames",
    "only_node",
]

HOSTNAME_LABEL: Final = "kubernetes.io/hostname"
NAME_FIELD: Final = "metadata.name"

NodeSelectorOperator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


@frozen(kw_only=True)
class NodeTaint:
    """A taint of a node, which keeps pods without the toleration away."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    time_added: Timestamp | None = None


@frozen(kw_only=True)
class NodeSpec:
    """The part of a node's spec that decides who may run there."""

    unschedulable: bool = False
    taints: tuple[NodeTaint, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class Node:
    """A Kubernetes node: a name, labels, and whether it takes pods."""

    metadata: ObjectMeta
    spec: NodeSpec = field(factory=NodeSpec)

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def labels(self) -> Mapping[str, str]:
        return self.metadata.labels


@frozen(kw_only=True)
class NodeSelectorRequirement:
    """One condition on a label (or field) of a node."""

    key: str
    operator: NodeSelectorOperator
    values: tuple[str, ...] = field(default=(), converter=frozen_tuple)

    def __attrs_post_init__(self) -> None:
        wanted = {"In": "one value or more", "NotIn": "one value or more", "Gt": "one integer", "Lt": "one integer"}
        fits = {
            "one value or more": bool(self.values),
            "one integer": len(self.values) == 1 and _integer(self.values[0]) is not None,
            "no values": not self.values,
        }
        rule = wanted.get(self.operator, "no values")
        if not fits[rule]:
            raise ValueError(f"values: operator {self.operator} takes {rule}, not {list(self.values)}")

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy the condition; a missing label satisfies NotIn and DoesNotExist only."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return _compares(value, self.operator, self.values)


def _compares(value: str | None, operator: str, values: tuple[str, ...]) -> bool:
    left, right = _integer(value), _integer(values[0]) if len(values) == 1 else None
    if left is None or right is None:
        return False
    return left > right if operator == "Gt" else left < right


def _integer(text: str | None) -> int | None:
    """As Go's ``strconv.ParseInt(text, 10, 64)``; None where that fails."""
    if text is None or not re.fullmatch(r"[+-]?[0-9]{1,64}", text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@frozen(kw_only=True)
class NodeSelectorTerm:
    """Conditions that must all hold. A term without any condition matches no node."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = field(default=(), converter=frozen_tuple)
    match_fields: tuple[NodeSelectorRequirement, ...] = field(default=(), converter=frozen_tuple)

    @match_fields.validator
    def _only_the_name(self, _: object, requirements: tuple[NodeSelectorRequirement, ...]) -> None:
        for requirement in requirements:
            if requirement.key != NAME_FIELD or requirement.operator not in ("In", "NotIn") or len(requirement.values) != 1:
                raise ValueError(f"matchFields: only {NAME_FIELD} can be matched, with In or NotIn and one value")

    def matches(self, node: Node) -> bool:
        if not self.match_expressions and not self.match_fields:
            return False
        fields = {NAME_FIELD: node.name}
        return all(requirement.matches(node.labels) for requirement in self.match_expressions) and all(
            requirement.matches(fields) for requirement in self.match_fields
        )


@frozen(kw_only=True)
class NodeSelector:
    """Terms of which one must match."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = field(default=(), converter=frozen_tuple)

    def matches(self, node: Node) -> bool:
        return any(term.matches(node) for term in self.node_selector_terms)

    def hostnames(self) -> tuple[str, ...]:
        """The hosts a one-term selector names by their hostname label; empty where it selects otherwise."""
        terms = self.node_selector_terms
        named = [r.values for r in terms[0].match_expressions if (r.key, r.operator) == (HOSTNAME_LABEL, "In")] if terms else []
        return min(named, key=len, default=()) if len(terms) == 1 else ()


def hostnames(*names: str) -> NodeSelector:
    """The selector for nodes by their ``kubernetes.io/hostname`` label, in one term as devices need it."""
    requirement = NodeSelectorRequirement(key=HOSTNAME_LABEL, operator="In", values=names)
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(requirement,)),))


def only_node(name: str) -> NodeSelector:
    """The selector the allocator writes for a node-local device: exactly the node of this name."""
    requirement = NodeSelectorRequirement(key=NAME_FIELD, operator="In", values=(name,))
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(requirement,)),))
