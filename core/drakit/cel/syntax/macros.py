"""The macros, as the nodes they stand for.

Called by the parser for every call. All that a macro adds has the place of the call's parenthesis, as in cel-go.

Source: github.com/google/cel-go ``parser/macro.go``, ``cel/library.go`` (optMap, optFlatMap), ``ext/bindings.go`` (bind),
``ext/lists.go`` (sortBy), ``ext/comprehensions.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from drakit.cel.syntax.ast import (
    Call,
    Comprehension,
    Constant,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)

__all__ = ["MAP_INSERT", "Misuse", "expand"]

_ACCUMULATOR: Final = "@result"
_ACCUMULATORS: Final = (_ACCUMULATOR, "__result__")
"""Names that a variable cannot have; the second is the accumulator's of older releases of cel-go."""
MAP_INSERT: Final = "cel.@mapInsert"
_UNUSED: Final = "#unused"
_SORTED: Final = "@__sortBy_input__"


class Misuse(NamedTuple):
    """Why a macro cannot be expanded."""

    offset: int
    """Of what is wrong."""
    complaint: str


def expand(function: str, target: Node | None, args: tuple[Node, ...], offset: int) -> Node | Misuse:
    """The call, or what it stands for if it is a macro; a misuse when the macro's arguments are wrong.

    :param offset: of the opening parenthesis.
    """
    if target is None:
        if (function, len(args)) != ("has", 1):
            return Call(function, None, args, offset)
        operand = args[0]
        if not isinstance(operand, Select):
            return Misuse(operand.offset, "invalid argument to has() macro")
        return Select(operand.operand, operand.field, test_only=True, offset=offset)
    if (function, len(args)) in _OVER_ENTRIES:
        return _over_entries(_OVER_ENTRIES[function, len(args)], target, args, offset)
    macro = _MACROS.get((function, len(args)))
    if macro is None or (function == "bind" and not (isinstance(target, Ident) and target.name == "cel")):
        return Call(function, target, args, offset)
    if function == "sortBy" and isinstance(target, Literal | MapLiteral | StructLiteral):
        return Misuse(target.offset, _NOT_SORTED)
    expander, complaint = macro
    variable = args[0]
    if not isinstance(variable, Ident):
        return Misuse(variable.offset, complaint)
    if expander in _FOLDS and variable.name in _ACCUMULATORS:
        return Misuse(variable.offset, "iteration variable overwrites accumulator variable")
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
_NOT_SORTED: Final = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
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


# -- over entries: with two variables -----------------------------------------------------------------------------------

_Step: TypeAlias = Callable[[Ident, tuple[Node, ...], int], Node]
"""From the first variable and what follows both: what the accumulator becomes."""


def _over_entries(
    macro: tuple[Callable[[int], Node], str, _Step], target: Node, args: tuple[Node, ...], at: int
) -> Node | Misuse:
    first, second = args[:2]
    for variable in (first, second):
        if not isinstance(variable, Ident):
            return Misuse(variable.offset, _NOT_A_NAME)
    assert isinstance(first, Ident)
    assert isinstance(second, Ident)
    if first.name == second.name:
        return Misuse(second.offset, f"duplicate variable name: {first.name}")
    for variable in (first, second):
        if variable.name in _ACCUMULATORS:
            return Misuse(variable.offset, "iteration variable overwrites accumulator variable")
    initial, kind, step = macro
    return Comprehension(
        range_=target,
        variable=first.name,
        second_variable=second.name,
        accumulator=_ACCUMULATOR,
        initial=initial(at),
        condition=_CONDITIONS[kind](at),
        step=step(Ident(first.name, at), args[2:], at),
        result=_call(at, "_==_", _so_far(at), _constant(1, at)) if kind == "one" else _so_far(at),
        offset=at,
    )


_CONDITIONS: Final[dict[str, Callable[[int], Node]]] = {
    "all": lambda at: _call(at, "@not_strictly_false", _so_far(at)),
    "exists": lambda at: _call(at, "@not_strictly_false", _call(at, "!_", _so_far(at))),
    "one": lambda at: _constant(True, at),
    "every": lambda at: _constant(True, at),
}
"""Whether a fold goes on."""


def _if_wanted(step: _Step) -> _Step:
    """A step that is taken only where a filter, which comes before the other arguments, is true."""

    def filtered(variable: Ident, args: tuple[Node, ...], at: int) -> Node:
        return _call(at, "_?_:_", args[0], step(variable, args[1:], at), _so_far(at))

    return filtered


def _one_more(_variable: Ident, _args: tuple[Node, ...], at: int) -> Node:
    return _call(at, "_+_", _so_far(at), _constant(1, at))


def _appended(_variable: Ident, args: tuple[Node, ...], at: int) -> Node:
    return _call(at, "_+_", _so_far(at), ListLiteral(args, frozenset(), at))


def _inserted(variable: Ident, args: tuple[Node, ...], at: int) -> Node:
    return _call(at, MAP_INSERT, _so_far(at), variable, *args)


def _merged(_variable: Ident, args: tuple[Node, ...], at: int) -> Node:
    return _call(at, MAP_INSERT, _so_far(at), *args)


def _no_list(at: int) -> Node:
    return ListLiteral((), frozenset(), at)


def _no_map(at: int) -> Node:
    return MapLiteral((), at)


_OVER_ENTRIES: Final[dict[tuple[str, int], tuple[Callable[[int], Node], str, _Step]]] = {
    ("all", 3): (lambda at: _constant(True, at), "all", lambda _, args, at: _call(at, "_&&_", _so_far(at), *args)),
    ("exists", 3): (lambda at: _constant(False, at), "exists", lambda _, args, at: _call(at, "_||_", _so_far(at), *args)),
    ("exists_one", 3): (lambda at: _constant(0, at), "one", _if_wanted(_one_more)),
    ("existsOne", 3): (lambda at: _constant(0, at), "one", _if_wanted(_one_more)),
    ("transformList", 3): (_no_list, "every", _appended),
    ("transformList", 4): (_no_list, "every", _if_wanted(_appended)),
    ("transformMap", 3): (_no_map, "every", _inserted),
    ("transformMap", 4): (_no_map, "every", _if_wanted(_inserted)),
    ("transformMapEntry", 3): (_no_map, "every", _merged),
    ("transformMapEntry", 4): (_no_map, "every", _if_wanted(_merged)),
}
"""Start, kind and step by name and number of arguments."""
