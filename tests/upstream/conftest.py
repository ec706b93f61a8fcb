"""The oracle for the tests of this folder, and what it did at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.upstream import differential
from tests.upstream.build import folder, missing
from tests.upstream.client import Oracle


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """Kubernetes' own code, in one process for all tests."""
    if why := missing("oracle"):
        pytest.skip(why)
    with Oracle(folder("oracle") / "oracle") as running:
        yield running


@pytest.fixture(autouse=True, scope="session")
def _say_what_is_asked(pytestconfig: pytest.Config) -> None:
    """At once, so that a run that is killed has told its seed."""
    reporter = pytestconfig.pluginmanager.getplugin("terminalreporter")
    if reporter is not None and pytestconfig.getoption("markexpr") == "upstream":
        reporter.ensure_newline()
        reporter.write_line(differential.header())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what was compared, how fast, and how to do the same again."""
    if lines := differential.summary():
        terminalreporter.section("upstream")
        for line in lines:
            terminalreporter.line(line)
