"""Runs drakit's command line inside the test, as ``main`` runs it."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import Final
from unittest import mock

from attrs import frozen

from drakit.cli import main

__all__ = ["EXAMPLES", "ROOT", "Result", "drakit"]

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples"


@frozen
class Result:
    """What a command did."""

    code: int
    out: str
    err: str


def drakit(*arguments: str | Path, stdin: str = "") -> Result:
    """Run a command; a traceback that would reach the user is raised."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        mock.patch.object(sys, "argv", ["drakit", *map(str, arguments)]),
    ):
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return Result(code, out.getvalue(), err.getvalue())
