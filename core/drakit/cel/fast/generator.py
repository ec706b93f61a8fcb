"""From a checked expression to one Python function over a flat device.

The source is made of names, operators and the runtime's functions, nothing else: what the expression says in quotes, in
numbers and in names is found under ``c0``, ``c1``... in the function's globals. So expressions that differ only in these
have the same source, and Python compiles it once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, Final, TypeAlias

from attrs import evolve, field, frozen

from drakit.cel.checking.checker import Checked
from drakit.cel.fast import folds, functions, operators
from drakit.cel.fast.code import (
    ANY,
    BOOL,
    INT,
    LIST,
    QUANTITY,
    SCALARS,
    STRING,
    Code,
    Names,
    Unfit,
    bound,
    combined,
    compound,
    constant,
    is_bool,
    narrowed,
)
from drakit.cel.fast.flat import MAX_ITEMS, MAX_TEXT, Flat
from drakit.cel.fast.places import DRIVER, Place, place
from drakit.cel.fast.runtime import RUNTIME
from drakit.cel.syntax.ast import Call, Comprehension, Ident, ListLiteral, Literal, MapLiteral, Node

__all__ = ["Function", "Generated", "generate", "source_of"]

Function: TypeAlias = Callable[[Flat], bool]
"""From a flat device to the verdict; any exception is no verdict."""

_MAX_SOURCE: Final = 20_000  # characters
_MAX_HEIGHT: Final = 60  # nodes below each other; every one is a few Python calls here
_CACHE_SIZE: Final = 256
_LOCALS: Final = {
    "attributes": "a = d.attributes",
    "capacity": "q = d.capacity",
    "integers": "i = d.integers",
    "driver": "s = d.driver",
    "domains": "e, g = d.domains",
}
"""What a function takes from the device first, by what it needs."""
_Scope: TypeAlias = Mapping[str, Code]


@frozen
class Generated:
    """The source of a function and the constants in it."""

    source: str
    constants: Mapping[str, Any]


def generate(checked: Checked) -> Function | None:
    """The function of an expression; None where it is not of the kind that has one."""
    try:
        generated = source_of(checked)
    except Unfit:
        return None
    namespace: dict[str, Any] = {**RUNTIME, **generated.constants}
    exec(_compiled(generated.source), namespace)  # noqa: S102  # source of this module's making, see above
    function: Function = namespace["f"]
    return function


@functools.lru_cache(maxsize=_CACHE_SIZE)
def _compiled(source: str) -> CodeType:
    return compile(source, "<drakit.cel.fast>", "exec", dont_inherit=True)


def source_of(checked: Checked) -> Generated:
    """What is compiled for an expression.

    :raises Unfit: nothing is.
    """
    generator = _Generator(checked)
    body = is_bool(generator.names, generator.emit(checked.root, {}, 0))
    if generator.holds and generator.compares:
        raise Unfit  # a comparison changes how a quantity is held, which asInteger() tells
    lines = ["def f(d):", *(f"    {_LOCALS[need]}" for need in sorted(generator.needs)), f"    return {body.text}"]
    source = "\n".join(lines)
    if len(source) > _MAX_SOURCE:
        raise Unfit
    return Generated(source, generator.names.constants)


@frozen
class _Maybe:
    """An optional."""

    present: str
    """Source that tells whether it is there."""
    value: Code
    container: str = field(default="")
    """With ``key``: where the value is looked up, if it is no more than that."""
    key: str = field(default="")


class _Generator:
    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        self.names = Names()
        self.needs: set[str] = set()
        self.holds = False
        self.compares = False

    # -- nodes ----------------------------------------------------------------------------------------------------

    def emit(self, node: Node, scope: _Scope, height: int) -> Code:
        """The source for a node.

        :param scope: the variables in sight.
        :raises Unfit: there is none.
        """
        height += 1
        if height > _MAX_HEIGHT:
            raise Unfit
        where = place(self.checked, node, "device" in scope)
        if where is not None:
            return self.at(where)
        match node:
            case Literal():
                return constant(self.names, node.value)
            case Ident():
                return self.variable(node, scope)
            case ListLiteral():
                return self.list_literal(node, scope, height)
            case Call():
                return self.call(node, scope, height)
            case Comprehension():
                return self.fold(node, scope, height)
        raise Unfit

    def variable(self, node: Ident, scope: _Scope) -> Code:
        found = scope.get(self.checked.names.get(node, ""))
        if found is None:
            raise Unfit
        return found

    def list_literal(self, node: ListLiteral, scope: _Scope, height: int) -> Code:
        if node.optional or not node.elements:
            raise Unfit
        parts = [self.emit(element, scope, height) for element in node.elements]
        known = combined(*parts)
        if known["kinds"] - SCALARS:
            raise Unfit
        about = {"elements": known["kinds"], "size": len(parts), "inner": known["size"]}
        if all(part.constant and part.kinds <= BOOL | INT | STRING for part in parts):
            values = tuple(part.constant[0] for part in parts if part.constant)
            return Code(
                text=self.names.constant(values), kinds=LIST, cost=10 + len(parts), is_name=True, constant=(values,), **about
            )
        return compound("".join(f"{part.text}, " for part in parts), LIST, *parts, cost=10 + len(parts), **about)

    # -- places in the device -------------------------------------------------------------------------------------

    def need(self, part: str, name: str) -> str:
        self.needs.add(part)
        return name

    def at(self, where: Place) -> Code:
        """The value at a place, or whether it is there."""
        if where.optional:
            raise Unfit
        if where.domain is None:
            return self.field(where)
        if where.identifier is None:
            raise Unfit
        container, key = self.lookup(where)
        if where.tested:
            return compound(f"{key} in {container}", BOOL)
        return self.found(where.part, container, key)

    def field(self, where: Place) -> Code:
        if where.tested or where.part not in ("driver", "allowMultipleAllocations"):
            raise Unfit
        if where.part == "driver":
            return Code(text=self.need("driver", "s"), kinds=STRING, size=MAX_TEXT, is_name=True, cost=5)
        return Code(text="d.shared", kinds=BOOL, is_name=True, cost=5)

    def lookup(self, where: Place) -> tuple[str, str]:
        """The dict with a place's value, and the key."""
        if where.domain is DRIVER:
            key = f"({self.need('driver', 's')} + {self.names.constant(f'/{where.identifier}')})"
        elif "/" in str(where.domain):
            raise Unfit  # no device has such a domain
        else:
            key = self.names.constant(f"{where.domain}/{where.identifier}")
        if where.part == "attributes":
            return self.need("attributes", "a"), key
        return self.need("capacity", "q"), key

    def found(self, part: str, container: str, key: str) -> Code:
        text = f"{container}[{key}]"
        if part == "capacity":
            return Code(text=text, kinds=QUANTITY, cost=10)
        return Code(text=text, kinds=ANY, elements=SCALARS, size=max(MAX_TEXT, MAX_ITEMS), inner=MAX_TEXT, cost=10)

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, node: Call, scope: _Scope, height: int) -> Code:
        function = self.checked.functions[node]
        receiver = self.checked.receivers.get(node)
        nodes = node.args if receiver is None else (receiver, *node.args)
        match function, nodes:
            case "_&&_" | "_||_", _:
                terms = [self.condition(term, scope, height) for term in nodes]
                return operators.joined(terms, "and" if function == "_&&_" else "or")
            case "!_", (operand,):
                return operators.negated(self.condition(operand, scope, height))
            case "_?_:_", (condition, then, otherwise):
                return self.conditional(condition, then, otherwise, scope, height)
            case "orValue" | "hasValue" | "value", (target, *default):
                return self.unwrapped(function, self.maybe(target, scope, height), default, scope, height)
            case "asInteger", (target,):
                return self.as_integer(target, scope)
            case "_[_]", (target, index):
                return self.index(target, index, scope, height)
            case "@in", (element, container):
                return self.membership(element, container, scope, height)
            case "_<_" | "_<=_" | "_>_" | "_>=_" | "_==_" | "_!=_", (left, right):
                return self.comparison(function, left, right, scope, height)
        args = [self.emit(arg, scope, height) for arg in nodes]
        if function in ("compareTo", "isGreaterThan", "isLessThan"):
            self.note_comparison(args[-1])
        if function in ("_+_", "_-_", "_*_", "_/_", "_%_"):
            return operators.arithmetic(self.names, function, args[0], args[1])
        return functions.call(self.names, function, args)

    def condition(self, node: Node, scope: _Scope, height: int) -> Code:
        return is_bool(self.names, self.emit(node, scope, height))

    def conditional(self, condition: Node, then: Node, otherwise: Node, scope: _Scope, height: int) -> Code:
        test = self.condition(condition, scope, height)
        branches = [self.emit(branch, scope, height) for branch in (then, otherwise)]
        about = combined(*branches)
        text = f"{branches[0].text} if {test.text} else {branches[1].text}"
        return compound(text, about.pop("kinds"), test, *branches, **about)

    def comparison(self, function: str, left: Node, right: Node, scope: _Scope, height: int) -> Code:
        if isinstance(right, Literal) and right.value.__class__ is int and right.value == 0 and self.calls(left, "compareTo"):
            assert isinstance(left, Call)
            assert left.target is not None
            one, other = (self.emit(part, scope, height) for part in (left.target, *left.args))
            self.note_comparison(other)
            return functions.compared_with_zero(self.names, function, one, other)
        one, other = self.emit(left, scope, height), self.emit(right, scope, height)
        if function in ("_==_", "_!=_"):
            equal = operators.equality(self.names, one, other)
            return equal if function == "_==_" else operators.negated(equal)
        return operators.ordering(self.names, function, one, other)

    def calls(self, node: Node, function: str) -> bool:
        return isinstance(node, Call) and self.checked.functions.get(node) == function

    def note_comparison(self, argument: Code) -> None:
        """Comparing with a quantity that may be held the slow way changes how the other one is held."""
        if "quantity" in argument.kinds:
            self.compares = True

    def as_integer(self, target: Node, scope: _Scope) -> Code:
        where = place(self.checked, target, "device" in scope)
        if where is None or where.part != "capacity" or where.optional or where.identifier is None:
            raise Unfit
        self.holds = True
        _, key = self.lookup(where)
        return Code(text=f"{self.need('integers', 'i')}[{key}]", kinds=INT, cost=15)

    def index(self, target: Node, index: Node, scope: _Scope, height: int) -> Code:
        """An element of a list, by a constant; the value of a map of constants."""
        at = self.emit(index, scope, height)
        if isinstance(target, MapLiteral):
            values, about = self.map_of_constants(target)
            if at.kinds & QUANTITY:
                raise Unfit
            kinds = about.pop("kinds")
            return compound(f"{self.names.constant(values)}[{at.text}]", kinds, at, cost=50 + 2 * len(values), **about)
        elements = narrowed(self.names, self.emit(target, scope, height), "tuple")
        if at.constant is None or at.kinds != INT or at.constant[0] < 0 or elements.elements - SCALARS:
            raise Unfit
        return compound(f"{elements.text}[{at.text}]", elements.elements, elements, size=elements.inner)

    def map_of_constants(self, node: MapLiteral) -> tuple[dict[str, Any], dict[str, Any]]:
        """A map with strings as keys, and what is known about its values."""
        values: dict[str, Any] = {}
        codes: list[Code] = []
        for entry in node.entries:
            key, value = entry.key, entry.value
            if entry.optional or not (isinstance(key, Literal) and isinstance(key.value, str) and isinstance(value, Literal)):
                raise Unfit
            values[key.value] = value.value
            codes.append(constant(self.names, value.value))
        if not codes:
            raise Unfit
        return values, combined(*codes)

    def membership(self, element: Node, container: Node, scope: _Scope, height: int) -> Code:
        where = place(self.checked, container, "device" in scope)
        if where is None or where.identifier is not None:
            value = self.emit(element, scope, height)
            if isinstance(container, MapLiteral):
                values, _ = self.map_of_constants(container)
                if value.kinds & QUANTITY:
                    raise Unfit
                return compound(f"{value.text} in {self.names.constant(values)}", BOOL, value, cost=50 + 2 * len(values))
            return operators.membership(self.names, value, self.emit(container, scope, height))
        if where.optional or where.tested or not (isinstance(element, Literal) and isinstance(element.value, str)):
            raise Unfit
        if where.part not in ("attributes", "capacity"):
            raise Unfit
        if where.domain is None:
            domains = self.need("domains", "e" if where.part == "attributes" else "g")
            return compound(f"{self.names.constant(element.value)} in {domains}", BOOL, cost=20 + len(element.value))
        name, key = self.lookup(evolve(where, identifier=element.value))
        return compound(f"{key} in {name}", BOOL, cost=20 + len(element.value))

    # -- optionals ------------------------------------------------------------------------------------------------

    def maybe(self, node: Node, scope: _Scope, height: int) -> _Maybe:
        """An optional from the device, or what ``optMap`` makes of one."""
        where = place(self.checked, node, "device" in scope)
        if where is not None:
            if not where.optional or where.tested or where.identifier is None or where.part not in ("attributes", "capacity"):
                raise Unfit
            container, key = self.lookup(where)
            return _Maybe(f"{key} in {container}", self.found(where.part, container, key), container, key)
        match node:
            case Call(function="_?_:_", args=(condition, then, otherwise)) if (
                self.calls(condition, "hasValue") and self.calls(then, "optional.of") and self.calls(otherwise, "optional.none")
            ):
                assert isinstance(condition, Call)
                assert isinstance(then, Call)
                assert condition.target is not None
                present = self.maybe(condition.target, scope, height + 1).present
                return _Maybe(present, self.emit(then.args[0], scope, height + 1))
        raise Unfit

    def unwrapped(self, function: str, maybe: _Maybe, default: list[Node], scope: _Scope, height: int) -> Code:
        if function != "orValue" and not maybe.container:
            raise Unfit  # what is in it has to be evaluated, and may fail
        if function == "hasValue":
            return compound(maybe.present, BOOL, maybe.value)
        if function == "value":
            return maybe.value
        other = self.emit(default[0], scope, height)
        about = combined(maybe.value, other)
        kinds = about.pop("kinds")
        if maybe.container and other.constant:
            text = f"{maybe.container}.get({maybe.key}, {other.text})"
        else:
            text = f"{maybe.value.text} if {maybe.present} else {other.text}"
        return compound(text, kinds, maybe.value, other, **about)

    # -- folds ----------------------------------------------------------------------------------------------------

    def fold(self, node: Comprehension, scope: _Scope, height: int) -> Code:
        found = folds.fold(node)
        if found is None:
            raise Unfit
        if found.kind == "bind":
            return self.bind(found, scope, height)
        values = self.emit(found.range, scope, height)
        if values.elements - ANY or "tuple" not in values.kinds:
            raise Unfit
        name, first = bound(self.names, values)
        variable = Code(
            text=self.names.variable(),
            kinds=values.elements,
            elements=SCALARS if "tuple" in values.elements else frozenset(),
            size=values.inner,
            inner=values.inner,
            is_name=True,
        )
        inner = {**scope, found.variable: variable}
        loop = f"for {variable.text} in {name}"
        return self.over(found, f"{first}.__class__ is tuple or give_up()", loop, values, inner, height)

    def over(self, found: folds.Fold, check: str, loop: str, values: Code, scope: _Scope, height: int) -> Code:
        """A macro that runs over a list; ``check`` makes sure that it is one."""
        wanted = None if found.wanted is None else self.condition(found.wanted, scope, height)
        result = None if found.result is None else self.emit(found.result, scope, height)
        parts = [part for part in (wanted, result) if part is not None]
        body = Code(
            text="",
            kinds=BOOL,
            cost=(1 + values.size) * (30 + sum(part.cost + part.extent for part in parts)),
            depth=2 + max(part.depth for part in parts),
        )
        if found.kind == "map":
            assert result is not None
            if result.kinds - ANY or result.elements - SCALARS:
                raise Unfit
            chosen = f" if {wanted.text}" if wanted is not None else ""
            about = {"elements": result.kinds, "size": values.size, "inner": max(result.size, result.inner)}
            text = f"({check}) and tuple([{result.text} {loop}{chosen}])"
            return compound(text, LIST, values, body, **about)
        assert wanted is not None
        if found.kind == "exists_one":
            return compound(f"({check}) and sum([{wanted.text} {loop}]) == {self.names.constant(1)}", BOOL, values, body)
        every = "all" if found.kind == "all" else "any"
        return compound(f"({check}) and {every}({wanted.text} {loop})", BOOL, values, body)

    def bind(self, found: folds.Fold, scope: _Scope, height: int) -> Code:
        assert found.result is not None
        value = self.emit(found.range, scope, height)
        if value.is_name:
            return self.emit(found.result, {**scope, found.variable: evolve(value, cost=value.cost + 10)}, height)
        name = self.names.variable()
        variable = evolve(value, text=name, cost=1, depth=0, is_name=True)
        body = self.emit(found.result, {**scope, found.variable: variable}, height)
        about = {"elements": body.elements, "size": body.size, "inner": body.inner}
        return compound(f"({name} := {value.text}) is {name} and {body.text}", body.kinds, value, body, **about)
