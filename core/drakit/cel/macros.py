"""The macros, as the nodes they stand for.

Called by the parser for every call. All that a macro adds has the place of the call's parenthesis, as in cel-go.

Source: github.com/google/cel-go ``parser/macro.go``, ``cel/library.go`` (optMap, optFlatMap), ``ext/bindings.go`` (bind),
``ext/lists.go`` (sortBy), ``ext/comprehensions.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from drakit.cel.ast import Call, Comprehension, Constant, Ident, ListLiteral, Literal, Node, Select
from drakit.cel.errors import Issue
from drakit.cel.source import Source

__all__ = ["expand"]

_ACCUMULATOR: Final = "@result"
_UNUSED: Final = "#unused"
_SORTED: Final = "@__sortBy_input__"
# Two-variable comprehensions are for the compiler to come; a wrong guess about their types would be a wrong verdict.
_UNSUPPORTED: Final = frozenset(
    {(name, 3) for name in ("all", "exists", "exists_one", "existsOne", "transformList", "transformMap", "transformMapEntry")}
    | {(name, 4) for name in ("transformList", "transformMap", "transformMapEntry")}
)


def expand(source: Source, function: str, target: Node | None, args: tuple[Node, ...], offset: int) -> Node | Issue:
    """The call, or what it stands for if it is a macro; an issue when the macro's arguments are wrong.

    :param offset: of the opening parenthesis.
    :raises UnsupportedExpression: a macro that drakit does not expand yet.
    """
    if target is None:
        if (function, len(args)) != ("has", 1):
            return Call(function, None, args, offset)
        operand = args[0]
        if not isinstance(operand, Select):
            return source.issue(operand.offset, "invalid argument to has() macro")
        return Select(operand.operand, operand.field, test_only=True, offset=offset)
    if (function, len(args)) in _UNSUPPORTED:
        raise source.unsupported(offset, f"macro '{function}' with {len(args)} arguments")
    macro = _MACROS.get((function, len(args)))
    if macro is None or (function == "bind" and not (isinstance(target, Ident) and target.name == "cel")):
        return Call(function, target, args, offset)
    expander, complaint = macro
    variable = args[0]
    if not isinstance(variable, Ident):
        return source.issue(variable.offset, complaint)
    if expander in _FOLDS and variable.name in (_ACCUMULATOR, "__result__"):
        return source.issue(variable.offset, "iteration variable overwrites accumulator variable")
    return expander(target, variable.name, args[1:], offset)


_Expander: TypeAlias = Callable[[Node, str, tuple[Node, ...], int], Node]


def _call(offset: int, function: str, *args: Node) -> Node:
    return Call(function, None, args, offset)


def _fold(
    range_: Node, variable: str, initial: Node, condition: Node, step: Node, result: Node | None, offset: int
) -> Comprehension:
    return Comprehension(
        range_=range_,
        variable=variable,
        accumulator=_ACCUMULATOR,
        initial=initial,
        condition=condition,
        step=step,
        result=result or Ident(_ACCUMULATOR, offset),
        offset=offset,
    )


def _constant(value: Constant, offset: int) -> Literal:
    return Literal(value, offset)


def _so_far(offset: int) -> Ident:
    return Ident(_ACCUMULATOR, offset)


def _all(target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    goes_on = _call(at, "@not_strictly_false", _so_far(at))
    step = _call(at, "_&&_", _so_far(at), args[0])
    return _fold(target, variable, _constant(True, at), goes_on, step, None, at)


def _exists(target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    goes_on = _call(at, "@not_strictly_false", _call(at, "!_", _so_far(at)))
    step = _call(at, "_||_", _so_far(at), args[0])
    return _fold(target, variable, _constant(False, at), goes_on, step, None, at)


def _exists_one(target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    one_more = _call(at, "_+_", _so_far(at), _constant(1, at))
    step = _call(at, "_?_:_", args[0], one_more, _so_far(at))
    result = _call(at, "_==_", _so_far(at), _constant(1, at))
    return _fold(target, variable, _constant(0, at), _constant(True, at), step, result, at)


def _map(target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    step = _call(at, "_+_", _so_far(at), ListLiteral((args[-1],), frozenset(), at))
    if len(args) == 2:
        step = _call(at, "_?_:_", args[0], step, _so_far(at))
    return _fold(target, variable, ListLiteral((), frozenset(), at), _constant(True, at), step, None, at)


def _filter(target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    return _map(target, variable, (args[0], Ident(variable, at)), at)


def _bind(variable: str, value: Node, body: Node, at: int) -> Node:
    """A fold over nothing: the accumulator is the variable, and its value is found on first use."""
    return Comprehension(
        range_=ListLiteral((), frozenset(), at),
        variable=_UNUSED,
        accumulator=variable,
        initial=value,
        condition=Literal(False, at),  # a CEL literal
        step=Ident(variable, at),
        result=body,
        offset=at,
    )


def _cel_bind(_target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    return _bind(variable, args[0], args[1], at)


def _opt_map(target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    value = _bind(variable, Call("value", target, (), at), args[0], at)
    return _if_present(target, _call(at, "optional.of", value), at)


def _opt_flat_map(target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    return _if_present(target, _bind(variable, Call("value", target, (), at), args[0], at), at)


def _if_present(target: Node, then: Node, at: int) -> Node:
    return _call(at, "_?_:_", Call("hasValue", target, (), at), then, _call(at, "optional.none"))


def _sort_by(target: Node, variable: str, args: tuple[Node, ...], at: int) -> Node:
    keys = _map(Ident(_SORTED, at), variable, args, at)
    return _bind(_SORTED, target, Call("@sortByAssociatedKeys", Ident(_SORTED, at), (keys,), at), at)


_NOT_A_NAME: Final = "argument must be a simple name"
_NOT_AN_IDENTIFIER: Final = "argument is not an identifier"
_MACROS: Final[dict[tuple[str, int], tuple[_Expander, str]]] = {
    ("all", 2): (_all, _NOT_A_NAME),
    ("exists", 2): (_exists, _NOT_A_NAME),
    ("exists_one", 2): (_exists_one, _NOT_A_NAME),
    ("map", 2): (_map, _NOT_AN_IDENTIFIER),
    ("map", 3): (_map, _NOT_AN_IDENTIFIER),
    ("filter", 2): (_filter, _NOT_AN_IDENTIFIER),
    ("optMap", 2): (_opt_map, "optMap() variable name must be a simple identifier"),
    ("optFlatMap", 2): (_opt_flat_map, "optFlatMap() variable name must be a simple identifier"),
    ("sortBy", 2): (_sort_by, _NOT_AN_IDENTIFIER),
    ("bind", 3): (_cel_bind, "cel.bind() variable names must be simple identifiers"),
}
_FOLDS: Final = frozenset({_all, _exists, _exists_one, _map, _filter, _sort_by})
