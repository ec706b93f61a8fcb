"""What the functions do: implementations by cel-go's overload id.

Two kinds, as in cel-go. A *singleton* serves all overloads of a function and finds out at run time what it got; an
*overload* is only called with arguments of its types. The difference shows in the error messages.

Source: github.com/google/cel-go ``common/stdlib/standard.go``, ``common/types``, ``ext/strings.go``, ``ext/lists.go``,
``ext/sets.go``; k8s.io/apiserver ``pkg/cel/library/{lists,quantity,semverlib}.go``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import frozen

from drakit.cel.quantities import QuantityValue
from drakit.cel.semver import Semver
from drakit.cel.values import (
    INT64,
    NO_SUCH_OVERLOAD,
    UINT64,
    Concatenation,
    Fault,
    Map,
    NotDecided,
    Optional,
    TypeValue,
    UInt,
    Value,
    compare,
    equals,
    format_double,
    type_name,
)

__all__ = ["OVERLOADS", "SINGLETONS", "Implementation", "Singleton"]

Implementation: TypeAlias = Callable[..., Value]


@frozen
class Singleton:
    """One implementation for all overloads of a function."""

    call: Implementation
    takes: frozenset[type] | None = None
    """Types the first argument may have; None for any. Others: ``no such overload: <function>``."""


def _no_such_overload() -> Fault:
    return Fault(NO_SUCH_OVERLOAD)


# -- arithmetic -----------------------------------------------------------------------------------------------------

_NUMBERS: Final = frozenset({int, UInt, float})


def _integer(value: int, kind: type) -> int:
    if kind is UInt:
        if value not in UINT64:
            raise Fault("unsigned integer overflow")
        return UInt(value)
    if value not in INT64:
        raise Fault("integer overflow")
    return value


def _same(left: Value, right: Value) -> type:
    """The type of both operands: arithmetic never mixes types."""
    if type(left) is not type(right):
        raise _no_such_overload()
    return type(left)


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, tuple):
        if not isinstance(right, tuple):
            raise _no_such_overload()
        return Concatenation((*left, *right)) if left and right else left or right
    kind = _same(left, right)
    return _integer(int(left) + int(right), kind) if kind in (int, UInt) else left + right


def _subtract(left: Value, right: Value) -> Value:
    kind = _same(left, right)
    return left - right if kind is float else _integer(int(left) - int(right), kind)


def _multiply(left: Value, right: Value) -> Value:
    kind = _same(left, right)
    return left * right if kind is float else _integer(int(left) * int(right), kind)


def _divide(left: Value, right: Value) -> Value:
    kind = _same(left, right)
    if kind is float:
        return _divide_doubles(left, right)
    if right == 0:
        raise Fault("division by zero")
    quotient = abs(int(left)) // abs(int(right))
    return _integer(quotient if (left < 0) == (right < 0) else -quotient, kind)


def _divide_doubles(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _modulo(left: Value, right: Value) -> Value:
    kind = _same(left, right)
    if right == 0:
        raise Fault("modulus by zero")
    if left == INT64[0] and right == -1:
        raise Fault("integer overflow")
    return kind(int(math.copysign(1, left)) * (abs(int(left)) % abs(int(right))))


def _negate(value: Value) -> Value:
    if isinstance(value, bool):
        raise _no_such_overload()
    return -value if isinstance(value, float) else _integer(-value, int)


def _logical_not(value: Value) -> bool:
    if not isinstance(value, bool):
        raise _no_such_overload()
    return not value


# -- relations ------------------------------------------------------------------------------------------------------

_ORDERED: Final = _NUMBERS | {bool, str, bytes}


def _in(element: Value, container: Value) -> bool:
    if isinstance(container, Map):
        return container.contains(element)
    if not isinstance(container, tuple):
        raise _no_such_overload()
    return any(_equals_or_fails(element, other) for other in container)


def _equals_or_fails(left: Value, right: Value) -> bool:
    """Equality by the left side's rule, an error being inequality."""
    try:
        return equals(left, right)
    except Fault:
        return False


def _size(value: Value) -> int:
    return len(value)


_SIZED: Final = frozenset({str, bytes, tuple, Concatenation, Map})


# -- conversions ----------------------------------------------------------------------------------------------------

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL: Final = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE)
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX]")


def _conversion_fault(source: str, target: str) -> Fault:
    return Fault(f"type conversion error from '{source}' to '{target}'")


def _string_to_bool(text: str) -> bool:
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise _conversion_fault("string", "bool")


def _string_to_int(text: str) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not _decimal_digits(digits) or len(digits.lstrip("0")) > 19 or int(text) not in INT64:
        raise _conversion_fault("string", "int")
    return int(text)


def _string_to_uint(text: str) -> UInt:
    if not _decimal_digits(text) or len(text.lstrip("0")) > 20 or int(text) not in UINT64:
        raise _conversion_fault("string", "uint")
    return UInt(text)


def _decimal_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _string_to_double(text: str) -> float:
    if _HEXADECIMAL.match(text) or "_" in text:  # Go takes some underscores and refuses others
        raise NotDecided("a double written in hexadecimal or with underscores")
    if _SPECIAL.fullmatch(text):
        return float(text)
    if not _DECIMAL.fullmatch(text) or math.isinf(float(text)):
        raise _conversion_fault("string", "double")
    return float(text)


def _double_to_int(value: float) -> int:
    # Both ends are excluded: as doubles they stand for more than they can hold.
    if not -9223372036854775808.0 < value < 9223372036854775808.0:
        raise Fault("integer overflow")
    return int(value)


def _double_to_uint(value: float) -> UInt:
    if not 0 <= value < 18446744073709551616.0:
        raise Fault("unsigned integer overflow")
    return UInt(value)


def _bytes_to_string(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Fault("invalid UTF-8 in bytes, cannot convert to string") from None


def _identity(value: Value) -> Value:
    return value


def _type(value: Value) -> TypeValue:
    return TypeValue(type_name(value))


# -- strings --------------------------------------------------------------------------------------------------------

_SPACE: Final = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}


def _on_strings(function: Callable[[str, str], bool]) -> Implementation:
    """``contains`` and its kin, which cel-go calls with any types."""

    def checked(text: Value, part: Value) -> bool:
        if not isinstance(text, str) or not isinstance(part, str):
            raise _no_such_overload()
        return function(text, part)

    return checked


def _within(index: int, limit: int) -> int:
    if not 0 <= index <= limit:
        raise Fault(f"index out of range: {index}")
    return index


def _char_at(text: str, index: int) -> str:
    start = _within(index, len(text))
    return text[start : start + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise Fault(f"index out of range: {offset}")
    return text.find(part, offset)


def _last_index_of(text: str, part: str, offset: int | None = None) -> int:
    if not part:
        return len(text) if offset is None else offset
    if offset is None:
        return text.rfind(part)
    if offset < 0:
        raise Fault(f"index out of range: {offset}")
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise Fault(f"invalid substring range. start: {start}, end: {end}")
    _within(start, len(text))
    return text[start : _within(len(text) if end is None else end, len(text))]


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count if count >= 0 else -1)


def _split(text: str, separator: str, count: int = -1) -> tuple[str, ...]:
    if count == 0:
        return ()
    if not separator:
        parts = list(text)
        return tuple(parts if count < 0 or count >= len(parts) else [*parts[: count - 1], "".join(parts[count - 1 :])])
    return tuple(text.split(separator, count - 1 if count > 0 else -1))


def _join(parts: tuple[Value, ...], separator: str = "") -> str:
    for part in parts:
        if not isinstance(part, str):
            raise NotDecided("join() of a list with something else than strings")
    return separator.join(parts)


_LISTS: Final = frozenset({tuple, Concatenation})

# -- lists ----------------------------------------------------------------------------------------------------------


def _is_sorted(values: tuple[Value, ...]) -> bool:
    previous: Value = None
    for index, value in enumerate(values):
        if type(value) not in _ORDERED:
            raise _no_such_overload()
        try:
            if index and compare(previous, value) > 0:
                return False
        except Fault:  # cel-go looks for a 1 and takes an error for none
            pass
        previous = value
    return True


def _extreme(name: str, replace: int) -> Implementation:
    """``min`` and ``max``; ``replace`` is the comparison by which a later element takes the place of an earlier one."""

    def call(values: tuple[Value, ...]) -> Value:
        best: Value = None
        for index, value in enumerate(values):
            if type(value) not in _ORDERED:
                raise _no_such_overload()
            try:
                if not index or compare(best, value) == replace:
                    best = value
            except Fault:
                continue
        if not values:
            raise Fault(f"{name} called on empty list")
        return best

    return call


def _sum(zero: Value) -> Implementation:
    def call(values: tuple[Value, ...]) -> Value:
        total = zero
        for value in values:
            if type(value) not in _ADDABLE:
                raise _no_such_overload()
            total = _add(total, value)
        return total

    return call


_ADDABLE: Final = _NUMBERS | {str, bytes, tuple, Concatenation}


def _list_index_of(values: tuple[Value, ...], item: Value) -> int:
    return next((index for index, value in enumerate(values) if _equals_or_fails(value, item)), -1)


def _list_last_index_of(values: tuple[Value, ...], item: Value) -> int:
    return next((index for index in reversed(range(len(values))) if _equals_or_fails(values[index], item)), -1)


def _slice(values: tuple[Value, ...], start: int, end: int) -> tuple[Value, ...]:
    complaint = ""
    if start < 0 or end < 0:
        complaint = "negative indexes not supported"
    elif start > end:
        complaint = "start index must be less than or equal to end index"
    elif len(values) < end:
        complaint = f"list is length {len(values)}"
    if complaint:
        raise Fault(f"cannot slice({start}, {end}), {complaint}")
    return values[start:end]


def _distinct(values: tuple[Value, ...]) -> tuple[Value, ...]:
    kept: list[Value] = []
    for value in values:
        if not any(_equals_or_fails(value, other) for other in kept):
            kept.append(value)
    return tuple(kept)


_SMALL_SORT: Final = 12  # Go sorts so few by insertion, which keeps the order of equals; more it does not


def _sort_by(values: tuple[Value, ...], keys: Value) -> tuple[Value, ...]:
    if not isinstance(keys, tuple):
        raise _no_such_overload()
    if len(keys) != len(values):
        sizes = f"but got {len(values)} and {len(keys)} elements respectively"
        raise Fault(f"@sortByAssociatedKeys() expected a list of the same size as the associated keys list, {sizes}")
    if not values:
        return values
    if type(keys[0]) not in _ORDERED:
        raise Fault("list elements must be comparable")
    if len({type(key) for key in keys}) > 1:
        raise Fault("list elements must have the same type")
    if any(key != key for key in keys):  # noqa: PLR0124  # NaN
        raise NotDecided("sorting NaN")
    if len(values) > _SMALL_SORT and len(set(keys)) < len(keys) and keys is not values:
        raise NotDecided("sorting more than 12 elements with equal keys")
    return tuple(values[index] for index in sorted(range(len(values)), key=keys.__getitem__))


def _sort(values: tuple[Value, ...]) -> tuple[Value, ...]:
    return _sort_by(values, values)


_RANGE_MAX: Final = 100_000


def _range(count: int) -> tuple[int, ...]:
    if count > _RANGE_MAX:
        raise NotDecided(f"lists.range() of more than {_RANGE_MAX}")
    return tuple(range(count))


_INCLUDES_MAX: Final = 48


def _includes(target: Value, item: Value) -> bool:
    if not isinstance(target, tuple):
        return _equals_or_fails(target, item)
    for index, value in enumerate(target):
        if index >= _INCLUDES_MAX:
            raise Fault(f"'includes' function cannot be applied to lists longer than {_INCLUDES_MAX} values")
        if _equals_or_fails(value, item):
            return True
    return False


def _contains_all(values: tuple[Value, ...], wanted: tuple[Value, ...]) -> bool:
    return all(_in(value, values) for value in wanted)


# -- optionals ------------------------------------------------------------------------------------------------------


def _end(index: int) -> Implementation:
    def call(values: tuple[Value, ...]) -> Optional:
        return Optional(values[index], present=True) if values else Optional()

    return call


# -- quantities and versions ----------------------------------------------------------------------------------------


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

# -- the tables -----------------------------------------------------------------------------------------------------

SINGLETONS: Final[dict[str, Singleton]] = {
    "_+_": Singleton(_add, _ADDABLE),
    "_-_": Singleton(_subtract, _NUMBERS),
    "_*_": Singleton(_multiply, _NUMBERS),
    "_/_": Singleton(_divide, _NUMBERS),
    "_%_": Singleton(_modulo, frozenset({int, UInt})),
    "-_": Singleton(_negate, frozenset({int, float, bool})),
    "!_": Singleton(_logical_not),
    "_<_": Singleton(lambda left, right: compare(left, right) < 0, _ORDERED),
    "_<=_": Singleton(lambda left, right: compare(left, right) <= 0, _ORDERED),
    "_>_": Singleton(lambda left, right: compare(left, right) > 0, _ORDERED),
    "_>=_": Singleton(lambda left, right: compare(left, right) >= 0, _ORDERED),
    "@in": Singleton(_in),
    "size": Singleton(_size, _SIZED),
    "type": Singleton(_type),
    "dyn": Singleton(_identity),
    "sort": Singleton(_sort, _LISTS),
    "@sortByAssociatedKeys": Singleton(_sort_by, _LISTS),
}
"""By function name."""

OVERLOADS: Final[dict[str, Implementation]] = {
    "bool_to_bool": _identity,
    "string_to_bool": _string_to_bool,
    "bytes_to_bytes": _identity,
    "string_to_bytes": str.encode,
    "double_to_double": _identity,
    "int64_to_double": float,
    "uint64_to_double": float,
    "string_to_double": _string_to_double,
    "int64_to_int64": _identity,
    "double_to_int64": _double_to_int,
    "string_to_int64": _string_to_int,
    "uint64_to_int64": lambda value: _integer(int(value), int),
    "uint64_to_uint64": _identity,
    "double_to_uint64": _double_to_uint,
    "int64_to_uint64": lambda value: _integer(value, UInt),
    "string_to_uint64": _string_to_uint,
    "string_to_string": _identity,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": _bytes_to_string,
    "double_to_string": format_double,
    "int64_to_string": str,
    "uint64_to_string": str,
    "contains_string": _on_strings(lambda text, part: part in text),
    "starts_with_string": _on_strings(str.startswith),
    "ends_with_string": _on_strings(str.endswith),
    "string_char_at_int": _char_at,
    "string_index_of_string": _index_of,
    "string_index_of_string_int": _index_of,
    "string_last_index_of_string": _last_index_of,
    "string_last_index_of_string_int": _last_index_of,
    "string_lower_ascii": lambda text: text.translate(_LOWER),
    "string_upper_ascii": lambda text: text.translate(_UPPER),
    "string_replace_string_string": _replace,
    "string_replace_string_string_int": _replace,
    "string_split_string": _split,
    "string_split_string_int": _split,
    "string_substring_int": _substring,
    "string_substring_int_int": _substring,
    "string_trim": lambda text: text.strip(_SPACE),
    "list_join": _join,
    "list_join_string": _join,
    "list_a_index_of_int": _list_index_of,
    "list_a_last_index_of_int": _list_last_index_of,
    "list_reverse": lambda values: tuple(reversed(values)),
    "list_slice": _slice,
    "list_distinct": _distinct,
    "lists_range": _range,
    "list_first": _end(0),
    "list_last": _end(-1),
    "dra_includes_dyn_dyn": _includes,
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
    **{f"list_{kind}_is_sorted_bool": _is_sorted for kind in ("int", "uint", "double", "bool", "string", "bytes")},
    **{f"list_{kind}_min_{kind}": _extreme("min", 1) for kind in ("int", "uint", "double", "bool", "string", "bytes")},
    **{f"list_{kind}_max_{kind}": _extreme("max", -1) for kind in ("int", "uint", "double", "bool", "string", "bytes")},
    "list_int_sum_int": _sum(0),
    "list_uint_sum_uint": _sum(UInt(0)),
    "list_double_sum_double": _sum(0.0),
    "list_sets_contains_list": _contains_all,
    "list_sets_equivalent_list": lambda left, right: _contains_all(left, right) and _contains_all(right, left),
    "list_sets_intersects_list": lambda left, right: any(_in(item, right) for item in left),
}
"""By overload id. A missing id is a function that cannot be run yet."""
