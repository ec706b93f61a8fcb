"""The feature gates of Dynamic Resource Allocation.

Source: k8s.io/kubernetes ``pkg/features/kube_features.go`` 1.37.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DRA_FEATURE_GATES"]

DRA_FEATURE_GATES: Final[Mapping[str, bool]] = MappingProxyType(
    dict.fromkeys(
        """
        DRAAdminAccess DRAConsumableCapacity DRADerivedAttributes DRADeviceBindingConditions DRADeviceCompatibilityGroups
        DRADeviceTaintRules DRADeviceTaints DRAExtendedResource DRAFractionalCapacityRange DRAListTypeAttributes
        DRANodeAllocatableResources DRAOptionalNodeOperations DRAPartitionableDevices DRAPartitionableDevicesType
        DRAPrioritizedList DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRAResourcePoolStatus
        DRASchedulerFilterTimeout DRAWorkloadResourceClaims GenericWorkload ResourceHealthStatus
        """.split(),
        True,
    )
)
"""Every gate of Kubernetes 1.37 that changes what DRA does, on, and ``GenericWorkload``, which one of them needs."""
