"""The command line: one module per command, imported only when it runs, so that ``drakit --help`` starts at once."""

from __future__ import annotations

import difflib
import gc
import importlib
import io
import os
import sys
from typing import Any, Final

import click

__all__ = ["cli", "main"]

COMMANDS: Final = {
    "simulate": "Nodes, slices and claims in, allocation out, and why not.",
    "view": "Draw meshes: who holds which chips, what is down, what would fit.",
    "slices": "ResourceSlices from Inventory documents, without hardware.",
    "cel": "A selector against devices: which match, which do not and why, and the guard to write.",
    "plugins": "What is loaded, from where, with which hooks.",
}
"""Name and summary of each command; a test holds the summaries against the modules'."""
_GARBAGE: Final = 100_000, 50, 50
"""How often to look for garbage: a command keeps nearly all it makes, and Python's 700 objects are half of its time."""


class _LazyGroup(click.Group):
    """Knows its commands by name; a command's module is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"drakit.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            close = difflib.get_close_matches(name, COMMANDS, n=1)
            ctx.fail(f"no such command '{name}'" + (f", did you mean '{close[0]}'?" if close else ""))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # click would say "Aborted!" and end with 1, which is a finding
            sys.exit(130)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="drakit")
def cli() -> None:
    """Kubernetes Dynamic Resource Allocation on your desk: model hardware, predict and explain allocations.

    \b
    Example:
      drakit simulate -f examples/tpu-16x16-failed-host.yaml
    """


def main() -> None:
    """Run the command line. Exit 0: fine, 1: findings, 2: usage or unreadable input. No traceback reaches a user."""
    from drakit.model.errors import DrakitError

    gc.set_threshold(*_GARBAGE)
    if sys.stdout is None:
        click.echo("error: standard output is closed, and so is the way for an answer", err=True)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may hold what no terminal can show
    try:
        name = os.path.basename(sys.argv[0])  # noqa: PTH119 - pathlib is slow to import
        cli(prog_name="kubectl dra" if name == "kubectl-dra" else "drakit")
    except KeyboardInterrupt:
        sys.exit(130)
    except DrakitError as error:
        for line in str(error).splitlines() or ["unknown error"]:
            click.echo(f"error: {line}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"error: {error.strerror or error}", err=True)
        sys.exit(2)
    except Exception as error:
        from drakit.cli.options import debugging

        if debugging():
            raise
        text = " ".join(str(error).split())
        click.echo(f"error: drakit has a fault: {type(error).__name__}: {text}; DRAKIT_DEBUG=1 shows where", err=True)
        sys.exit(2)
