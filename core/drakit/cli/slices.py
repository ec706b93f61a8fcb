"""``drakit slices``."""

from __future__ import annotations

import sys

import click

from drakit.cli.options import emit, filename_option, output_option, read, show

__all__ = ["command"]


@click.command("slices")
@filename_option
@output_option("yaml", "json", "table")
def command(filenames: tuple[str, ...], output: str) -> None:
    """ResourceSlices from Inventory documents, without hardware.

    \b
    Example:
      drakit slices -f examples/tpu-16x16-failed-host.yaml -o table
    """
    from drakit.model.wire import encode

    loaded = read(filenames)
    if output == "table":
        from drakit.views.slices import slices_view

        show(slices_view(loaded.slices))
    elif output == "json":
        items = [encode(slice_) for slice_ in loaded.slices]
        emit({"apiVersion": "v1", "kind": "List", "items": items}, output)
    else:
        emit([encode(slice_) for slice_ in loaded.slices], output)
    if not loaded.slices:
        click.echo("no slices: the input has no Inventory document that describes any", err=True)
    sys.exit(1 if loaded.plugin_errors or not loaded.slices else 0)
