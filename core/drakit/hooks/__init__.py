"""How vendors plug in: markers, hook specifications, and the manager that loads and calls plugins."""

from drakit.hooks.calling import PluginError
from drakit.hooks.inventory import Expansion, expand
from drakit.hooks.manager import LoadedPlugin, PluginConflict, Plugins, UnknownPlugin
from drakit.hooks.markers import hookimpl, hookspec
from drakit.hooks.objects import (
    AllocatedDevice,
    Checked,
    DeviceEdits,
    DomainSource,
    Driver,
    Host,
    Inventory,
    Journal,
    Problem,
)

__all__ = [
    "AllocatedDevice",
    "Checked",
    "DeviceEdits",
    "DomainSource",
    "Driver",
    "Expansion",
    "Host",
    "Inventory",
    "Journal",
    "LoadedPlugin",
    "PluginConflict",
    "PluginError",
    "Plugins",
    "Problem",
    "UnknownPlugin",
    "expand",
    "hookimpl",
    "hookspec",
]
