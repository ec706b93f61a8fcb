"""From a checked expression to something that runs: a tree of closures, each watched for what it costs.

The plan follows cel-go's: constants are folded, ``in`` over a constant list becomes a hash set, and selections and
indexes form chains in which one ``?`` makes everything after it optional. Errors are Python exceptions; only ``&&``,
``||`` and folds catch them. What a node does is in :mod:`~drakit.cel.exact.closures`, what it costs in
:mod:`~drakit.cel.exact.ledger`; they meet in this module only.

Source: github.com/google/cel-go ``interpreter/{planner,interpretable,attributes,decorators}.go``.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from drakit.cel.checking.checker import TYPE_NAMES, Checked
from drakit.cel.checking.declarations import FUNCTIONS
from drakit.cel.checking.messages import maker
from drakit.cel.errors import CompileError, UnsupportedExpression
from drakit.cel.exact import closures, dispatch, ledger
from drakit.cel.exact.chains import Attribute, Chain, Choice, Step, is_key, presence
from drakit.cel.exact.costs import Price, price
from drakit.cel.exact.frame import Frame, Run, sliced, sliced_height, variable, watched
from drakit.cel.exact.ledger import Settle
from drakit.cel.exact.stack import has_room, on_a_new_stack
from drakit.cel.go import regex
from drakit.cel.library.functions import SINGLETONS, Implementation, overloads, searching
from drakit.cel.library.go_names import go_name
from drakit.cel.syntax.ast import (
    Call,
    Comprehension,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
    children,
)
from drakit.cel.syntax.trampoline import Walk, run
from drakit.cel.values import Abort, Fault, Map, NotDecided, TypeValue, Value

__all__ = ["Outcome", "Program", "plan"]


@frozen(eq=False)
class Outcome:
    """How an evaluation ended."""

    value: Value
    error: Fault | Abort | None
    """What it failed with, and then there is no value."""
    cost: int
    """What it did cost up to there."""


@frozen(eq=False)
class Program:
    """What evaluates an expression. Safe to share between threads."""

    _run: Run
    _height: int
    _slots: int
    _ids: int

    def __call__(self, device: Value) -> Value:
        """The result for a device as a value.

        :raises Fault: the evaluation ended in an error.
        :raises Abort: it was given up.
        :raises NotDecided: it reached something drakit cannot decide.
        """
        outcome = self.evaluate(device)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def evaluate(self, device: Value) -> Outcome:
        """The result for a device as a value, or the error, and the cost.

        :raises NotDecided: the evaluation reached something drakit cannot decide.
        """
        if has_room(self._height):
            return self._evaluate(device)
        return on_a_new_stack(lambda: self._evaluate(device))

    def _evaluate(self, device: Value) -> Outcome:
        frame = Frame(device, self._slots, self._ids)
        try:
            return Outcome(self._run(frame), None, frame.ledger.cost)
        except (Fault, Abort) as error:
            return Outcome(None, error, frame.ledger.cost)
        except RecursionError:
            raise NotDecided("nesting this deep, from this deep a call") from None


@frozen(eq=False, slots=False)
class Plan:
    """A planned node."""

    id: int
    make: Callable[[], Run]
    """Makes the closure; of the parts of a chain nobody needs it."""
    height: int = 1
    """How many Python calls deep a run goes."""
    constant: tuple[Value] | None = None
    attribute: Attribute | None = None
    """What a further selection, an index or a conditional goes on with."""

    @functools.cached_property
    def run(self) -> Run:
        return self.make()


@frozen
class Variable:
    """A variable in sight."""

    slot: int
    height: int = 1
    """How many calls deep reading it may go, the first time."""


Scope = Mapping[str, Variable]


def plan(checked: Checked, *, minor: int = 37) -> Program:
    """The program of an expression.

    :param minor: of the Kubernetes that evaluates it.
    :raises CompileError: a constant conversion that fails, as in ``int("x")``.
    :raises UnsupportedExpression: a function that cannot be run yet.
    """
    return _plan(checked, minor) if has_room(_PLANNING) else on_a_new_stack(lambda: _plan(checked, minor))


_PLANNING: Final = 600  # calls deep that making the closures of nested conditionals goes


def _plan(checked: Checked, minor: int) -> Program:
    planner = _Planner(checked, minor)
    root = run(planner.plan(checked.root, {}))
    return Program(root.run, root.height, planner.slots, len(planner.ids))


class _Planner:
    def __init__(self, checked: Checked, minor: int) -> None:
        self.checked = checked
        self.minor = minor
        self.implementations = overloads(minor)
        self.slots = 0
        self.ids: dict[Node, int] = {}
        self.planned: dict[tuple[Node, int], Plan] = {}
        """By node and scope: optMap writes its operand twice."""
        self.scopes: list[Scope] = []
        """Kept, so that no other one gets the number of one."""

    def unsupported(self, node: Node, construct: str) -> UnsupportedExpression:
        return self.checked.source.unsupported(node.offset, construct)

    def id(self, node: Node) -> int:
        """The number of a node; one that a macro wrote twice is one."""
        return self.ids.setdefault(node, len(self.ids))

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    # -- plans ----------------------------------------------------------------------------------------------------

    def watched(self, node: Node, run: Run, settle: Settle, *heights: int) -> Plan:
        """A node as a closure. ``heights`` are those of the closures it calls."""
        id_, height = self.id(node), 1 + max(heights, default=0)
        return Plan(id_, lambda: sliced(watched(id_, run, settle), height), sliced_height(1 + height))

    def constant(self, node: Node, value: Value) -> Plan:
        id_ = self.id(node)

        def note(frame: Frame) -> Value:
            frame.ledger.push(id_, value)
            return value

        return Plan(id_, lambda: note, constant=(value,))

    def attribute(self, attribute: Attribute) -> Plan:
        def make() -> Run:
            return watched(attribute.id, attribute.resolver(), attribute.settle)

        return Plan(attribute.id, make, 1 + attribute.height, attribute=attribute)

    def plan(self, node: Node, scope: Scope) -> Walk[Plan]:
        """:param scope: the variables in sight, by name."""
        if node in self.checked.names:
            return self.name(node, scope)
        if isinstance(node, Literal):
            return self.constant(node, node.value)
        planned = self.planned.get((node, id(scope)))
        if planned is None:
            planned = yield self.plan_anew(node, scope)
            self.planned[node, id(scope)] = planned
            self.scopes.append(scope)
        return planned

    def plan_anew(self, node: Node, scope: Scope) -> Walk[Plan]:
        result: Plan
        match node:
            case Select():
                result = yield self.select(node, scope)
            case Call():
                result = yield self.call(node, scope)
            case ListLiteral():
                result = yield self.list_literal(node, scope)
            case MapLiteral():
                result = yield self.map_literal(node, scope)
            case Comprehension():
                result = yield self.fold(node, scope)
            case StructLiteral():
                result = yield self.struct_literal(node, scope)
            case Ident() | Literal():
                raise AssertionError("these have been planned")
        return result

    def plans(self, nodes: Sequence[Node], scope: Scope) -> Walk[list[Plan]]:
        planned: list[Plan] = []
        for node in nodes:
            planned.append((yield self.plan(node, scope)))  # noqa: PERF401  # no yield in a comprehension
        return planned

    def name(self, node: Node, scope: Scope) -> Plan:
        name = self.checked.names[node]
        if self.checked.types[node].kind == "type":
            # cel-go plans whatever holds a type as the name of one, and does not find a variable among them.
            of = name.removeprefix(".")
            if of not in TYPE_NAMES:
                raise CompileError.of_whole(f"program instantiation failed: reference to undefined type: {of}")
            return self.constant(node, TypeValue(of))
        known = scope.get(name)
        if known is None:
            return self.attribute(self.chain(self.id(node), lambda frame: frame.device))
        return self.attribute(self.chain(self.id(node), variable(known.slot), known.height))

    def chain(self, id_: int, start: Run, height: int = 1) -> Chain:
        return Chain(id_, start, height, reopens=self.minor < _CURRENT)

    def origin(self, plan: Plan) -> Attribute:
        """What a chain starts from."""
        return plan.attribute or self.chain(plan.id, plan.run, plan.height)

    def select(self, node: Select, scope: Scope) -> Walk[Plan]:
        operand: Plan = yield self.plan(node.operand, scope)
        field = node.field
        attribute = self.origin(operand).then(Step(self.id(node), lambda _: field, test_only=node.test_only))
        return self.presence(attribute) if node.test_only else self.attribute(attribute)

    def presence(self, attribute: Attribute) -> Plan:
        """``has()``: a chain that ends in a test. It is free, even where the chain costs nothing that could be given back."""

        def settle(account: ledger.Ledger, value: Value) -> None:
            attribute.settle(account, value)
            account.charge(-1)

        def make() -> Run:
            return watched(attribute.id, presence(attribute.resolver()), settle)

        return Plan(attribute.id, make, 2 + attribute.height, attribute=attribute)

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, node: Call, scope: Scope) -> Walk[Plan]:
        function = self.checked.functions[node]
        receiver = self.checked.receivers.get(node)
        args: list[Plan] = yield self.plans(node.args if receiver is None else (receiver, *node.args), scope)
        match function:
            case "_?_:_":
                return self.attribute(self.choice(node, *args))
            case "_[_]" | "_[?_]" | "_?._":
                return self.index(node, *args, optional=function != "_[_]")
            case "@in":
                special = self.membership(node, *args)
                if special is not None:
                    return special
        runs = [arg.run for arg in args]
        run = self.operator(function, runs) or self.applied(node, function, args)
        planned = self.watched(node, run, self.settle(node, function, args), *(1 + arg.height for arg in args))
        if function in _CONVERSIONS and len(args) == 1 and args[0].constant:
            return self.folded(node, planned)
        return planned

    def settle(self, node: Call, function: str, args: Sequence[Plan]) -> Settle:
        """What a call costs."""
        ids = [arg.id for arg in args]
        if function in ("_&&_", "_||_"):
            return ledger.drops(ids)
        if function in ("or", "orValue"):
            return ledger.reads
        return ledger.calls(ids, self.price(node, function))

    def price(self, node: Call, function: str) -> Price:
        if function in _EQUALITY:
            return price(function, _EQUALITY[function], minor=self.minor)
        fitting = self.checked.overloads[node]
        return price(function, fitting[0].id if len(fitting) == 1 else None, minor=self.minor)

    def operator(self, function: str, runs: Sequence[Run]) -> Run | None:
        """The closure of a call that does not treat all its operands alike; None of any other."""
        match function:
            case "_&&_" | "_||_":
                return closures.logical(runs, absorbing=function == "_||_")
            case "_==_":
                return closures.equality(*runs)
            case "_!=_":
                return closures.inequality(*runs)
            case "or" | "orValue":
                return closures.otherwise(*runs, unwrap=function == "orValue", strict=self.minor >= _CURRENT)
            case "@not_strictly_false":
                return closures.not_strictly_false(*runs)
        return None

    def choice(self, node: Call, condition: Plan, then: Plan, otherwise: Plan) -> Choice:
        return Choice(self.id(node), condition.run, condition.id, condition.height, self.origin(then), self.origin(otherwise))

    def index(self, node: Call, operand: Plan, index: Plan, *, optional: bool) -> Plan:
        id_ = self.id(node)
        if index.constant:
            (key,) = index.constant
            if not is_key(key):
                raise CompileError.of_whole(f"program instantiation failed: invalid qualifier type: {go_name(key)}")
            step = Step(id_, lambda _: key, optional=optional)
        elif index.attribute:
            step = Step(id_, index.attribute.resolver(), index.attribute.height, optional=optional)
        else:
            step = Step(id_, index.run, index.height, optional=optional, computed=True)
        return self.attribute(self.origin(operand).then(step))

    def membership(self, node: Call, element: Plan, values: Plan) -> Plan | None:
        """``x in [constants]``; None where it is an ordinary call."""
        if not values.constant or [overload.id for overload in self.checked.overloads[node]] != ["in_list"]:
            return None
        if not values.constant[0]:
            return self.constant(node, value=False)  # the element is not even evaluated
        run = closures.membership(element.run, values.constant[0])
        return self.watched(node, run, ledger.reads, element.height) if run else None

    def folded(self, node: Call, planned: Plan) -> Plan:
        """A conversion of a constant, done once and for all; cel-go fails then and there."""
        try:
            return self.constant(node, planned.run(self.no_device()))
        except Fault as fault:
            raise CompileError.of_whole(f"program instantiation failed: {fault}") from None
        except NotDecided as reason:
            raise self.unsupported(node, str(reason)) from None

    def no_device(self) -> Frame:
        """What constants are evaluated with."""
        return Frame(None, 0, len(self.ids))

    def applied(self, node: Call, function: str, args: Sequence[Plan]) -> Run:
        """The closure of an ordinary call."""
        implementation = self.searching(node, function, args)
        several = function != "matches" and function not in SINGLETONS and len(self.checked.overloads[node]) > 1
        stops = implementation is not None or several or function in _STOPPING
        return dispatch.applied(
            function,
            implementation or self.implementation(node, function),
            [arg.run for arg in args],
            self.price(node, function),
            stops=stops,
        )

    def implementation(self, node: Call, function: str) -> Implementation:
        """What runs a call; it takes the values of the arguments."""
        if function == "matches":
            return closures.matches
        singleton = SINGLETONS.get(function)
        if singleton is not None:
            return dispatch.guarded_singleton(function, singleton)
        fitting = self.checked.overloads[node]
        for overload in fitting:
            if overload.id not in self.implementations and all(map(dispatch.possible, overload.parameters)):
                raise self.unsupported(node, f"function '{function}'")
        if len(fitting) == 1:
            return dispatch.guarded_overload(function, fitting[0], self.implementations)
        return dispatch.dispatcher(function, FUNCTIONS[function], self.implementations)

    def searching(self, node: Call, function: str, args: Sequence[Plan]) -> Implementation | None:
        """What runs a call that searches for a constant pattern; None of any other call."""
        if function not in _PATTERNED or not (args[1].constant and isinstance(args[1].constant[0], str)):
            return None
        try:
            compiled = regex.compile(args[1].constant[0])
        except regex.PatternError as error:
            raise CompileError.of_whole(f"program instantiation failed: {error}") from None
        except regex.Unsupported:
            raise self.unsupported(node, "this regular expression") from None
        return closures.matches_constant(compiled) if function == "matches" else searching(function, compiled)

    # -- literals -------------------------------------------------------------------------------------------------

    def list_literal(self, node: ListLiteral, scope: Scope) -> Walk[Plan]:
        elements: list[Plan] = yield self.plans(node.elements, scope)
        run = closures.list_literal([(element.run, index in node.optional) for index, element in enumerate(elements)])
        if all(element.constant for element in elements):
            return self.constant(node, run(self.no_device()))
        settle = ledger.builds([element.id for element in elements], _LIST)
        return self.watched(node, run, settle, *(element.height for element in elements))

    def map_literal(self, node: MapLiteral, scope: Scope) -> Walk[Plan]:
        keys: list[Plan] = yield self.plans([entry.key for entry in node.entries], scope)
        values: list[Plan] = yield self.plans([entry.value for entry in node.entries], scope)
        optional = [entry.optional for entry in node.entries]
        runs = [(key.run, value.run, maybe) for key, value, maybe in zip(keys, values, optional, strict=True)]
        run = closures.map_literal(runs)
        parts = [part for pair in zip(keys, values, strict=True) for part in pair]
        if all(part.constant for part in parts):
            try:
                return self.constant(node, run(self.no_device()))
            except (Abort, NotDecided):
                raise self.unsupported(node, "a key of this type in a map literal") from None
        return self.watched(node, run, ledger.builds([part.id for part in parts], _MAP), *(part.height for part in parts))

    def struct_literal(self, node: StructLiteral, scope: Scope) -> Walk[Plan]:
        values: list[Plan] = yield self.plans([entry.value for entry in node.entries], scope)
        fields = [
            (str(entry.key.value), value.run, entry.optional)
            for entry, value in zip(node.entries, values, strict=True)
            if isinstance(entry.key, Literal)
        ]
        run = closures.struct_literal(fields, maker(self.checked.functions[node]))
        return self.watched(node, run, ledger.builds([value.id for value in values], _STRUCT), *(v.height for v in values))

    # -- folds ----------------------------------------------------------------------------------------------------

    def fold(self, node: Comprehension, scope: Scope) -> Walk[Plan]:
        range_: Plan = yield self.plan(node.range_, scope)
        initial: Plan = yield self.plan(node.initial, scope)
        names = [name for name in (node.variable, node.second_variable) if name is not None]
        slots = [self.new_slot() for _ in names]
        accumulator = Variable(self.new_slot(), 4 + initial.height)
        outer = {**scope, node.accumulator: accumulator}
        inner = {**outer, **{name: Variable(slot) for name, slot in zip(names, slots, strict=True)}}
        condition: Plan = yield self.plan(node.condition, inner)
        step: Plan = yield self.plan(node.step, inner)
        result: Plan = yield self.plan(node.result, outer)
        fold = closures.Fold(
            range_=range_.run,
            initial=_guarded(node, initial.run),
            condition=condition.run,
            step=step.run,
            result=result.run,
            accumulator=accumulator.slot,
            variables=slots,
            weight=max(0, sum(1 for part in (node.condition, node.step) for _ in _below(part)) - _PAID),
            collects=node.accumulator == _RESULT and initial.constant == ((),),
        )
        heights = [range_.height, result.height, 1 + condition.height, 1 + step.height]
        return self.watched(node, closures.folded(fold), ledger.drops([range_.id]), *heights)


_CURRENT: Final = 37
"""The release whose cel-go keeps the types of values in optionals, among other things; the ones before are alike."""
_LIST: Final = 10
_MAP: Final = 30
_STRUCT: Final = 40
_EQUALITY: Final = {"_==_": "equals", "_!=_": "not_equals"}
_CONVERSIONS: Final = frozenset({"bool", "bytes", "double", "dyn", "duration", "int", "string", "timestamp", "type", "uint"})
_STOPPING: Final = frozenset({"format"})
"""Functions of two arguments that don't evaluate the second after an error in the first."""
_PATTERNED: Final = frozenset({"matches", "find", "findAll"})
"""Functions that search for a pattern; a constant one is compiled once, and an error before it ends the call."""
_RESULT: Final = "@result"
"""The accumulator of cel-go's own macros."""


def _guarded(node: Comprehension, initial: Run) -> Run:
    """The start of a fold, which cel-go lets ``+`` change in place if it is an empty list or map.

    Macros rely on that; where a user's own variable is such a list, and is read more than once, the effects are beyond
    this evaluator.
    """
    body = list(_below(node.result))
    read = sum(isinstance(part, Ident) and part.name == node.accumulator for part in body)
    once = read <= 1 and not any(isinstance(part, Comprehension) for part in body)
    if node.accumulator == _RESULT or once or not any(map(_adds, body)):
        return initial

    def start(frame: Frame) -> Value:
        value = initial(frame)
        if isinstance(value, tuple | Map) and not len(value):
            raise NotDecided("adding to a variable that is an empty list")
        return value

    return start


def _below(node: Node) -> Iterator[Node]:
    """A node and all below it, each as often as it is written, up to twice: what optMap writes twice would double with each."""
    pending, seen = [node], Counter[Node]()
    while pending:
        current = pending.pop()
        seen[current] += 1
        if seen[current] <= _TWICE:
            yield current
            pending.extend(children(current))


_TWICE: Final = 2
_PAID: Final = 16
"""So many nodes of a round of a fold are paid for by what it costs; of the others, many may be free."""


def _adds(node: Node) -> bool:
    """Whether a node adds to something, other than a macro to its own list or map."""
    if not isinstance(node, Call) or node.function not in ("_+_", "cel.@mapInsert"):
        return False
    start = node.args[0]
    return not (isinstance(start, Ident) and start.name == _RESULT)
