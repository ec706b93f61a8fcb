"""What the functions do: implementations by cel-go's overload id.

Two kinds, as in cel-go. A *singleton* serves all overloads of a function and finds out at run time what it got; an
*overload* is only called with arguments of its types. The difference shows in the error messages.

Source: github.com/google/cel-go ``common/stdlib/standard.go``, ``common/types``, ``cel/library.go`` (optionals),
``ext/strings.go``, ``ext/lists.go``, ``ext/sets.go``; k8s.io/apiserver ``pkg/cel/library``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from attrs import frozen

from drakit.cel.go import conversions, regex
from drakit.cel.go.network import Cidr, Ip
from drakit.cel.go.printing import printed
from drakit.cel.go.times import PARTS, Duration, Timestamp
from drakit.cel.go.urls import Url, check_request_uri
from drakit.cel.library import lists, operators, strings
from drakit.cel.library.formats import FORMATS, NamedFormat
from drakit.cel.library.formatting import format_
from drakit.cel.library.quantities import QuantityValue
from drakit.cel.library.semver import Semver
from drakit.cel.values import (
    INT64,
    Fault,
    GrowingMap,
    Map,
    NotDecided,
    Optional,
    TypeValue,
    UInt,
    Value,
    check_hashable,
    compare,
    no_such_overload,
)

__all__ = ["OVERLOADS", "SINGLETONS", "Implementation", "Singleton", "overloads", "searching"]

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


def _is_url(text: str) -> bool:
    try:
        check_request_uri(text)
    except ValueError:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return str(Ip.parse(text)) == text


def _named(name: str) -> Optional:
    return Optional(FORMATS[name], present=True) if name in FORMATS else Optional()


def _validate(format_: NamedFormat, text: str) -> Optional:
    wrong = tuple(format_.check(text))
    return Optional(wrong, present=True) if wrong else Optional()


def _pattern(expression: str) -> regex.Pattern:
    try:
        return regex.compile(expression)
    except regex.PatternError as error:
        raise Fault(f"Illegal regex: {error}") from None
    except regex.Unsupported:
        raise NotDecided("this regular expression") from None


def searching(function: str, pattern: regex.Pattern) -> Implementation:
    """``find`` or ``findAll`` with a pattern that is known beforehand.

    It takes whatever the arguments are, the pattern among them.
    """

    def find(text: Value, _: Value) -> str:
        text = text.name if isinstance(text, TypeValue) else text
        if not isinstance(text, str):
            raise no_such_overload()
        return pattern.find(text)

    def find_all(text: Value, _: Value, count: Value = -1) -> tuple[str, ...]:
        text = text.name if isinstance(text, TypeValue) else text
        if not isinstance(text, str) or isinstance(count, bool | UInt) or not isinstance(count, int):
            raise no_such_overload()
        return pattern.find_all(text, count)

    return find if function == "find" else find_all


def _part(name: str) -> Implementation:
    return lambda moment, zone="UTC": moment.part(name, zone)


def _if_not_zero(value: Value) -> Optional:
    """``optional.ofNonZeroValue``: values of Kubernetes' own types are never zero."""
    is_zero = value is None or (isinstance(value, bool | int | float | str | bytes | tuple | Map) and _is_zero(value))
    if isinstance(value, Duration):
        is_zero = value.nanoseconds == 0
    elif isinstance(value, Timestamp):
        is_zero = value.equals(_YEAR_ONE)
    return Optional() if is_zero else Optional(value, present=True)


_YEAR_ONE: Final = Timestamp.parse("0001-01-01T00:00:00Z")


def _is_zero(value: Value) -> bool:
    return not len(value) if isinstance(value, str | bytes | tuple | Map) else not value


def _unwrap(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The values of the optionals in a list that have one."""
    found: list[Value] = []
    for value in values:
        if not isinstance(value, Optional):
            raise Fault(f"value {printed(value)} is not optional")
        if value.present:
            found.append(value.value)
    return tuple(found)


def _insert(target: Map, key: Value, value: Value) -> Map:
    """``target`` with one entry more; what a macro is making grows in place."""
    check_hashable(key)
    if target.contains(key):
        raise Fault(f"insert failed: key {printed(key)} already exists")
    if not isinstance(target, GrowingMap):
        target = GrowingMap({**target.entries})
    target.add(key, value)
    return target


def _insert_all(target: Map, entries: Map) -> Map:
    for key in entries:
        target = _insert(target, key, entries.find(key)[0])
    return target


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


_COMPARABLE_KINDS: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")

SINGLETONS: Final[dict[str, Singleton]] = {
    "_+_": Singleton(operators.add, operators.ADDABLE),
    "_-_": Singleton(operators.subtract, operators.SUBTRACTABLE),
    "_*_": Singleton(operators.multiply, operators.NUMBERS),
    "_/_": Singleton(operators.divide, operators.NUMBERS),
    "_%_": Singleton(operators.modulo, frozenset({int, UInt})),
    "-_": Singleton(operators.negate, frozenset({int, float, bool, Duration})),
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
    "string_to_bytes": conversions.string_to_bytes,
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
    **{f"{kind}_to_string": conversions.to_text for kind in ("bool", "bytes", "double", "int64", "uint64")},
    **{f"{kind}_to_string": str for kind in ("duration", "timestamp", "ip", "cidr")},
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
    "strings_quote": strings.quote,
    "string_format": format_,
    "string_find_string": lambda text, pattern: _pattern(pattern).find(text),
    "string_find_all_string": lambda text, pattern: _pattern(pattern).find_all(text),
    "string_find_all_string_int": lambda text, pattern, count: _pattern(pattern).find_all(text, count),
    "list_join": strings.join,
    "list_join_string": strings.join,
    "list_a_index_of_int": lists.list_index_of,
    "list_a_last_index_of_int": lists.list_last_index_of,
    "list_flatten": lists.flatten,
    "list_flatten_int": lists.flatten,
    "list_reverse": lambda values: tuple(reversed(values)),
    "list_slice": lists.slice_,
    "list_distinct": lists.distinct,
    "lists_range": lists.range_,
    "list_first": lists.end(0),
    "list_last": lists.end(-1),
    "dra_includes_dyn_dyn": lists.includes,
    "@mapInsert_map_key_value": _insert,
    "@mapInsert_map_map": _insert_all,
    "optional_none": Optional,
    "optional_of": lambda value: Optional(value, present=True),
    "optional_value": Optional.get,
    "optional_hasValue": lambda value: value.present,
    "optional_ofNonZeroValue": _if_not_zero,
    "optional_unwrap": _unwrap,
    "optional_unwrapOpt": _unwrap,
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
    "duration_to_duration": conversions.identity,
    "string_to_duration": Duration.parse,
    "duration_to_int64": lambda value: value.nanoseconds,
    "duration_to_hours": Duration.hours,
    "duration_to_minutes": Duration.minutes,
    "duration_to_seconds": Duration.seconds,
    "duration_to_milliseconds": Duration.milliseconds,
    "timestamp_to_timestamp": conversions.identity,
    "string_to_timestamp": Timestamp.parse,
    "int64_to_timestamp": Timestamp.of,
    "timestamp_to_int64": lambda value: value.seconds,
    **{f"timestamp_to_{name}": _part(name) for name in PARTS},
    **{f"timestamp_to_{name}_with_tz": _part(name) for name in PARTS},
    "timestamp_to_seconds_tz": _part("seconds"),
    "string_to_ip": Ip.parse,
    "is_ip": _parses(Ip.parse),
    "ip_is_canonical": _is_canonical,
    "ip_family": lambda value: value.family,
    "ip_is_unspecified": lambda value: value.is_unspecified,
    "ip_is_loopback": lambda value: value.is_loopback,
    "ip_is_link_local_multicast": lambda value: value.is_link_local_multicast,
    "ip_is_link_local_unicast": lambda value: value.is_link_local_unicast,
    "ip_is_global_unicast": lambda value: value.is_global_unicast,
    "string_to_cidr": Cidr.parse,
    "is_cidr": _parses(Cidr.parse),
    "cidr_ip": lambda value: value.ip,
    "cidr_prefix_length": lambda value: value.length,
    "cidr_masked": Cidr.masked,
    "cidr_contains_ip_string": Cidr.contains_ip,
    "cidr_contains_ip_ip": Cidr.contains_ip,
    "cidr_contains_cidr_string": Cidr.contains_cidr,
    "cidr_contains_cidr": Cidr.contains_cidr,
    "string_to_url": Url.parse,
    "is_url_string": _is_url,
    "url_get_scheme": lambda value: value.scheme,
    "url_get_host": lambda value: value.host,
    "url_get_hostname": lambda value: value.hostname,
    "url_get_port": lambda value: value.port,
    "url_get_escaped_path": lambda value: value.escaped_path,
    "url_get_query": Url.query,
    **{f"format.{name}": functools.partial(FORMATS.__getitem__, name) for name in FORMATS},
    "format-named": _named,
    "format-validate": _validate,
    "string_to_semver": _semver,
    "string_bool_to_semver": _semver,
    "is_semver_string": _parses(_semver),
    "is_semver_string_bool": _parses(_semver),
    "semver_major": lambda value: _signed(value.major),
    "semver_minor": lambda value: _signed(value.minor),
    "semver_patch": lambda value: _signed(value.patch),
    **{f"{kind}_{name}": call for kind in ("quantity", "semver") for name, call in _COMPARABLE.items()},
    **{f"list_{kind}_is_sorted_bool": lists.is_sorted for kind in _COMPARABLE_KINDS},
    **{f"list_{kind}_min_{kind}": lists.extreme("min", 1) for kind in _COMPARABLE_KINDS},
    **{f"list_{kind}_max_{kind}": lists.extreme("max", -1) for kind in _COMPARABLE_KINDS},
    "list_int_sum_int": lists.sum_(0),
    "list_uint_sum_uint": lists.sum_(UInt(0)),
    "list_double_sum_double": lists.sum_(0.0),
    "list_duration_sum_duration": lists.sum_(Duration(0)),
    "list_sets_contains_list": lists.contains_all,
    "list_sets_equivalent_list": lambda left, right: lists.contains_all(left, right) and lists.contains_all(right, left),
    "list_sets_intersects_list": lambda left, right: any(operators.contains(item, right) for item in left),
}
"""By overload id. A missing id is a function that no selector can call: there is no value it takes."""


def _no_duration(_: int) -> Value:
    raise Fault("type conversion error from 'int' to 'google.protobuf.Duration'")


_BEFORE_37: Final[dict[str, Implementation]] = {
    "int64_to_duration": _no_duration,
    "string_index_of_string_int": strings.of_some(strings.index_of),
    "string_last_index_of_string_int": strings.of_some(strings.last_index_of),
    "lists_range": lists.unlimited_range,
    "dra_includes_dyn_dyn": lists.includes_few,
    "quantity_add": functools.partial(QuantityValue.plus, minor=36),
    "quantity_add_int": functools.partial(QuantityValue.plus, minor=36),
    "quantity_sub": functools.partial(QuantityValue.plus, sign=-1, minor=36),
    "quantity_sub_int": functools.partial(QuantityValue.plus, sign=-1, minor=36),
}
"""What differs until Kubernetes 1.36."""


def overloads(minor: int = 37) -> Mapping[str, Implementation]:
    """Implementations by overload id.

    :param minor: of Kubernetes, 37 for 1.37.
    """
    return OVERLOADS if minor >= 37 else OVERLOADS | _BEFORE_37
