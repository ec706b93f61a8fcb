"""The oracle of tests/upstream judges as this API server does: all kinds, not only the slices of the table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from drakit.testing.cluster import DRA_FEATURE_GATES, Cluster, Rejected
from drakit.testing.strategies import API_VERSIONS, api_objects, updates
from tests.upstream.build import folder, missing
from tests.upstream.client import Oracle

pytestmark = pytest.mark.cluster

EXAMPLES: Final = 250
ADMIN: Final = {"resource.kubernetes.io/admin-access": "true"}
replayed = settings(
    max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    if why := missing("oracle"):
        pytest.skip(why)
    with Oracle(folder("oracle") / "oracle") as running:
        yield running


@pytest.fixture(scope="module")
def server(binaries: Path) -> Iterator[Cluster]:
    """Nobody else writes to it, and in its namespace administrators may have what others hold."""
    with Cluster(binaries, feature_gates=DRA_FEATURE_GATES, scheduler=False, controllers=False) as cluster:
        cluster.patch("Namespace", "default", {"metadata": {"labels": ADMIN}}, namespace="")
        yield cluster


Verdict = tuple[int, list[tuple[str, str]]]
"""Status, and path and reason of each fault, in no order."""


def by_oracle(oracle: Oracle, document: dict[str, Any], old: dict[str, Any] | None = None) -> Verdict:
    answer = oracle.ask("validate", object=document, namespaceLabels=ADMIN, **({"old": old} if old else {}))
    return answer["status"], sorted((error["path"], error["reason"]) for error in answer.get("errors", []))


def by_server(server: Cluster, document: dict[str, Any], old: dict[str, Any] | None = None) -> Verdict:
    stored = server.create(old) if old else None
    try:
        if stored is None:
            stored = server.create(document)
            return 201, []
        current = {"resourceVersion": stored["metadata"]["resourceVersion"]}
        server.update(document | {"metadata": current | document["metadata"]})
    except Rejected as error:
        return error.code, sorted((cause.field, cause.reason) for cause in error.causes if error.code != 400)
    else:
        return 200, []
    finally:
        if stored:
            metadata = stored["metadata"]
            server.delete(stored["kind"], metadata["name"], namespace=metadata.get("namespace", "default"))


def comparable(document: dict[str, Any]) -> bool:
    """The server needs a name to find, and asks other objects about node-allocatable resources."""
    return bool(document.get("metadata", {}).get("name")) and "nodeAllocatableResources" not in str(document)


@seed(1)
@replayed
@given(document=st.sampled_from(API_VERSIONS).flatmap(api_objects))
def test_what_is_created_is_judged_alike(oracle: Oracle, server: Cluster, document: dict[str, Any]) -> None:
    assume(comparable(document))
    assert by_oracle(oracle, document) == by_server(server, document)


@seed(1)
@replayed
@given(pair=st.sampled_from(API_VERSIONS).flatmap(updates))
def test_what_is_updated_is_judged_alike(oracle: Oracle, server: Cluster, pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    old, new = pair
    assume(comparable(old) and comparable(new) and new["metadata"]["name"] == old["metadata"]["name"])
    assert by_oracle(oracle, new, old) == by_server(server, new, old)
