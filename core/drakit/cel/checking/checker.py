"""Static checking: every node gets a type, every call its overloads.

A port of cel-go's checker, rule by rule, for the one variable ``device``. After it come the validators that Kubernetes
adds: literals of one type in lists and maps.

Source: github.com/google/cel-go ``checker/checker.go``, ``cel/validator.go``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from attrs import field, frozen

from drakit.cel.checking.declarations import FUNCTIONS, LISTS_FIRST, Overload
from drakit.cel.checking.environment import Environment
from drakit.cel.checking.messages import DEVICE, FIELDS, MESSAGES
from drakit.cel.checking.types import (
    ANY,
    BOOL,
    DYN,
    ERROR,
    INT,
    NULL,
    QUANTITY,
    STRING,
    Substitutions,
    Type,
    is_dyn,
    is_dyn_or_error,
    list_of,
    map_of,
    most_general,
    optional_of,
    plain,
    renamed,
    type_of,
    unwrap_optional,
)
from drakit.cel.checking.validators import wrong_literals
from drakit.cel.errors import CompileError, Issue
from drakit.cel.syntax.ast import (
    Call,
    Comprehension,
    Entry,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
    qualified_name,
)
from drakit.cel.syntax.source import Source
from drakit.cel.syntax.trampoline import Walk, run
from drakit.cel.values import UInt

__all__ = ["TYPE_NAMES", "Checked", "check"]

_CAPACITY: Final = map_of(STRING, map_of(STRING, QUANTITY))
_LITERALS: Final = {
    bool: BOOL, int: INT, UInt: Type("uint", "uint"), float: Type("double", "double"), str: STRING,
    bytes: Type("bytes", "bytes"), type(None): NULL,
}  # fmt: skip
_IDENTS: Final = {
    "device": DEVICE,
    "list": type_of(list_of(DYN)),
    "map": type_of(map_of(DYN, DYN)),
    "null_type": type_of(NULL),
    "type": type_of(Type("type", "type")),
    "optional_type": type_of(optional_of(DYN)),
} | {name: type_of(Type(name, name)) for name in ("bool", "bytes", "double", "int", "string", "uint", "duration", "timestamp")}
TYPE_NAMES: Final = (frozenset(_IDENTS) - {"device", "duration", "timestamp"}) | {
    "google.protobuf.Duration", "google.protobuf.Empty", "google.protobuf.Timestamp", "net.CIDR", "net.IP",
}  # fmt: skip
"""Names of types that a program may use; the others the checker knows, and no program can be made with them."""
# optMap writes its operand twice, so a chain of them doubles with every link.
_MAX_VISITS: Final = 100_000
_OPAQUE: Final = frozenset({"net.CIDR", "net.IP"})
"""Types that are no messages, so that nobody looks for their fields."""
_ENUM: Final = "google.protobuf.NullValue.NULL_VALUE"
"""The one constant that cel-go knows by name."""


@frozen(eq=False)
class Checked:
    """What checking found out."""

    root: Node
    source: Source
    types: dict[Node, Type] = field(factory=dict[Node, Type])
    names: dict[Node, str] = field(factory=dict[Node, str])
    """Nodes that are a variable or a type, by its name: all Idents, and Selects such as ``a.b`` of a dotted name.

    With a dot before it, the name is none of a macro's variables.
    """
    functions: dict[Node, str] = field(factory=dict[Node, str])
    """Full function name of each call, such as ``optional.of``, and the name of each message that is made."""
    overloads: dict[Node, tuple[Overload, ...]] = field(factory=dict[Node, tuple[Overload, ...]])
    """The overloads of each call that fit, in order; with ``dyn`` there may be several."""
    receivers: dict[Node, Node | None] = field(factory=dict[Node, "Node | None"])
    """The receiver of each call; None where it turned out to be a namespace."""


def check(root: Node, source: Source, environment: Environment = Environment()) -> Checked:  # noqa: B008  # it is frozen
    """Types and overloads for a whole expression.

    :raises CompileError: with all faults, or because the expression is not a bool (nor ``dyn``).
    :raises UnsupportedExpression: a type or constructor drakit has no rules for.
    """
    checker = _Checker(Checked(root, source), environment)
    run(checker.check(root))
    if not checker.issues:
        checker.settle()
        checker.issues.extend(wrong_literals(checker.found.root, checker.found.functions, checker.found.types, source))
    if checker.issues:
        raise CompileError(checker.issues)
    output = checker.found.types[root]
    if plain(output) not in (BOOL, checker.attribute):
        raise CompileError.of_whole(f"must evaluate to bool or the unknown type, not {output.output_name}")
    return checker.found


@functools.lru_cache(maxsize=1024)
def _variable(number: int) -> Type:
    return Type("param", f"_var{number}")


@functools.lru_cache(maxsize=64)
def _in_order(parameters: frozenset[Type]) -> tuple[str, ...]:
    return tuple(sorted(parameter.name for parameter in parameters))


class _Checker:
    def __init__(self, found: Checked, environment: Environment) -> None:
        self.found = found
        self.environment = environment
        self.candidates = _CANDIDATES if environment.strings_first else _OLDER_CANDIDATES
        self.unknown = environment.unknown
        self.attribute = DYN if environment.has_lists else ANY
        self.device_fields = {
            "driver": STRING,
            "attributes": map_of(STRING, map_of(STRING, self.attribute)),
            "capacity": _CAPACITY,
        } | ({"allowMultipleAllocations": BOOL} if environment.has_sharing else {})
        self.issues: list[Issue] = []
        self.known = Substitutions()
        self.scopes: list[dict[str, Type]] = [dict(_IDENTS)]
        self.fresh = 0
        self.visits = 0

    # -- helpers --------------------------------------------------------------------------------------------------

    def report(self, node: Node | Entry, message: str) -> Type:
        self.issues.append(self.found.source.issue(node.offset, message))
        return ERROR

    def undeclared(self, node: Node, name: str) -> Type:
        return self.report(node, f"undeclared reference to '{name}' (in container '')")

    def mismatch(self, node: Node, expected: Type, actual: Type) -> Type:
        return self.report(node, f"expected type '{expected}' but found '{actual}'")

    def type_of(self, node: Node) -> Type:
        return self.found.types[node]

    def set_type(self, node: Node, type_: Type) -> None:
        self.found.types[node] = type_

    def new_variable(self) -> Type:
        self.fresh += 1
        return _variable(self.fresh - 1)

    def lookup(self, node: Node, name: str) -> Type | None:
        absolute = self.environment.absolute_names and name.startswith(".")
        name = name.removeprefix(".")
        for scope in self.scopes[:1] if absolute else reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in MESSAGES:
            return type_of(MESSAGES[name])
        if name == _ENUM:
            raise self.found.source.unsupported(node.offset, f"name '{name}'")
        return None

    def settle(self) -> None:
        """Replace what is left of type parameters in every type."""
        for node, type_ in self.found.types.items():
            if not type_.ground:
                self.found.types[node] = self.known.apply(type_, free_to_dyn=True)

    # -- nodes ----------------------------------------------------------------------------------------------------

    def check(self, node: Node) -> Walk[None]:
        self.visits += 1
        if self.visits > _MAX_VISITS:
            raise self.found.source.unsupported(node.offset, f"an expression that expands to more than {_MAX_VISITS} nodes")
        match node:
            case Literal():
                self.set_type(node, _LITERALS[type(node.value)])
            case Ident():
                self.set_type(node, self.ident(node))
            case Select():
                self.set_type(node, (yield self.select(node)))
            case Call(function="_?._"):
                operand, name = node.args
                assert isinstance(name, Literal)
                yield self.check(operand)
                self.found.functions[node] = node.function
                self.set_type(node, self.known.apply(self.field(node, operand, str(name.value), optional=True)))
            case Call():
                self.set_type(node, (yield self.call(node)))
            case ListLiteral():
                self.set_type(node, (yield self.list_literal(node)))
            case MapLiteral():
                self.set_type(node, (yield self.map_literal(node)))
            case Comprehension():
                self.set_type(node, (yield self.comprehension(node)))
            case StructLiteral():
                self.set_type(node, (yield self.struct_literal(node)))

    def ident(self, node: Ident) -> Type:
        type_ = self.lookup(node, node.name)
        if type_ is None:
            return self.undeclared(node, node.name)
        self.found.names[node] = self.known_as(node.name)
        return type_

    def known_as(self, name: str) -> str:
        return name if self.environment.absolute_names else name.removeprefix(".")

    def select(self, node: Select) -> Walk[Type]:
        name = qualified_name(node)
        type_ = None if name is None else self.lookup(node, name)
        if name is not None and type_ is not None:
            self.found.names[node] = self.known_as(name)
            return type_
        if not self.is_leaf(node.operand):
            yield self.check(node.operand)
        result = self.field(node, node.operand, node.field, optional=False)
        return BOOL if node.test_only else self.known.apply(result)

    def field(self, node: Node, operand: Node, name: str, *, optional: bool) -> Type:
        target, was_optional = unwrap_optional(self.known.apply(self.type_of(operand)))
        result = DYN
        if target.kind == "map":
            result = target.parameters[1]
        elif target == DEVICE:
            result = self.device_fields.get(name, ERROR)
            if result is ERROR:
                self.report(node, f"undefined field '{name}'")
        elif target.kind == "struct" and target.name not in _OPAQUE:
            result = self.report(node, f"unexpected failed resolution of '{target}'")
        elif target.kind == "param":
            self.known.unify([DYN], [target])
        elif not is_dyn_or_error(target):
            self.report(node, f"type '{target}' does not support field selection")
        return optional_of(result) if optional or was_optional else result

    def is_leaf(self, node: Node) -> bool:
        """Whether a node has nothing below it; then it is checked at once, without a walk of its own."""
        if isinstance(node, Literal):
            self.set_type(node, _LITERALS[type(node.value)])
        elif isinstance(node, Ident):
            self.set_type(node, self.ident(node))
        else:
            return False
        self.visits += 1
        return True

    def call(self, node: Call) -> Walk[Type]:
        for arg in node.args:
            if not self.is_leaf(arg):
                yield self.check(arg)
        target, function = node.target, node.function.removeprefix(".")
        if target is not None:
            namespace = qualified_name(target)
            namespaced = f"{namespace}.{function}".removeprefix(".") if namespace else ""
            if namespaced in FUNCTIONS and namespaced not in self.unknown:
                target, function = None, namespaced
            elif not self.is_leaf(target):
                yield self.check(target)
        if function not in FUNCTIONS or function in self.unknown:
            return self.undeclared(node, node.function)
        self.found.functions[node] = function
        self.found.receivers[node] = target
        return self.resolve(node, function, target)

    def resolve(self, node: Call, function: str, target: Node | None) -> Type:
        """The result type of a call; every overload that fits is noted."""
        args = node.args if target is None else (target, *node.args)
        types = [self.type_of(arg) for arg in args]
        if function in ("_&&_", "_||_"):
            return self.logical(node, types)
        ground = all(type_.ground for type_ in types)
        question = (self.candidates is _CANDIDATES, function, target is not None, *types)
        known = _RESOLVED.get(question) if ground else None
        if known is not None:
            self.found.overloads[node], found, fresh = known
            self.fresh += fresh
            return found
        before = self.fresh
        result: Type | None = None
        fitting: list[Overload] = []
        kinds = [_distinct(type_) for type_ in types]
        for overload, wanted in self.candidates[function, target is not None]:
            if not _may_fit(kinds, wanted):
                self.fresh += len(overload.type_parameters)  # cel-go's names of variables show in messages
                continue
            parameters, returned = self.instantiate(overload)
            if not self.known.unify(types, parameters):
                continue
            fitting.append(overload)
            returned = self.known.apply(returned)
            if result is None:
                result = returned
            elif not is_dyn(result) and returned != result:
                result = DYN
        if result is None:
            shown = [str(self.known.apply(type_, free_to_dyn=True)) for type_ in types]
            receiver = "" if target is None else f"{shown.pop(0)}."
            signature = f"{receiver}({', '.join(shown)})"
            return self.report(node, f"found no matching overload for '{function}' applied to '{signature}'")
        overloads = self.found.overloads[node] = tuple(fitting)
        if ground and result.ground and len(_RESOLVED) < _MOST_RESOLVED:
            _RESOLVED[question] = overloads, result, self.fresh - before
        return result

    def logical(self, node: Call, types: Sequence[Type]) -> Type:
        result = BOOL
        for arg, type_ in zip(node.args, types, strict=True):
            if not self.known.unify([type_], [BOOL]):
                result = self.mismatch(arg, BOOL, type_)
        return result

    def instantiate(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """Parameters and result of an overload with type variables of this call."""
        if not overload.type_parameters:
            return overload.parameters, overload.result
        own = {name: self.new_variable() for name in _in_order(overload.type_parameters)}
        return tuple([renamed(parameter, own) for parameter in overload.parameters]), renamed(overload.result, own)

    def list_literal(self, node: ListLiteral) -> Walk[Type]:
        element: Type | None = None
        for index, part in enumerate(node.elements):
            if not self.is_leaf(part):
                yield self.check(part)
            type_ = self.type_of(part)
            if index in node.optional:
                type_ = self.unwrapped(part, type_)
            element = self.join(element, type_)
        return list_of(element or self.new_variable())

    def map_literal(self, node: MapLiteral) -> Walk[Type]:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            yield self.check(entry.key)
            key = self.join(key, self.type_of(entry.key))
            yield self.check(entry.value)
            type_ = self.type_of(entry.value)
            if entry.optional:
                type_ = self.unwrapped(entry.value, type_)
            value = self.join(value, type_)
        return map_of(key or self.new_variable(), value or self.new_variable())

    def struct_literal(self, node: StructLiteral) -> Walk[Type]:
        name = node.type_name.removeprefix(".")
        if name in _IDENTS and name != "device":
            result = self.report(node, f"'{name}' is not a message type")
        elif name not in MESSAGES:
            return self.undeclared(node, node.type_name)
        else:
            result = MESSAGES[name]
        if name in MESSAGES and name not in FIELDS:
            raise self.found.source.unsupported(node.offset, f"constructor of '{name}'")
        self.found.functions[node] = name
        fields = FIELDS.get(name, {})
        for entry in node.entries:
            yield self.check(entry.value)
            assert isinstance(entry.key, Literal)
            self.field_value(entry, str(entry.key.value), fields)
        return result

    def field_value(self, entry: Entry, name: str, fields: Mapping[str, Type]) -> None:
        wanted = fields.get(name)
        given = self.type_of(entry.value)
        if entry.optional:
            given = self.unwrapped(entry.value, given)
        if wanted is None:
            self.report(entry, f"undefined field '{name}'")
        elif not self.known.unify([wanted], [given]):
            self.report(entry, f"expected type of field '{name}' is '{wanted}' but provided type is '{given}'")

    def unwrapped(self, node: Node, type_: Type) -> Type:
        inside, was_optional = unwrap_optional(type_)
        if not was_optional and not is_dyn(inside):
            self.mismatch(node, optional_of(inside), inside)
        return inside

    def join(self, previous: Type | None, current: Type) -> Type:
        if previous is None:
            return current
        return most_general(previous, current) if self.known.unify([previous], [current]) else DYN

    def comprehension(self, node: Comprehension) -> Walk[Type]:
        yield self.check(node.range_)
        yield self.check(node.initial)
        accumulator = self.type_of(node.initial)
        first, second = self.variables(node.range_, of_entries=node.second_variable is not None)
        self.scopes.append({node.accumulator: accumulator})
        self.scopes.append({node.variable: first} | ({node.second_variable: second} if node.second_variable else {}))
        yield self.check(node.condition)
        self.expect(node.condition, BOOL)
        yield self.check(node.step)
        self.expect(node.step, accumulator)
        self.scopes.pop()
        yield self.check(node.result)
        self.scopes.pop()
        return self.known.apply(self.type_of(node.result))

    def variables(self, range_: Node, *, of_entries: bool) -> tuple[Type, Type]:
        """What the variables of a fold are: element or key; with two of them index and element, or key and value."""
        type_ = self.known.apply(self.type_of(range_))
        if type_.kind == "list":
            return (INT if of_entries else type_.parameters[0]), type_.parameters[0]
        if type_.kind == "map":
            return type_.parameters[0], type_.parameters[1]
        if type_.kind in ("dyn", "error", "param"):
            self.known.unify([DYN], [type_])
            return DYN, DYN
        wrong = f"expression of type '{type_}' cannot be range of a comprehension (must be list, map, or dynamic)"
        reported = self.report(range_, wrong)
        return reported, reported

    def expect(self, node: Node, type_: Type) -> None:
        if not self.known.unify([type_], [self.type_of(node)]):
            self.mismatch(node, type_, self.type_of(node))


_DISTINCT: Final = frozenset("bool int uint double string bytes list map struct duration timestamp optional_type type".split())


def _distinct(type_: Type) -> str:
    """The outermost kind of a type, or nothing where more has to be looked at to tell it from another."""
    return type_.kind if type_.kind in _DISTINCT else ""


def _may_fit(kinds: Sequence[str], wanted: Sequence[str]) -> bool:
    if len(kinds) != len(wanted):
        return False
    for one, other in zip(kinds, wanted, strict=True):  # noqa: SIM110  # asked for every overload of every call
        if one != other and one and other:
            return False
    return True


_Candidates: TypeAlias = Mapping[tuple[str, bool], tuple[tuple[Overload, tuple[str, ...]], ...]]


def _candidates(functions: Mapping[str, tuple[Overload, ...]]) -> _Candidates:
    return {
        (function, member): tuple(
            (overload, tuple(map(_distinct, overload.parameters))) for overload in overloads if overload.member == member
        )
        for function, overloads in functions.items()
        for member in (False, True)
    }


_CANDIDATES: Final = _candidates(FUNCTIONS)
"""Overloads with the kinds of their parameters: most are none for the types at hand, which the kinds alone tell."""
_RESOLVED: Final[dict[tuple[object, ...], tuple[tuple[Overload, ...], Type, int]]] = {}
"""Overloads and result of calls that had no type parameter in their arguments, and how many names of parameters they took."""
_MOST_RESOLVED: Final = 4096
_OLDER_CANDIDATES: Final = {**_CANDIDATES, **_candidates(LISTS_FIRST)}
