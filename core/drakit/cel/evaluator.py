"""From a checked expression to something that runs: a tree of closures.

The plan follows cel-go's: constants are folded, ``in`` over a constant list becomes a hash set, and selections and
indexes form chains in which one ``?`` makes everything after it optional. Errors are Python exceptions; only ``&&``,
``||`` and folds catch them.

Source: github.com/google/cel-go ``interpreter/{planner,interpretable,attributes,decorators}.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from attrs import evolve, frozen

from drakit.cel import regex
from drakit.cel.ast import Call, Comprehension, Ident, ListLiteral, Literal, MapLiteral, Node, Select, children
from drakit.cel.checker import TYPE_NAMES, Checked
from drakit.cel.declarations import FUNCTIONS, Overload
from drakit.cel.errors import CompileError, UnsupportedExpression
from drakit.cel.functions import OVERLOADS, SINGLETONS, Implementation, Singleton
from drakit.cel.trampoline import Walk, run
from drakit.cel.types import Type
from drakit.cel.values import (
    NO_SUCH_OVERLOAD,
    Abort,
    Concatenation,
    Fault,
    Map,
    NotDecided,
    Optional,
    TypeValue,
    UInt,
    Value,
    check_hashable,
    equal,
    text,
    type_name,
)

__all__ = ["Program", "plan"]

_COST_LIMIT: Final = 1_000_000
# Closures call each other once per level of nesting; Python's stack is a thousand calls deep by default.
_MAX_HEIGHT: Final = 400


class Frame:
    """What one evaluation works with."""

    __slots__ = ("device", "slots", "spent")

    def __init__(self, device: Value, slots: int) -> None:
        self.device = device
        self.slots: list[Value] = [None] * slots
        """Variables of folds: a value, a :class:`Fault`, or ``_UNSET``."""
        self.spent = 0

    def spend(self, cost: int) -> None:
        """Count work, never less than Kubernetes would.

        Its limit is part of the verdict; what may be beyond it is not decided here.
        """
        self.spent += cost
        if self.spent > _COST_LIMIT:
            raise NotDecided("an evaluation that may cost more than 1000000")


Run: TypeAlias = Callable[[Frame], Value]
Program: TypeAlias = Callable[[Value], Value]
"""From a device as a value to the result; raises Fault, Abort and NotDecided."""

_UNSET: Final = object()


@frozen
class Qualifier:
    """One step of a chain: ``.field``, ``[index]``, and both with ``?``."""

    key: Run
    optional: bool = False
    test_only: bool = False


@frozen
class Plan:
    """A planned node."""

    run: Run
    height: int = 1
    """How many Python calls deep a run goes."""
    constant: tuple[Value] | None = None
    chain: tuple[Run, tuple[Qualifier, ...]] | None = None
    """Start and steps, where further steps join the same chain."""


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
            planned.append((yield self.plan(node, scope)))
        return planned

    def name(self, node: Node, scope: dict[str, int]) -> Plan:
        name = self.checked.names[node]
        if self.checked.types[node].kind == "type":
            # cel-go plans whatever holds a type as the name of one, and does not find a variable among them.
            if name not in TYPE_NAMES:
                raise CompileError.of_whole(f"program instantiation failed: reference to undefined type: {name}")
            return _constant(TypeValue(name))
        if name in scope:
            return _start(_variable(scope[name]))
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
                return Plan(_logical([arg.run for arg in args], absorbing=function == "_||_"), height)
            case "_?_:_":
                return evolve(_start(_conditional(*(arg.run for arg in args))), height=height)
            case "_[_]" | "_[?_]" | "_?._":
                return self.index(node, args, optional=function != "_[_]")
            case "_==_" | "_!=_":
                return Plan((_equality if function == "_==_" else _inequality)(args[0].run, args[1].run), height)
            case "or" | "orValue":
                return Plan(_otherwise(args[0].run, args[1].run, unwrap=function == "orValue"), height)
            case "@not_strictly_false":
                return Plan(_not_strictly_false(args[0].run), height)
            case "matches":
                return Plan(self.matches(node, args), height)
        if function == "@in" and args[1].constant and [o.id for o in self.checked.overloads[node]] == ["in_list"]:
            special = _membership(args[0].run, args[1].constant[0])
            if special is not None:
                return evolve(special, height=height)
        implementation = self.implementation(node, function)
        planned = Plan(_applied(function, implementation, [arg.run for arg in args]), height)
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
            return _guarded_singleton(function, singleton)
        fitting = self.checked.overloads[node]
        for overload in fitting:
            if overload.id not in OVERLOADS and all(_possible(type_) for type_ in overload.parameters):
                raise self.unsupported(node, f"function '{function}'")
        if len(fitting) == 1:
            return _guarded_overload(function, fitting[0])
        return _dispatcher(function, FUNCTIONS[function])

    def index(self, node: Call, args: list[Plan], *, optional: bool) -> Plan:
        operand, index = args
        if index.constant and not isinstance(index.constant[0], bool | int | float | str):
            raise self.unsupported(node, f"an index of type {type_name(index.constant[0])}")
        step = _step(operand, Qualifier(index.run, optional=optional))
        return evolve(step, height=1 + max(operand.height, index.height))

    def matches(self, node: Call, args: list[Plan]) -> Run:
        subject, pattern = args
        if pattern.constant is None:
            return _matches(subject.run, pattern.run)
        try:
            compiled = regex.compile(pattern.constant[0])
        except (regex.Unsupported, ValueError):
            raise self.unsupported(node, "this regular expression") from None
        return _matches_constant(subject.run, compiled)

    # -- literals -------------------------------------------------------------------------------------------------

    def list_literal(self, node: ListLiteral, scope: dict[str, int]) -> Walk[Plan]:
        elements: list[Plan] = yield self.plans(node.elements, scope)
        runs = [(element.run, index in node.optional) for index, element in enumerate(elements)]

        def make(frame: Frame) -> Value:
            frame.spend(10 + len(runs))
            return tuple(_present(frame, runs))

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
            slots[accumulator] = _Lazy(start)
            for element in _iterate(range_.run(frame)):
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


# -- variables and chains -------------------------------------------------------------------------------------------


@frozen(eq=False)
class _Lazy:
    """The value of an accumulator nobody has asked for yet."""

    start: Run


def _variable(slot: int) -> Run:
    def read(frame: Frame) -> Value:
        frame.spend(1)
        value = frame.slots[slot]
        if isinstance(value, _Lazy):
            value = frame.slots[slot] = value.start(frame)
        if isinstance(value, Fault):
            raise value
        return value

    return read


def _start(start: Run) -> Plan:
    return Plan(start, chain=(start, ()))


def _step(operand: Plan, qualifier: Qualifier) -> Plan:
    start, steps = operand.chain or (operand.run, ())
    steps = (*steps, qualifier)

    def resolve(frame: Frame) -> Value:
        frame.spend(len(steps) + 1)
        return _resolve(frame, start(frame), steps)

    return Plan(resolve, operand.height + 1, chain=(start, steps))


def _resolve(frame: Frame, value: Value, steps: tuple[Qualifier, ...]) -> Value:
    is_optional = isinstance(value, Optional)
    if is_optional:
        if not value.present:
            return False if steps[-1].test_only else value
        value = value.value
    for step in steps:
        is_optional = is_optional or step.optional
        key = step.key(frame)
        found, present = _qualify(value, key, testing=is_optional or step.test_only)
        if step.test_only:
            return present
        if not present:
            return False if steps[-1].test_only else Optional()
        value = found
    return Optional(value, present=True) if is_optional else value


def _qualify(value: Value, key: Value, *, testing: bool) -> tuple[Value, bool]:
    """The part of a value under a key, and whether there is one: if not, an error unless ``testing``."""
    if isinstance(key, Optional) or not isinstance(key, bool | int | float | str):
        raise NotDecided(f"an index of type {type_name(key)}")
    if isinstance(value, Optional):
        raise NotDecided("a selection from an optional inside another value")
    if isinstance(value, tuple):
        index = _list_index(key)
        if 0 <= index < len(value):
            return value[index], True
        if testing:
            return None, False
        raise Fault(f"index out of bounds: {text(key)}")
    if isinstance(value, Map):
        found = value.find(key)
        if found[1] or testing:
            return found
    elif testing:
        return None, False
    raise Fault(f"no such key: {text(key)}")


def _list_index(key: Value) -> int:
    if isinstance(key, bool | str):
        raise Fault(f"unsupported index type '{type_name(key)}' in list")
    if isinstance(key, float):
        if not key.is_integer() or not -(2.0**63) <= key < 2.0**63:
            raise Fault(f"unsupported index value {text(key)} in list")
        return int(key)
    if key >= 2**63:
        raise Fault(f"unsupported index value {key} in list")
    return int(key)


def _conditional(condition: Run, then: Run, otherwise: Run) -> Run:
    def choose(frame: Frame) -> Value:
        value = condition(frame)
        if value is True:
            return then(frame)
        if value is False:
            return otherwise(frame)
        raise Fault(NO_SUCH_OVERLOAD)

    return choose


# -- operators ------------------------------------------------------------------------------------------------------


def _logical(terms: list[Run], *, absorbing: bool) -> Run:
    """``||`` or ``&&``: a term that decides does so whatever the others' errors are; else the first error counts."""

    def combine(frame: Frame) -> Value:
        first: Fault | None = None
        for term in terms:
            try:
                value = term(frame)
            except Fault as fault:
                first = first or fault
                continue
            if value is absorbing:
                return absorbing
            if not isinstance(value, bool):
                first = first or Fault(NO_SUCH_OVERLOAD)
        if first is not None:
            raise first
        return not absorbing

    return combine


def _all(frame: Frame, runs: Sequence[Run]) -> list[Value]:
    """All operands. The first error counts, but one that ends the whole evaluation may still come after it."""
    values: list[Value] = []
    first: Fault | None = None
    for operand in runs:
        try:
            values.append(operand(frame))
        except Fault as fault:
            first = first or fault
        except Abort:
            if first is not None and len(runs) > 2:
                raise NotDecided("an error beside one that ends the evaluation") from None
            raise
    if first is not None:
        raise first
    return values


def _equality(left: Run, right: Run) -> Run:
    def compare(frame: Frame) -> bool:
        one, other = _all(frame, (left, right))
        frame.spend(1 + _extent(one))
        return equal(one, other)

    return compare


def _inequality(left: Run, right: Run) -> Run:
    def compare(frame: Frame) -> bool:
        one, other = _all(frame, (left, right))
        frame.spend(1 + _extent(one))
        try:
            return not equal(one, other)
        except Fault:  # an error is not "equal"
            return True

    return compare


def _otherwise(left: Run, right: Run, *, unwrap: bool) -> Run:
    """``or`` and ``orValue``; what is no optional after all is the result itself."""

    def choose(frame: Frame) -> Value:
        value = left(frame)
        if not isinstance(value, Optional):
            return value
        if value.present:
            return value.value if unwrap else value
        return right(frame)

    return choose


def _not_strictly_false(operand: Run) -> Run:
    def call(frame: Frame) -> bool:
        try:
            value = operand(frame)
        except Fault:
            return True
        return value if isinstance(value, bool) else True

    return call


def _membership(element: Run, values: tuple[Value, ...]) -> Plan | None:
    """``x in [constants]`` as a hash set; None where elements don't allow it."""
    if not values:
        return _constant(False)  # noqa: FBT003  # a CEL value; the element is not even evaluated
    if not all(isinstance(value, bool | int | float | str) for value in values):
        return None
    keys = {key for value in values for key in _hash_keys(value)}

    def call(frame: Frame) -> bool:
        value = element(frame)
        frame.spend(1 + len(values))
        check_hashable(value)
        return isinstance(value, bool | int | float | str) and (type(value), value) in keys

    return Plan(call)


def _hash_keys(value: Value) -> Iterator[tuple[type, Value]]:
    """A constant, and its equals of other numeric types."""
    if value != value:  # noqa: PLR0124  # NaN equals nothing
        return
    yield type(value), value
    if isinstance(value, bool | str):
        return
    for kind, bounds in ((int, (-(2**63), 2**63)), (UInt, (0, 2**64))):
        whole = not isinstance(value, float) or value.is_integer()
        if whole and bounds[0] <= value < bounds[1]:
            yield kind, kind(value)
    if not isinstance(value, float):
        yield float, float(value)


def _iterate(value: Value) -> Iterator[Value]:
    if isinstance(value, tuple | Map):
        return iter(value)
    name = _GO_NAMES.get(type(value))
    if name is None:
        raise NotDecided(f"a fold over a value of type {type_name(value)}")
    raise Fault(f"got '{name}', expected iterable type")


_GO_NAMES: Final[dict[type, str]] = {
    bool: "types.Bool", int: "types.Int", UInt: "types.Uint", float: "types.Double", str: "types.String", bytes: "types.Bytes",
}  # fmt: skip


def _present(frame: Frame, runs: list[tuple[Run, bool]]) -> Iterator[Value]:
    """The elements of a list literal; an optional one may be absent."""
    for element, optional in runs:
        value = element(frame)
        if not optional:
            yield value
        elif not isinstance(value, Optional):
            raise NotDecided("an optional element that is no optional")
        elif value.present:
            yield value.value


def _matches_constant(subject: Run, pattern: regex.Pattern) -> Run:
    def call(frame: Frame) -> bool:
        value = subject(frame)
        if not isinstance(value, str):
            raise Fault(NO_SUCH_OVERLOAD)
        frame.spend((2 + len(value)) * (1 + pattern.size))
        return pattern.search(value)

    return call


def _matches(subject: Run, pattern: Run) -> Run:
    def call(frame: Frame) -> bool:
        value, expression = subject(frame), pattern(frame)
        if not isinstance(value, str):
            raise Fault(f"{NO_SUCH_OVERLOAD}: matches")
        if not isinstance(expression, str):
            raise Fault(NO_SUCH_OVERLOAD)
        frame.spend((2 + len(value)) * (1 + len(expression)))
        try:
            return regex.compile(expression).search(value)
        except (regex.Unsupported, ValueError):
            raise NotDecided("this regular expression") from None

    return call


# -- dispatch -------------------------------------------------------------------------------------------------------

_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,), "int": (int,), "uint": (UInt,), "double": (float,), "string": (str,), "bytes": (bytes,),
    "null": (type(None),), "list": (tuple, Concatenation), "map": (Map,), "optional_type": (Optional,), "type": (TypeValue,),
}  # fmt: skip
_OWN_STRUCTS: Final = frozenset({"kubernetes.Quantity", "kubernetes.Semver"})


def _possible(type_: Type) -> bool:
    """Whether a value of a type can exist: the functions that make the others cannot be run."""
    if not (type_.kind in _KINDS or type_.kind in ("dyn", "param") or type_.name in _OWN_STRUCTS):
        return False
    return all(_possible(part) for part in type_.parameters)


def _accepts(type_: Type, value: Value) -> bool:
    """Whether a value is of a type; of a list, the first element counts, as in cel-go."""
    if type_.kind in ("dyn", "param"):
        return True
    if type_.kind == "struct":
        return type_name(value) == type_.name
    if type(value) not in _KINDS.get(type_.kind, ()):
        return False
    return type_.kind != "list" or not value or _accepts(type_.parameters[0], value[0])


def _wrong_types(function: str, args: Sequence[Value]) -> Fault:
    return Fault(f"{NO_SUCH_OVERLOAD}: {function}({', '.join(type_name(arg) for arg in args)})")


def _guarded_singleton(function: str, singleton: Singleton) -> Implementation:
    def call(*args: Value) -> Value:
        if singleton.takes is not None and type(args[0]) not in singleton.takes:
            # Strings are asked themselves, and name no function.
            raise Fault(NO_SUCH_OVERLOAD if isinstance(args[0], str) else f"{NO_SUCH_OVERLOAD}: {function}")
        return singleton.call(*args)

    return call


_UNGUARDED: Final = frozenset({"contains", "startsWith", "endsWith"})


def _guarded_overload(function: str, overload: Overload) -> Implementation:
    implementation = OVERLOADS.get(overload.id)
    if function in _UNGUARDED and implementation is not None:
        return implementation
    return _dispatcher(function, (overload,))


def _dispatcher(function: str, overloads: tuple[Overload, ...]) -> Implementation:
    def call(*args: Value) -> Value:
        for overload in overloads:
            if len(overload.parameters) == len(args) and all(map(_accepts, overload.parameters, args)):
                implementation = OVERLOADS.get(overload.id)
                if implementation is None:
                    raise NotDecided(f"function '{function}'")
                return implementation(*args)
        raise _wrong_types(function, args)

    return call


_PRODUCT: Final = frozenset({"contains", "distinct", "sets.contains", "sets.intersects", "sets.equivalent"})


# Kubernetes measures these lists after the call, and crashes where there is an error or no list.
_MEASURED: Final = {"distinct": 0, "sort": 0, "@sortByAssociatedKeys": 1}


def _extent(value: Value) -> int:
    return len(value) if isinstance(value, str | bytes | tuple | Map) else 1


def _applied(function: str, implementation: Implementation, args: list[Run]) -> Run:
    multiplies = function in _PRODUCT
    measured = _MEASURED.get(function)

    def call(frame: Frame) -> Value:
        try:
            values = _all(frame, args)
        except Fault:
            if measured is not None:
                raise NotDecided(f"an error inside {function}()") from None
            raise
        if measured is not None and not isinstance(values[measured], tuple):
            raise NotDecided(f"{function}() of something that is no list")
        extents = [_extent(value) for value in values]
        frame.spend(2 + sum(extents) + (20 + 2 * extents[0] * extents[-1] if multiplies else 0))
        result = implementation(*values)
        frame.spend(_extent(result))
        return result

    return call
