"""DeviceTaintRule: a taint an administrator puts on devices from outside their driver.

Source: k8s.io/api ``resource/v1/types.go`` (v1 since 1.37, the same JSON in v1beta2 and v1alpha3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from drakit.model.device import DeviceID, DeviceTaint
from drakit.model.meta import ObjectMeta

__all__ = ["DeviceTaintRule", "DeviceTaintRuleSpec", "DeviceTaintSelector"]


@frozen(kw_only=True)
class DeviceTaintSelector:
    """Which devices: every field that is set must be equal; none set: every device of every driver."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None

    def matches(self, device: DeviceID) -> bool:
        wanted = (self.driver, self.pool, self.device)
        return all(want is None or want == have for want, have in zip(wanted, device, strict=True))


@frozen(kw_only=True)
class DeviceTaintRuleSpec:
    """No selector at all matches no device; an empty one matches all."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint


@frozen(kw_only=True)
class DeviceTaintRule:
    """Cluster-scoped."""

    metadata: ObjectMeta
    spec: DeviceTaintRuleSpec
    status: Mapping[str, Any] | None = None
    """Conditions, as they came."""

    def matches(self, device: DeviceID) -> bool:
        return self.spec.device_selector is not None and self.spec.device_selector.matches(device)
