"""The table of rejections.py is what the API server says."""

from __future__ import annotations

from typing import Final

import pytest

from drakit.model.wire import decode, encode
from drakit.testing.cluster import Cluster, Rejected, lost
from tests.cluster.rejections import ACCEPTED, CASES, Answer, Case

pytestmark = pytest.mark.cluster

BAD_REQUEST: Final = 400

each_case = pytest.mark.parametrize("case", [pytest.param(case, id=case.title) for case in CASES])


def answer(cluster: Cluster, case: Case) -> Answer:
    """What the API server says now."""
    try:
        stored = cluster.create(case.document, strict=case.strict)
    except Rejected as error:
        if error.code == BAD_REQUEST:
            return Answer(cannot_be_read=error.message, warnings=error.warnings)
        return Answer(faults=tuple((cause.field, cause.message) for cause in error.causes), warnings=error.warnings)
    warnings = cluster.warnings
    cluster.delete("ResourceSlice", stored["metadata"]["name"])
    differences = [difference.removesuffix(": dropped") for difference in lost(case.document, stored)]
    return Answer(lost=tuple(differences), warnings=warnings)


def test_each_case_has_a_title_of_its_own() -> None:
    assert len({case.title for case in CASES}) == len(CASES)


@each_case
def test_with_default_gates_the_api_server_answers_as_the_table_says(with_default_gates: Cluster, case: Case) -> None:
    assert answer(with_default_gates, case) == case.answer


@each_case
def test_with_all_gates_too(with_all_gates: Cluster, case: Case) -> None:
    assert answer(with_all_gates, case) == (case.with_all_gates or case.answer)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.title) for case in CASES if case.answer == ACCEPTED])
def test_what_is_accepted_drakit_can_read_and_write_as_it_is_stored(with_all_gates: Cluster, case: Case) -> None:
    stored = with_all_gates.create(case.document)
    with_all_gates.delete("ResourceSlice", stored["metadata"]["name"])
    written = encode(decode(stored))["spec"]
    if not written.get("devices"):  # drakit says so, the API server leaves it out
        written.pop("devices", None)
    assert written == stored["spec"]
