"""The oracle itself: that it is the release it should be, answers as the API server does, and survives bad questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.comparing import lost
from tests.cluster.rejections import BASELINE, CASES, Answer, Case
from tests.upstream.build import kubernetes_version
from tests.upstream.client import Oracle, OracleError

pytestmark = pytest.mark.upstream


def test_it_is_the_release_of_its_go_mod(oracle: Oracle) -> None:
    assert oracle.ask("about")["version"] == f"v{kubernetes_version()}"


def test_all_gates_of_dra_are_on_unless_asked_otherwise(oracle: Oracle) -> None:
    assert set(oracle.ask("about")["gates"].values()) == {True}
    assert oracle.ask("about", gates="all") == oracle.ask("about")


def test_gates_are_those_of_the_question_and_of_no_other(oracle: Oracle) -> None:
    default = oracle.ask("about", gates="default")["gates"]
    assert (default["DRADeviceTaints"], default["DRAListTypeAttributes"]) == (True, False)
    changed = oracle.ask("about", gates={"DRAListTypeAttributes": True, "DRADeviceTaintRules": False, "DRADeviceTaints": False})
    assert (changed["gates"]["DRADeviceTaints"], changed["gates"]["DRAListTypeAttributes"]) == (False, True)
    assert oracle.ask("about", gates="default")["gates"] == default


def test_the_defaults_of_older_releases_can_be_asked_for(oracle: Oracle) -> None:
    older = oracle.ask("about", gates="default", release="1.34")["gates"]
    assert (older["DRAAdminAccess"], older["DRADeviceTaints"]) == (True, False)
    assert "DRAListTypeAttributes" not in older


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ({"ask": "weather"}, 'no such question: "weather"'),
        ({"ask": "quantity", "texts": "1"}, 'unknown field "texts"'),
        ({"ask": "quantity", "text": 1}, "cannot unmarshal number"),
        ({"ask": "about", "gates": "some"}, 'gates are "all", "default" or a map, not "some"'),
        ({"ask": "about", "gates": {"NoSuchGate": True}}, "no such feature gate in 1.37: NoSuchGate"),
        ({"ask": "about", "gates": {"DRAAdminAccess": False}}, "feature gate DRAAdminAccess is locked to true in 1.37"),
        ({"ask": "about", "release": "9.9"}, "release 9.9 is newer than this 1.37"),
        ({"ask": "cel", "expr": "true", "device": {}, "env": "old"}, 'env is "stored" or "new", not "old"'),
        (
            {"ask": "validate", "object": {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "ResourcePoolStatusRequest"}},
            "objects of kind ResourcePoolStatusRequest cannot be asked about",
        ),
    ],
)
def test_a_question_that_makes_no_sense_is_an_error_and_the_next_is_answered(
    oracle: Oracle, question: dict[str, Any], why: str
) -> None:
    with pytest.raises(OracleError) as refused:
        oracle.ask_all([question])
    assert why in str(refused.value)
    assert oracle.ask("quantity", text="1k")["canonical"] == "1k"


def test_an_oracle_that_gives_no_answer_is_ended_and_the_next_question_finds_another(tmp_path: Path) -> None:
    binary = tmp_path / "mute"
    binary.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    binary.chmod(0o755)
    with Oracle(binary, patience=0.2) as mute:
        for _ in range(2):
            with pytest.raises(OracleError, match=r"no answer in 0.2 s.*\nquestion: .*about"):
                mute.ask("about")


def test_many_questions_are_answered_in_their_order(oracle: Oracle) -> None:
    answers = oracle.ask_all([{"ask": "quantity", "text": str(number)} for number in range(5000)])
    assert [answer["value"] for answer in answers] == list(range(5000))


# -- the API server's answers, without an API server -----------------------------------------------------------------------


def judged(oracle: Oracle, case: Case, gates: str) -> Answer:
    answer = oracle.ask("validate", object=case.document, gates=gates, lenient=not case.strict)
    warnings = tuple(answer.get("warnings", ()))
    if answer["status"] == 400:
        return Answer(cannot_be_read=answer["message"], warnings=warnings)
    faults = tuple((error["path"], error["message"]) for error in answer.get("errors", []))
    dropped = lost(case.document, answer["stored"]) if "stored" in answer else ()
    return Answer(faults=faults, lost=tuple(loss.removesuffix(": dropped") for loss in dropped), warnings=warnings)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title.replace(" ", "-"))
def test_it_judges_slices_as_the_api_server_does(oracle: Oracle, case: Case) -> None:
    """The table's answers are those of a real one: ``tests/cluster/test_rejections.py``."""
    assert judged(oracle, case, "default") == case.answer
    assert judged(oracle, case, "all") == (case.with_all_gates or case.answer)


def test_an_update_is_held_against_what_is_there(oracle: Oracle) -> None:
    old = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": dict(BASELINE)}
    new = old | {"spec": dict(BASELINE) | {"driver": "other.example.com"}}
    assert oracle.ask("validate", object=old, old=old)["status"] == 200
    answer = oracle.ask("validate", object=new, old=old)
    assert [(error["path"], error["reason"]) for error in answer["errors"]] == [("spec.driver", "FieldValueInvalid")]
