"""What the call of a function costs: the rules as data, by overload and by function.

Asked in the order Kubernetes asks: the trackers that libraries register for an overload, its own rules for a function,
then cel-go's own for an overload. What none of them knows costs 1. Which overload a call has is decided by the checker:
where ``dyn`` leaves several, it has none, and only the rules by function apply.

Sizes are code points, bytes (of IP addresses too), elements or entries; other values have size 1.

Source: github.com/google/cel-go ``interpreter/runtimecost.go``, ``ext/{costs,lists,sets}.go``, ``common/cost.go``;
k8s.io/apiserver ``pkg/cel/library/cost.go``; for Kubernetes 1.36 the same files of cel-go 0.26 and apiserver 0.36.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from drakit.cel.go.network import Cidr, Ip
from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.library.formats import NamedFormat
from drakit.cel.library.go_names import go_name
from drakit.cel.values import Abort, Map, Optional, Thing, Value, utf8

__all__ = ["COST_LIMIT", "UINT64_MASK", "Price", "price", "size"]

COST_LIMIT: Final = 1_000_000
"""What an evaluation of a selector may cost (``CELSelectorExpressionMaxCost``)."""
UINT64_MASK: Final = 2**64 - 1

Price: TypeAlias = Callable[[Sequence[Value], Value], int]
"""From the arguments of a call and its result, of which each may be a :class:`Fault`, to the cost."""

_TRAVERSAL: Final = 0.1  # for one character of a string
_PATTERN: Final = 0.25  # for one character of a regular expression
_LIST: Final = 10  # for making a list


def _sized(value: Value) -> int:
    if isinstance(value, str | bytes | tuple | list | Map):
        return len(value)
    return value.size if isinstance(value, Ip | Cidr) else 1


def size(value: Value) -> int:
    """The size of a value; of an optional, that of what is in it."""
    while isinstance(value, Optional) and value.present:
        value = value.value
    return _sized(value)


def _up(cost: float) -> int:
    return math.ceil(cost)


# -- cel-go, by overload --------------------------------------------------------------------------------------------


def _nominal(_args: Sequence[Value], _result: Value) -> int:
    return 1


def _traverses(position: int) -> Price:
    return lambda args, _: _up(size(args[position]) * _TRAVERSAL)


def _compares(args: Sequence[Value], _result: Value) -> int:
    return _up(min(size(args[0]), size(args[1])) * _TRAVERSAL)


def _joins(args: Sequence[Value], _result: Value) -> int:
    return _up((size(args[0]) + size(args[1])) * _TRAVERSAL)


def _matches(args: Sequence[Value], _result: Value) -> int:
    return _up((1.0 + size(args[0])) * _TRAVERSAL) * _up(size(args[1]) * _PATTERN)


def _contains(args: Sequence[Value], _result: Value) -> int:
    return _up(size(args[0]) * _TRAVERSAL) * _up(size(args[1]) * _TRAVERSAL)


_ORDERS: Final = ("less", "less_equals", "greater", "greater_equals")
_BY_OVERLOAD: Final[dict[str, Price]] = {
    **{f"{order}_{kind}": _compares for order in _ORDERS for kind in ("string", "bytes")},
    "equals": _compares,
    "not_equals": _compares,
    "starts_with_string": _traverses(1),
    "ends_with_string": _traverses(1),
    "string_to_bytes": _traverses(0),
    "bytes_to_string": _traverses(0),
    "strings_quote": _traverses(0),
    "string_format": _traverses(0),
    "in_list": lambda args, _: size(args[1]),
    "add_string": _joins,
    "add_bytes": _joins,
    "matches": _matches,
    "matches_string": _matches,
    "contains_string": _contains,
}
_BY_OVERLOAD_36: Final = _BY_OVERLOAD | {
    "starts_with_string": _traverses(0),
    "ends_with_string": _traverses(0),
    "matches": _nominal,
}


# -- trackers of cel-go's libraries, by overload --------------------------------------------------------------------


def _from_double(number: float) -> int:
    """Go's conversion to a uint64, as amd64 does it."""
    return int(number) if number < float(2**64) else 2**63


def _makes_list(factor: float, count: int) -> int:
    return min(_from_double(count * max(factor, 0.0)) + 1 + _LIST, UINT64_MASK)


def _result_list(_args: Sequence[Value], result: Value) -> int:
    return _makes_list(1.0, _sized(result))


def _flattens(args: Sequence[Value], _result: Value) -> int:
    depth = 1.0
    if len(args) > 1:
        depth = float(_asserted(args[1], "types.Int"))
    return _makes_list(depth if depth >= 0 else 1.0, _sized(args[0]))


def _asserted(value: Value, wanted: str) -> Value:
    """A number that Go takes out of a value without asking first."""
    if go_name(value) != wanted:
        raise _conversion(f"ref.Val is {go_name(value)}, not {wanted}")
    return value


def _conversion(complaint: str) -> Abort:
    return Abort(f"internal error: interface conversion: {complaint}")


def _compares_elements(position: int) -> Price:
    """Every element with every other; Go panics where there is no list."""

    def cost(args: Sequence[Value], _result: Value) -> int:
        values = args[position]
        if not isinstance(values, tuple | list):
            missing = "Contains" if go_name(values) in _ADDERS else "Add"
            raise _conversion(f"{go_name(values)} is not traits.Lister: missing method {missing}")
        factor = 2.0
        if values and isinstance(values[0], str | bytes):
            factor += _TRAVERSAL
        return _makes_list(factor, len(values) ** 2)

    return cost


_ADDERS: Final = {f"types.{name}" for name in ("Int", "Uint", "Double", "String", "Bytes", "Duration", "Timestamp")}


def _sets(factor: float) -> Price:
    return lambda args, _: 1 + _from_double(_sized(args[0]) * _sized(args[1]) * factor)


_ORDERED: Final = ("int", "uint", "double", "bool", "google.protobuf.Duration", "google.protobuf.Timestamp", "string", "bytes")
_TRACKERS: Final[dict[str, Price]] = {
    "list_slice": _result_list,
    "list_flatten": _flattens,
    "list_flatten_int": _flattens,
    "lists_range": _result_list,
    "list_reverse": _result_list,
    "list_distinct": _compares_elements(0),
    **{f"list_{kind}_sort": _compares_elements(0) for kind in _ORDERED},
    **{f"list_{kind}_sortByAssociatedKeys": _compares_elements(1) for kind in _ORDERED},
    "list_sets_contains_list": _sets(1.0),
    "list_sets_intersects_list": _sets(1.0),
    "list_sets_equivalent_list": _sets(2.0),
}


# -- Kubernetes, by function ----------------------------------------------------------------------------------------


def _walk(value: Value) -> int:
    """The sum over all that is inside; strings count by their bytes, each rounded down."""
    cost, pending = 0, [value]
    while pending:
        current = pending.pop()
        if isinstance(current, str):
            cost += int(len(utf8(current)) * _TRAVERSAL)
        elif isinstance(current, bytes):
            cost += int(len(current) * _TRAVERSAL)
        elif isinstance(current, tuple | list):
            pending.extend(current)
        elif isinstance(current, Map):
            for key in current:
                pending += (key, current.find(key)[0])
        else:
            cost += 1
    return cost


def _walks(args: Sequence[Value], _result: Value) -> int:
    return _walk(args[0])


def _reads(factor: float) -> Price:
    return lambda args, _: _up(_sized(args[0]) * factor * _TRAVERSAL)


def _writes(_args: Sequence[Value], result: Value) -> int:
    return _up(_sized(result) * 2 * _TRAVERSAL)


def _finds(args: Sequence[Value], _result: Value) -> int:
    return _up((1.0 + _sized(args[0])) * _TRAVERSAL) * _up(_sized(args[1]) * _PATTERN)


def _validates(args: Sequence[Value], _result: Value) -> int:
    checked_by = args[0]
    while isinstance(checked_by, Optional) and checked_by.present:
        checked_by = checked_by.value
    if not isinstance(checked_by, NamedFormat):
        return 1
    return _up((1.0 + _sized(args[1])) * _TRAVERSAL) * _up(checked_by.max_regex_size * _PATTERN)


def _holds(*, network: bool, parses: bool) -> Price:
    """Whether a network contains an address or a ``network``, which may have to be parsed first."""

    def cost(args: Sequence[Value], _result: Value) -> int:
        own, other = _sized(args[0]), _sized(args[1])
        total = _up((own + own) * _TRAVERSAL)
        if network:
            total += _up(own * _TRAVERSAL) + 1
        return total + (_up(other * _TRAVERSAL) if parses else 0)

    return cost


_AUTHORIZATION: Final = 350_000  # of a question that no selector can ask: it fails, but the call is paid for
_BY_FUNCTION: Final[dict[str, Price]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _walks),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR", "ip"), _reads(1)),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _reads(1)),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _reads(2)),
    "join": _writes,
    "find": _finds,
    "findAll": _finds,
    "containsIP": _holds(network=False, parses=False),
    "containsCIDR": _holds(network=True, parses=False),
    "validate": _validates,
    "check": lambda _args, _result: _AUTHORIZATION,
}
_BY_FUNCTION_AND_OVERLOAD: Final[dict[str, Price]] = {
    "cidr_ip": _nominal,
    "cidr_contains_ip_string": _holds(network=False, parses=True),
    "cidr_contains_cidr_string": _holds(network=True, parses=True),
}


def _equality(args: Sequence[Value], result: Value) -> int:
    return 1 if isinstance(args[0], Thing) and not isinstance(args[0], Duration | Timestamp) else _compares(args, result)


def price(function: str, overload: str | None, *, minor: int) -> Price:
    """What a call costs.

    :param overload: the id of its overload; None where the checker left several.
    :param minor: of Kubernetes, 36 or 37.
    """
    overload = overload or ""
    own = _TRACKERS.get(overload) or _BY_FUNCTION_AND_OVERLOAD.get(overload)
    if own is not None:
        return own
    if function == "_==_":
        return _equality
    by_function = _BY_FUNCTION.get(function)
    if by_function is not None and (function != "includes" or minor > 36):
        return by_function
    return (_BY_OVERLOAD if minor > 36 else _BY_OVERLOAD_36).get(overload, _nominal)
