"""The oracle itself: that it is the release it should be, answers as the API server does, and survives bad questions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from drakit.testing.cluster import lost
from tests.allocation.builders import claim, device, request, slice_
from tests.cluster.rejections import BASELINE, CASES, Answer, Case
from tests.upstream.asking import question
from tests.upstream.build import folder, kubernetes_version, missing
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


def test_older_releases_answer_with_every_gate_they_have(oracle: Oracle) -> None:
    older = oracle.ask("about", release="1.34")["gates"]
    assert set(older.values()) == {True}
    assert "DRADeviceTaints" in older


@pytest.mark.parametrize("release", ["1.34", "1.35"])
def test_an_older_release_drops_what_its_gates_keep_off(oracle: Oracle, release: str) -> None:
    taint = {"key": "example.com/broken", "effect": "NoSchedule"}
    spec = dict(BASELINE) | {"devices": [{"name": "d0", "taints": [taint]}]}
    document = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}
    answer = oracle.ask("validate", object=document, gates="default", release=release)
    assert answer["stored"]["spec"]["devices"] == [{"name": "d0"}]


def test_each_node_has_its_answer_with_time_and_steps(oracle: Oracle) -> None:
    world = question([slice_(device("d0"))], [claim(request())])
    elsewhere = {"metadata": {"name": "node-b"}}
    here, there = oracle.ask("allocate", **world, nodes=[elsewhere])["nodes"]
    assert (here["node"], there["node"], there["results"]) == ("node-a", "node-b", None)
    assert here["results"][0]["devices"]["results"][0]["device"] == "d0"
    assert here["nanoseconds"] > 0
    assert here["steps"] > 0


def test_an_allocation_ends_when_its_time_is_over(oracle: Oracle) -> None:
    many = [f"d{index:02}" for index in range(20)]
    asked = [claim(request("r", count=10), request("s", count=11))]
    world = question([slice_(*(device(name) for name in many))], asked)
    (answer,) = oracle.ask("allocate", **world, timeout=0.2)["nodes"]
    assert answer["timedOut"]
    assert answer["error"].startswith("filter operation aborted")


def test_a_selector_has_costs_and_environments(oracle: Oracle) -> None:
    asked = {"expr": "device.allowMultipleAllocations", "device": {"driver": "gpu.example.com"}}
    assert oracle.ask("cel", **asked) == {"verdict": "false", "output_type": "bool", "max_cost": 2, "cost": 2}
    off = {"DRAConsumableCapacity": False}
    refused = oracle.ask("cel", **asked, env="new", gates=off)
    assert "undefined field 'allowMultipleAllocations'" in refused["message"]
    assert oracle.ask("cel", **asked, env="stored", gates=off)["verdict"] == "false"


def test_a_status_is_held_against_its_own_rules(oracle: Oracle) -> None:
    old = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
    }
    result = {"request": "none", "driver": "gpu.example.com", "pool": "p", "device": "d"}
    new = old | {"status": {"allocation": {"devices": {"results": [result]}}}}
    answer = oracle.ask("validate", object=new, old=old, subresource="status")
    assert [error["path"] for error in answer["errors"]] == ["status.allocation.devices.results[0].request"]
    assert oracle.ask("validate", object=new, old=old)["status"] == 200, "which leaves the status alone"


def test_the_oldest_version_is_judged_too(oracle: Oracle) -> None:
    spec = dict(BASELINE) | {"devices": [{"name": "d0", "basic": {"attributes": {"model": {"string": "m"}}}}]}
    document = {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}
    assert oracle.ask("validate", object=document)["stored"]["spec"]["devices"] == spec["devices"]
    document["spec"] = spec | {"devices": [{"name": "d0", "basic": {"attributes": {"a-b": {"string": "m"}}}}]}
    assert [error["path"] for error in oracle.ask("validate", object=document)["errors"]] == ["spec.devices[0].attributes"]


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
            with pytest.raises(OracleError, match=r"no answer in 0\.2 s\nquestion: .*about"):
                mute.ask("about")


def test_an_oracle_that_ends_says_with_what(tmp_path: Path) -> None:
    binary = tmp_path / "short"
    binary.write_text("#!/bin/sh\nread line\nexit 3\n", encoding="utf-8")
    binary.chmod(0o755)
    with Oracle(binary) as short, pytest.raises(OracleError, match=r"no answer, but an end with 3\nquestion: .*about"):
        short.ask("about")


def test_an_exchange_that_is_broken_off_leaves_no_answer_for_the_next(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            oracle.ask("quantity", text="7")
    assert oracle.ask("quantity", text="5")["value"] == 5


def test_threads_get_their_own_answers(oracle: Oracle) -> None:
    def value(number: int) -> int:
        return int(oracle.ask("quantity", text=str(number))["value"])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(value, range(400))) == list(range(400))


def test_the_question_that_hangs_is_the_one_that_is_named() -> None:
    if why := missing("oracle"):
        pytest.skip(why)
    questions = [{"ask": "quantity", "text": text} for text in ("1", "2", "1e-999999999", "3")]
    with Oracle(folder("oracle") / "oracle", patience=3) as oracle:
        with pytest.raises(OracleError, match=r"no answer in 3 s\nquestion: .*1e-999999999"):
            oracle.ask_all(questions)
        assert oracle.ask("quantity", text="4")["value"] == 4


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
