from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
MACHINE_PATHS: Final = ("/" + "work/", "/" + "root/")


def tracked_texts() -> Iterator[tuple[str, str]]:
    """Every text file git knows or would add, by its path."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        if (path := ROOT / name).is_file():
            yield name, path.read_text(encoding="utf-8", errors="replace")


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert [name for name, text in tracked_texts() if any(path in text for path in MACHINE_PATHS)] == []
