"""What drakit reads and writes beside what the API server takes: its validation, defaulting and strict decoding.

drakit's own validation comes with its lint. What has to hold before: an object that the API server takes can be read, is
written again so that the same is stored, and what the API server cannot even read is no object for drakit either.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drakit.model import DrakitError
from drakit.model.wire import decode, encode
from drakit.testing.strategies import API_VERSIONS, api_objects, updates
from tests.upstream.client import Answer, Oracle
from tests.upstream.differential import differential, tally

pytestmark = pytest.mark.upstream


ADMIN: Final = {"resource.kubernetes.io/admin-access": "true"}
STRICTER: Final = (
    "spec.devices: is required: a slice has devices or sharedCounters",
    "value: is required",
    "must be a string, not null",
    "operator Gt takes one integer",
    "operator Lt takes one integer",
)
"""What drakit does not take though the API server does: what is left out there has been forgotten and not meant, and a
selector that no scheduler can read ends every attempt.
"""


def reread(document: dict[str, Any]) -> dict[str, Any] | str:
    """The document after drakit has read and written it, or why drakit does not take it."""
    try:
        return encode(decode(document))
    except DrakitError as error:
        return str(error)


def outcome(answer: Answer) -> str:
    return {200: "accepted", 201: "accepted", 400: "unreadable", 422: "invalid"}.get(answer["status"], str(answer["status"]))


def assert_stricter(refusal: str) -> None:
    """Each complaint is one that drakit has a reason for."""
    assert [line for line in refusal.splitlines() if not any(rule in line for rule in STRICTER)] == []


def complaints(answer: Answer) -> list[tuple[str, str]]:
    """Which rules fields break, in no order; the texts repeat values, in whichever notation they came."""
    return sorted((error["path"], error["reason"]) for error in answer.get("errors", []))


def told(value: Any) -> Any:
    """What a document says: lists and objects without anything in them, and what is null, say nothing."""
    match value:
        case dict():
            # The time is that of the question where none was given.
            said = {name: told(item) for name, item in value.items() if name != "timeAdded"}
            return {name: item for name, item in said.items() if item not in (None, {}, [])}
        case list():
            return [told(item) for item in value]
    return value


@differential
@given(document=st.sampled_from(API_VERSIONS).flatmap(api_objects))
def test_what_the_api_server_takes_is_read_and_written_without_loss(oracle: Oracle, document: dict[str, Any]) -> None:
    counted = tally("validate: create")
    with counted.timed("kubernetes"):
        answer = oracle.ask("validate", object=document, namespaceLabels=ADMIN)
    with counted.timed("drakit"):
        ours = reread(document)
    verdict = outcome(answer)
    if verdict == "unreadable":
        assert isinstance(ours, str), answer
    if verdict == "accepted" and isinstance(ours, str):
        assert_stricter(ours)
        verdict = "accepted, but not by drakit"
    elif verdict == "accepted" and isinstance(ours, dict):
        again = oracle.ask("validate", object=ours, namespaceLabels=ADMIN)
        assert again["status"] == 201, again
        # drakit writes the version it prefers.
        assert told(again["stored"]) == told(answer["stored"] | {"apiVersion": ours["apiVersion"]})
    counted.outcomes[verdict] += 1


@differential
@given(pair=st.sampled_from(API_VERSIONS).flatmap(updates))
def test_updates_are_judged_the_same_after_drakit_has_written_them(
    oracle: Oracle, pair: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    counted = tally("validate: update")
    old, new = pair
    answer = oracle.ask("validate", object=new, old=old, namespaceLabels=ADMIN)
    ours_old, ours_new = reread(old), reread(new)
    counted.outcomes[outcome(answer)] += 1
    if isinstance(ours_old, str) or isinstance(ours_new, str):
        if outcome(answer) == "accepted":
            for refusal in (ours_old, ours_new):
                assert_stricter(refusal if isinstance(refusal, str) else "")
        return
    again = oracle.ask("validate", object=ours_new, old=ours_old, namespaceLabels=ADMIN)
    assert (again["status"], complaints(again)) == (answer["status"], complaints(answer))
