"""drakit: the Python framework for Kubernetes Dynamic Resource Allocation (DRA) drivers.

What a plugin or an embedding program needs is here; everything is imported on first use, so that ``import drakit`` costs
next to nothing. The packages below (:mod:`drakit.model`, :mod:`drakit.cel`, :mod:`drakit.topology`,
:mod:`drakit.allocation`) can each be used alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from drakit.allocation import Cluster, simulate
    from drakit.files import load
    from drakit.hooks import (
        AllocatedDevice,
        Checked,
        DeviceEdits,
        DomainSource,
        Driver,
        Host,
        Inventory,
        Journal,
        Plugins,
        Problem,
        hookimpl,
    )
    from drakit.model import Device, DeviceClass, DrakitError, InvalidObject, Quantity, device_class, quantity, semver
    from drakit.topology import Clique, Domain, Grid, Member, Partition, ShapeFamily, Split, TopologyError

_HOMES: Final = {
    "drakit.allocation": ("Cluster", "simulate"),
    "drakit.files": ("load",),
    "drakit.hooks": (
        "AllocatedDevice",
        "Checked",
        "DeviceEdits",
        "DomainSource",
        "Driver",
        "Host",
        "Inventory",
        "Journal",
        "Plugins",
        "Problem",
        "hookimpl",
    ),
    "drakit.model": (
        "Device",
        "DeviceClass",
        "DrakitError",
        "InvalidObject",
        "Quantity",
        "device_class",
        "quantity",
        "semver",
    ),
    "drakit.topology": ("Clique", "Domain", "Grid", "Member", "Partition", "ShapeFamily", "Split", "TopologyError"),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AllocatedDevice",
    "Checked",
    "Clique",
    "Cluster",
    "Device",
    "DeviceClass",
    "DeviceEdits",
    "Domain",
    "DomainSource",
    "DrakitError",
    "Driver",
    "Grid",
    "Host",
    "InvalidObject",
    "Inventory",
    "Journal",
    "Member",
    "Partition",
    "Plugins",
    "Problem",
    "Quantity",
    "ShapeFamily",
    "Split",
    "TopologyError",
    "device_class",
    "hookimpl",
    "load",
    "quantity",
    "semver",
    "simulate",
]


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        value: object = getattr(importlib.import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    if name in ("allocation", "cel", "files", "hooks", "model", "topology"):
        return importlib.import_module(f"drakit.{name}")
    raise AttributeError(f"module 'drakit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
