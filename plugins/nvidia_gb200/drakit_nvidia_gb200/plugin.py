"""The hooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs
from attrs import frozen

from drakit import (
    Clique,
    Device,
    Domain,
    DomainSource,
    Driver,
    Host,
    Member,
    Partition,
    Problem,
    device_class,
    hookimpl,
)
from drakit_nvidia_gb200.inventory import GB200Inventory, Rack
from drakit_nvidia_gb200.tray import gpus

__all__ = [
    "drakit_attributes",
    "drakit_discover",
    "drakit_domains",
    "drakit_driver",
    "drakit_health",
    "drakit_partitions",
]

DRIVER: Final = "gpu.nvidia.com"
NVLINK_CLASS: Final = "nvlink-domain.nvidia.com"


@frozen
class _Tray:
    """What a GPU device was made from."""

    node: str
    rack: Rack | None


@hookimpl
def drakit_driver() -> Driver:
    ours = f"device.driver == '{DRIVER}'"
    classes = [
        device_class(DRIVER, f"{ours} && device.attributes['{DRIVER}'].type == 'gpu'", extended_resource_name="nvidia.com/gpu"),
        device_class(NVLINK_CLASS, f"{ours} && device.attributes['{DRIVER}'].type == 'nvlink-domain'"),
    ]
    return Driver(DRIVER, classes=classes, inventory=GB200Inventory)


@hookimpl
def drakit_discover(host: Host) -> Iterator[Device]:
    if isinstance(host.inventory, GB200Inventory):
        tray = _Tray(host.name, host.inventory.rack_of(host.name))
        for device in gpus(host.name):
            yield attrs.evolve(device, source=tray)


@hookimpl
def drakit_domains(source: DomainSource) -> Iterator[Domain]:
    """Each rack's clique: the trays that are up. A failed one shrinks what the clique can give.

    Where no tray is up, the clique stays with all of them, and is tainted: hardware that fails is not withdrawn.
    """
    for rack in source.inventory.racks if isinstance(source.inventory, GB200Inventory) else ():
        trays = [Member(f"t{index:02}", node=node) for index, node in enumerate(rack.node_names())]
        up = [tray for tray in trays if tray.node not in rack.failed_trays]
        yield Domain(rack.clique, up or trays, source=rack)


@hookimpl
def drakit_partitions(target: Device | Domain) -> Clique | None:
    return Clique("nvlink-domain", capacity="trays") if isinstance(target.source, Rack) else None


@hookimpl
def drakit_attributes(device: Device) -> Mapping[str, Any]:
    if isinstance(device.source, Partition) and isinstance(device.source.domain.source, Rack):
        return {"type": "nvlink-domain", **_nvlink(device.source.domain.source)}
    if isinstance(device.source, _Tray) and device.source.rack is not None:
        return _nvlink(device.source.rack)
    return {}


def _nvlink(rack: Rack) -> Mapping[str, Any]:
    return {"nvlinkClusterUUID": rack.domain_uuid, "nvlinkCliqueID": rack.clique_id, "nvlinkClique": rack.clique}


@hookimpl
def drakit_health(device: Device) -> Iterator[Problem]:
    source = device.source
    if isinstance(source, _Tray) and source.rack is not None and source.node in source.rack.failed_trays:
        yield Problem("tray-down", message=f"tray {source.node} is down")
    rack = source.domain.source if isinstance(source, Partition) else None
    if isinstance(rack, Rack) and len(set(rack.failed_trays)) == rack.trays:
        yield Problem("rack-down", message="no tray of the rack is up")
