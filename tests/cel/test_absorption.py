"""``&&`` and ``||`` take errors of one side when the other side decides; nothing else does."""

from __future__ import annotations

from typing import Final

import pytest

from tests.cel.builders import verdict

MISSING: Final = "A.nope == 1"
NO_KEY: Final = "EvaluationError: no such key: nope"


@pytest.mark.parametrize(
    ("operator", "decisive", "indecisive"), [("||", "true", "false"), ("&&", "false", "true"), ("||", "A.ecc", "A.spare")]
)
def test_the_side_that_decides_absorbs_the_error_of_the_other(operator: str, decisive: str, indecisive: str) -> None:
    assert verdict(f"{decisive} {operator} {MISSING}") is (operator == "||")
    assert verdict(f"{MISSING} {operator} {decisive}") is (operator == "||")
    assert verdict(f"{indecisive} {operator} {MISSING}") == NO_KEY
    assert verdict(f"{MISSING} {operator} {indecisive}") == NO_KEY


@pytest.mark.parametrize("operator", ["||", "&&"])
def test_without_a_decision_the_first_error_counts(operator: str) -> None:
    assert verdict(f"{MISSING} {operator} 1 / 0 == 1") == NO_KEY
    assert verdict(f"1 / 0 == 1 {operator} {MISSING}") == "EvaluationError: division by zero"


def test_a_value_that_is_no_bool_is_an_error_like_any_other() -> None:
    assert verdict("A.model || true") is True
    assert verdict("A.model && false") is False
    assert verdict("true && A.model") == "EvaluationError: no such overload"
    assert verdict("A.model || A.nope") == "EvaluationError: no such overload"


def test_a_term_far_away_decides() -> None:
    assert verdict(f"{MISSING} || false || A.model || 1 / 0 == 0 || true") is True


def test_exists_and_all_absorb_over_their_elements() -> None:
    assert verdict("[0, 1].exists(n, 1 / n == 1)") is True
    assert verdict("[1, 0].exists(n, 1 / n == 1)") is True
    assert verdict("[0, 2].all(n, 1 / n == 1)") is False
    assert verdict("[0, 1].all(n, 1 / n == 1)") == "EvaluationError: division by zero"
    assert verdict("[0].exists(n, 1 / n == 1)") == "EvaluationError: division by zero"


@pytest.mark.parametrize("fold", ["exists_one(n, 1 / n == 1)", "map(n, 1 / n) == [1]", "filter(n, 1 / n == 1) == [1]"])
def test_the_other_folds_do_not(fold: str) -> None:
    assert verdict(f"[0, 1].{fold}") == "EvaluationError: division by zero"
    assert verdict(f"[1, 0].{fold}") == "EvaluationError: division by zero"


@pytest.mark.parametrize("around", ["!({})", "({}) == true", "[{}] == [true]", "({}) ? true : true", "type({}) == bool"])
def test_nothing_else_absorbs(around: str) -> None:
    assert verdict(around.format(MISSING)) == NO_KEY


def test_inequality_takes_what_cannot_be_compared_but_no_missing_key() -> None:
    assert verdict("A.firmware != 'x'") is True
    assert verdict("A.nope != 'x'") == NO_KEY


def test_the_branch_not_taken_does_not_matter() -> None:
    assert verdict(f"A.ecc ? true : {MISSING}") is True
    assert verdict(f"A.spare ? {MISSING} : true") is True
    assert verdict(f"{MISSING} ? true : true") == NO_KEY
