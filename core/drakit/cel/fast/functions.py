"""Source for calls of functions.

Functions of strings without a rule of their own are called as the exact path calls them, with arguments whose classes are
made sure of.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final

from drakit.cel.checking.declarations import FUNCTIONS, Overload
from drakit.cel.fast.code import BOOL, INT, LIST, QUANTITY, STRING, VERSION, Code, Names, Unfit, compound, narrowed, product
from drakit.cel.fast.flat import nano
from drakit.cel.fast.operators import key
from drakit.cel.fast.runtime import version_of
from drakit.cel.go import regex
from drakit.cel.library.functions import OVERLOADS
from drakit.cel.library.quantities import QuantityValue
from drakit.cel.library.semver import Semver
from drakit.cel.values import Fault, NotDecided

__all__ = ["call", "compared_with_zero"]

_COMPARISONS: Final = {"isGreaterThan": ">", "isLessThan": "<"}
_ORDERS: Final = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=", "_==_": "==", "_!=_": "!="}
_TEXTS: Final = 256
"""Answers kept for each pattern: many devices have the same few strings, and RE2 is called through two layers."""
_PLAIN: Final = {"string": "str", "int": "int", "bool": "bool"}
# Those that look at nothing but their arguments, and whose results are no longer than the product of these.
_CALLED: Final = frozenset(
    """string_char_at_int string_index_of_string string_index_of_string_int string_last_index_of_string
    string_last_index_of_string_int string_replace_string_string string_split_string string_substring_int
    string_substring_int_int string_trim is_quantity_string is_semver_string is_semver_string_bool""".split()
)


def call(names: Names, function: str, args: Sequence[Code]) -> Code:
    """A call of a function that is no operator; the receiver is the first argument."""
    emitter = _EMITTERS.get(function)
    if emitter is not None:
        return emitter(names, *args)
    if function in _COMPARISONS and len(args) == 2:
        left, right = _comparable(names, *args)
        return compound(f"{left} {_COMPARISONS[function]} {right}", BOOL, *args, cost=product(*args))
    return _called(names, function, args)


def compared_with_zero(names: Names, function: str, left: Code, right: Code) -> Code:
    """``left.compareTo(right) OPERATOR 0`` without the number in between."""
    one, other = _comparable(names, left, right)
    return compound(f"{one} {_ORDERS[function]} {other}", BOOL, left, right, cost=product(left, right))


def _comparable(names: Names, left: Code, right: Code) -> tuple[str, str]:
    """Two quantities or two versions, as what Python orders."""
    if left.kinds == right.kinds == QUANTITY:
        return left.text, right.text
    if "Version" not in left.kinds & right.kinds:
        raise Unfit
    return key(names, left), key(names, right)


def _compare_to(names: Names, left: Code, right: Code) -> Code:
    one, other = _comparable(names, left, right)
    return compound(f"compare({one}, {other})", INT, left, right, cost=product(left, right))


def _contains(names: Names, text: Code, part: Code) -> Code:
    text, part = narrowed(names, text, "str"), narrowed(names, part, "str")
    return compound(f"{part.text} in {text.text}", BOOL, text, part, cost=product(text, part))


def _method(name: str) -> Callable[[Names, Code, Code], Code]:
    def emit(names: Names, text: Code, part: Code) -> Code:
        part = narrowed(names, part, "str")
        if "str" not in text.kinds:
            raise Unfit
        return compound(f"{text.text}.{name}({part.text})", BOOL, text, part, cost=product(text, part))

    return emit


def _cased(name: str) -> Callable[[Names, Code], Code]:
    def emit(_: Names, text: Code) -> Code:
        if "str" not in text.kinds:
            raise Unfit
        return compound(f"{name}({text.text})", STRING, text, size=text.size, cost=product(text))

    return emit


def _size(_: Names, value: Code) -> Code:
    if not value.kinds & (STRING | LIST):
        raise Unfit
    return compound(f"len({value.text})", INT, value)


def _matches(names: Names, text: Code, pattern: Code) -> Code:
    if pattern.constant is None or pattern.kinds != STRING:
        raise Unfit
    text = narrowed(names, text, "str")
    try:
        search = functools.lru_cache(_TEXTS)(regex.compile(pattern.constant[0]).searcher())
    except (regex.Unsupported, ValueError):
        raise Unfit from None
    return compound(f"bool({names.constant(search)}({text.text}))", BOOL, text, pattern, cost=product(text, pattern))


def _quantity(names: Names, text: Code) -> Code:
    """Of a constant; where that is none, every evaluation fails."""
    if text.constant is None or text.kinds != STRING:
        raise Unfit
    try:
        amount = nano(QuantityValue.parse(text.constant[0]))
    except (Fault, NotDecided):
        raise Unfit from None
    if amount is None:
        raise Unfit
    return Code(text=names.constant(amount), kinds=QUANTITY, cost=10 + text.extent, is_name=True, constant=(amount,))


def _semver(names: Names, text: Code, *normalize: Code) -> Code:
    if text.constant is None or text.kinds != STRING or any(flag.constant is None for flag in normalize):
        raise Unfit
    flag = bool(normalize) and normalize[0].constant == (True,)
    try:
        version = version_of(Semver.parse(text.constant[0], normalize=flag))
    except Fault:
        raise Unfit from None
    return Code(text=names.constant(version), kinds=VERSION, cost=10 + text.extent, is_name=True, constant=(version,))


def _part(index: int) -> Callable[[Names, Code], Code]:
    def emit(names: Names, version: Code) -> Code:
        if "Version" not in version.kinds:
            raise Unfit
        return compound(f"signed({key(names, version)}[{names.constant(index)}])", INT, version)

    return emit


def _includes(_: Names, target: Code, item: Code) -> Code:
    if "quantity" in target.kinds | item.kinds:
        raise Unfit
    return compound(f"includes({target.text}, {item.text})", BOOL, target, item, cost=product(target, item))


def _called(names: Names, function: str, args: Sequence[Code]) -> Code:
    for overload in FUNCTIONS.get(function, ()):
        if overload.id in _CALLED and len(overload.parameters) == len(args):
            return _overload(names, overload, args)
    raise Unfit


def _overload(names: Names, overload: Overload, args: Sequence[Code]) -> Code:
    sure = [narrowed(names, arg, _PLAIN[type_.name]) for arg, type_ in zip(args, overload.parameters, strict=True)]
    bound = product(*sure)
    kinds = LIST if overload.result.kind == "list" else frozenset({_PLAIN[overload.result.name]})
    size = bound if kinds in (STRING, LIST) else 1
    text = f"{names.constant(OVERLOADS[overload.id])}({', '.join(arg.text for arg in sure)})"
    inner = sure[0].size if kinds == LIST else 1
    elements = STRING if kinds == LIST else frozenset[str]()
    return compound(text, kinds, *sure, cost=2 * bound, size=size, inner=inner, elements=elements)


_EMITTERS: Final[dict[str, Callable[..., Code]]] = {
    "compareTo": _compare_to,
    "contains": _contains,
    "dyn": lambda _, value: value,
    "endsWith": _method("endswith"),
    "includes": _includes,
    "lowerAscii": _cased("lower"),
    "major": _part(0),
    "matches": _matches,
    "minor": _part(1),
    "patch": _part(2),
    "quantity": _quantity,
    "semver": _semver,
    "size": _size,
    "startsWith": _method("startswith"),
    "upperAscii": _cased("upper"),
}
