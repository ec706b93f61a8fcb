"""What ANTLR says of an expression that does not follow the grammar: every syntax error, as its recovery goes on after each.

The parser of :mod:`drakit.cel.syntax.parser` stops at the first; then this one goes over the tokens once more, as the parser
that ANTLR generates for cel-go does, with its strategy for errors and cel-go's limits to it. It makes no nodes.

Source: github.com/antlr4-go/antlr ``error_strategy.go`` and ``parser.go``; github.com/google/cel-go ``parser/parser.go``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs
from attrs import define

from drakit.cel.errors import Issue
from drakit.cel.syntax import grammar, prediction
from drakit.cel.syntax.grammar import EOF, TOKENS, Choice, Loop, Match, Node, Rule, RuleCall, State
from drakit.cel.syntax.lexer import Token
from drakit.cel.syntax.prediction import EPSILON, Stack, next_tokens, next_tokens_of_all
from drakit.cel.syntax.source import Source
from drakit.cel.syntax.trampoline import Walk, run_catching

__all__ = ["recovered"]

_MAX_DEPTH: Final = 250
_MOST_ATTEMPTS: Final = 30
_MOST_SKIPPED: Final = 256
_MOST_REPORTS: Final = 100
_KEYWORD: Final = re.compile("no viable alternative at input '.(true|false|null)'")


def recovered(source: Source, tokens: Sequence[Token], stray: Sequence[Token]) -> tuple[list[Issue], list[Token] | None]:
    """The issues of tokens that don't follow the grammar, and the tokens with one left out or put in for each.

    :param stray: text that is no token, in order; it is told of when the token after it is looked at.
    :returns: no tokens where that did not help.
    """
    recognizer = _Recognizer(source, tokens, stray)
    try:
        run_catching(recognizer.rule(grammar.rules()["start"], 0), _Mistake)
    except _GivenUp as reason:
        if str(reason):
            recognizer.issues.append(source.issue(-1, str(reason)))
        recognizer.mended = None
    return recognizer.issues, recognizer.mended


class _GivenUp(Exception):  # not an error of drakit's
    """cel-go ends the parse here."""


class _Mistake(Exception):  # as above
    """What ends a rule; its caller goes on."""

    def __init__(self, message: str, at: int) -> None:
        self.message = message
        self.at = at
        """The position of the token that is complained about."""


@define(eq=False)
class _Call:
    """A rule that is being read."""

    rule: Rule
    precedence: int
    called_in: State | None
    outer: _Call | None

    def stack(self) -> Stack:
        """Where to go on after this rule, and after those that called it."""
        afters: list[State] = []
        call: _Call | None = self
        while call is not None and call.called_in is not None:
            afters.append(call.called_in.edges[0].target)
            call = call.outer
        found: Stack = None
        for after in reversed(afters):
            found = (after, found)
        return found


class _Recognizer:
    """Goes over the tokens."""

    def __init__(self, source: Source, tokens: Sequence[Token], stray: Sequence[Token]) -> None:
        self.source, self.tokens = source, tokens
        self.stray = stray
        self.told = 0
        """How many of them."""
        self.issues: list[Issue] = []
        self.mended: list[Token] | None = []
        self.reports = 0
        self.position = 0
        self.fetched = -1
        self.state: State = grammar.rules()["start"].start
        self.call: _Call | None = None
        self.depths: Counter[str] = Counter()
        self.attempts = 0
        self.recovering = False
        self.last_error: tuple[int, set[State]] = (-1, set())

    # -- tokens ---------------------------------------------------------------------------------------------------

    def kind(self, position: int) -> str:
        position = min(position, len(self.tokens) - 1)
        while self.fetched < position:
            self.fetched += 1
            self.tell_stray(self.tokens[self.fetched].offset)
        return self.tokens[position].kind

    def tell_stray(self, before: int) -> None:
        while self.told < len(self.stray) and self.stray[self.told].offset < before:
            _, text, offset = self.stray[self.told]
            self.told += 1
            self.tell(self.source.issue(offset, f"Syntax error: token recognition error at: '{text}'"))

    def ahead(self) -> str:
        return self.kind(self.position)

    def take(self) -> None:
        """Read a token that fits."""
        if self.mended is not None:
            self.mended.append(self.tokens[self.position])
        self.consume()

    def consume(self) -> None:
        if self.ahead() != EOF:
            self.position += 1
        self.kind(self.position)

    # -- reports --------------------------------------------------------------------------------------------------

    def tell(self, issue: Issue) -> None:
        if self.reports == _MOST_REPORTS:
            many = f"Syntax error: More than {_MOST_REPORTS} syntax errors"
            self.issues.append(attrs.evolve(issue, message=many))
            raise _GivenUp
        self.reports += 1
        self.issues.append(issue)

    def notify(self, message: str, at: int) -> None:
        message = _KEYWORD.sub(r"mismatched input '\1' expecting IDENTIFIER", message)
        self.tell(self.source.issue(self.tokens[min(at, len(self.tokens) - 1)].offset, f"Syntax error: {message}"))

    def report(self, message: str, at: int) -> None:
        """Say something, unless nothing was read since the last time."""
        if not self.recovering:
            self.recovering = True
            self.notify(message, at)

    def shown(self, position: int) -> str:
        return _quoted(self.tokens[min(position, len(self.tokens) - 1)].text)

    def matched(self) -> None:
        self.recovering = False
        self.last_error = (-1, set())

    # -- what may come --------------------------------------------------------------------------------------------

    def expected(self) -> frozenset[str]:
        """What may come, with what may come after the rules that end here."""
        following = next_tokens(self.state)
        found = set(following - {EPSILON})
        call = self.call
        while call is not None and call.called_in is not None and EPSILON in following:
            following = next_tokens(call.called_in.edges[0].target)
            found |= following - {EPSILON}
            call = call.outer
        if EPSILON in following:
            found.add(EOF)
        return frozenset(found)

    def recovery_set(self) -> frozenset[str]:
        """What comes after any rule that is being read."""
        found: set[str] = set()
        call = self.call
        while call is not None and call.called_in is not None:
            found |= next_tokens(call.called_in.edges[0].target)
            call = call.outer
        return frozenset(found - {EPSILON})

    def mismatch(self) -> _Mistake:
        return _Mistake(f"mismatched input {self.shown(self.position)} expecting {_listed(self.expected())}", self.position)

    # -- recovery -------------------------------------------------------------------------------------------------

    def sync(self, state: State, *, loop_back: bool = False) -> None:
        """Before a decision: whether the next token fits it.

        :raises _Mistake: it does not, and neither does the one after it.
        """
        self.state = state
        if self.recovering:
            return
        expected = next_tokens(state)
        if EPSILON in expected or self.ahead() in expected:
            return
        if not loop_back:
            if not self.delete(skipped=None):
                raise self.mismatch()
            return
        self.report(f"extraneous input {self.shown(self.position)} expecting {_listed(self.expected())}", self.position)
        self.skip_to(self.expected() | self.recovery_set())

    def delete(self, skipped: Counter[str] | None) -> bool:
        """Leave out a token if the one after it fits."""
        if self.kind(self.position + 1) not in self.expected():
            return False
        self.report(f"extraneous input {self.shown(self.position)} expecting {_listed(self.expected())}", self.position)
        self.skip(skipped)
        self.matched()
        return True

    def skip(self, skipped: Counter[str] | None) -> None:
        if skipped is not None:
            if skipped["tokens"] >= _MOST_SKIPPED:
                raise _GivenUp(f"error recovery token lookahead limit exceeded: {_MOST_SKIPPED}")
            skipped["tokens"] += 1
        self.consume()

    def skip_to(self, kinds: frozenset[str], skipped: Counter[str] | None = None) -> None:
        while self.ahead() != EOF and self.ahead() not in kinds:
            self.skip(skipped)

    def attempt(self) -> None:
        if self.attempts == _MOST_ATTEMPTS:
            self.notify(f"error recovery attempt limit exceeded: {_MOST_ATTEMPTS}", self.position)
            raise _GivenUp
        self.attempts += 1

    def recover(self) -> None:
        """At the end of a rule with a mistake: go on where some caller can."""
        self.attempt()
        self.mended = None
        skipped = Counter[str]()
        at, states = self.last_error
        if at == self.position and self.state in states:
            self.skip(skipped)
        self.last_error = (self.position, states | {self.state})
        self.skip_to(self.recovery_set(), skipped)

    def recover_inline(self) -> None:
        """Where a token should stand: without the one that does, or with one that doesn't.

        :raises _Mistake: neither helps.
        """
        self.attempt()
        if self.delete(Counter()):
            self.take()
            return
        assert self.call is not None
        if self.ahead() in next_tokens_of_all(self.state.edges[0].target, self.call.stack()):
            expected = self.expected()
            self.report(f"missing {_listed(expected)} at {self.shown(self.position)}", self.position)
            if self.mended is not None:
                kind = next(kind for kind in TOKENS if kind in expected)
                self.mended.append(Token(kind, kind, self.tokens[self.position].offset))
            return
        raise self.mismatch()

    # -- the grammar ----------------------------------------------------------------------------------------------

    def rule(self, rule: Rule, precedence: int) -> Walk[None]:
        called_in = self.state if self.call is not None else None
        outer = self.call
        self.call = _Call(rule, precedence, called_in, outer)
        self.depths[rule.name] += 1
        if self.depths[rule.name] > _MAX_DEPTH:
            raise _GivenUp(f"expression recursion limit exceeded: {_MAX_DEPTH}")
        try:
            yield self.read(rule.body)
        except _Mistake as mistake:
            self.report(mistake.message, mistake.at)
            self.recover()
        self.depths[rule.name] -= 1
        self.call = outer
        if called_in is not None:
            self.state = called_in

    def read(self, node: Node) -> Walk[None]:
        match node:
            case Match():
                self.match(node)
            case RuleCall():
                self.state = node.state
                yield self.rule(node.rule, node.precedence)
            case Choice():
                yield self.choose(node)
            case Loop():
                yield self.repeat(node)
            case _:
                for part in node.parts:
                    yield self.read(part)

    def match(self, node: Match) -> None:
        self.state = node.state
        if self.ahead() in node.tokens:
            self.matched()
            self.take()
        else:
            self.recover_inline()

    def predicted(self, state: State, *, loop: bool = False) -> int:
        assert self.call is not None
        try:
            return prediction.predict(state, self.position, self.kind, self.call.stack, self.call.precedence, loop=loop)
        except prediction.NoWay as dead_end:
            end = min(dead_end.position, len(self.tokens) - 1)
            raise self.no_viable(end) from None

    def no_viable(self, end: int) -> _Mistake:
        first, last = self.tokens[self.position], self.tokens[end]
        stop = last.offset + (len(last.text) if last.kind != EOF else 0)
        text, at = "", first.offset
        for piece in self.stray:
            if first.offset < piece.offset < stop:
                text += self.source.text[at : piece.offset]
                at = piece.offset + len(piece.text)
        text = "<EOF>" if first.kind == EOF else text + self.source.text[at:stop]
        return _Mistake(f"no viable alternative at input {_quoted(text)}", end)

    def choose(self, node: Choice) -> Walk[None]:
        self.sync(node.state)
        if node.predicts:
            yield self.read(node.alternatives[self.predicted(node.state)])
            return
        for edge, alternative in zip(node.state.edges, node.alternatives, strict=False):
            if self.ahead() in next_tokens(edge.target):
                yield self.read(alternative)
                return
        if not node.optional:
            raise self.no_viable(self.position)

    def repeat(self, node: Loop) -> Walk[None]:
        self.sync(node.entry)
        goes_on = node.at_least_once or self.goes_on(node)
        while goes_on:
            yield self.read(node.body)
            self.sync(node.back, loop_back=True)
            goes_on = self.goes_on(node)

    def goes_on(self, node: Loop) -> bool:
        decision = node.back if node.at_least_once else node.entry
        if node.predicts:
            return self.predicted(decision, loop=node.precedence) == 0
        return self.ahead() in next_tokens(decision.edges[0].target)


def _quoted(text: str) -> str:
    return "'" + text.replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r") + "'"


def _listed(kinds: frozenset[str]) -> str:
    names = [_name(kind) for kind in TOKENS if kind in kinds]
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def _name(kind: str) -> str:
    if kind == EOF:
        return "<EOF>"
    return kind if kind.isupper() else f"'{kind}'"
