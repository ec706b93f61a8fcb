"""Source for ``==``, the orders, ``in`` and arithmetic.

Generated comparisons rely on what Python's own do between values of a device, and step in where CEL's differ: a bool is
no int, and a version compared with anything gives up.
"""

from __future__ import annotations

from typing import Final

from drakit.cel.fast.code import BOOL, INT, QUANTITY, STRING, VERSION, Code, Names, Unfit, bound, compound, narrowed, product

__all__ = ["arithmetic", "equality", "joined", "key", "membership", "negated", "ordering"]

_ORDERS: Final = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_ARITHMETIC: Final = {"_-_": "-", "_*_": "*"}
_ZERO_AND_ONE: Final = (0, 1)  # which Python takes for False and True


def joined(codes: list[Code], operator: str) -> Code:
    """``and`` or ``or`` over bools."""
    return compound(f" {operator} ".join(code.text for code in codes), BOOL, *codes)


def negated(code: Code) -> Code:
    """``not``, of a bool."""
    return compound(f"not {code.text}", BOOL, code)


def equality(names: Names, left: Code, right: Code) -> Code:
    """``left == right``."""
    cost = 20 + left.extent + right.extent
    return compound(_equality(names, left, right), BOOL, left, right, cost=cost)


def _equality(names: Names, left: Code, right: Code) -> str:
    if VERSION in (left.kinds, right.kinds):
        # Where the other side turns out to be no version, it has no key.
        _require(left.kinds >= VERSION and right.kinds >= VERSION)
        return f"{key(names, left)} == {key(names, right)}"
    if left.kinds == right.kinds and left.kinds in (QUANTITY, INT, STRING, BOOL):
        return f"{left.text} == {right.text}"
    _require("quantity" not in left.kinds | right.kinds)
    for one, other in ((left, right), (right, left)):
        if one.constant and one.kinds <= STRING | INT | BOOL:
            return _equal_to_constant(names, one, other)
    return f"equal({left.text}, {right.text})"


def _equal_to_constant(names: Names, constant: Code, other: Code) -> str:
    assert constant.constant is not None
    value = constant.constant[0]
    if value.__class__ is str or (value.__class__ is int and value not in _ZERO_AND_ONE) or other.kinds == constant.kinds:
        return f"{other.text} == {constant.text}"
    name, first = bound(names, other)
    return f"{first} == {constant.text} and {name}.__class__ is {value.__class__.__name__}"


def _require(condition: bool) -> None:
    if not condition:
        raise Unfit


def key(names: Names, code: Code) -> str:
    """What versions are compared by; what is no version has none."""
    return names.constant(code.constant[0].key) if code.constant else f"{code.text}.key"


def ordering(names: Names, function: str, left: Code, right: Code) -> Code:
    """``<`` and its kin, for ints and strings."""
    operator = _ORDERS[function]
    cost = 20 + left.extent + right.extent
    for kind, kinds in (("int", INT), ("str", STRING)):
        if kinds in (left.kinds, right.kinds):
            one, other = narrowed(names, left, kind), narrowed(names, right, kind)
            return compound(f"{one.text} {operator} {other.text}", BOOL, one, other, cost=cost)
    _require(min(len(left.kinds), len(right.kinds)) > 1)
    return compound(f"order({left.text}, {right.text}) {operator} {names.constant(0)}", BOOL, left, right, cost=cost)


def arithmetic(names: Names, function: str, left: Code, right: Code) -> Code:
    """``+ - * / %`` of ints, and ``+`` of strings."""
    if function == "_+_" and STRING in (left.kinds, right.kinds):
        one, other = narrowed(names, left, "str"), narrowed(names, right, "str")
        return compound(f"{one.text} + {other.text}", STRING, one, other, size=one.size + other.size)
    # Of what a device has, only ints can be calculated with; that "+" knows others gives up.
    one, other = narrowed(names, left, "int"), narrowed(names, right, "int")
    if function == "_/_":
        return compound(f"div({one.text}, {other.text})", INT, one, other)
    if function == "_%_":
        return compound(f"mod({one.text}, {other.text})", INT, one, other)
    operator = "+" if function == "_+_" else _ARITHMETIC[function]
    return compound(f"int64({one.text} {operator} {other.text})", INT, one, other)


def membership(names: Names, value: Code, values: Code) -> Code:
    """``value in values``, of a list."""
    _require("quantity" not in value.kinds | values.elements)
    cost = product(value, values)
    if values.constant:
        return compound(_among_constants(names, value, values.constant[0]), BOOL, value, cost=cost + values.cost)
    values = narrowed(names, values, "tuple")
    if value.constant and isinstance(value.constant[0], str):
        return compound(f"{value.text} in {values.text}", BOOL, value, values, cost=cost)
    return compound(f"member({value.text}, {values.text})", BOOL, value, values, cost=cost)


def _among_constants(names: Names, value: Code, constants: tuple[object, ...]) -> str:
    kinds = {constant.__class__ for constant in constants}
    _require(len(kinds) == 1 and kinds <= {str, int, bool})
    # A version cannot be hashed, there as here; other values just are not there.
    name = names.constant(frozenset(constants))
    kind = kinds.pop()
    if kind is str or not {*_ZERO_AND_ONE} & set(constants):
        return f"{value.text} in {name}"
    short, first = bound(names, value)
    return f"{first} in {name} and {short}.__class__ is {kind.__name__}"
