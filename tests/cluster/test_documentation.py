"""What docs/how-to/test-against-kubernetes.md shows can be done."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

pytestmark = [pytest.mark.cluster, pytest.mark.needs("tpu")]


def test_the_program_of_the_how_to_runs(binaries: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "test-against-kubernetes.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```py\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(programs) == 3
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(binaries))
    script = tmp_path / "how_to.py"
    for program in programs:
        script.write_text(program, encoding="utf-8")
        runpy.run_path(str(script))
