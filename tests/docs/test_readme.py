from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")


def command(name: str) -> str:
    """The block below ``<!-- ci: name -->``; `.ci/run` runs the same text."""
    match = re.search(rf"^<!-- ci: {name} -->\n```\w*\n(.*?)\n```$", README, re.DOTALL | re.MULTILINE)
    assert match, f"README.md has no block below `<!-- ci: {name} -->`"
    return match[1]


@pytest.mark.parametrize("name", ["main", "test", "yardstick"])
def test_readme_has_the_command_that_ci_runs(name: str) -> None:
    assert command(name).count("\n") == 0, "one line, to be copied in one go"


def test_the_files_that_the_main_command_names_are_there() -> None:
    words = shlex.split(command("main"))
    paths = [word for word in words if "/" in word]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", ["test", "yardstick"])
def test_the_test_commands_run_tox(name: str) -> None:
    assert "tox" in shlex.split(command(name))
