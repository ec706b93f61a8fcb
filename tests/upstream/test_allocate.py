"""drakit's allocator beside Kubernetes' own, on random worlds with every feature there is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from drakit.testing.strategies import ALL, World, worlds
from tests.allocation.mutants import GROUP_MUTANTS, MUTANTS
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


EXPERIMENTAL = frozenset({"match-list", "compatibility-groups"})
"""What needs gates that are off by default."""
MOST_THOUSANDTHS = 2**63 // 1000
"""Above it nothing is counted in thousandths."""


def counts_in_thousandths(world: World) -> bool:
    """Whether it may matter that DRAFractionalCapacityRange is off by default: drakit always takes it to be on.

    Ranges are counted in whole numbers then, so that fractions are rounded and larger amounts than thousandths allow are not
    refused.
    """
    capacities = (capacity for part in world.slices for device in part.spec.devices for capacity in device.capacity.values())
    ranges = [c.request_policy.valid_range for c in capacities if c.request_policy and c.request_policy.valid_range]
    requests = (request for claim in world.claims for request in claim.spec.devices.requests)
    asks = (ask for request in requests for ask in (request.exactly, *request.first_available) if ask and ask.capacity)
    amounts = [amount for ask in asks if ask.capacity for amount in ask.capacity.requests.values()]
    amounts += [bound for range_ in ranges for bound in (range_.min, range_.max, range_.step) if bound is not None]
    return bool(ranges) and any(amount.value > MOST_THOUSANDTHS or amount.value % 1 for amount in amounts)


@differential
@given(world=worlds(ALL - EXPERIMENTAL))
def test_drakit_allocates_what_kubernetes_does_by_default(oracle: Oracle, world: World) -> None:
    """By its gates Kubernetes picks another of its allocators: the one that most clusters run."""
    assume(not counts_in_thousandths(world))
    counted = tally("allocate: default gates")
    asked = world.question()
    theirs = stock_allocates(oracle, asked | {"gates": "default"})
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

FOCUSED = {
    ("counters", "taints", "match"): 150,
    ("counters", "allocated", "shared", "capacity"): 150,
    ("counters", "allocated", "shared", "selectors"): 300,
    ("counters", "same-pool-name"): 150,
    ("capacity", "shared", "taints"): 250,
    ("distinct", "distinct-count"): 150,
    ("match", "match-list"): 500,
    ("admin", "allocated"): 250,
    ("all", "allocated"): 150,
    ("binding-conditions",): 100,
    ("compatibility-groups", "distinct"): 250,
}
"""Features that say more together than among all others, and how many worlds of them it takes."""


def some(strategy: st.SearchStrategy[World], count: int) -> list[World]:
    """Always the same examples."""
    found: list[World] = []

    @seed(1)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def collect(world: World) -> None:
        found.append(world)

    collect()
    return found


@pytest.fixture(scope="module")
def corpus(oracle: Oracle) -> list[tuple[Question, Allocation]]:
    """Worlds of the strategies, and Kubernetes' answers to them."""
    found = some(worlds(), 600) + [world for features, count in FOCUSED.items() for world in some(worlds(features), count)]
    asked = [world.question() for world in found]
    return [(question_, stock_allocates(oracle, question_)) for question_ in asked]


def differs(corpus: list[tuple[Question, Allocation]]) -> bool:
    """Whether drakit answers any of them otherwise."""
    return any(not same(drakit_allocates(asked), theirs) for asked, theirs in corpus)


def test_the_corpus_is_answered_as_kubernetes_does(corpus: list[tuple[Question, Allocation]]) -> None:
    assert not differs(corpus)


@pytest.mark.parametrize("mutate", [*MUTANTS, *GROUP_MUTANTS], ids=lambda mutate: mutate.__name__)
def test_a_fault_would_be_noticed(
    corpus: list[tuple[Question, Allocation]],
    mutate: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutate(monkeypatch)
    assert differs(corpus)
