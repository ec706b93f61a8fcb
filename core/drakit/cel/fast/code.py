"""Pieces of generated source, and what is known about their values.

A piece never contains text of the expression: constants are named ``c0``, ``c1``... and variables ``v0``, ``v1``...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from drakit.cel.values import Value

__all__ = ["ANY", "BOOL", "INT", "LIST", "QUANTITY", "SCALARS", "STRING", "VERSION", "Code", "Names", "Unfit", "bound",
           "combined", "compound", "constant", "is_bool", "narrowed", "product"]  # fmt: skip

BOOL: Final = frozenset({"bool"})
INT: Final = frozenset({"int"})
STRING: Final = frozenset({"str"})
LIST: Final = frozenset({"tuple"})
VERSION: Final = frozenset({"Version"})
QUANTITY: Final = frozenset({"quantity"})
"""An int in 1e-9; never mixed with other kinds, because it would be taken for an int."""
SCALARS: Final = BOOL | INT | STRING | VERSION
ANY: Final = SCALARS | LIST
"""What an attribute may be."""

_MAX_DEPTH: Final = 40  # Python's own parser takes 200 parentheses
_MAX_COST: Final = 1_000_000


class Unfit(Exception):  # a signal to the generator, not one of drakit's errors
    """An expression that gets no generated code."""


@frozen(kw_only=True)
class Code:
    """A piece of source that is one Python expression, safe to stand anywhere without further parentheses."""

    text: str
    kinds: frozenset[str]
    """The classes its value may have; the checker's types are not taken for granted."""
    elements: frozenset[str] = frozenset()
    """Kinds of the elements, where the value may be a list."""
    size: int = 1
    """At most so many code points, elements..."""
    inner: int = 1
    """...and each of those again."""
    cost: int = 1
    """An upper bound of what Kubernetes would count."""
    depth: int = 0
    """Parentheses in parentheses."""
    is_name: bool = False
    """Whether it may be repeated."""
    constant: tuple[Value] | None = None
    """The value as generated code sees it, where it is known."""

    @property
    def extent(self) -> int:
        return self.size * (1 + self.inner) if "tuple" in self.kinds else self.size


class Names:
    """The constants of one function, and its variables."""

    def __init__(self) -> None:
        self.constants: dict[str, Any] = {}
        self._known: dict[tuple[type, Any], str] = {}
        self._variables = 0

    def constant(self, value: Any) -> str:
        """A name that stands for a value."""
        key = (type(value), value if isinstance(value, str) else id(value))
        if key not in self._known:
            self._known[key] = f"c{len(self.constants)}"
            self.constants[self._known[key]] = value
        return self._known[key]

    def variable(self) -> str:
        """A name that nothing else has."""
        self._variables += 1
        return f"v{self._variables - 1}"


def compound(text: str, kinds: frozenset[str], *parts: Code, **more: Any) -> Code:
    """A piece made of others, in parentheses; its cost is what they cost and something for itself."""
    cost = more.pop("cost", 10) + sum(part.cost for part in parts)
    depth = 1 + max((part.depth for part in parts), default=0)
    if cost > _MAX_COST or depth > _MAX_DEPTH:
        raise Unfit
    return Code(text=f"({text})", kinds=kinds, cost=cost, depth=depth, **more)


def product(*parts: Code) -> int:
    """A bound for the cost of a function that may look at each part of one argument for each part of another."""
    total = 1
    for part in parts:
        total *= 1 + part.extent
    return 10 + total


_KINDS: Final[Mapping[type, frozenset[str]]] = {bool: BOOL, int: INT, str: STRING}


def constant(names: Names, value: Value) -> Code:
    """A bool, an int or a string."""
    kinds = _KINDS.get(type(value))
    if kinds is None:
        raise Unfit
    size = len(value) if isinstance(value, str) else 1
    return Code(text=names.constant(value), kinds=kinds, size=size, is_name=True, constant=(value,))


def combined(*codes: Code) -> dict[str, Any]:
    """What is known about a value that is one of several."""
    kinds = frozenset[str]().union(*(code.kinds for code in codes))
    if "quantity" in kinds and kinds != QUANTITY:
        raise Unfit
    return {
        "kinds": kinds,
        "elements": frozenset[str]().union(*(code.elements for code in codes)),
        "size": max(code.size for code in codes),
        "inner": max(code.inner for code in codes),
    }


def narrowed(names: Names, code: Code, kind: str) -> Code:
    """The same value, certainly of one kind; anything else gives up."""
    if kind not in code.kinds:
        raise Unfit
    if len(code.kinds) == 1:
        return code
    kept = {"elements": code.elements if kind == "tuple" else frozenset[str](), "size": code.size, "inner": code.inner}
    name, first = bound(names, code)
    return compound(f"{name} if {first}.__class__ is {kind} else give_up()", frozenset({kind}), code, cost=0, **kept)


def bound(names: Names, code: Code) -> tuple[str, str]:
    """A name for a value, and the text that gives it the name where it is first evaluated."""
    if code.is_name:
        return code.text, code.text
    name = names.variable()
    return name, f"({name} := {code.text})"


def is_bool(names: Names, code: Code) -> Code:
    """The same value, certainly a bool."""
    if "bool" not in code.kinds:
        raise Unfit
    if code.kinds == BOOL:
        return code
    name, first = bound(names, code)
    return compound(f"{first} is True or ({name} is not False and give_up())", BOOL, code, cost=0)
