"""What a GB200 compute tray holds: four GPUs on two sockets, each alone in its PCI domain.

Source: values a bare-metal GB200 reports through NVML and sysfs.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from drakit import Device, semver

__all__ = ["GPUS_PER_TRAY", "gpus"]

GPUS_PER_TRAY: Final = 4
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_DNS, "gpu.nvidia.com")
_MEMORY: Final = "189471Mi"
_DRIVER_VERSION: Final = "580.95.5"  # 580.95.05 as SemVer, which has no leading zeros
_CUDA_DRIVER_VERSION: Final = "13.0.0"


@frozen
class _Slot:
    """Where one GPU sits."""

    pci_domain: str
    socket: int


_SLOTS: Final = (_Slot("0008", 0), _Slot("0009", 0), _Slot("0018", 1), _Slot("0019", 1))


def gpus(node: str) -> Iterator[Device]:
    """The GPUs of a tray, by minor number; their UUIDs follow from the node's name."""
    for minor, slot in enumerate(_SLOTS):
        yield Device(
            f"gpu-{minor}",
            attributes={
                "type": "gpu",
                "uuid": f"GPU-{uuid.uuid5(_NAMESPACE, f'{node}/{minor}')}",
                "productName": "NVIDIA GB200",
                "brand": "Nvidia",
                "architecture": "Blackwell",
                "cudaComputeCapability": semver("10.0.0"),
                "driverVersion": semver(_DRIVER_VERSION),
                "cudaDriverVersion": semver(_CUDA_DRIVER_VERSION),
                "addressingMode": "ATS",
                "resource.kubernetes.io/pciBusID": f"{slot.pci_domain}:01:00.0",
                "resource.kubernetes.io/pcieRoot": f"pci{slot.pci_domain}:00",
                "resource.kubernetes.io/numaNode": slot.socket,
            },
            capacity={"memory": _MEMORY},
        )
