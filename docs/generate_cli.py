"""Write ``reference/cli.md`` from the ``--help`` of every command. A test compares the page with what :func:`page` gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from drakit.cli import cli

HEAD: Final = """\
<!-- Written by docs/generate_cli.py: change core/drakit/cli, then run `tox -e generate`. -->

# Command line

`drakit` is also installed as `kubectl-dra`, so `kubectl dra simulate` works where kubectl finds it. Exit status: 0 fine;
1 findings, such as a claim that cannot be allocated; 2 wrong usage or input that cannot be read.
"""


def commands(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[click.Context]:
    """The context of a command and of those below it, in the order of the help; as wide as the page, not the terminal."""
    context = click.Context(command, parent, name, terminal_width=100, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            child = command.get_command(context, below)
            if child is not None and not child.hidden:
                yield from commands(child, below, context)


def page() -> str:
    """The whole page."""
    sections = (f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n" for context in commands(cli, "drakit"))
    return "\n".join((HEAD, *sections))


if __name__ == "__main__":
    (Path(__file__).parent / "reference" / "cli.md").write_text(page(), encoding="utf-8")
