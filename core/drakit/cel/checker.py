"""Static checking: every node gets a type, every call its overloads.

A port of cel-go's checker, rule by rule, for the one variable ``device``. After it come the validators that Kubernetes
adds: literals of one type in lists and maps.

Source: github.com/google/cel-go ``checker/checker.go``, ``cel/validator.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from attrs import field, frozen

from drakit.cel import regex
from drakit.cel.ast import (
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
    children,
    qualified_name,
)
from drakit.cel.declarations import FUNCTIONS, Overload
from drakit.cel.errors import CompileError, Issue
from drakit.cel.source import Source
from drakit.cel.trampoline import Walk, run
from drakit.cel.types import (
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
    type_of,
    unwrap_optional,
)
from drakit.cel.values import UInt

__all__ = ["TYPE_NAMES", "Checked", "check"]

_DEVICE: Final = Type("struct", "kubernetes.DRADevice")
_DEVICE_FIELDS: Final = {
    "driver": STRING,
    "allowMultipleAllocations": BOOL,
    "attributes": map_of(STRING, map_of(STRING, DYN)),
    "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
}
_LITERALS: Final = {
    bool: BOOL, int: INT, UInt: Type("uint", "uint"), float: Type("double", "double"), str: STRING,
    bytes: Type("bytes", "bytes"), type(None): NULL,
}  # fmt: skip
_IDENTS: Final = {
    "device": _DEVICE,
    "list": type_of(list_of(Type("param", "A"))),
    "map": type_of(map_of(Type("param", "A"), Type("param", "B"))),
    "null_type": type_of(NULL),
    "type": type_of(Type("type", "type")),
} | {name: type_of(Type(name, name)) for name in ("bool", "bytes", "double", "int", "string", "uint")}
TYPE_NAMES: Final = frozenset(_IDENTS) - {"device"}
"""Names that are types."""
# optMap writes its operand twice, so a chain of them doubles with every link.
_MAX_VISITS: Final = 100_000
# Names of types that cel-go knows besides; expressions about them are rare, and their rules many.
_FOREIGN: Final = frozenset({"google", "net", "kubernetes", "optional_type"})
_NOT_FOREIGN: Final = frozenset({"google", "net", "kubernetes", "kubernetes.Semver", "kubernetes.Quantity", "kubernetes.URL"})


@frozen(eq=False)
class Checked:
    """What checking found out."""

    root: Node
    source: Source
    types: dict[Node, Type] = field(factory=dict[Node, Type])
    names: dict[Node, str] = field(factory=dict[Node, str])
    """Nodes that are a variable or a type, by its name: all Idents, and Selects such as ``a.b`` of a dotted name."""
    functions: dict[Node, str] = field(factory=dict[Node, str])
    """Full function name of each call, such as ``optional.of``."""
    overloads: dict[Node, tuple[Overload, ...]] = field(factory=dict[Node, tuple[Overload, ...]])
    """The overloads of each call that fit, in order; with ``dyn`` there may be several."""
    receivers: dict[Node, Node | None] = field(factory=dict[Node, "Node | None"])
    """The receiver of each call; None where it turned out to be a namespace."""


def check(root: Node, source: Source) -> Checked:
    """Types and overloads for a whole expression.

    :raises CompileError: with all faults, or because the expression is not a bool (nor ``dyn``).
    :raises UnsupportedExpression: a type or constructor drakit has no rules for.
    """
    checker = _Checker(Checked(root, source))
    run(checker.check(root))
    if not checker.issues:
        checker.settle()
        checker.issues.extend([*_wrong_patterns(checker.found), *_mixed_literals(checker.found)])
    if checker.issues:
        raise CompileError(checker.issues)
    output = checker.found.types[root]
    if output not in (BOOL, DYN):
        raise CompileError.of_whole(f"must evaluate to bool or the unknown type, not {output.output_name}")
    return checker.found


class _Checker:
    def __init__(self, found: Checked) -> None:
        self.found = found
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
        return Type("param", f"_var{self.fresh - 1}")

    def lookup(self, node: Node, name: str) -> Type | None:
        name = name.removeprefix(".")
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name.partition(".")[0] in _FOREIGN and name not in _NOT_FOREIGN:
            raise self.found.source.unsupported(node.offset, f"name '{name}'")
        return None

    def settle(self) -> None:
        """Replace what is left of type parameters in every type."""
        for node, type_ in self.found.types.items():
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
                raise self.found.source.unsupported(node.offset, f"constructor of '{node.type_name}'")

    def ident(self, node: Ident) -> Type:
        type_ = self.lookup(node, node.name)
        if type_ is None:
            return self.undeclared(node, node.name)
        self.found.names[node] = node.name.removeprefix(".")
        return type_

    def select(self, node: Select) -> Walk[Type]:
        name = qualified_name(node)
        type_ = None if name is None else self.lookup(node, name)
        if name is not None and type_ is not None:
            self.found.names[node] = name.removeprefix(".")
            return type_
        yield self.check(node.operand)
        result = self.field(node, node.operand, node.field, optional=False)
        return BOOL if node.test_only else self.known.apply(result)

    def field(self, node: Node, operand: Node, name: str, *, optional: bool) -> Type:
        target, was_optional = unwrap_optional(self.known.apply(self.type_of(operand)))
        result = DYN
        if target.kind == "map":
            result = target.parameters[1]
        elif target == _DEVICE:
            result = _DEVICE_FIELDS.get(name, ERROR)
            if result is ERROR:
                self.report(node, f"undefined field '{name}'")
        elif target.kind == "struct":
            result = self.report(node, f"unexpected failed resolution of '{target}'")
        elif target.kind == "param":
            self.known.unify([DYN], [target])
        elif not is_dyn_or_error(target):
            self.report(node, f"type '{target}' does not support field selection")
        return optional_of(result) if optional or was_optional else result

    def call(self, node: Call) -> Walk[Type]:
        for arg in node.args:
            yield self.check(arg)
        target, function = node.target, node.function.removeprefix(".")
        if target is not None:
            namespace = qualified_name(target)
            namespaced = f"{namespace}.{function}".removeprefix(".") if namespace else ""
            if namespaced in FUNCTIONS:
                target, function = None, namespaced
            else:
                yield self.check(target)
        if function not in FUNCTIONS:
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
        result: Type | None = None
        fitting: list[Overload] = []
        for overload in FUNCTIONS[function]:
            if overload.member == (target is None):
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
        self.found.overloads[node] = tuple(fitting)
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
        own = Substitutions()
        for parameter in sorted(overload.type_parameters, key=str):
            own.add(parameter, self.new_variable())
        return tuple(own.apply(parameter) for parameter in overload.parameters), own.apply(overload.result)

    def list_literal(self, node: ListLiteral) -> Walk[Type]:
        element: Type | None = None
        for index, part in enumerate(node.elements):
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
        element = self.element(node.range_)
        self.scopes.append({node.accumulator: accumulator})
        self.scopes.append({node.variable: element})
        yield self.check(node.condition)
        self.expect(node.condition, BOOL)
        yield self.check(node.step)
        self.expect(node.step, accumulator)
        self.scopes.pop()
        yield self.check(node.result)
        self.scopes.pop()
        return self.known.apply(self.type_of(node.result))

    def element(self, range_: Node) -> Type:
        """What a fold's variable is: an element of a list, a key of a map."""
        type_ = self.known.apply(self.type_of(range_))
        if type_.kind in ("list", "map"):
            return type_.parameters[0]
        if type_.kind in ("dyn", "error", "param"):
            self.known.unify([DYN], [type_])
            return DYN
        return self.report(
            range_, f"expression of type '{type_}' cannot be range of a comprehension (must be list, map, or dynamic)"
        )

    def expect(self, node: Node, type_: Type) -> None:
        if not self.known.unify([type_], [self.type_of(node)]):
            self.mismatch(node, type_, self.type_of(node))


# -- validators -----------------------------------------------------------------------------------------------------


def _wrong_patterns(found: Checked) -> Iterator[Issue]:
    """Literals that are no regular expression.

    As in cel-go it is the first argument that is looked at, even in ``matches(text, pattern)``.
    """
    for node, function in found.functions.items():
        pattern = node.args[0] if function == "matches" and isinstance(node, Call) else None
        if not isinstance(pattern, Literal):
            continue
        try:
            regex.compile(str(pattern.value))
        except ValueError:
            yield found.source.issue(pattern.offset, "invalid matches argument")
        except regex.Unsupported:
            raise found.source.unsupported(pattern.offset, "this regular expression") from None


def _mixed_literals(found: Checked) -> Iterator[Issue]:
    """Lists and maps whose elements differ in type: Kubernetes refuses what cel-go would call ``dyn``."""
    pending = [found.root]
    seen: set[Node] = set()  # optMap writes one operand twice
    while pending:
        node = pending.pop()
        if node in seen or (isinstance(node, Call) and node.function == "format"):
            continue
        seen.add(node)
        pending.extend(children(node))
        if isinstance(node, ListLiteral):
            # A list tells of its first odd element, a map of every one: so does cel-go.
            yield from islice(_mixed(found, [(part, index in node.optional) for index, part in enumerate(node.elements)]), 1)
        elif isinstance(node, MapLiteral):
            yield from _mixed(found, [(entry.key, False) for entry in node.entries])
            yield from _mixed(found, [(entry.value, entry.optional) for entry in node.entries])


def _mixed(found: Checked, parts: Sequence[tuple[Node, bool]]) -> Iterator[Issue]:
    first: Type | None = None
    for node, optional in parts:
        type_ = found.types[node]
        if optional:
            if not type_.parameters:
                raise found.source.unsupported(node.offset, "an optional element of a type that is not static")
            type_ = type_.parameters[0]
        if first is None:
            first = type_
        elif type_ != first:
            yield found.source.issue(node.offset, f"expected type '{first}' but found '{type_}'")
