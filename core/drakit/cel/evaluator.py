"""From a checked expression to something that runs: a tree of closures.

The plan follows cel-go's: constants are folded, ``in`` over a constant list becomes a hash set, and selections and
indexes form chains in which one ``?`` makes everything after it optional. Errors are Python exceptions; only ``&&``,
``||`` and folds catch them.

Source: github.com/google/cel-go ``interpreter/{planner,interpretable,attributes,decorators}.go``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from attrs import evolve, frozen

from drakit.cel import closures, dispatch, regex
from drakit.cel.ast import Call, Comprehension, ListLiteral, Literal, MapLiteral, Node, Select, children
from drakit.cel.chains import Qualifier, resolve
from drakit.cel.checker import TYPE_NAMES, Checked
from drakit.cel.declarations import FUNCTIONS
from drakit.cel.errors import CompileError, UnsupportedExpression
from drakit.cel.frame import Frame, Lazy, Run, variable
from drakit.cel.functions import OVERLOADS, SINGLETONS, Implementation
from drakit.cel.trampoline import Walk, run
from drakit.cel.values import Abort, Concatenation, Fault, Map, NotDecided, Optional, TypeValue, Value, opened, type_name

__all__ = ["Program", "plan"]

# Closures call each other once per level of nesting; Python's stack is a thousand calls deep by default.
_MAX_HEIGHT: Final = 400

Program: TypeAlias = Callable[[Value], Value]
"""From a device as a value to the result; raises Fault, Abort and NotDecided."""


@frozen
class Plan:
    """A planned node."""

    run: Run
    height: int = 1
    """How many Python calls deep a run goes."""
    constant: tuple[Value] | None = None
    chain: tuple[Run, tuple[Qualifier, ...]] | None = None
    """Start and steps, where further steps join the same chain."""
    inside: Run | None = None
    """How it runs as a branch of a conditional or as an index, where that differs."""

    @property
    def embedded(self) -> Run:
        return self.inside or self.run


def plan(checked: Checked) -> Program:
    """The program of an expression.

    :raises CompileError: a constant conversion that fails, as in ``int("x")``.
    :raises UnsupportedExpression: a function that cannot be run yet, or too deep nesting.
    """
    planner = _Planner(checked)
    root = run(planner.plan(checked.root, {}))

    def program(device: Value) -> Value:
        return root.run(Frame(device, planner.slots))

    return program


def _start(start: Run) -> Plan:
    return Plan(start, chain=(start, ()))


def _step(operand: Plan, qualifier: Qualifier) -> Plan:
    start, steps = operand.chain or (operand.run, ())
    steps = (*steps, qualifier)

    def run_chain(frame: Frame, *, embedded: bool = False) -> Value:
        frame.spend(len(steps) + 1)
        return resolve(frame, start(frame), steps, embedded=embedded)

    inside = functools.partial(run_chain, embedded=True) if qualifier.test_only else None
    return Plan(run_chain, operand.height + 1, chain=(start, steps), inside=inside)


def _branch(branch: Plan) -> Run:
    """A branch of a conditional, from which a chain may start."""
    if branch.chain is not None or branch.constant is not None:
        return branch.embedded

    def run_branch(frame: Frame) -> Value:
        value = branch.run(frame)
        if isinstance(value, Optional) and value.present:
            opened(value)
        return value

    return run_branch


def _branch_height(branch: Plan) -> int:
    return branch.height + (branch.chain is None and branch.constant is None)


def _constant(value: Value) -> Plan:
    return Plan(lambda _: value, constant=(value,))


class _Planner:
    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.slots = 0

    def unsupported(self, node: Node, construct: str) -> UnsupportedExpression:
        return self.checked.source.unsupported(node.offset, construct)

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def plan(self, node: Node, scope: dict[str, int]) -> Walk[Plan]:
        """:param scope: slots of the variables in sight, by name."""
        result: Plan
        if node in self.checked.names:
            return self.name(node, scope)
        match node:
            case Literal():
                return _constant(node.value)
            case Select():
                operand: Plan = yield self.plan(node.operand, scope)
                field = node.field
                result = _step(operand, Qualifier(lambda _: field, test_only=node.test_only))
            case Call():
                result = yield self.call(node, scope)
            case ListLiteral():
                result = yield self.list_literal(node, scope)
            case MapLiteral():
                result = yield self.map_literal(node, scope)
            case Comprehension():
                result = yield self.fold(node, scope)
            case _:
                raise self.unsupported(node, "constructor")
        if result.height > _MAX_HEIGHT:
            raise self.unsupported(node, f"nesting deeper than {_MAX_HEIGHT} calls")
        return result

    def plans(self, nodes: Sequence[Node], scope: dict[str, int]) -> Walk[list[Plan]]:
        planned: list[Plan] = []
        for node in nodes:
            planned.append((yield self.plan(node, scope)))  # noqa: PERF401  # no yield in a comprehension
        return planned

    def name(self, node: Node, scope: dict[str, int]) -> Plan:
        name = self.checked.names[node]
        if self.checked.types[node].kind == "type":
            # cel-go plans whatever holds a type as the name of one, and does not find a variable among them.
            if name not in TYPE_NAMES:
                raise CompileError.of_whole(f"program instantiation failed: reference to undefined type: {name}")
            return _constant(TypeValue(name))
        if name in scope:
            return _start(variable(scope[name]))
        return _start(lambda frame: frame.device)

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, node: Call, scope: dict[str, int]) -> Walk[Plan]:
        function = self.checked.functions[node]
        receiver = self.checked.receivers.get(node)
        nodes = node.args if receiver is None else (receiver, *node.args)
        args: list[Plan] = yield self.plans(nodes, scope)
        height = 1 + max((arg.height for arg in args), default=0)
        match function:
            case "_&&_" | "_||_":
                return Plan(closures.logical([arg.run for arg in args], absorbing=function == "_||_"), height)
            case "_?_:_":
                condition, then, otherwise = args
                choice = closures.conditional(condition.run, _branch(then), _branch(otherwise))
                height = 1 + max(condition.height, _branch_height(then), _branch_height(otherwise))
                return evolve(_start(choice), height=height)
            case "_[_]" | "_[?_]" | "_?._":
                return self.index(node, args, optional=function != "_[_]")
            case "_==_" | "_!=_":
                return Plan(
                    (closures.equality if function == "_==_" else closures.inequality)(args[0].run, args[1].run), height
                )
            case "or" | "orValue":
                return Plan(closures.otherwise(args[0].run, args[1].run, unwrap=function == "orValue"), height)
            case "@not_strictly_false":
                return Plan(closures.not_strictly_false(args[0].run), height)
            case "matches":
                return Plan(self.matches(node, args), height)
        if function == "@in" and args[1].constant and [o.id for o in self.checked.overloads[node]] == ["in_list"]:
            if not args[1].constant[0]:
                return _constant(value=False)  # the element is not even evaluated
            special = closures.membership(args[0].run, args[1].constant[0])
            if special is not None:
                return Plan(special, height)
        implementation = self.implementation(node, function)
        planned = Plan(dispatch.applied(function, implementation, [arg.run for arg in args]), height)
        if function in _CONVERSIONS and len(args) == 1 and args[0].constant:
            return self.folded(planned, node)
        return planned

    def folded(self, planned: Plan, node: Node) -> Plan:
        """A conversion of a constant, done once and for all; cel-go fails then and there."""
        try:
            return _constant(planned.run(Frame(None, 0)))
        except Fault as fault:
            raise CompileError.of_whole(f"program instantiation failed: {fault}") from None
        except NotDecided as reason:
            raise self.unsupported(node, str(reason)) from None

    def implementation(self, node: Call, function: str) -> Implementation:
        """What runs a call; it takes the values of the arguments."""
        singleton = SINGLETONS.get(function)
        if singleton is not None:
            return dispatch.guarded_singleton(function, singleton)
        fitting = self.checked.overloads[node]
        for overload in fitting:
            if overload.id not in OVERLOADS and all(dispatch.possible(type_) for type_ in overload.parameters):
                raise self.unsupported(node, f"function '{function}'")
        if len(fitting) == 1:
            return dispatch.guarded_overload(function, fitting[0])
        return dispatch.dispatcher(function, FUNCTIONS[function])

    def index(self, node: Call, args: list[Plan], *, optional: bool) -> Plan:
        operand, index = args
        if index.constant and not isinstance(index.constant[0], bool | int | float | str):
            raise self.unsupported(node, f"an index of type {type_name(index.constant[0])}")
        step = _step(operand, Qualifier(index.embedded, optional=optional))
        return evolve(step, height=1 + max(operand.height, index.height))

    def matches(self, node: Call, args: list[Plan]) -> Run:
        subject, pattern = args
        if pattern.constant is None:
            return closures.matches(subject.run, pattern.run)
        try:
            compiled = regex.compile(pattern.constant[0])
        except (regex.Unsupported, ValueError):
            raise self.unsupported(node, "this regular expression") from None
        return closures.matches_constant(subject.run, compiled)

    # -- literals -------------------------------------------------------------------------------------------------

    def list_literal(self, node: ListLiteral, scope: dict[str, int]) -> Walk[Plan]:
        elements: list[Plan] = yield self.plans(node.elements, scope)
        runs = [(element.run, index in node.optional) for index, element in enumerate(elements)]

        def make(frame: Frame) -> Value:
            frame.spend(10 + len(runs))
            return tuple(closures.present_elements(frame, runs))

        if all(element.constant for element in elements):
            return _constant(make(Frame(None, 0)))
        return Plan(make, 2 + max((element.height for element in elements), default=0))

    def map_literal(self, node: MapLiteral, scope: dict[str, int]) -> Walk[Plan]:
        keys: list[Plan] = yield self.plans([entry.key for entry in node.entries], scope)
        values: list[Plan] = yield self.plans([entry.value for entry in node.entries], scope)
        if any(entry.optional for entry in node.entries):
            raise self.unsupported(node, "an optional entry in a map literal")
        runs = [(key.run, value.run) for key, value in zip(keys, values, strict=True)]

        def make(frame: Frame) -> Value:
            frame.spend(30 + len(runs))
            return Map.literal((key(frame), value(frame)) for key, value in runs)

        if all(part.constant for part in (*keys, *values)):
            try:
                return _constant(make(Frame(None, 0)))
            except (Abort, NotDecided):
                raise self.unsupported(node, "a key of this type in a map literal") from None
        return Plan(make, 3 + max((part.height for part in (*keys, *values)), default=0))

    # -- folds ----------------------------------------------------------------------------------------------------

    def fold(self, node: Comprehension, scope: dict[str, int]) -> Walk[Plan]:
        range_: Plan = yield self.plan(node.range_, scope)
        initial: Plan = yield self.plan(node.initial, scope)
        accumulator, variable = self.new_slot(), self.new_slot()
        outer = {**scope, node.accumulator: accumulator}
        inner = {**outer, node.variable: variable}
        condition: Plan = yield self.plan(node.condition, inner)
        step: Plan = yield self.plan(node.step, inner)
        result: Plan = yield self.plan(node.result, outer)
        parts = (range_, initial, condition, step, result)
        # cel-go lets "+" change an empty list in place when it is the start of a fold. Macros rely on that; where a
        # user's own variable is such a list, the effects are beyond this evaluator.
        own = node.accumulator != "@result" and any(_adds(part) for part in _below(node.result))

        def start(frame: Frame) -> Value:
            try:
                value = initial.run(frame)
            except Fault as fault:
                return fault
            if own and isinstance(value, tuple | Map) and not len(value):
                raise NotDecided("adding to a variable that is an empty list")
            return value

        def fold(frame: Frame) -> Value:
            slots = frame.slots
            slots[accumulator] = Lazy(start)
            for element in closures.iterate(range_.run(frame)):
                slots[variable] = element
                frame.spend(2)
                try:
                    if condition.run(frame) is False:
                        break
                except Fault:
                    pass
                try:
                    slots[accumulator] = step.run(frame)
                except Fault as fault:
                    slots[accumulator] = fault
            value = result.run(frame)
            return tuple(value) if isinstance(value, Concatenation) and node.accumulator == "@result" else value

        return Plan(fold, 2 + max(part.height for part in parts))


_CONVERSIONS: Final = frozenset({"bool", "bytes", "double", "dyn", "duration", "int", "string", "timestamp", "type", "uint"})


def _below(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(children(current))


def _adds(node: Node) -> bool:
    return isinstance(node, Call) and node.function == "_+_"
