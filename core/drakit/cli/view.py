"""``drakit view``."""

from __future__ import annotations

import sys
from typing import Final

import click

from drakit.cli.options import filename_option, read, show

__all__ = ["command"]

NO_GEOMETRY: Final = "no pool has devices that say where they lie, by attributes such as topology 4x8 and origin 0,8"
NO_NODES: Final = "there are no nodes, and a pool is drawn as its nodes see it: add them to the input"


@click.command("view")
@filename_option
def command(filenames: tuple[str, ...]) -> None:
    """Draw meshes: who holds which chips, what is down, what would fit.

    Claims that are not allocated yet are allocated first, as `drakit simulate` does it. A pool is drawn if its devices
    say where they lie, by the attributes `topology` (4x8) and `origin` (0,8).

    \b
    Example:
      drakit view -f examples/tpu-16x16-failed-host.yaml
    """
    from drakit.allocation import simulate
    from drakit.views.mesh import mesh_view, meshes

    loaded = read(filenames)
    cluster = simulate(loaded.cluster).cluster
    drawable = meshes(cluster, cluster.state)
    for mesh in drawable:
        show(mesh_view(mesh))
    if not drawable:
        click.echo(f"nothing to draw: {NO_GEOMETRY if cluster.nodes else NO_NODES}", err=True)
    sys.exit(1 if loaded.plugin_errors or not drawable else 0)
