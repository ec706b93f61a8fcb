"""The parts of a Pod that decide which claims it uses and where it may run; and Namespace.

Source: k8s.io/api ``core/v1/types.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from drakit.model.collections import frozen_json, frozen_mapping, frozen_tuple
from drakit.model.meta import ObjectMeta
from drakit.model.nodes import NodeSelector

__all__ = [
    "Affinity",
    "Container",
    "Namespace",
    "NodeAffinity",
    "Pod",
    "PodResourceClaim",
    "PodResourceClaimStatus",
    "PodSchedulingGate",
    "PodSpec",
    "PodStatus",
    "PodToleration",
    "ResourceRequirements",
]


@frozen(kw_only=True)
class PodResourceClaim:
    """An entry of ``spec.resourceClaims``: a claim by name, or a template to make one from."""

    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


@frozen(kw_only=True)
class PodToleration:
    """Which node taints a pod accepts."""

    key: str = ""
    operator: Literal["", "Equal", "Exists"] = "Equal"
    value: str = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""
    toleration_seconds: int | None = None


@frozen(kw_only=True)
class NodeAffinity:
    """Only the required part decides whether a pod may run on a node."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


@frozen(kw_only=True)
class Affinity:
    """Pod affinity is not looked at."""

    node_affinity: NodeAffinity | None = None


@frozen(kw_only=True)
class ResourceRequirements:
    """What a container asks of its node, by resource name; amounts as they came."""

    limits: Mapping[str, Any] = field(factory=dict[str, Any], converter=frozen_json)
    requests: Mapping[str, Any] = field(factory=dict[str, Any], converter=frozen_json)


@frozen(kw_only=True)
class Container:
    """A container, as far as it asks for resources."""

    name: str = ""
    resources: ResourceRequirements = field(factory=ResourceRequirements)


@frozen(kw_only=True)
class PodSchedulingGate:
    """Something a pod waits for before it is scheduled."""

    name: str


@frozen(kw_only=True)
class PodSpec:
    """What simulate needs to know of a pod."""

    node_name: str = ""
    node_selector: Mapping[str, str] = field(factory=dict[str, str], converter=frozen_mapping)
    affinity: Affinity | None = None
    tolerations: tuple[PodToleration, ...] = field(default=(), converter=frozen_tuple)
    resource_claims: tuple[PodResourceClaim, ...] = field(default=(), converter=frozen_tuple)
    scheduling_gates: tuple[PodSchedulingGate, ...] = field(default=(), converter=frozen_tuple)
    containers: tuple[Container, ...] = field(default=(), converter=frozen_tuple)
    init_containers: tuple[Container, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class PodResourceClaimStatus:
    """Which claim was made for an entry that names a template."""

    name: str
    resource_claim_name: str | None = None


@frozen(kw_only=True)
class PodStatus:
    """The claims made for a pod, and whether it has ended."""

    phase: str = ""
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = field(default=(), converter=frozen_tuple)


@frozen(kw_only=True)
class Pod:
    """Namespaced."""

    metadata: ObjectMeta
    spec: PodSpec = field(factory=PodSpec)
    status: PodStatus = field(factory=PodStatus)

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.metadata.key


@frozen(kw_only=True)
class Namespace:
    """Matters for admin access, which a label of the namespace allows."""

    metadata: ObjectMeta
