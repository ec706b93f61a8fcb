"""The cost of an expression at worst, found before it is evaluated.

The API server refuses an expression whose estimate is over 1,000,000. It goes over the nodes once; beside the cost it
follows how big values can be, from literals and from the limits of a device, through variables and results.

Only the greatest cost matters to Kubernetes, so there is no least one here. A chain of ``&&`` or ``||``, which cel-go
turns into a balanced tree, costs what its terms cost.

Source: github.com/google/cel-go ``checker/cost.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from drakit.cel.checking.checker import Checked
from drakit.cel.checking.types import DYN, Type
from drakit.cel.estimation.estimators import Estimate, Operand, estimate_call, unwrap
from drakit.cel.estimation.paths import NOWHERE, Path, limit
from drakit.cel.estimation.sizes import MOST, UNKNOWN, Entries, Size, added, multiplied
from drakit.cel.syntax.ast import Call, Comprehension, Ident, ListLiteral, Literal, MapLiteral, Node, Select, StructLiteral
from drakit.cel.syntax.trampoline import Walk, run

__all__ = ["estimate"]

_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_NEW_LIST: Final = 10
_NEW_MAP: Final = 30
_NEW_STRUCT: Final = 40


def estimate(checked: Checked, *, minor: int = 37) -> int:
    """The greatest cost, in units of the limit of 1,000,000; 2**64 - 1 where there is no bound.

    Whether attributes may be lists makes no difference: their limit is that of a text, the longer one.

    :param minor: of the release of Kubernetes, 36 or 37.
    """
    cost: int = run(_Estimator(checked, minor).cost(checked.root))
    return cost


@frozen
class _Variable:
    """What is known of a variable's value."""

    path: Path
    size: Size | None
    entries: Entries | None = None


class _Estimator:
    def __init__(self, checked: Checked, minor: int) -> None:
        self.checked = checked
        self.minor = minor
        self.variables: dict[str, list[_Variable]] = {}
        self.paths: dict[Node, Path] = {}
        self.sizes: dict[Node, Size] = {}
        self.entries: dict[Node, Entries] = {}

    # -- what is known of a value ---------------------------------------------------------------------------------

    def variable(self, node: Node) -> _Variable | None:
        """The variable that a node names, of those that now have a value."""
        if _is_absolute(node):
            return None
        values = self.variables.get(self.checked.names.get(node, ""))
        return values[-1] if values else None

    def path(self, node: Node) -> Path:
        variable = self.variable(node)
        return variable.path if variable else self.paths.get(node, NOWHERE)

    def type(self, node: Node) -> Type:
        return unwrap(self.checked.types.get(node, DYN))

    def size(self, node: Node) -> Size | None:
        known = self.sizes.get(node) or _size_as_written(node)
        if known:
            return known
        if known := limit(self.path(node)):
            self.sizes[node] = known  # to stay, even if the path changes
            return known
        if _is_scalar(self.type(node)):
            return Size.of(1)
        variable = self.variable(node)
        return variable.size if variable else None

    def bounds(self, node: Node) -> Size:
        return self.size(node) or UNKNOWN

    def entries_of(self, node: Node) -> Entries | None:
        known = self.entries.get(node)
        variable = None if known else self.variable(node)
        return variable.entries if variable else known

    def operand(self, node: Node) -> Operand:
        return Operand(node, self.type(node), self.size(node), self.entries_of(node), self.path(node))

    def note(self, node: Node, size: Size | None, entries: Entries | None) -> None:
        if size:
            self.sizes[node] = size
        if entries:
            self.entries[node] = entries

    def forget(self, node: Node) -> None:
        """What optMap writes twice is estimated twice, each time afresh."""
        for table in (self.paths, self.sizes, self.entries):
            table.pop(node, None)

    # -- nodes ----------------------------------------------------------------------------------------------------

    def cost(self, node: Node) -> Walk[int]:
        self.forget(node)
        if node in self.checked.names:
            return self.name(node)
        walk: Walk[int]
        match node:
            case Select():
                walk = self.select(node)
            case Call():
                walk = self.call(node)
            case ListLiteral():
                walk = self.list_literal(node)
            case MapLiteral():
                walk = self.map_literal(node)
            case StructLiteral():
                walk = self.all([entry.value for entry in node.entries], _NEW_STRUCT)
            case Comprehension():
                walk = self.binding(node) if _is_binding(node) else self.fold(node)
            case _:
                return 0
        cost: int = yield walk
        return cost

    def all(self, nodes: list[Node], base: int) -> Walk[int]:
        total = base
        for node in nodes:
            total = added(total, (yield self.cost(node)))
        return total

    def name(self, node: Node) -> int:
        variable = self.variable(node)
        self.paths[node] = variable.path if variable else NOWHERE.then(self.root(node))
        return 1

    def root(self, node: Node) -> str:
        """Where a path starts; cel-go finds no limits behind a name that says it is not a variable of the same name."""
        name = self.checked.names[node].removeprefix(".")
        return f".{name}" if _is_absolute(node) and self.variables.get(name) else name

    def select(self, node: Select) -> Walk[int]:
        cost: int = yield self.cost(node.operand)
        if node.test_only:
            return cost
        self.paths[node] = self.path(node.operand).then(node.field)
        # What is only known at run time is selected from for nothing.
        return added(cost, 1) if self.type(node.operand).kind in ("map", "struct") else cost

    def list_literal(self, node: ListLiteral) -> Walk[int]:
        cost = _NEW_LIST
        size = _of_any(node.elements)
        for element in node.elements:
            cost = added(cost, (yield self.cost(element)))
            size = size.union(self.bounds(element))
        self.entries[node] = Entries("list", Size.of(1), size)
        return cost

    def map_literal(self, node: MapLiteral) -> Walk[int]:
        cost = _NEW_MAP
        key = value = _of_any(node.entries)
        for entry in node.entries:
            cost = added(cost, (yield self.all([entry.key, entry.value], 0)))
            key = key.union(self.bounds(entry.key))
            value = value.union(self.bounds(entry.value))
        self.entries[node] = Entries("map", key, value)
        return cost

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, node: Call) -> Walk[int]:
        function = self.checked.functions[node]
        if function == "dyn":
            cost: int = yield self.cost(node.args[0])
            self.note(node, self.size(node.args[0]), self.entries_of(node.args[0]))
            return added(cost, 1)
        costs: list[int] = []
        operands: list[Operand] = []
        target = self.checked.receivers.get(node)
        for part in node.args if target is None else (*node.args, target):  # the receiver comes last
            costs.append((yield self.cost(part)))
            operands.append(self.operand(part))
        if function in ("_&&_", "_||_"):
            return _sum(costs)
        if target is not None:
            operands.insert(0, operands.pop())
        own = self.own_cost(node, function, operands)
        if function == "_?_:_":
            return added(costs[0], max(costs[1:]))
        return added(_sum(costs), own)

    def own_cost(self, node: Call, function: str, operands: list[Operand]) -> int:
        """The cost of the dearest overload; what is known of the result is noted."""
        cost = 0
        size: Size | None = None
        for overload in [overload.id for overload in self.checked.overloads.get(node, ())] or [function]:
            found = self.by_overload(node, function, overload, operands)
            cost = max(cost, found.cost)
            if found.size:
                size = size.union(found.size) if size else found.size
            if overload in _INDEXING:
                size = operands[0].entries.value if operands[0].entries else None
                self.paths[node] = self.path(operands[0].node).then(_INDEXING[overload])
            size = size or self.size(node)
            self.note(node, None, found.entries)
        self.note(node, size, None)
        return cost

    def by_overload(self, node: Call, function: str, overload: str, operands: list[Operand]) -> Estimate:
        member = self.checked.receivers.get(node) is not None
        return estimate_call(function, overload, operands, member=member, minor=self.minor)

    # -- comprehensions -------------------------------------------------------------------------------------------

    def enter(self, name: str, variable: _Variable) -> None:
        self.variables.setdefault(name, []).append(variable)

    def leave(self, name: str) -> None:
        self.variables[name].pop()

    def bound(self, node: Node) -> _Variable:
        return _Variable(self.path(node), self.size(node), self.entries_of(node))

    def binding(self, node: Comprehension) -> Walk[int]:
        cost: int = yield self.all([node.range_, node.initial], 0)
        self.enter(node.accumulator, self.bound(node.initial))
        cost = added(cost, (yield self.cost(node.result)))
        self.leave(node.accumulator)
        self.note(node, self.size(node.result), self.entries_of(node.result))
        return cost

    def fold(self, node: Comprehension) -> Walk[int]:
        cost: int = yield self.all([node.range_, node.initial], 0)
        self.enter(node.accumulator, self.bound(node.initial))
        self.enter_fold(node)
        each: int = yield self.all([node.condition, node.step], 0)
        self.leave(node.variable)
        if node.second_variable:
            self.leave(node.second_variable)
        cost = added(cost, (yield self.cost(node.result)))
        self.leave(node.accumulator)
        count = self.bounds(node.range_)
        if isinstance(node.initial, Literal):
            self.note(node, self.size(node.initial), None)
        elif isinstance(node.initial, ListLiteral | MapLiteral):
            self.note(node, count, self.entries_of(node.step))
        return added(cost, multiplied(count.max, each))

    def enter_fold(self, node: Comprehension) -> None:
        if node.second_variable is None:
            is_list = self.container(node.range_) == "list"
            self.enter(node.variable, self.value_of(node.range_) if is_list else self.key_of(node.range_))
        else:
            self.enter(node.variable, self.key_of(node.range_))
            # The first variable may have the name of the range: then this one is, for cel-go, what the first holds.
            self.enter(node.second_variable, self.value_of(node.range_))

    def container(self, range_: Node) -> str:
        entries = self.entries_of(range_)
        return entries.container if entries else self.type(range_).kind

    def key_of(self, range_: Node) -> _Variable:
        entries = self.entries_of(range_)
        step = "@indices" if self.container(range_) == "list" else "@keys"
        return _Variable(self.path(range_).then(step), entries.key if entries else None)

    def value_of(self, range_: Node) -> _Variable:
        entries = self.entries_of(range_)
        step = "@items" if self.container(range_) == "list" else "@values"
        return _Variable(self.path(range_).then(step), entries.value if entries else None)


_INDEXING: Final = {"index_list": "@items", "index_map": "@values"}


def _of_any(parts: Sequence[object]) -> Size:
    """The size to begin with where that of any of the parts is asked for: 0 if there are none."""
    return Size(MOST, 0) if parts else Size.of(0)


def _is_absolute(node: Node) -> bool:
    return isinstance(node, Ident) and node.name.startswith(".")


def _sum(costs: list[int]) -> int:
    return min(sum(costs), MOST)


def _is_scalar(type_: Type) -> bool:
    while type_.kind in ("optional_type", "wrapper"):
        type_ = type_.parameters[0]
    return type_.kind in _SCALARS


def _size_as_written(node: Node) -> Size | None:
    match node:
        case Literal(value=str() | bytes() as text):
            return Size.of(len(text))
        case Literal():
            return Size.of(1)
        case ListLiteral():
            return Size.of(len(node.elements))
        case MapLiteral():
            return Size.of(len(node.entries))
        case _:
            return None


def _is_binding(node: Comprehension) -> bool:
    """Whether a fold is none, but gives a value a name; one accumulator's name is not seen as such by cel-go."""
    if not (isinstance(node.range_, ListLiteral) and isinstance(node.condition, Literal)):
        return False
    return not node.range_.elements and node.condition.value is False and node.accumulator != "__result__"
