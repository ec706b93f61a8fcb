"""drakit's allocator beside Kubernetes' own, on random worlds with every feature there is."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given

from drakit.model import device_class
from drakit.testing.strategies import World, worlds
from tests.allocation import brute_force
from tests.allocation.brute_force import random_world
from tests.allocation.builders import node
from tests.allocation.mutants import MUTANTS
from tests.upstream.asking import Allocation, drakit_allocates, picks, question, stock_allocates
from tests.upstream.client import Oracle, Question
from tests.upstream.differential import differential, tally
from tests.upstream.known import KNOWN, KnownFault

pytestmark = pytest.mark.upstream


def same(ours: Allocation, theirs: Allocation) -> bool:
    """Equal results; of an error drakit says Kubernetes' text, and may go on."""
    return ours.startswith(theirs) if isinstance(ours, str) and isinstance(theirs, str) else ours == theirs


@differential
@given(world=worlds())
def test_drakit_allocates_what_kubernetes_does(oracle: Oracle, world: World) -> None:
    counted = tally("allocate")
    asked = world.question()
    with counted.timed("kubernetes"):
        theirs = stock_allocates(oracle, asked)
    with counted.timed("drakit"):
        ours = drakit_allocates(asked)
    assert same(ours, theirs), (ours, theirs)
    counted.outcomes["error" if isinstance(theirs, str) else "none" if theirs is None else "fit"] += 1


def said(fault: KnownFault, allocation: Allocation) -> list[str] | str | None:
    """An answer in the form of the table: devices without driver and pool, or the part of the error that it names."""
    found = picks(allocation)
    if isinstance(found, str):
        return next((text for text in (fault.meant, fault.stock) if isinstance(text, str) and text in found), found)
    return found and ["=".join((pick.split("=")[0], pick.rpartition("/")[2])) for pick in found]


@pytest.mark.parametrize("fault", KNOWN, ids=lambda fault: fault.title.replace(" ", "-"))
def test_the_table_of_known_faults_is_true(oracle: Oracle, fault: KnownFault) -> None:
    asked = question(fault.objects, fault.claims)
    assert said(fault, drakit_allocates(asked)) == fault.meant
    assert said(fault, stock_allocates(oracle, asked)) == fault.stock, "Kubernetes has changed: so must the table"


# -- would the comparison notice? -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(oracle: Oracle) -> list[tuple[Question, Allocation]]:
    """Random worlds and Kubernetes' answers to them."""
    asked = [world_question(random_world(Random(seed))) for seed in range(2000)]
    return [(question_, stock_allocates(oracle, question_)) for question_ in asked]


def world_question(world: brute_force.World) -> Question:
    classes = [device_class(f"kind-{kind}", brute_force.KIND.format(kind)) for kind in "12"]
    return question([node(brute_force.HERE), *classes, world.slices, world.held], world.claims)


def differs(corpus: list[tuple[Question, Allocation]]) -> bool:
    """Whether drakit answers any of them otherwise; a crash is an answer too."""
    for asked, theirs in corpus:
        try:
            if not same(drakit_allocates(asked), theirs):
                return True
        except Exception:  # noqa: BLE001  # a mutant may break anything
            return True
    return False


def test_the_corpus_is_answered_as_kubernetes_does(corpus: list[tuple[Question, Allocation]]) -> None:
    assert not differs(corpus)


@pytest.mark.parametrize("mutate", MUTANTS, ids=lambda mutate: mutate.__name__)
def test_a_fault_would_be_noticed(
    corpus: list[tuple[Question, Allocation]],
    mutate: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutate(monkeypatch)
    assert differs(corpus)
