from __future__ import annotations

import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")


def layers() -> list[set[str]]:
    """The layers of `.importlinter`, highest first."""
    config = ConfigParser()
    config.read(ROOT / ".importlinter", encoding="utf-8")
    lines = config["importlinter:contract:layers"]["layers"].split("\n")
    return [set(re.findall(r"\w+", line)) for line in lines if line.strip()]


def test_the_drawing_shows_the_layers_that_are_held() -> None:
    drawn = [set(re.findall(r"(?<=│) +(\w+) +(?=│)", line)) for line in PAGE.split("\n") if "│" in line]
    assert drawn == layers()


def test_each_layer_is_described_in_words() -> None:
    described = re.findall(r"^`(\w+)`\n: ", PAGE, re.MULTILINE)
    assert len(described) == len(set(described))
    assert set(described) == set.union(*layers())


@pytest.mark.needs("fake", "tpu", "nvidia_gb200")
def test_nothing_is_imported_against_the_layers() -> None:
    lint_imports = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([lint_imports, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
