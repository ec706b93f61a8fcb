"""Runs the ``console`` blocks of the documentation and compares what they print.

A line ``$ drakit ...`` is a command, run in the root of the repository; ``> ...`` continues it. The lines below are its
output, exactly; a line ``...`` stands for any number of lines.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Final

from sybil import Example

ROOT: Final = Path(__file__).parents[2]
COMMANDS: Final = ("drakit", "kubectl-dra")
WIDTH: Final = "100"


def run_console_block(example: Example) -> str | None:
    """Sybil's evaluator: None when every command printed what is written, otherwise what differs."""
    return "\n".join(filter(None, (difference(*session) for session in sessions(example.parsed)))) or None


def sessions(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a block with the output written below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n> ", "", part).partition("\n")
        yield command, output.rstrip("\n")


def difference(command: str, expected: str) -> str:
    """What a command prints other than expected, as a diff; empty when nothing."""
    printed = run(command).rstrip("\n")
    if matches(expected, printed):
        return ""
    return "\n".join(unified_diff(expected.split("\n"), printed.split("\n"), "written", f"$ {command}", lineterm=""))


def matches(expected: str, printed: str) -> bool:
    """Whether the text is the expected one, line by line, where ``...`` stands for any lines."""
    pattern = "".join("(.*\n)*" if line == "..." else re.escape(f"{line}\n") for line in expected.split("\n"))
    return re.fullmatch(pattern, f"{printed}\n") is not None


def run(command: str) -> str:
    """What a drakit command prints on a terminal of 100 columns without colours, errors included."""
    words = shlex.split(command)
    if words[0] not in COMMANDS:
        raise ValueError(f"only {' and '.join(COMMANDS)} are run from documentation, a block with {words[0]!r} is `sh`")
    words[0] = str(Path(sys.executable).with_name(words[0]))
    environment = os.environ | {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    quiet, together = subprocess.DEVNULL, subprocess.STDOUT
    return subprocess.run(
        words, cwd=ROOT, env=environment, stdin=quiet, stdout=subprocess.PIPE, stderr=together, text=True, check=False
    ).stdout
