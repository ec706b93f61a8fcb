"""What every Kubernetes object carries: its metadata, and how drakit names an object in messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NewType

from attrs import field, frozen

from drakit.model.collections import frozen_mapping, frozen_tuple

__all__ = ["ObjectMeta", "Timestamp"]

Timestamp = NewType("Timestamp", str)
"""A time as RFC 3339 writes it, such as ``2026-01-31T12:00:00Z``."""


@frozen(kw_only=True)
class ObjectMeta:
    """``metadata`` of an object: the fields drakit reads by name, the others kept as they came."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: Mapping[str, str] = field(factory=dict[str, str], converter=frozen_mapping)
    annotations: Mapping[str, str] = field(factory=dict[str, str], converter=frozen_mapping)
    creation_timestamp: Timestamp | None = None
    """As the API server wrote it."""
    deletion_timestamp: Timestamp | None = None
    deletion_grace_period_seconds: int | None = None
    generation: int | None = None
    resource_version: str = ""
    self_link: str = ""
    finalizers: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    owner_references: tuple[Mapping[str, Any], ...] = field(default=(), converter=frozen_tuple)
    managed_fields: tuple[Mapping[str, Any], ...] = field(default=(), converter=frozen_tuple)

    @property
    def key(self) -> str:
        """``namespace/name``, or the name alone for a cluster-scoped object."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name
