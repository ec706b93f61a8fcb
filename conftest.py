"""What all tests share: documentation is run as tests, and tests that need a plugin are left out where it is missing."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from tests.docs.console import run_console_block

ROOT: Final = Path(__file__).parent
PLUGINS: Final = frozenset(path.name for path in ROOT.glob("plugins/*/"))

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser(language="console", evaluator=run_console_block)],
    patterns=["README.md", "docs/*.md", "docs/*/*.md", "plugins/*/README.md"],
).pytest()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """A plugin's own tests import it, so they cannot even be read where it is not installed."""
    match collection_path.relative_to(ROOT).parts if collection_path.is_relative_to(ROOT) else ():
        case ("plugins", name, "tests", *_) if find_spec(f"drakit_{name}") is None:
            return True
    return None


def pytest_report_header() -> list[str]:
    """Says what is left out, and why."""
    missing = sorted(name for name in PLUGINS if find_spec(f"drakit_{name}") is None)
    return [f"not installed, so their own tests are left out: {', '.join(missing)}"] if missing else []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a plugin that is not installed: a plugin's own tests, and in the documentation all of them."""
    installed = {name for name in PLUGINS if find_spec(f"drakit_{name}")}
    for item in items:
        needed = {name for mark in item.iter_markers("needs") for name in mark.args} | _needed_by(item.path)
        if unknown := needed - PLUGINS:
            raise pytest.UsageError(f"{item.nodeid}: no such folder in plugins/: {', '.join(sorted(unknown))}")
        if missing := needed - installed:
            item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(sorted(missing))}"))


def _needed_by(path: Path) -> set[str]:
    match path.relative_to(ROOT).parts:
        case ("plugins", name, *_):
            return {name}
        case ("README.md",) | ("docs", *_):
            return set(PLUGINS)
    return set()
