"""How ANTLR decides which way to go where one token is not enough, and where it finds that no way leads on.

First without the calls that led here, as if a rule could be followed by whatever follows it anywhere; if that leaves more than
one way that cannot be told apart, once more with them. What is simulated is the decision, not the caches ANTLR has for it.

Source: github.com/antlr4-go/antlr ``parser_atn_simulator.go``, ``prediction_mode.go`` and ``ll1_analyzer.go``.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from drakit.cel.syntax.grammar import EOF, Rule, State

__all__ = ["EPSILON", "NoWay", "Stack", "next_tokens", "next_tokens_of_all", "predict"]

EPSILON: Final = "<EPSILON>"
"""Among the tokens that may come: the end of the rule."""

Stack: TypeAlias = "tuple[State, Stack | None] | None"
"""Where to go on at the end of a rule, and so on; None: nothing is known of it."""


class NoWay(Exception):  # not an error of drakit's
    """No way leads on from a decision."""

    def __init__(self, position: int) -> None:
        self.position = position
        """The token at which the last one ends."""


# -- what may come ------------------------------------------------------------------------------------------------------


@functools.cache
def next_tokens(state: State) -> frozenset[str]:
    """The kinds of tokens that may come next; :data:`EPSILON` stands for the end of the rule."""
    return _next_tokens(state, None, EPSILON)


def next_tokens_of_all(state: State, stack: Stack) -> frozenset[str]:
    """The kinds of tokens that may come next, with all that may come after the rules that end here."""
    return _next_tokens(state, stack, EOF)


def _next_tokens(state: State, stack: Stack, end: str) -> frozenset[str]:
    found: set[str] = set()
    pending: list[tuple[State, Stack]] = [(state, stack)]
    seen: set[tuple[State, Stack]] = set()
    while pending:
        place = pending.pop()
        if place in seen:
            continue
        seen.add(place)
        here, after = place
        if here.kind == "stop":
            if after is None:
                found.add(end)
            else:
                pending.append(after)
        for edge in here.edges:
            if edge.call is not None:
                pending.append((edge.call.start, (edge.target, after)))
            elif edge.tokens:
                found |= edge.tokens
            else:
                pending.append((edge.target, after))
    return frozenset(found)


# -- decisions ----------------------------------------------------------------------------------------------------------


@frozen
class _Way:
    """A place in the network that an alternative of a decision leads to."""

    state: State
    alternative: int
    after: Stack
    depth: int = 0
    """In how many calls from the rule of the decision it is; less than none when it has left that."""
    outside: bool = False
    """It has left the rule, and nothing was known of where to."""
    precedence: int = 0
    """Of the operator it begins with."""
    suppressed: bool = False
    """It went on after a call that takes any operator."""


def predict(
    decision: State, position: int, token: Callable[[int], str], stack: Callable[[], Stack], precedence: int, *, loop: bool
) -> int:
    """The alternative to take, from 0.

    :param position: of the first token.
    :param token: the kind of the token at a position.
    :param stack: makes the stack of the calls that led here.
    :param precedence: with which the rule was called.
    :param loop: the decision is whether a left-recursive rule goes on.
    :raises NoWay: there is none.
    """
    start = position
    known = _begun(decision, precedence if loop else None)
    while True:
        kind = token(position)
        if kind not in known.steps:
            known.steps[kind] = _step(known.ways, kind)
        step = known.steps[kind]
        if step is None:
            return _finished(known.ways, position)
        if not isinstance(step, _Known):
            return _predict_fully(decision, start, token, stack(), precedence) if step == _UNCLEAR else step
        known = step
        position += kind != EOF


@define(eq=False)
class _Known:
    """Where tokens lead, found out once: a state of ANTLR's automaton."""

    ways: Sequence[_Way]
    steps: dict[str, _Step] = field(factory=dict[str, "_Step"])


_UNCLEAR: Final = -1
_Step: TypeAlias = "_Known | int | None"
"""An alternative, :data:`_UNCLEAR`, further ways, or none."""


@functools.cache
def _begun(decision: State, precedence: int | None) -> _Known:
    """Where a decision leads to before any token; with the precedence of a left-recursive rule where it is about going on."""
    ways = list(_closure(_starts(decision, None), decision.rule, full=False, precedence=0))
    return _Known(ways if precedence is None else _of_precedence(ways, precedence))


def _step(ways: Sequence[_Way], kind: str) -> _Step:
    reached = _reached(ways, kind, full=False)
    alternatives = {way.alternative for way in reached}
    if len(alternatives) < 2:
        return alternatives.pop() if alternatives else None
    if _cannot_be_told_apart(reached):
        return _UNCLEAR
    return _KNOWN.setdefault(frozenset(reached), _Known(reached)) if len(_KNOWN) < _MOST_KNOWN else _Known(reached)


_KNOWN: Final[dict[frozenset[_Way], _Known]] = {}
_MOST_KNOWN: Final = 4096


def _predict_fully(decision: State, position: int, token: Callable[[int], str], stack: Stack, precedence: int) -> int:
    """The same with the calls that led here; of alternatives that cannot be told apart even then, the first."""
    ways = list(_closure(_starts(decision, stack), decision.rule, full=True, precedence=precedence))
    while True:
        kind = token(position)
        reached = _reached(ways, kind, full=True)
        if not reached:
            return _finished(ways, position)
        alternatives = {way.alternative for way in reached}
        least = {min(conflicting) for conflicting in _conflicts(reached)}
        if len(alternatives) == 1 or len(least) == 1:
            return min(alternatives) if len(alternatives) == 1 else least.pop()
        ways = reached
        position += kind != EOF


def _starts(decision: State, stack: Stack) -> list[_Way]:
    return [_Way(edge.target, number, stack) for number, edge in enumerate(decision.edges)]


def _closure(starts: Iterable[_Way], rule: Rule | None, *, full: bool, precedence: int = 0) -> Iterator[_Way]:
    """The places that ways lead to for nothing.

    :param rule: that of the decision, where these are its first steps; None later, when nobody asks how operators bind.
    :param precedence: of operators that are taken at once, where the calls that led here are known.
    """
    pending = list(reversed(list(starts)))
    seen: set[_Way] = set()
    while pending:
        way = pending.pop()
        if way in seen:
            continue
        seen.add(way)
        state = way.state
        if state.kind == "stop":
            if way.after is not None:
                pending.append(evolve(way, state=way.after[0], after=way.after[1], depth=max(way.depth - 1, -1)))
            elif full or not state.rule.follow:
                yield way
            else:
                pending += _outside(way, rule)
        elif any(edge.tokens for edge in state.edges):
            yield way
        else:
            pending += _steps(way, rule, full=full, precedence=precedence)


def _outside(way: _Way, rule: Rule | None) -> Iterator[_Way]:
    """All places after calls of the rule that ends."""
    for target, takes_any in reversed(way.state.rule.follow):
        suppressed = way.suppressed or (takes_any and way.state.rule is rule)
        yield evolve(way, state=target, depth=-1, outside=True, suppressed=suppressed)


def _steps(way: _Way, rule: Rule | None, *, full: bool, precedence: int) -> Iterator[_Way]:
    for edge in reversed(way.state.edges):
        if edge.call is not None:
            depth = way.depth + (way.depth >= 0)
            yield evolve(way, state=edge.call.start, after=(edge.target, way.after), depth=depth)
        elif not edge.precedence or rule is None or way.depth != 0:
            yield evolve(way, state=edge.target)
        elif not full:
            yield evolve(way, state=edge.target, precedence=edge.precedence)
        elif edge.precedence >= precedence:
            yield evolve(way, state=edge.target)


def _of_precedence(ways: list[_Way], precedence: int) -> list[_Way]:
    """Without operators that bind too weakly, and without the same places found again through the end of the rule."""
    own = [evolve(way, precedence=0) for way in ways if way.alternative == 0 and not 0 < way.precedence < precedence]
    places: defaultdict[State, set[Stack]] = defaultdict(set)
    again: defaultdict[State, set[Stack]] = defaultdict(set)
    for way in own:
        places[way.state].add(way.after)
    suppressed = set[State]()
    for way in ways:
        if way.alternative != 0:
            again[way.state].add(way.after)
            if way.suppressed:
                suppressed.add(way.state)
    return own + [
        way for way in ways if way.alternative != 0 and (way.state in suppressed or places.get(way.state) != again[way.state])
    ]


def _reached(ways: Iterable[_Way], kind: str, *, full: bool) -> list[_Way]:
    """The places after a token; at the end of the text, those where everything may end."""
    moved: list[_Way] = []
    stopped: list[_Way] = []
    for way in ways:
        if way.state.kind != "stop":
            moved += [evolve(way, state=edge.target, precedence=0) for edge in way.state.edges if kind in edge.tokens]
        elif full or kind == EOF:
            stopped.append(way)
    if not stopped and kind != EOF and len({way.alternative for way in moved}) == 1:
        return moved
    reached = list(_closure(moved, None, full=full))
    if kind == EOF:
        reached = [way for way in reached if way.state.kind == "stop"]
    if stopped and not (full and any(way.state.kind == "stop" for way in reached)):
        reached += stopped
    return reached


def _finished(ways: Iterable[_Way], position: int) -> int:
    """The first alternative that has come to the end of the rule.

    :raises NoWay: none has.
    """
    done = [way.alternative for way in ways if way.outside or (way.state.kind == "stop" and way.after is None)]
    if not done:
        raise NoWay(position)
    return min(done)


def _conflicts(ways: Iterable[_Way]) -> list[set[int]]:
    """The alternatives that lead to the same place, for each place."""
    stacks: defaultdict[tuple[State, int], set[Stack]] = defaultdict(set)
    for way in ways:
        stacks[way.state, way.alternative].add(way.after)
    places: defaultdict[tuple[State, frozenset[Stack]], set[int]] = defaultdict(set)
    for (state, alternative), after in stacks.items():
        places[state, frozenset(after)].add(alternative)
    return list(places.values())


def _cannot_be_told_apart(ways: Sequence[_Way]) -> bool:
    if all(way.state.kind == "stop" for way in ways):
        return True
    if all(len(alternatives) == 1 for alternatives in _conflicts(ways)):
        return False
    states: defaultdict[State, set[int]] = defaultdict(set)
    for way in ways:
        states[way.state].add(way.alternative)
    return all(len(alternatives) > 1 for alternatives in states.values())
