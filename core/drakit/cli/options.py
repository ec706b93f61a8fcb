"""What the commands have in common: their options, reading their files, and writing JSON, YAML or a picture."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

    from drakit.files import Loaded

__all__ = ["debugging", "emit", "filename_option", "output_option", "read", "show"]

WIDTH_WITHOUT_TERMINAL: Final = 200
"""Columns; 80, the usual guess, would fold what somebody wants to search or compare."""

MIN_WIDTH: Final = 40
"""Narrower is nobody's wish."""

F = TypeVar("F", bound=Callable[..., Any])

filename_option = click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    metavar="FILE|DIR|-",
    help="YAML or JSON to read, a folder of such files, or - for standard input. Can be given several times.",
)


def output_option(*choices: str) -> Callable[[F], F]:
    """``-o``, the first choice being the default."""
    return click.option(
        "-o", "--output", type=click.Choice(choices), default=choices[0], show_default=True, help="What to write."
    )


def read(filenames: Sequence[str]) -> Loaded:
    """The cluster in the files of ``-f``. Plugins that failed are reported on standard error.

    :raises click.UsageError: no file was named.
    """
    from drakit.files import read_cluster

    if not filenames:
        raise click.UsageError("nothing to read: name a file, a folder or - with -f")
    # What a plugin prints must not get into the answer.
    with contextlib.redirect_stdout(sys.stderr):
        loaded = read_cluster(filenames)
    for error in loaded.plugin_errors:
        click.echo(f"error: {error}", err=True)
        if debugging():
            traceback.print_exception(error)
    if loaded.plugin_errors and not loaded.cluster.nodes:
        sys.exit(2)  # what they were to describe is not there, so there is nothing to be found out
    if not loaded.cluster.is_empty:
        return loaded
    raise click.UsageError(f"nothing to read in {', '.join(filenames)}: no documents")


def debugging() -> bool:
    """Whether DRAKIT_DEBUG asks for tracebacks."""
    return os.environ.get("DRAKIT_DEBUG", "0") not in ("", "0")


def emit(document: Any, output: str) -> None:
    """Write a document as JSON or YAML."""
    if output == "json":
        click.echo(json.dumps(document, indent=2))
        return
    import yaml

    documents = document if isinstance(document, list) else [document]
    click.echo(yaml.safe_dump_all(documents, sort_keys=False), nl=False)


def show(view: RenderableType) -> None:
    """Write tables and pictures for people: in colour where there is a terminal, else as text that can be compared."""
    from rich.console import Console

    # rich takes "²" for a number.
    sizes = {"COLUMNS", "LINES", "JUPYTER_COLUMNS", "JUPYTER_LINES"}
    environment = {name: value for name, value in os.environ.items() if name not in sizes or value.isdecimal()}
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True, _environ=environment)
    if console.is_terminal:
        console.print(view)
        return
    columns = environment.get("COLUMNS", "0")
    console.width = int(columns) if int(columns) >= MIN_WIDTH else WIDTH_WITHOUT_TERMINAL
    with console.capture() as captured:
        console.print(view)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    click.echo("\n".join(lines).strip("\n"))
