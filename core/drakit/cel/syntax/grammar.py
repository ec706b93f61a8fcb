"""cel-go's grammar as a network of states, as ANTLR makes one: for what ANTLR says of expressions that don't follow it.

:mod:`drakit.cel.syntax.parser` reads expressions without this; it is made when the first one has a syntax error.

Source: github.com/google/cel-go ``parser/gen/CEL.g4``; the construction is that of ANTLR 4, org.antlr.v4.automata
(ParserATNFactory), and the decisions that look at one token only are those of the parser it generates.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

__all__ = ["EOF", "TOKENS", "Choice", "InOrder", "Loop", "Match", "Node", "Rule", "RuleCall", "State", "rules"]

EOF: Final = "EOF"
TOKENS: Final = (
    *("EOF", "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":"),
    *("+", "*", "/", "%", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES"),
    *("IDENTIFIER", "ESC_IDENTIFIER"),
)
"""Kinds of tokens in the order of their numbers, in which messages list them."""


@define(eq=False)
class State:
    """A state of the network."""

    rule: Rule
    kind: str = ""
    """``block``, its ``end``, ``entry`` of a loop, ``back`` to it, ``stop`` of a rule; nothing where nothing is decided."""
    edges: list[Edge] = field(factory=list)


@frozen(eq=False)
class Edge:
    """A way from one state to another: over a token, through a rule, or for nothing."""

    target: State
    tokens: frozenset[str] = frozenset()
    call: Rule | None = None
    """The rule that leads to the target."""
    precedence: int = 0
    """Of an operator: nobody who binds more strongly goes this way; of a call, what it is called with."""


@define(eq=False)
class Rule:
    """A rule, made with a call by its name before it is known."""

    name: str
    recursive: bool = False
    """It is left-recursive, and so has precedences."""
    start: State = field(init=False)
    stop: State = field(init=False)
    body: Node = field(init=False)
    follow: list[tuple[State, bool]] = field(factory=list)
    """The states after its calls, and whether the call ends any precedence."""

    def __attrs_post_init__(self) -> None:
        self.start, self.stop = State(self), State(self, "stop")


@frozen(eq=False)
class Match:
    """A token of some kinds."""

    state: State
    tokens: frozenset[str]
    is_set: bool
    """Written as a set; a single token goes another way through recovery."""


@frozen(eq=False)
class RuleCall:
    """A call of a rule."""

    state: State
    rule: Rule
    precedence: int


@frozen(eq=False)
class InOrder:
    """One after the other."""

    parts: tuple[Node, ...]


@frozen(eq=False)
class Choice:
    """One of several, or none of them if it is optional."""

    state: State
    alternatives: tuple[Node, ...]
    optional: bool
    predicts: bool
    """Looks as far ahead as it takes; else at one token."""


@frozen(eq=False)
class Loop:
    """As often as it goes on."""

    entry: State
    """Of a loop that must run once, the start of its block."""
    back: State
    body: Node
    at_least_once: bool
    predicts: bool
    precedence: bool = False
    """The loop of a left-recursive rule."""


Node: TypeAlias = "Match | RuleCall | InOrder | Choice | Loop"
_Fragment: TypeAlias = "tuple[State, State, Node]"


class _Builder:
    """Builds the network of one rule."""

    def __init__(self, rules: dict[str, Rule], rule: Rule) -> None:
        self.rules, self.rule = rules, rule

    def state(self, kind: str = "") -> State:
        return State(self.rule, kind)

    def token(self, *kinds: str) -> _Fragment:
        left, right = self.state(), self.state()
        left.edges.append(Edge(right, frozenset(kinds)))
        return left, right, Match(left, frozenset(kinds), is_set=len(kinds) > 1)

    def call(self, name: str, precedence: int = 0) -> _Fragment:
        left, right = self.state(), self.state()
        called = self.rules[name]
        left.edges.append(Edge(right, call=called, precedence=precedence))
        return left, right, RuleCall(left, called, precedence)

    def sequence(self, *parts: _Fragment) -> _Fragment:
        for (_, right, _), (left, _, _) in itertools.pairwise(parts):
            right.edges.append(Edge(left))
        return parts[0][0], parts[-1][1], InOrder(tuple(part for _, _, part in parts))

    def binding(self, precedence: int, rest: _Fragment) -> _Fragment:
        """The rest after the test whether an operator may come here."""
        left = self.state()
        left.edges.append(Edge(rest[0], precedence=precedence))
        return left, rest[1], rest[2]

    def choice(self, *alternatives: _Fragment, optional: bool = False, predicts: bool = False) -> _Fragment:
        start, end = self.state("block"), self.state("end")
        for left, right, _ in alternatives:
            start.edges.append(Edge(left))
            right.edges.append(Edge(end))
        if optional:
            start.edges.append(Edge(end))
        return start, end, Choice(start, tuple(part for _, _, part in alternatives), optional, predicts)

    def optional(self, part: _Fragment) -> _Fragment:
        return self.choice(part, optional=True)

    def star(self, *alternatives: _Fragment, predicts: bool = False, precedence: bool = False) -> _Fragment:
        entry, back, end = self.state("entry"), self.state("back"), self.state()
        start, block_end, choice = self.choice(*alternatives, predicts=True)
        entry.edges += [Edge(start), Edge(end)]
        block_end.edges.append(Edge(back))
        back.edges.append(Edge(entry))
        body = choice
        if len(alternatives) == 1:
            ((_, _, body),) = alternatives
        return entry, end, Loop(entry, back, body, at_least_once=False, predicts=predicts, precedence=precedence)

    def plus(self, part: _Fragment, *, predicts: bool = False) -> _Fragment:
        start, block_end, _ = self.choice(part)
        back, end = self.state("back"), self.state()
        block_end.edges.append(Edge(back))
        back.edges += [Edge(start), Edge(end)]
        return start, end, Loop(start, back, part[2], at_least_once=True, predicts=predicts)


_NAMES: Final = (
    *("start", "expr", "conditionalOr", "conditionalAnd", "relation", "calc", "unary", "member", "primary", "exprList"),
    *("listInit", "fieldInitializerList", "optField", "mapInitializerList", "escapeIdent", "optExpr", "literal"),
)
_RECURSIVE: Final = frozenset({"relation", "calc", "member"})


@functools.cache
def rules() -> dict[str, Rule]:
    """The rules by name."""
    found = {name: Rule(name, name in _RECURSIVE) for name in _NAMES}
    for name, rule in found.items():
        left, right, body = getattr(_Rules(found, rule), name)()
        rule.start.edges.append(Edge(left))
        right.edges.append(Edge(rule.stop))
        rule.body = body
    for rule in found.values():
        for state in list(_states(rule)):
            _shorten(state)
        for state in _states(rule):
            for edge in state.edges:
                if edge.call is not None:
                    edge.call.follow.append((edge.target, edge.call.recursive and edge.precedence == 0))
    return found


def _states(rule: Rule) -> Iterator[State]:
    """The states of a rule."""
    pending, seen = [rule.start], set[State]()
    while pending:
        state = pending.pop()
        if state not in seen:
            seen.add(state)
            yield state
            pending.extend(edge.target for edge in reversed(state.edges))


def _shorten(state: State) -> None:
    """Lead straight to the end of a block, as ANTLR does: what ends two alternatives alike can then not be told apart."""
    if state.kind or len(state.edges) != 1:
        return
    after = state.edges[0].target
    if not after.kind and len(after.edges) == 1 and after.edges[0].target.kind in ("end", "back"):
        (way,) = after.edges
        if not (way.tokens or way.call or way.precedence):
            state.edges[0] = evolve(state.edges[0], target=way.target)


class _Rules(_Builder):
    """A method for each rule, named like it."""

    def start(self) -> _Fragment:
        return self.sequence(self.call("expr"), self.token(EOF))

    def expr(self) -> _Fragment:
        branches = self.sequence(self.token("?"), self.call("conditionalOr"), self.token(":"), self.call("expr"))
        return self.sequence(self.call("conditionalOr"), self.optional(branches))

    def conditionalOr(self) -> _Fragment:  # noqa: N802  # the grammar's name
        rest = self.star(self.sequence(self.token("||"), self.call("conditionalAnd")))
        return self.sequence(self.call("conditionalAnd"), rest)

    def conditionalAnd(self) -> _Fragment:  # noqa: N802  # the grammar's name
        return self.sequence(self.call("relation"), self.star(self.sequence(self.token("&&"), self.call("relation"))))

    def relation(self) -> _Fragment:
        operator = self.token("<", "<=", ">=", ">", "==", "!=", "in")
        rest = self.binding(1, self.sequence(operator, self.call("relation", 2)))
        return self.sequence(self.call("calc"), self.star(rest, predicts=True, precedence=True))

    def calc(self) -> _Fragment:
        product = self.binding(2, self.sequence(self.token("*", "/", "%"), self.call("calc", 3)))
        sum_ = self.binding(1, self.sequence(self.token("+", "-"), self.call("calc", 2)))
        return self.sequence(self.call("unary"), self.star(product, sum_, predicts=True, precedence=True))

    def unary(self) -> _Fragment:
        return self.choice(
            self.call("member"),
            self.sequence(self.plus(self.token("!")), self.call("member")),
            self.sequence(self.plus(self.token("-"), predicts=True), self.call("member")),
            predicts=True,
        )

    def member(self) -> _Fragment:
        select = self.sequence(self.token("."), self.optional(self.token("?")), self.call("escapeIdent"))
        arguments = (self.token("("), self.optional(self.call("exprList")), self.token(")"))
        call = self.sequence(self.token("."), self.token("IDENTIFIER"), *arguments)
        index = self.sequence(self.token("["), self.optional(self.token("?")), self.call("expr"), self.token("]"))
        ways = [self.binding(3 - number, way) for number, way in enumerate((select, call, index))]
        return self.sequence(self.call("primary"), self.star(*ways, predicts=True, precedence=True))

    def primary(self) -> _Fragment:
        def dot() -> _Fragment:
            return self.optional(self.token("."))

        def comma() -> _Fragment:
            return self.optional(self.token(","))

        names = self.star(self.sequence(self.token("."), self.token("IDENTIFIER")))
        arguments = (self.token("("), self.optional(self.call("exprList")), self.token(")"))
        fields = (self.token("{"), self.optional(self.call("fieldInitializerList")), comma(), self.token("}"))
        return self.choice(
            self.sequence(dot(), self.token("IDENTIFIER")),
            self.sequence(dot(), self.token("IDENTIFIER"), self.sequence(*arguments)),
            self.sequence(self.token("("), self.call("expr"), self.token(")")),
            self.sequence(self.token("["), self.optional(self.call("listInit")), comma(), self.token("]")),
            self.sequence(self.token("{"), self.optional(self.call("mapInitializerList")), comma(), self.token("}")),
            self.sequence(dot(), self.token("IDENTIFIER"), names, *fields),
            self.call("literal"),
            predicts=True,
        )

    def exprList(self) -> _Fragment:  # noqa: N802  # the grammar's name
        return self.sequence(self.call("expr"), self.star(self.sequence(self.token(","), self.call("expr"))))

    def listInit(self) -> _Fragment:  # noqa: N802  # the grammar's name
        rest = self.star(self.sequence(self.token(","), self.call("optExpr")), predicts=True)
        return self.sequence(self.call("optExpr"), rest)

    def fieldInitializerList(self) -> _Fragment:  # noqa: N802  # the grammar's name
        return self._entries("optField")

    def mapInitializerList(self) -> _Fragment:  # noqa: N802  # the grammar's name
        return self._entries("optExpr")

    def _entries(self, key: str) -> _Fragment:
        rest = self.sequence(self.token(","), self.call(key), self.token(":"), self.call("expr"))
        return self.sequence(self.call(key), self.token(":"), self.call("expr"), self.star(rest, predicts=True))

    def optField(self) -> _Fragment:  # noqa: N802  # the grammar's name
        return self.sequence(self.optional(self.token("?")), self.call("escapeIdent"))

    def escapeIdent(self) -> _Fragment:  # noqa: N802  # the grammar's name
        return self.choice(self.token("IDENTIFIER"), self.token("ESC_IDENTIFIER"))

    def optExpr(self) -> _Fragment:  # noqa: N802  # the grammar's name
        return self.sequence(self.optional(self.token("?")), self.call("expr"))

    def literal(self) -> _Fragment:
        def signed(kind: str) -> _Fragment:
            return self.sequence(self.optional(self.token("-")), self.token(kind))

        others = map(self.token, ("STRING", "BYTES", "true", "false", "null"))
        return self.choice(signed("NUM_INT"), self.token("NUM_UINT"), signed("NUM_FLOAT"), *others, predicts=True)
