"""Allocators that are broken on purpose: a comparison that is worth anything notices each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from unittest.mock import Mock, PropertyMock

import pytest

from drakit.allocation import AllocatedState, Pool, PoolIndex
from drakit.allocation import search as search_module
from drakit.allocation.compatibility import CompatibilityGroups
from drakit.allocation.constraints import ConstraintState, Values, values_of
from drakit.allocation.counters import CounterLedger
from drakit.allocation.pools import Candidate
from drakit.allocation.search import _Search
from drakit.model import Node


def no_give_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CounterLedger, "give_back", Mock())


def rejected_candidates_keep_their_counters(patch: pytest.MonkeyPatch) -> None:
    right = _Search._values_if_free

    def leaking(self: _Search, claim: int, ask: Any, candidate: Candidate, pool: Pool) -> list[Values] | None:
        values = right(self, claim, ask, candidate, pool)
        fits = self._must_be_charged(candidate) and not self._ledger(pool).short(candidate)
        if values is None and fits and not self._in_use(claim, ask, candidate):
            self._ledger(pool).charge(candidate)
        return values

    patch.setattr(_Search, "_values_if_free", leaking)


def books_by_pool_name(patch: pytest.MonkeyPatch) -> None:
    def ledger(self: _Search, pool: Pool) -> CounterLedger:
        known = {p.name: ledger for p, ledger in self.ledgers.items()}
        books = self.ledgers.setdefault(pool, known.get(pool.name) or CounterLedger(pool, self.state))
        books.left = dict(pool.counters) | books.left
        return books

    patch.setattr(_Search, "_ledger", ledger)


def every_share_is_charged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Search, "_must_be_charged", lambda _, candidate: bool(candidate.counters))


def allocated_shares_hold_no_counters(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AllocatedState, "consumes_counters", lambda state, device: device in state.devices)


def an_overdrawn_counter_is_nobody_elses_business(patch: pytest.MonkeyPatch) -> None:
    def short(self: CounterLedger, candidate: Candidate) -> list[tuple[str, str]]:
        return [key for key, amount in candidate.counters.items() if self.left[key] < amount]

    patch.setattr(CounterLedger, "short", short)


def distinct_compares_with_the_last_only(patch: pytest.MonkeyPatch) -> None:
    right = ConstraintState.next

    def forgetful(self: ConstraintState, candidate: Candidate) -> Values | None:
        values = right(self, candidate)
        return values_of(candidate, self.attribute) if values and not self.match else values

    patch.setattr(ConstraintState, "next", forgetful)


def match_compares_with_the_last_only(patch: pytest.MonkeyPatch) -> None:
    right = ConstraintState.next

    def forgetful(self: ConstraintState, candidate: Candidate) -> Values | None:
        values = right(self, candidate)
        return values_of(candidate, self.attribute) if values and self.match else values

    patch.setattr(ConstraintState, "next", forgetful)


def constraints_are_not_restored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConstraintState, "pop", Mock())


def missing_attributes_match(patch: pytest.MonkeyPatch) -> None:
    right = ConstraintState.next

    def lenient(self: ConstraintState, candidate: Candidate) -> Values | None:
        if values_of(candidate, self.attribute):
            return right(self, candidate)
        return self._stack[-1] if self._stack else frozenset()

    patch.setattr(ConstraintState, "next", lenient)


def shares_are_not_given_back(patch: pytest.MonkeyPatch) -> None:
    right = _Search._take_back

    def hoarding(self: _Search, pick: Any, pool: Pool, values: list[Values]) -> None:
        right(self, pick, pool, values)
        if pick.consumed:
            self.shares[pick.candidate.id].append(pick.consumed)

    patch.setattr(_Search, "_take_back", hoarding)


def shares_of_this_attempt_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Search, "_taken", lambda self, candidate: self.state.capacity.get(candidate.id, {}))


def all_means_all_that_are_free(patch: pytest.MonkeyPatch) -> None:
    right = _Search._all_devices

    def only_free(self: _Search, plan: Any, ask: Any) -> list[Any]:
        return [place for place in right(self, plan, ask) if place[0].id not in self.state.devices]

    patch.setattr(_Search, "_all_devices", only_free)


def taints_are_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(search_module, "first_untolerated", Mock(return_value=None))


def admin_access_takes_a_device_twice(patch: pytest.MonkeyPatch) -> None:
    right = _Search._in_use
    patch.setattr(_Search, "_in_use", lambda self, claim, ask, c: not ask.admin_access and right(self, claim, ask, c))


def admin_access_waits_for_others(patch: pytest.MonkeyPatch) -> None:
    right = _Search._in_use
    patch.setattr(_Search, "_in_use", lambda self, claim, ask, c: right(self, claim, ask, c) or c.id in self.state.devices)


def pools_the_other_way_round(patch: pytest.MonkeyPatch) -> None:
    right = PoolIndex.pools

    def reverse(self: PoolIndex, of: Node) -> tuple[Pool, ...]:
        return right(self, of)[::-1]

    patch.setattr(PoolIndex, "pools", reverse)


def binding_conditions_do_not_matter(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Pool, "has_binding_conditions", PropertyMock(return_value=False))


def looking_ahead_counts_one_too_few(patch: pytest.MonkeyPatch) -> None:
    right = _Search._usable_from
    patch.setattr(search_module, "LOOK_AHEAD_AFTER", 0)
    patch.setattr(_Search, "_usable_from", lambda self, position, ask: right(self, position, ask) - 1)


def groups_do_not_matter(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CompatibilityGroups, "conflicts", lambda *_: [])


def groups_stay_taken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CompatibilityGroups, "take_back", Mock())


MUTANTS: Final[list[Callable[[pytest.MonkeyPatch], None]]] = [
    no_give_back,
    rejected_candidates_keep_their_counters,
    books_by_pool_name,
    every_share_is_charged,
    allocated_shares_hold_no_counters,
    an_overdrawn_counter_is_nobody_elses_business,
    distinct_compares_with_the_last_only,
    match_compares_with_the_last_only,
    constraints_are_not_restored,
    missing_attributes_match,
    shares_are_not_given_back,
    shares_of_this_attempt_are_forgotten,
    all_means_all_that_are_free,
    taints_are_not_looked_at,
    admin_access_takes_a_device_twice,
    admin_access_waits_for_others,
    pools_the_other_way_round,
    binding_conditions_do_not_matter,
    looking_ahead_counts_one_too_few,
]
"""Whatever worlds there are, if there are enough."""

GROUP_MUTANTS: Final[list[Callable[[pytest.MonkeyPatch], None]]] = [groups_do_not_matter, groups_stay_taken]
"""Only worlds with compatibility groups show these."""
