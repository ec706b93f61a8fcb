"""Kubernetes' resource quantities: exact values, Kubernetes' grammar, its canonical form.

Every number the API calls a Quantity (capacities, counters, capacity requests) is one of these. A value is a
decimal number of any size; nothing is ever rounded through a float.

Source: k8s.io/apimachinery ``pkg/api/resource/quantity.go`` (grammar, rounding, canonical form).
"""

from __future__ import annotations

import decimal
import functools
import re
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Final, Self

from attrs import field, frozen
from attrs.validators import instance_of

__all__ = ["MissingDigits", "Quantity", "QuantityFormat", "exponent_of", "quantity"]

_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIX: Final = {exponent: suffix for suffix, exponent in _BINARY.items()}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}

# A number may lack its integer part, its fraction, or both ("1.", ".5", "Ki" is 0): apimachinery accepts them all.
_GRAMMAR: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<integer>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?",
    re.ASCII,
)
_MAX_DIGITS: Final = 16_384  # a bound of ours, above the longest expression: longer numbers would eat memory
_MAX_INT64: Final = Decimal(2**63 - 1)
_NANO: Final = Decimal("1e-9")
_INT64: Final = range(-(2**63), 2**63)
_EXACT: Final = decimal.Context(
    prec=_MAX_DIGITS + 64, Emin=-(10**12), Emax=10**12, traps=[decimal.Inexact, decimal.Overflow, decimal.InvalidOperation]
)
_ROUND_UP: Final = decimal.Context(prec=3 * _MAX_DIGITS, rounding=decimal.ROUND_UP, Emin=-(10**12), Emax=10**12)


class QuantityFormat(Enum):
    """How a quantity was written, which decides how it is printed."""

    BINARY_SI = "BinarySI"
    """1Ki, 20Gi"""
    DECIMAL_SI = "DecimalSI"
    """1500m, 4, 2M"""
    DECIMAL_EXPONENT = "DecimalExponent"
    """1e3"""


class MissingDigits(ValueError):
    """A quantity that is a suffix alone, and one that upstream does not read as 0."""


@functools.total_ordering
@frozen(order=False, eq=False, repr=False)
class Quantity:
    """An exact number with Kubernetes' notation.

    Two quantities are equal when their values are (``Quantity.parse("1Ki") == Quantity.parse("1024")``), whatever
    they were written as; :attr:`text` keeps the notation, :meth:`canonical` gives the API server's.
    """

    value: Decimal = field(validator=instance_of(Decimal))
    """The number itself, a multiple of 1e-9."""
    format: QuantityFormat = QuantityFormat.DECIMAL_SI
    text: str = field(default="", kw_only=True)
    """As it was written; empty for computed values."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a quantity as apimachinery's ``ParseQuantity`` does.

        :param text: such as ``80Gi``, ``1500m``, ``1e3``. Precision beyond 1e-9 is rounded away from zero; a binary
            quantity above 2**63-1 is capped there, as upstream caps it.
        :raises ValueError: not a quantity; the message says what would be right.
        """
        match = _GRAMMAR.fullmatch(text)
        if match is None or not text or len(text) > _MAX_DIGITS:
            raise ValueError(_complaint(text))
        digits = f"{match['integer'] or '0'}.{match['fraction'] or '0'}"
        suffix = match["suffix"] or ""
        if not (match["integer"] or match["fraction"]) and _needs_digits(suffix):
            raise MissingDigits(_complaint(text))
        if suffix in _BINARY:
            return cls._binary(text, match["sign"], _EXACT.multiply(Decimal(digits), Decimal(2 ** _BINARY[suffix])))
        exponent = _DECIMAL.get(suffix)
        format_ = QuantityFormat.DECIMAL_SI
        if exponent is None:
            exponent, format_ = exponent_of(suffix), QuantityFormat.DECIMAL_EXPONENT
            if exponent is None:
                raise ValueError(_complaint(text))
        magnitude = _to_nano(Decimal(digits).scaleb(exponent, _EXACT))
        return cls(_signed(match["sign"], magnitude), format_, text=text)

    @classmethod
    def _binary(cls, text: str, sign: str, magnitude: Decimal) -> Self:
        magnitude = min(_to_nano(magnitude), _MAX_INT64)
        fractional = 0 < magnitude < 1
        format_ = QuantityFormat.DECIMAL_SI if fractional else QuantityFormat.BINARY_SI
        return cls(_signed(sign, magnitude), format_, text=text)

    def canonical(self) -> str:
        """The one notation the API server prints: largest suffix without a fraction, no loss of precision."""
        if self.value == 0:
            return "0"
        if self.format is QuantityFormat.BINARY_SI and abs(self.value) >= 1024 and self._is_integer():
            return self._canonical_binary()
        mantissa, exponent = self._factor_out_tens()
        if self.format is QuantityFormat.DECIMAL_EXPONENT or exponent not in _DECIMAL_SUFFIX:
            return f"{mantissa}e{exponent}" if exponent else mantissa
        return f"{mantissa}{_DECIMAL_SUFFIX[exponent]}"

    def _canonical_binary(self) -> str:
        number, exponent = int(self.value), 0
        while number % 1024 == 0 and exponent < 60:
            number //= 1024
            exponent += 10
        return f"{number}{_BINARY_SUFFIX.get(exponent, '')}"

    def _factor_out_tens(self) -> tuple[str, int]:
        """Mantissa and exponent, the exponent the largest multiple of three that leaves an integer."""
        sign, digits, exponent = self.value.as_tuple()
        number = "".join(map(str, digits)).lstrip("0")
        stripped = number.rstrip("0")
        exponent = int(exponent) + len(number) - len(stripped)
        padding = exponent % 3
        return f"{'-' if sign else ''}{stripped}{'0' * padding}", exponent - padding

    def _is_integer(self) -> bool:
        return self.value == self.value.to_integral_value()

    def to_int(self) -> int:
        """The value as an integer, fractions rounded up away from zero (Go's ``Quantity.Value``).

        :raises ValueError: more than 16,384 digits.
        """
        if self.value and self.value.adjusted() > _MAX_DIGITS:
            raise ValueError(f"{self} has too many digits to be an integer")
        return int(self.value.to_integral_value(decimal.ROUND_UP, _ROUND_UP))

    def __add__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        return Quantity(_exactly(_EXACT.add, self.value, other.value), self.format if self.value else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        return Quantity(_exactly(_EXACT.subtract, self.value, other.value), self.format if self.value else other.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(_exactly(_EXACT.multiply, self.value, Decimal(times)), self.format)

    def __neg__(self) -> Quantity:
        return Quantity(self.value.copy_negate() if self.value else self.value, self.format)

    def __eq__(self, other: object) -> bool:
        return self.value == other.value if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self.value < other.value

    def __hash__(self) -> int:
        # Decimal's own hash computes 10**exponent modulo a prime, so it is cheap for any exponent.
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __str__(self) -> str:
        return self.text or self.canonical()

    def __repr__(self) -> str:
        return f"quantity({str(self)!r})"


def quantity(value: Quantity | int | str | Decimal) -> Quantity:
    """The quantity for a Python value: an int, a Decimal, or text in Kubernetes' notation.

    :raises ValueError: text that is not a quantity, or a number that is not finite.
    :raises TypeError: any other type; floats too, for they are not exact.
    """
    match value:
        case Quantity():
            return value
        case str():
            return Quantity.parse(value)
        case Decimal() if value.is_finite():
            return Quantity(_signed("-" if value < 0 else "", _to_nano(value.copy_abs())))
        case Decimal():
            raise ValueError(f"{value} is not a quantity: must be finite")
        case int() if not isinstance(value, bool):
            return Quantity(Decimal(value))
    raise TypeError(f"{value!r} is not a quantity: must be an int, a Decimal or text such as '80Gi'")


def exponent_of(suffix: str) -> int | None:
    """The exponent of ``e3``. An int64, of which apimachinery keeps the lower half: ``1e4294967297`` is ten."""
    exponent = int(Decimal(suffix[1:]))  # int() of a text is for 4,300 digits
    return (exponent + 2**31) % 2**32 - 2**31 if exponent in _INT64 else None


def _needs_digits(suffix: str) -> bool:
    """Whether a suffix cannot stand alone: upstream reads ``Ki`` as 0, but large and tiny ones take another path."""
    return suffix in ("Pi", "Ei") or (suffix[:1] in ("e", "E") and len(suffix) > 1 and Decimal(suffix[1:]) < -9)


def _to_nano(magnitude: Decimal) -> Decimal:
    """Round a non-negative number up to a multiple of 1e-9: who asks for a little gets a little."""
    if int(magnitude.as_tuple().exponent) >= -9:
        return magnitude
    if magnitude and magnitude.adjusted() < -9:
        return _NANO
    return magnitude.quantize(_NANO, rounding=decimal.ROUND_UP, context=_ROUND_UP)


def _signed(sign: str, magnitude: Decimal) -> Decimal:
    return magnitude.copy_negate() if sign == "-" and magnitude else magnitude


def _exactly(operation: Callable[[Decimal, Decimal], Decimal], left: Decimal, right: Decimal) -> Decimal:
    try:
        return operation(left, right)
    except decimal.Inexact:
        raise ValueError(f"{left} and {right} are too far apart to be put together exactly") from None


def _complaint(text: str) -> str:
    shown = text if len(text) <= 64 else text[:61] + "..."
    guess = _spelling(text)
    hint = f"did you mean {guess!r}?" if guess else "a number with an optional suffix such as Ki, Mi, Gi, m, k, M, G or e3"
    return f"{shown!r} is not a quantity: {hint}"


def _spelling(text: str) -> str | None:
    """The quantity a common slip was meant to be: ``6 GiB`` is ``6Gi``, ``1K`` is ``1k``."""
    squeezed = text.strip().replace(" ", "").removesuffix("B").removesuffix("b")
    for candidate in (squeezed, squeezed.replace("K", "k"), squeezed[:-1] + "i" if squeezed.endswith("I") else ""):
        if candidate and candidate != text and len(candidate) < 32 and _GRAMMAR.fullmatch(candidate) and candidate[0].isdigit():
            return candidate
    return None
