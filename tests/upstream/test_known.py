"""The table of known faults is the one that people read. Needs no Go."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.upstream.build import kubernetes_version
from tests.upstream.known import KNOWN

PAGE: Final = (Path(__file__).parents[2] / "docs" / "explanation" / "yardstick.md").read_text(encoding="utf-8")


def test_the_page_has_the_table_of_known_faults() -> None:
    link = r"\[#\d+\]\(https://github\.com/(?P<repository>\S+)/issues/(?P<number>\d+)\)|seen by us"
    rows = re.finditer(rf"^\| (?:{link}) \| (?P<title>.+?) \| (?P<state>.+?) \|$", PAGE, re.MULTILINE)
    told = [(f"{r['repository']}#{r['number']}" if r["number"] else "", r["title"], r["state"]) for r in rows]
    assert told == [(fault.issue, fault.title, fault.state) for fault in KNOWN]


def test_the_page_names_the_release() -> None:
    assert f"Kubernetes {kubernetes_version()}" in PAGE
    assert f"| in {kubernetes_version()} |" in PAGE


def test_each_fault_has_a_title_of_its_own() -> None:
    assert len({fault.title for fault in KNOWN}) == len(KNOWN)
