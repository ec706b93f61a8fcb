"""The nodes of a parsed expression.

Operators are calls of functions with cel-go's names (``_&&_``, ``_==_``, ``_[_]``), macros are already expanded.
Nodes compare by identity: the checker keeps its findings in tables keyed by node.

Source: github.com/google/cel-go ``common/ast/expr.go`` and ``common/operators/operators.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from attrs import frozen

from drakit.cel.values import UInt

__all__ = ["Call", "Comprehension", "Constant", "Entry", "Ident", "ListLiteral", "Literal", "MapLiteral", "Node", "Select",
           "StructLiteral", "children", "qualified_name"]  # fmt: skip

Constant: TypeAlias = "bool | int | UInt | float | str | bytes | None"


@frozen(eq=False)
class Literal:
    """A constant; its Python type is its CEL type (``UInt`` for uint)."""

    value: Constant
    offset: int


@frozen(eq=False)
class Ident:
    """A name; a leading dot, if written, is kept."""

    name: str
    offset: int


@frozen(eq=False)
class Select:
    """``operand.field``, or ``has(operand.field)``."""

    operand: Node
    field: str
    test_only: bool
    offset: int


@frozen(eq=False)
class Call:
    """A call, ``target.function(args)`` where there is a target."""

    function: str
    target: Node | None
    args: tuple[Node, ...]
    offset: int


@frozen(eq=False)
class ListLiteral:
    """A list, ``[a, ?b]``."""

    elements: tuple[Node, ...]
    optional: frozenset[int]
    """Positions of elements written with ``?``."""
    offset: int


@frozen(eq=False)
class Entry:
    """``key: value`` of a map literal; of a struct literal, the key is a Literal with the field's name."""

    key: Node
    value: Node
    optional: bool
    offset: int


@frozen(eq=False)
class MapLiteral:
    """A map, ``{a: b, ?c: d}``."""

    entries: tuple[Entry, ...]
    offset: int


@frozen(eq=False)
class StructLiteral:
    """A message, ``type.name{field: value}``."""

    type_name: str
    entries: tuple[Entry, ...]
    offset: int


@frozen(eq=False, kw_only=True)
class Comprehension:
    """A fold over a list or a map, what the macros become.

    ``variable`` runs over ``range_``; ``accumulator`` starts as ``initial`` and becomes ``step`` while ``condition``
    holds; the value is ``result``. With a second variable, the first is the index of a list's element or the key of a
    map's entry, and the second the element or the value.
    """

    range_: Node
    variable: str
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node
    offset: int
    second_variable: str | None = None


Node: TypeAlias = "Literal | Ident | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension"


def children(node: Node) -> Iterator[Node]:
    """The nodes right below one, in the order of evaluation."""
    match node:
        case Select():
            yield node.operand
        case Call():
            if node.target is not None:
                yield node.target
            yield from node.args
        case ListLiteral():
            yield from node.elements
        case MapLiteral() | StructLiteral():
            for entry in node.entries:
                yield entry.key
                yield entry.value
        case Comprehension():
            yield from (node.range_, node.initial, node.condition, node.step, node.result)


def qualified_name(node: Node) -> str | None:
    """``a.b.c`` where the node is nothing but names and dots; None otherwise."""
    fields: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        fields.append(node.field)
        node = node.operand
    return ".".join([node.name, *reversed(fields)]) if isinstance(node, Ident) else None
