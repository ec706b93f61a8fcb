"""What the functions do: implementations by cel-go's overload id.

Two kinds, as in cel-go. A *singleton* serves all overloads of a function and finds out at run time what it got; an
*overload* is only called with arguments of its types. The difference shows in the error messages.

Source: github.com/google/cel-go ``common/stdlib/standard.go``, ``common/types``, ``ext/strings.go``, ``ext/lists.go``,
``ext/sets.go``; k8s.io/apiserver ``pkg/cel/library/{lists,quantity,semverlib}.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import frozen

from drakit.cel import conversions, lists, operators, strings
from drakit.cel.quantities import QuantityValue
from drakit.cel.semver import Semver
from drakit.cel.values import INT64, Fault, Optional, UInt, Value, compare, format_double

__all__ = ["OVERLOADS", "SINGLETONS", "Implementation", "Singleton"]

Implementation: TypeAlias = Callable[..., Value]


@frozen
class Singleton:
    """One implementation for all overloads of a function."""

    call: Implementation
    takes: frozenset[type] | None = None
    """Types the first argument may have; None for any. Others: ``no such overload: <function>``."""


def _parses(parse: Callable[..., object]) -> Implementation:
    def call(*args: Value) -> bool:
        try:
            parse(*args)
        except Fault:
            return False
        return True

    return call


def _as_integer(value: QuantityValue) -> int:
    number = value.as_int64()
    if number is None:
        raise Fault("cannot convert value to integer")
    return number


def _semver(text: str, normalize: bool = False) -> Semver:
    return Semver.parse(text, normalize=normalize)


def _signed(number: int) -> int:
    """Go's conversion of a uint64 to an int64."""
    return number - 2**64 if number not in INT64 else number


def _compare(left: QuantityValue | Semver, right: Value) -> int:
    return left.compare(right)


_COMPARABLE: Final = {
    "compare_to": _compare,
    "is_greater_than": lambda left, right: _compare(left, right) > 0,
    "is_less_than": lambda left, right: _compare(left, right) < 0,
}


SINGLETONS: Final[dict[str, Singleton]] = {
    "_+_": Singleton(operators.add, operators.ADDABLE),
    "_-_": Singleton(operators.subtract, operators.NUMBERS),
    "_*_": Singleton(operators.multiply, operators.NUMBERS),
    "_/_": Singleton(operators.divide, operators.NUMBERS),
    "_%_": Singleton(operators.modulo, frozenset({int, UInt})),
    "-_": Singleton(operators.negate, frozenset({int, float, bool})),
    "!_": Singleton(operators.logical_not),
    "_<_": Singleton(lambda left, right: compare(left, right) < 0, operators.ORDERED),
    "_<=_": Singleton(lambda left, right: compare(left, right) <= 0, operators.ORDERED),
    "_>_": Singleton(lambda left, right: compare(left, right) > 0, operators.ORDERED),
    "_>=_": Singleton(lambda left, right: compare(left, right) >= 0, operators.ORDERED),
    "@in": Singleton(operators.contains),
    "size": Singleton(operators.size, operators.SIZED),
    "type": Singleton(conversions.type_),
    "dyn": Singleton(conversions.identity),
    "sort": Singleton(lists.sort, operators.LISTS),
    "@sortByAssociatedKeys": Singleton(lists.sort_by, operators.LISTS),
}
"""By function name."""

OVERLOADS: Final[dict[str, Implementation]] = {
    "bool_to_bool": conversions.identity,
    "string_to_bool": conversions.string_to_bool,
    "bytes_to_bytes": conversions.identity,
    "string_to_bytes": str.encode,
    "double_to_double": conversions.identity,
    "int64_to_double": float,
    "uint64_to_double": float,
    "string_to_double": conversions.string_to_double,
    "int64_to_int64": conversions.identity,
    "double_to_int64": conversions.double_to_int,
    "string_to_int64": conversions.string_to_int,
    "uint64_to_int64": lambda value: operators.integer(int(value), int),
    "uint64_to_uint64": conversions.identity,
    "double_to_uint64": conversions.double_to_uint,
    "int64_to_uint64": lambda value: operators.integer(value, UInt),
    "string_to_uint64": conversions.string_to_uint,
    "string_to_string": conversions.identity,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": conversions.bytes_to_string,
    "double_to_string": format_double,
    "int64_to_string": str,
    "uint64_to_string": str,
    "contains_string": strings.on_strings(lambda text, part: part in text),
    "starts_with_string": strings.on_strings(str.startswith),
    "ends_with_string": strings.on_strings(str.endswith),
    "string_char_at_int": strings.char_at,
    "string_index_of_string": strings.index_of,
    "string_index_of_string_int": strings.index_of,
    "string_last_index_of_string": strings.last_index_of,
    "string_last_index_of_string_int": strings.last_index_of,
    "string_lower_ascii": lambda text: text.translate(strings.LOWER),
    "string_upper_ascii": lambda text: text.translate(strings.UPPER),
    "string_replace_string_string": strings.replace,
    "string_replace_string_string_int": strings.replace,
    "string_split_string": strings.split,
    "string_split_string_int": strings.split,
    "string_substring_int": strings.substring,
    "string_substring_int_int": strings.substring,
    "string_trim": lambda text: text.strip(strings.SPACE),
    "list_join": strings.join,
    "list_join_string": strings.join,
    "list_a_index_of_int": lists.list_index_of,
    "list_a_last_index_of_int": lists.list_last_index_of,
    "list_reverse": lambda values: tuple(reversed(values)),
    "list_slice": lists.slice_,
    "list_distinct": lists.distinct,
    "lists_range": lists.range_,
    "list_first": lists.end(0),
    "list_last": lists.end(-1),
    "dra_includes_dyn_dyn": lists.includes,
    "optional_none": Optional,
    "optional_of": lambda value: Optional(value, present=True),
    "optional_value": Optional.get,
    "optional_hasValue": lambda value: value.present,
    "string_to_quantity": QuantityValue.parse,
    "is_quantity_string": _parses(QuantityValue.parse),
    "quantity_get_int": _as_integer,
    "quantity_is_integer": lambda value: value.as_int64() is not None,
    "quantity_get_float": QuantityValue.approximate,
    "quantity_sign": QuantityValue.sign,
    "quantity_add": QuantityValue.plus,
    "quantity_add_int": QuantityValue.plus,
    "quantity_sub": lambda left, right: left.plus(right, -1),
    "quantity_sub_int": lambda left, right: left.plus(right, -1),
    "string_to_semver": _semver,
    "string_bool_to_semver": _semver,
    "is_semver_string": _parses(_semver),
    "is_semver_string_bool": _parses(_semver),
    "semver_major": lambda value: _signed(value.major),
    "semver_minor": lambda value: _signed(value.minor),
    "semver_patch": lambda value: _signed(value.patch),
    **{f"{kind}_{name}": call for kind in ("quantity", "semver") for name, call in _COMPARABLE.items()},
    **{f"list_{kind}_is_sorted_bool": lists.is_sorted for kind in ("int", "uint", "double", "bool", "string", "bytes")},
    **{f"list_{kind}_min_{kind}": lists.extreme("min", 1) for kind in ("int", "uint", "double", "bool", "string", "bytes")},
    **{f"list_{kind}_max_{kind}": lists.extreme("max", -1) for kind in ("int", "uint", "double", "bool", "string", "bytes")},
    "list_int_sum_int": lists.sum_(0),
    "list_uint_sum_uint": lists.sum_(UInt(0)),
    "list_double_sum_double": lists.sum_(0.0),
    "list_sets_contains_list": lists.contains_all,
    "list_sets_equivalent_list": lambda left, right: lists.contains_all(left, right) and lists.contains_all(right, left),
    "list_sets_intersects_list": lambda left, right: any(operators.contains(item, right) for item in left),
}
"""By overload id. A missing id is a function that cannot be run yet."""
