"""What can be told of a plugin before it is ever asked: slips of the pen, with the nearest name.

pluggy alone would only say that a hook is unknown, and nothing at all of one that lacks its marker.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

import attrs
import pluggy

from drakit.hooks import hookspecs
from drakit.hooks.calling import PluginError, shown
from drakit.hooks.objects import Inventory
from drakit.model.errors import did_you_mean

__all__ = ["HOOK_NAMES", "check_hooks", "check_inventory"]

HOOK_NAMES: Final = tuple(hookspecs.__all__)
RESERVED: Final = ("api_version", "kind", "metadata", "plugin")
"""Fields that every Inventory document has: they could never be given to the plugin."""


def check_hooks(manager: pluggy.PluginManager, plugin: object, name: str) -> None:
    """Slips of the pen get the nearest name: a misspelt hook or argument, a hook without its marker."""
    for attribute in dir(plugin):
        marked = manager.parse_hookimpl_opts(plugin, attribute) is not None
        if marked and attribute not in HOOK_NAMES:
            raise PluginError(name, attribute, f"drakit has no such hook{did_you_mean(attribute, HOOK_NAMES)}")
        if not marked and attribute in HOOK_NAMES and inspect.isroutine(getattr(plugin, attribute)):
            raise PluginError(name, attribute, "is not marked with @hookimpl, so it would never be called")
        if marked:
            _check_arguments(plugin, name, attribute)


def _check_arguments(plugin: object, name: str, hook: str) -> None:
    known = list(inspect.signature(getattr(hookspecs, hook)).parameters)
    for argument, parameter in inspect.signature(getattr(plugin, hook)).parameters.items():
        if argument not in known and parameter.default is parameter.empty:
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise PluginError(name, hook, f'has no argument "{argument}"{did_you_mean(argument, known)}; {has}')


def check_inventory(plugin: str, inventory: Any) -> None:
    """:raises PluginError: it is not an attrs class derived from Inventory, or has a field that cannot be given."""
    if not inspect.isclass(inventory) or not issubclass(inventory, Inventory):
        raise PluginError(plugin, "drakit_driver", f"inventory must be a class derived from Inventory, not {shown(inventory)}")
    annotated = not {"__annotations__", "__annotate__", "__annotate_func__"}.isdisjoint(vars(inventory))
    if annotated and "__attrs_attrs__" not in vars(inventory):
        message = f"the Inventory class {inventory.__name__} is not an attrs class: put @frozen(kw_only=True) on it"
        raise PluginError(plugin, "drakit_driver", message)
    for attribute in attrs.fields(inventory):
        if attribute.name in RESERVED:
            message = f'the Inventory class has a field "{attribute.name}", which says something else in every document'
            raise PluginError(plugin, "drakit_driver", message)
