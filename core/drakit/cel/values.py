"""Values during an evaluation, and what every type of value can do.

========================  =========================================================================================
CEL                       here
========================  =========================================================================================
bool, int, double         ``bool``, ``int`` (always in :data:`INT64`), ``float``
uint                      :class:`UInt`, always in :data:`UINT64`
string, bytes, null       ``str``, ``bytes``, ``None``
list                      ``tuple``, or :class:`Concatenation`, which compares differently
map                       :class:`Map`
optional, type            :class:`Optional`, :class:`TypeValue`
duration, timestamp       :class:`drakit.cel.go.times.Duration`, :class:`drakit.cel.go.times.Timestamp`
Quantity, Semver, ...     :class:`drakit.cel.library.quantities.QuantityValue`, :class:`drakit.cel.library.semver.Semver`, ...
========================  =========================================================================================

A string may hold bytes that are no UTF-8, as a part of a URL may come to: each is a code point from U+DC80 to U+DCFF, as
Python's ``surrogateescape`` has it.

Source: github.com/google/cel-go ``common/types``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from attrs import field, frozen

__all__ = [
    "INT64",
    "NO_SUCH_OVERLOAD",
    "UINT64",
    "Abort",
    "Concatenation",
    "Fault",
    "GrowingMap",
    "Map",
    "NotDecided",
    "Optional",
    "Thing",
    "TypeValue",
    "UInt",
    "Value",
    "check_hashable",
    "compare",
    "equal",
    "equals",
    "fixed_digits",
    "format_double",
    "is_registered",
    "no_such_overload",
    "opened",
    "register",
    "same",
    "text",
    "type_name",
    "utf8",
]

INT64: Final = range(-(2**63), 2**63)
UINT64: Final = range(2**64)

Value: TypeAlias = Any
"""A value of the table above. ``Any``: CEL is dynamically typed here, its own checker has already run."""

NO_SUCH_OVERLOAD: Final = "no such overload"


class Fault(Exception):  # a CEL error value, not one of drakit's errors
    """A CEL error during an evaluation: ``&&``, ``||``, ``all`` and ``exists`` may absorb it."""


class Abort(Exception):  # as above
    """An evaluation that cel-go gives up at once, whatever stands around it."""


class NotDecided(Exception):  # as above
    """An evaluation reached something drakit cannot decide yet."""


def utf8(text: str) -> bytes:
    """The bytes of a text as Go has them; half a character, which is none there, is replaced."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode(errors="replace")


def no_such_overload() -> Fault:
    """The error of an operation that its operands' types don't have."""
    return Fault(NO_SUCH_OVERLOAD)


class UInt(int):
    """An unsigned integer; a Python int in all but its CEL type."""

    __slots__ = ()


class Concatenation(tuple[Value, ...]):
    """A list made by ``+``: unlike other lists it passes an element's error on when it is compared."""

    __slots__ = ()


@frozen
class TypeValue:
    """A type as a value, such as ``int`` or ``type(x)``."""

    name: str


@frozen(eq=False)
class Optional:
    """An optional value."""

    value: Value = None
    present: bool = False

    def get(self) -> Value:
        if not self.present:
            raise Fault("optional.none() dereference")
        return self.value


K = TypeVar("K", bound="type[Thing]")


class Thing:
    """A value that brings its own rules: of time, or of a type of Kubernetes'."""

    __slots__ = ()
    type_name: str

    def equals(self, other: Value) -> bool:
        """Equality as the type has it; a :class:`Fault` where it has none."""
        raise NotImplementedError

    @property
    def go_name(self) -> str:
        """The name of Go's own type."""
        return self.type_name.rpartition(".")[2]

    @property
    def hashable(self) -> bool:
        return True

    @property
    def hash_key(self) -> Hashable:
        """What is the same for values that are one key of a map; most are only the same as themselves."""
        return self

    @property
    def native_text(self) -> str | None:
        """The text that Go makes of the value where it wants one; None where it cannot."""
        return None

    @property
    def order(self) -> int | None:
        """A number that orders values of this type; None where they have no order."""
        return None


_MISSING: Final = object()


@frozen(eq=False)
class _Same:
    """A key that is no key of Python's: a value together with what it is the same as."""

    value: Value
    hash_key: Hashable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.hash_key == other.hash_key

    def __hash__(self) -> int:
        return hash(self.hash_key)


def _key(key: Value) -> tuple[type, Value]:
    """A dict key that keeps ``1``, ``1u``, ``1.0`` and ``true`` apart; lists and maps are only the same as themselves."""
    if isinstance(key, bool | int | str | float | None | TypeValue) and key == key:  # noqa: PLR0124  # NaN
        return type(key), key
    return type(key), _Same(key, key.hash_key if isinstance(key, Thing) else id(key))


@frozen(eq=False)
class Map:
    """A map. ``default`` is what a lookup of a missing key finds: membership and iteration don't see it."""

    entries: Mapping[tuple[type, Value], Value] = field(factory=dict[tuple[type, Any], Any])
    default: Value = _MISSING
    strings_only: bool = False
    """A device's map: it knows strings as keys and nothing else, where a literal's looks at the key's hash."""

    @classmethod
    def of(cls, pairs: Mapping[str, Value], default: Value = _MISSING) -> Map:
        """A map of a device."""
        return cls({(str, key): value for key, value in pairs.items()}, default, strings_only=True)

    @classmethod
    def literal(cls, pairs: Iterator[tuple[Value, Value]]) -> Map:
        """A map from pairs, the last of equal keys winning."""
        entries: dict[tuple[type, Value], Value] = {}
        for key, value in pairs:
            check_hashable(key)
            entries[_key(key)] = value
        return cls(entries)

    def add(self, key: Value, value: Value) -> None:
        """Put another entry into a map that nobody else knows of."""
        assert isinstance(self.entries, dict)
        self.entries[_key(key)] = value

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Value]:
        return (key.value if type(key) is _Same else key for _, key in self.entries)

    def contains(self, key: Value) -> bool:
        return self._lookup(key) is not _MISSING

    def find(self, key: Value) -> tuple[Value, bool]:
        """The value of a key, and whether there is one."""
        value = self._lookup(key)
        if value is _MISSING:
            value = self.default
        return (None, False) if value is _MISSING else (value, True)

    def _has_capacities(self) -> bool:
        """A map of capacities makes a string of whatever it is asked for."""
        return all(isinstance(value, Thing) and value.type_name == "kubernetes.Quantity" for value in self.entries.values())

    def _lookup(self, key: Value) -> Value:
        if not self.entries:
            return _MISSING
        if type(key) is str:
            return self.entries.get((str, key), _MISSING)
        if self.strings_only:
            text = _native_text(key) if self._has_capacities() else None
            return _MISSING if text is None else self.entries.get((str, text), _MISSING)
        check_hashable(key)
        found = self.entries.get(_key(key), _MISSING)
        if found is not _MISSING or isinstance(key, bool) or not isinstance(key, int | float):
            return found
        # Numbers find the key of another numeric type with the same value.
        if isinstance(key, float):
            if not key.is_integer() or key == INT64[0]:  # which cel-go does not take for an int
                return _MISSING
            whole = int(key)
            found = self.entries.get((int, whole), _MISSING)
            return found if found is not _MISSING else self.entries.get((UInt, whole), _MISSING)
        return self.entries.get((int if isinstance(key, UInt) else UInt, int(key)), _MISSING)


def _native_text(key: Value) -> str | None:
    while isinstance(key, Optional) and key.present:
        key = key.value
    return key if isinstance(key, str) else key.native_text if isinstance(key, Thing) else None


class GrowingMap(Map):
    """The map that a macro is making."""


def check_hashable(key: Value) -> None:
    """Go panics on hashing some values, and cel-go gives the evaluation up."""
    go_name = "types.Bytes" if isinstance(key, bytes) else ""
    if isinstance(key, Thing) and not key.hashable:
        go_name = f"cel.{key.go_name}"
    if go_name:
        raise Abort(f"internal error: runtime error: hash of unhashable type {go_name}")


def opened(optional: Optional) -> Value:
    """What is in an optional from which a chain starts.

    cel-go takes the Go value out and makes a CEL value of it again. Not everything survives that: versions and
    quantities become errors, ``device.attributes`` loses its empty maps for unknown domains, a type becomes its name.
    """
    value = optional.value
    plain = isinstance(value, bool | int | float | str | bytes | None) or type(value) is tuple
    if plain or (isinstance(value, Map) and value.default is _MISSING):
        return value
    raise NotDecided(f"a variable or selection of an optional with a value of type {type_name(value)}")


_NAMES: Final[dict[type, str]] = {
    bool: "bool", int: "int", UInt: "uint", float: "double", str: "string", bytes: "bytes", type(None): "null_type",
    tuple: "list", Concatenation: "list", Map: "map", GrowingMap: "map", Optional: "optional_type", TypeValue: "type",
}  # fmt: skip


def register(kind: K) -> K:
    """Class decorator: make a Kubernetes type known by its name."""
    _NAMES[kind] = kind.type_name
    return kind


def is_registered(name: str) -> bool:
    """Whether a type of this name has values here."""
    return name in _NAMES.values()


def type_name(value: Value) -> str:
    """The name of a value's type as cel-go has it in messages."""
    return _NAMES[type(value)]


_EXPONENT_FROM: Final = 6


def _digits(value: float) -> tuple[str, str, int]:
    """The sign, the shortest digits that read back, and the power of ten of the first, of a finite number."""
    mantissa, _, exponent = f"{value!r}".partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    integer, _, fraction = mantissa.partition(".")
    digits = (integer + fraction).lstrip("0")
    leading = len(integer + fraction) - len(digits)
    return sign, digits.rstrip("0"), len(integer) - leading - 1 + int(exponent or 0)


def format_double(value: float) -> str:
    """Go's ``%g``: the shortest digits that read back, an exponent below 1e-4 and from 1e6 on."""
    if not math.isfinite(value):
        return fixed_digits(value)
    sign, digits, power = _digits(value)
    if digits and (power < -4 or power >= _EXPONENT_FROM):
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{rest}e{'-' if power < 0 else '+'}{abs(power):02}"
    return fixed_digits(value)


def fixed_digits(value: float) -> str:
    """The shortest digits that read back, without an exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, power = _digits(value)
    if not digits:
        return f"{sign}0"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    digits = digits.ljust(power + 1, "0")
    return f"{sign}{digits[: power + 1]}" + (f".{digits[power + 1 :]}" if len(digits) > power + 1 else "")


def text(value: Value) -> str:
    """A value inside a message, as Go prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format_double(value)
    if isinstance(value, str | int):
        return str(value)
    raise NotDecided(f"a message that shows a value of type {type_name(value)}")


# -- equality -------------------------------------------------------------------------------------------------------


def equal(left: Value, right: Value) -> bool:
    """``left == right`` across types, as ``types.Equal``: null first, then by the left side's rule.

    :raises Fault: where the left side's type refuses the comparison.
    """
    if left is None or right is None:
        return left is right
    return equals(left, right)


def equals(left: Value, right: Value) -> bool:
    """The left side's own rule, without the one for null."""
    if isinstance(left, Thing):
        return left.equals(right)
    rule = _EQUALS.get(type(left))
    return rule(left, right) if rule else False


def _same_type(left: Value, right: Value) -> bool:
    return type(left) is type(right) and bool(left == right)


def _numbers(left: Value, right: Value) -> bool:
    if isinstance(right, bool) or not isinstance(right, int | float) or left != left or right != right:  # noqa: PLR0124  # NaN
        return False
    return _compare_numbers(left, right) == 0


def _lists(left: tuple[Value, ...], right: Value) -> bool:
    if not isinstance(right, tuple) or len(left) != len(right):
        return False
    first_fault: Fault | None = None
    for one, other in zip(left, right, strict=True):
        try:
            if not equal(one, other):
                return False
        except Fault as fault:
            first_fault = first_fault or fault
    # An element that cannot be compared counts as equal, except in a concatenation.
    if first_fault and isinstance(left, Concatenation):
        raise first_fault
    return True


def _maps(left: Map, right: Value) -> bool:
    if not isinstance(right, Map) or len(left) != len(right):
        return False
    for key in left:
        other, found = right.find(key)
        if not found:
            return False
        try:
            if not equal(left.find(key)[0], other):
                return False
        except Fault:
            continue
    return True


def _optionals(left: Optional, right: Value) -> bool:
    if not isinstance(right, Optional) or not (left.present and right.present):
        return isinstance(right, Optional) and left.present == right.present
    return equals(left.value, right.value)


_EQUALS: Final[dict[type, Callable[[Any, Value], bool]]] = {
    bool: _same_type, str: _same_type, bytes: _same_type, TypeValue: _same_type, type(None): _same_type,
    int: _numbers, UInt: _numbers, float: _numbers, tuple: _lists, Concatenation: _lists, Map: _maps, GrowingMap: _maps,
    Optional: _optionals,
}  # fmt: skip


def same(left: Value, right: Value) -> bool:
    """Equality by the left side's rule, an error being inequality."""
    try:
        return equals(left, right)
    except Fault:
        return False


# -- order ----------------------------------------------------------------------------------------------------------


def _compare_numbers(left: Value, right: Value) -> int:
    """-1, 0 or 1, of two numbers that may differ in type."""
    if isinstance(left, float):
        return _sign(left, right) if isinstance(right, float) else _compare_with_whole(left, right)
    return -_compare_with_whole(right, left) if isinstance(right, float) else _sign(left, right)


def _compare_with_whole(double: float, whole: int) -> int:
    """A double beside an integer, which is rounded to a double first, unless the double is beyond its range."""
    low, high = (0.0, float(UINT64[-1])) if isinstance(whole, UInt) else (float(INT64[0]), float(INT64[-1]))
    if low <= double <= high:
        return _sign(double, float(whole))
    return -1 if double < low else 1


def _sign(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def compare(left: Value, right: Value) -> int:
    """-1, 0 or 1; ``left`` is of a type that has an order.

    :raises Fault: the right side cannot be compared with the left.
    """
    if isinstance(left, str) and isinstance(right, str):
        return _sign(left, right) if left.isascii() and right.isascii() else _sign(utf8(left), utf8(right))
    if isinstance(left, bool | str | bytes):
        if type(left) is type(right):
            return _sign(left, right)
    elif isinstance(left, Thing):
        if type(left) is type(right):
            return _sign(left.order, right.order)
    elif left != left:  # noqa: PLR0124  # NaN is asked before what it is compared with
        raise Fault("NaN values cannot be ordered")
    elif isinstance(right, int | float) and not isinstance(right, bool):
        if right != right:  # noqa: PLR0124  # NaN
            raise Fault("NaN values cannot be ordered")
        return _compare_numbers(left, right)
    raise Fault(NO_SUCH_OVERLOAD)
