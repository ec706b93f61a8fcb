from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from drakit.testing.cluster import DRA_FEATURE_GATES, Cluster
from tests.upstream.build import folder, missing


@pytest.fixture(scope="session")
def binaries() -> Path:
    """The folder of the pinned release's binaries."""
    if reason := missing("control-plane"):
        pytest.skip(reason)
    return folder("control-plane")


@pytest.fixture(scope="session")
def with_all_gates(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    logs = tmp_path_factory.mktemp("all-gates")
    with Cluster(binaries, feature_gates=DRA_FEATURE_GATES, log_folder=logs) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def with_default_gates(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    logs = tmp_path_factory.mktemp("default-gates")
    with Cluster(binaries, log_folder=logs) as cluster:
        yield cluster


@pytest.fixture(params=["all gates", "default gates"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Either of the two that run all the time, with nothing on it."""
    fixture = {"all gates": "with_all_gates", "default gates": "with_default_gates"}[request.param]
    running: Cluster = request.getfixturevalue(fixture)
    running.clear()
    yield running
    running.clear()
