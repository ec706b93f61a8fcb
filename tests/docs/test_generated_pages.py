from __future__ import annotations

import runpy
from pathlib import Path
from typing import Final

import pytest

DOCS: Final = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["hooks", "cli", "errors", "api"])
def test_a_generated_page_says_what_the_code_says(name: str) -> None:
    page = runpy.run_path(str(DOCS / f"generate_{name}.py"))["page"]
    written = (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")
    assert page() == written, "run `tox -e generate`"
