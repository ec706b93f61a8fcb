"""The macros, told from the folds they have become; and the source for them.

Source: :mod:`drakit.cel.syntax.macros`.
"""

from __future__ import annotations

from attrs import frozen

from drakit.cel.syntax.ast import Call, Comprehension, Ident, ListLiteral, Literal, Node

__all__ = ["Fold", "fold"]

_ACCUMULATOR = "@result"


@frozen
class Fold:
    """A macro."""

    kind: str
    """``all``, ``exists``, ``exists_one``, ``map`` or ``bind``."""
    variable: str
    range: Node
    """What it runs over; of ``bind``, the variable's value."""
    wanted: Node | None
    """The condition, for ``map`` and ``filter`` (which is a map) that of an element to be taken."""
    result: Node | None = None
    """What becomes of an element; of ``bind``, the body."""


def fold(node: Comprehension) -> Fold | None:
    """The macro that a fold comes from, if it is one of those known here."""
    if node.second_variable is not None:
        return None
    if node.variable == "#unused":
        return Fold("bind", node.accumulator, node.initial, None, node.result)
    if node.accumulator != _ACCUMULATOR:
        return None
    match node.initial, node.step:
        case Literal(value=bool()), Call(function="_&&_" | "_||_" as function, args=(Ident(name="@result"), wanted)):
            return Fold("all" if function == "_&&_" else "exists", node.variable, node.range_, wanted)
        case Literal(value=0), Call(function="_?_:_", args=(wanted, _, Ident(name="@result"))):
            return Fold("exists_one", node.variable, node.range_, wanted)
        case ListLiteral(elements=()), step:
            return _map(node, step)
    return None


def _map(node: Comprehension, step: Node) -> Fold | None:
    wanted: Node | None = None
    if isinstance(step, Call) and step.function == "_?_:_":
        wanted, step, _ = step.args
    match step:
        case Call(function="_+_", args=(Ident(name="@result"), ListLiteral(elements=(result,)))):
            return Fold("map", node.variable, node.range_, wanted, result)
    return None
