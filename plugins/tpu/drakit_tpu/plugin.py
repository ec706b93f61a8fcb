"""The hooks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from drakit import (
    Device,
    Domain,
    DomainSource,
    Driver,
    Grid,
    Partition,
    Problem,
    device_class,
    hookimpl,
    quantity,
)
from drakit_tpu.inventory import TpuDomain, TpuInventory

__all__ = ["drakit_attributes", "drakit_domains", "drakit_driver", "drakit_health", "drakit_partitions"]

DRIVER: Final = "tpu.google.com"
LABEL_VALUE_BYTES: Final = 63


@hookimpl
def drakit_driver() -> Driver:
    return Driver(DRIVER, classes=[device_class(DRIVER, f'device.driver == "{DRIVER}"')], inventory=TpuInventory)


@hookimpl
def drakit_domains(source: DomainSource) -> Iterator[Domain]:
    if isinstance(source.inventory, TpuInventory):
        for domain in source.inventory.domains:
            yield domain.domain()


@hookimpl
def drakit_partitions(target: Device | Domain) -> Grid | None:
    return target.source.grid if isinstance(target.source, TpuDomain) else None


@hookimpl
def drakit_attributes(device: Device) -> Mapping[str, Any]:
    found = _sub_slice(device)
    if found is None:
        return {}
    partition, mesh = found
    chips = math.prod(int(size) for size in partition.shape.split("x"))
    return {
        "tpuGen": mesh.hardware.tpu_gen,
        "acceleratorType": f"{mesh.hardware.accelerator}-{chips * mesh.hardware.cores}",
        "topology": partition.shape,
        "origin": ",".join(map(str, partition.origin)),
        "hosts": len(partition.members),
        "chipsPerHost": mesh.hardware.chips_per_host,
        "domain": mesh.name,
        "chips": quantity(chips),
    }


@hookimpl
def drakit_health(device: Device) -> Iterator[Problem]:
    found = _sub_slice(device)
    if found is None:
        return
    partition, mesh = found
    for member in partition.members:
        if member.node in mesh.failed_hosts:
            # A taint's value is a label value; a longer node name is told by its member.
            value = member.node if len(member.node) <= LABEL_VALUE_BYTES else member.name
            yield Problem("host-down", value=value, message=f"host {member.node} is down")


def _sub_slice(device: Device) -> tuple[Partition, TpuDomain] | None:
    """The sub-slice a device stands for, and its mesh; None for a device that is none."""
    partition = device.source
    if not isinstance(partition, Partition) or not isinstance(partition.domain.source, TpuDomain):
        return None
    return partition, partition.domain.source
