"""What a call costs at most, and how big its result is.

The cost here is the call's alone, without that of its operands; what no table knows
costs 1.

Source: github.com/google/cel-go ``checker/cost.go`` (functionCost) and ``ext/{costs,lists,sets}.go``; k8s.io/apiserver
``pkg/cel/library/cost.go`` (EstimateCallCost); k8s.io/dynamic-resource-allocation 1.36 ``cel/compile.go`` (includes).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from attrs import frozen

from drakit.cel.checking.types import Type
from drakit.cel.estimation.paths import Path, limit
from drakit.cel.estimation.sizes import MOST, UNKNOWN, Entries, Size, added, multiplied, scaled, wrapped
from drakit.cel.syntax.ast import Literal, Node

__all__ = ["Estimate", "Operand", "estimate_call", "unwrap"]


def unwrap(type_: Type) -> Type:
    """The type of the value in a wrapper; any other type is itself."""
    return type_.parameters[0] if type_.kind == "wrapper" else type_


@frozen
class Operand:
    """The receiver or an argument of a call, as it was when its own cost was estimated."""

    node: Node
    type: Type
    size: Size | None
    entries: Entries | None
    path: Path

    @property
    def bounds(self) -> Size:
        """Its size, or all that a size can be."""
        return self.size or UNKNOWN

    @property
    def element(self) -> tuple[Type, Size] | None:
        """Type and size of what it holds, or None if it holds nothing; of a map, oddly, keys' type and values' size."""
        if not self.type.parameters:
            return None
        inside = limit(self.path.apart().then("@items")) if self.path.length else None
        return unwrap(self.type.parameters[0]), inside or UNKNOWN

    @property
    def number(self) -> int | None:
        """The value of an int literal."""
        value = self.node.value if isinstance(self.node, Literal) else None
        return value if type(value) is int else None


@frozen
class Estimate:
    """Of one call."""

    cost: int
    size: Size | None = None
    """Of the result; None where nothing is known."""
    entries: Entries | None = None
    """Of what the result holds."""


def estimate_call(function: str, overload: str, operands: Sequence[Operand], *, member: bool, minor: int) -> Estimate:
    """What a call costs if it takes this overload.

    :param operands: receiver first, if there is one, then arguments.
    :param member: there is a receiver.
    :param minor: of the release of Kubernetes, 36 or 37.
    """
    if minor < 37 and (function, member) in _BEFORE_37:
        return Estimate(_BEFORE_37[function, member])
    estimator = _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function)
    return estimator(operands) if estimator else Estimate(1)


_BEFORE_37: Final = {("includes", True): 48, ("matches", False): 1}
"""``includes`` had a limit of its own, and patterns were counted only in ``text.matches(pattern)``."""

_Estimator: TypeAlias = Callable[[Sequence[Operand]], Estimate]


# -- whatever is read once ------------------------------------------------------------------------------------------


def _read(size: Size, times: int = 1) -> int:
    """Cost of reading text or bytes."""
    return scaled(size.max, 0.1 * times)


def _nominal(_: Sequence[Operand]) -> Estimate:
    return Estimate(1)


def _authorization_check(_: Sequence[Operand]) -> Estimate:
    return Estimate(350_000)


def _reading(times: int = 1) -> _Estimator:
    return lambda operands: Estimate(_read(operands[0].bounds, times))


def _rewriting(operands: Sequence[Operand]) -> Estimate:
    """Reading; the result is as long as what is read."""
    size = operands[0].bounds
    return Estimate(_read(size), size)


def _naming(operands: Sequence[Operand]) -> Estimate:
    """Reading a name as a format asks, by a pattern of up to 128."""
    return Estimate(scaled(_read(operands[1].bounds), 128 * 0.25))


def _selecting(operands: Sequence[Operand]) -> Estimate:
    """Reading a list of requirements, of two code points or more each."""
    length = operands[1].bounds
    requirements = scaled(length.max, 0.5)
    return Estimate(added(added(_LIST, _read(length)), scaled(requirements, _LIST + _STRUCT)))


def _formatting(operands: Sequence[Operand]) -> Estimate:
    return Estimate(_read(operands[0].bounds))


def _searched(operands: Sequence[Operand]) -> Estimate:
    """The second operand is read: the start of a text, or a list."""
    return Estimate(_read(operands[1].bounds))


def _to_bytes(operands: Sequence[Operand]) -> Estimate:
    size = operands[0].bounds
    return Estimate(_read(size), Size(size.min, wrapped(size.max * 4)))


def _to_text(operands: Sequence[Operand]) -> Estimate:
    size = operands[0].bounds
    return Estimate(_read(size), Size(size.min // 4, size.max))


def _quoting(operands: Sequence[Operand]) -> Estimate:
    size = operands[0].bounds
    return Estimate(_read(size), Size(wrapped(size.min + 2), wrapped(size.max * 2 + 2)))


# -- text ------------------------------------------------------------------------------------------------------------


def _containing(operands: Sequence[Operand]) -> Estimate:
    return Estimate(multiplied(_read(operands[0].bounds), _read(operands[1].bounds)))


def _match(text: Size, pattern: Size) -> int:
    return multiplied(_read(text.plus(Size.of(1))), scaled(pattern.max, 0.25))


def _matching(operands: Sequence[Operand]) -> Estimate:
    return Estimate(_match(operands[0].bounds, operands[1].bounds))


def _finding(operands: Sequence[Operand]) -> Estimate:
    text = operands[0].bounds
    return Estimate(_match(text, operands[1].bounds), Size(0, text.max))


def _replacing(operands: Sequence[Operand]) -> Estimate:
    text, old, new = (operand.bounds for operand in operands[:3])
    shortest = text.min if 0 < old.max <= new.min else _replaced(text.min, old.max, new.min)
    longest = text.max if old.min and new.max <= old.min else _replaced(text.max, old.min, new.max)
    return Estimate(_read(text, 2), Size(shortest, longest))


def _replaced(text: int, old: int, new: int) -> int:
    """Length of a text that consists of the old one; of one with the new one around every code point, if the old is empty."""
    if old == 0:
        return added(multiplied(added(text, 1), new), text)
    return multiplied(math.ceil(float(text) / float(old)), new)


def _splitting(operands: Sequence[Operand]) -> Estimate:
    size = operands[0].bounds
    parts = operands[2].number if len(operands) > 2 else None
    return Estimate(_read(size, 2), Size(0, size.max if parts is None else wrapped(parts)))


def _joining(operands: Sequence[Operand]) -> Estimate:
    parts, *separator = operands
    count = parts.bounds
    size = Size.of(0) if parts.element is None else count.times(parts.element[1])
    if separator:
        between = Size(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(separator[0].bounds.times(between))
    return Estimate(_read(size), size)


# -- lists and sets --------------------------------------------------------------------------------------------------


_LIST: Final = 10
"""Cost of a new list."""
_STRUCT: Final = 40
"""Cost of a new struct."""


def _over_elements(operands: Sequence[Operand]) -> Estimate:
    """Every element is looked at, and read if it is text; of text, by a function that has both, all is read."""
    over = operands[0]
    if over.element is None:
        return Estimate(_read(over.bounds))
    type_, size = over.element
    each = added(1, _read(size)) if type_.kind in ("string", "bytes") else 1
    return Estimate(multiplied(over.bounds.max, each))


def _including(operands: Sequence[Operand]) -> Estimate:
    """As over a list's elements: what is only known at run time may be one."""
    return _over_elements(operands) if operands[0].element else Estimate(operands[0].bounds.max)


def _in_list(operands: Sequence[Operand]) -> Estimate:
    return Estimate(scaled(operands[1].bounds.max, 1))


def _pairing(times: int) -> _Estimator:
    """Each element of one list with each of another."""

    def estimate(operands: Sequence[Operand]) -> Estimate:
        pairs = multiplied(operands[0].bounds.max, operands[1].bounds.max)
        return Estimate(added(scaled(pairs, times), 1))

    return estimate


def _new_list(size: Size, factor: float = 1) -> Estimate:
    return Estimate(added(scaled(size.max, factor), 1 + _LIST), size)


def _at_least_0(number: int | None, default: int) -> int:
    return default if number is None else max(number, 0)


def _slicing(operands: Sequence[Operand]) -> Estimate:
    end = _at_least_0(operands[2].number, operands[0].bounds.max)
    return _new_list(Size.of(wrapped(end - _at_least_0(operands[1].number, 0))))


def _flattening(operands: Sequence[Operand]) -> Estimate:
    depth = _at_least_0(operands[1].number, MOST) if len(operands) > 1 else 1
    return _new_list(operands[0].bounds, depth)


def _counting(operands: Sequence[Operand]) -> Estimate:
    return _new_list(Size.of(_at_least_0(operands[0].number, MOST)))


def _reversing(operands: Sequence[Operand]) -> Estimate:
    return _new_list(operands[0].bounds)


def _comparing_all(factor: float) -> _Estimator:
    """Each element with each other, or each key where a list is sorted by keys."""

    def estimate(operands: Sequence[Operand]) -> Estimate:
        compared = operands[-1].bounds
        return _new_list(compared.times(compared), factor)

    return estimate


def _sorting(element: str, factor: float = 2) -> dict[str, _Estimator]:
    return {f"list_{element}_{function}": _comparing_all(factor) for function in ("sort", "sortByAssociatedKeys")}


# -- operators -------------------------------------------------------------------------------------------------------


def _either(operands: Sequence[Operand]) -> Estimate:
    """A conditional; it costs nothing beyond its operands."""
    _, then, otherwise = operands
    return Estimate(0, then.bounds.union(otherwise.bounds), _entries_of_both(then, otherwise))


def _entries_of_both(left: Operand, right: Operand) -> Entries | None:
    return left.entries.union(right.entries) if left.entries and right.entries else None


def _adding(operands: Sequence[Operand]) -> Estimate:
    left, right = operands
    size = left.bounds.plus(right.bounds)
    return Estimate(_read(size), size, _entries_of_both(left, right))


def _adding_lists(operands: Sequence[Operand]) -> Estimate:
    left, right = operands
    return Estimate(1, left.bounds.plus(right.bounds), _entries_of_both(left, right))


def _comparing(operands: Sequence[Operand]) -> Estimate:
    """The shorter one is read."""
    return Estimate(scaled(min(operands[0].bounds.max, operands[1].bounds.max), 0.1))


def _ordering(of: str) -> dict[str, _Estimator]:
    return {f"{order}_{of}": _comparing for order in ("less", "less_equals", "greater", "greater_equals")}


_SAME_AT_ONCE: Final = frozenset(
    ["net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"]
    + [f"kubernetes.authorization.{name}" for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")]
)


def _same(operands: Sequence[Operand]) -> Estimate:
    left, right = operands
    if left.type.name != right.type.name:
        return _comparing(operands)
    match left.type.name:
        case name if name in _SAME_AT_ONCE:
            return Estimate(1)
        case "kubernetes.NamedFormat":
            return Estimate(_read(Size.of(64)))
        case "kubernetes.URL":
            return Estimate(_read(right.size or Size.of(1)))
        case _:
            return _comparing(operands)


# -- addresses -------------------------------------------------------------------------------------------------------


_ADDRESS: Final = Size(4, 16)
"""Bytes of an address."""
_ADDRESS_IN_RANGE: Final = _read(_ADDRESS.plus(_ADDRESS))
_RANGE_IN_RANGE: Final = _ADDRESS_IN_RANGE + _read(_ADDRESS) + 1


def _in_range(cost: int, *, of_text: bool) -> _Estimator:
    return lambda operands: Estimate(added(cost, _read(operands[1].bounds) if of_text else 0))


_BY_OVERLOAD: Final[dict[str, _Estimator]] = {
    "add_bytes": _adding,
    "add_list": _adding_lists,
    "add_string": _adding,
    "bytes_to_string": _to_text,
    "cidr_contains_cidr": _in_range(_RANGE_IN_RANGE, of_text=False),
    "cidr_contains_cidr_string": _in_range(_RANGE_IN_RANGE, of_text=True),
    "cidr_contains_ip_ip": _in_range(_ADDRESS_IN_RANGE, of_text=False),
    "cidr_contains_ip_string": _in_range(_ADDRESS_IN_RANGE, of_text=True),
    "cidr_ip": _nominal,
    "conditional": _either,
    "contains_string": _containing,
    "ends_with_string": _searched,
    "in_list": _in_list,
    "list_distinct": _comparing_all(2),
    "list_flatten": _flattening,
    "list_flatten_int": _flattening,
    "list_reverse": _reversing,
    "list_sets_contains_list": _pairing(1),
    "list_sets_equivalent_list": _pairing(2),
    "list_sets_intersects_list": _pairing(1),
    "list_slice": _slicing,
    "lists_range": _counting,
    "matches": _matching,
    "matches_string": _matching,
    "not_equals": _comparing,
    "starts_with_string": _searched,
    "string_format": _formatting,
    "string_to_bytes": _to_bytes,
    "strings_quote": _quoting,
    **_ordering("bytes"),
    **_ordering("string"),
    **_sorting("bool"),
    **_sorting("bytes", 2.1),
    **_sorting("double"),
    **_sorting("google.protobuf.Duration"),
    **_sorting("google.protobuf.Timestamp"),
    **_sorting("int"),
    **_sorting("string", 2.1),
    **_sorting("uint"),
}  # fmt: skip
_BY_FUNCTION: Final[dict[str, _Estimator]] = {
    "_==_": _same,
    "check": _authorization_check,
    "cidr": _reading(),
    "fieldSelector": _selecting,
    "find": _finding,
    "findAll": _finding,
    "includes": _including,
    "indexOf": _over_elements,
    "ip": _reading(),
    "ip.isCanonical": _reading(2),
    "isCIDR": _reading(),
    "isIP": _reading(),
    "isQuantity": _reading(),
    "isSemver": _reading(),
    "isSorted": _over_elements,
    "join": _joining,
    "labelSelector": _selecting,
    "lastIndexOf": _over_elements,
    "lowerAscii": _rewriting,
    "max": _over_elements,
    "min": _over_elements,
    "quantity": _reading(),
    "replace": _replacing,
    "semver": _reading(),
    "split": _splitting,
    "substring": _rewriting,
    "sum": _over_elements,
    "trim": _rewriting,
    "upperAscii": _rewriting,
    "url": _rewriting,
    "validate": _naming,
}
