"""The search against an oracle that tries everything, and proof that the comparison would notice faults."""

from __future__ import annotations

import functools
from collections.abc import Callable
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drakit.allocation import AllocationError
from drakit.allocation import search as search_module
from drakit.model import device_class
from tests.allocation.brute_force import HERE, KIND, Answer, World, answer, random_world
from tests.allocation.builders import cluster, node
from tests.allocation.mutants import MUTANTS

CLASSES: Final = [device_class(f"kind-{kind}", KIND.format(kind)) for kind in "12"]
CORPUS: Final = 2000


def drakits_answer(world: World) -> Answer:
    built = cluster(node(HERE), *CLASSES, world.slices, world.held)
    try:
        results = built.allocate_on(built.nodes[0], world.claims)
    except AllocationError:
        return "fatal"
    if results is None:
        return None
    return [[f"{r.request}={r.id}" for r in result.devices.results] for result in results]


@given(rng=st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_the_search_gives_the_smallest_feasible_assignment(rng: Random) -> None:
    world = random_world(rng)
    expected = answer(world)
    assert drakits_answer(world) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "LOOK_AHEAD_AFTER", 0)
        assert drakits_answer(world) == expected, "looking ahead changes no answer"


# -- would the comparison notice? -----------------------------------------------------------------------------------------


@functools.cache
def corpus() -> tuple[tuple[World, Answer], ...]:
    worlds = [random_world(Random(seed)) for seed in range(CORPUS)]
    return tuple((world, answer(world)) for world in worlds)


def first_difference() -> int | None:
    """The first world of the corpus with another answer than the oracle's; a crash is one too."""
    for index, (world, expected) in enumerate(corpus()):
        try:
            same = drakits_answer(world) == expected
        except Exception:  # noqa: BLE001  # a mutant may break anything
            return index
        if not same:
            return index
    return None


def test_the_corpus_is_answered_right_and_has_answers_of_every_kind() -> None:
    assert first_difference() is None
    found = [expected for _, expected in corpus()]
    assert found.count("fatal") > CORPUS / 200
    assert found.count(None) > CORPUS / 5
    assert sum(isinstance(expected, list) and any(expected) for expected in found) > CORPUS / 5


@pytest.mark.parametrize("mutate", MUTANTS, ids=lambda mutate: mutate.__name__)
def test_a_fault_would_be_noticed(mutate: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    assert first_difference() is not None
