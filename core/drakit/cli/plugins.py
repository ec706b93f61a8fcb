"""``drakit plugins``."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from drakit.cli.options import emit, output_option, show

__all__ = ["command"]


@click.command("plugins")
@output_option("table", "json", "yaml")
def command(output: str) -> None:
    """What is loaded, from where, with which hooks.

    DRAKIT_DISABLE=name,name keeps plugins from loading; DRAKIT_TRACE=1 prints every hook call.

    \b
    Example:
      drakit plugins -o json
    """
    from drakit.hooks import Plugins

    plugins = Plugins.load(os.environ)
    if output == "table":
        from drakit.views.plugins import plugins_view

        show(plugins_view(plugins.loaded))
    else:
        emit(_as_json(plugins), output)
    if not plugins.loaded:
        click.echo("no plugins: none is installed, or DRAKIT_DISABLE keeps them from loading", err=True)
    for failure in plugins.failures:
        click.echo(f"error: {failure}", err=True)
    sys.exit(1 if plugins.failures else 0)


def _as_json(plugins: Any) -> dict[str, Any]:
    return {
        "plugins": [
            {
                "name": plugin.name,
                "driver": plugin.driver.name if plugin.driver else None,
                "distribution": plugin.distribution,
                "module": plugin.module,
                "hooks": list(plugin.hooks),
            }
            for plugin in plugins.loaded
        ],
        "failures": [{"plugin": f.plugin, "hook": f.hook, "message": str(f)} for f in plugins.failures],
    }
