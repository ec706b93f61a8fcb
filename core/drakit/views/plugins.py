"""The loaded plugins as a table."""

from __future__ import annotations

from collections.abc import Sequence

from drakit.hooks import LoadedPlugin
from drakit.views.tables import Rows, table

__all__ = ["plugins_view"]


def plugins_view(loaded: Sequence[LoadedPlugin]) -> Rows:
    """Name, driver, distribution and hooks of each."""
    view = table("PLUGIN", "DRIVER", "DISTRIBUTION", "HOOKS")
    for plugin in loaded:
        hooks = ", ".join(hook.removeprefix("drakit_") for hook in plugin.hooks)
        view.add(plugin.name, plugin.driver.name if plugin.driver else "-", plugin.distribution or plugin.module, hooks)
    return view
