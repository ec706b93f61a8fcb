"""Quantities as CEL has them: a value, and how apimachinery holds it.

``isInteger()`` and ``asInteger()`` tell of the holding: only a number that fits an int64 with a power of ten counts. And
comparing with a number held the slow way turns the receiver into one too, for the rest of the evaluation.

Source: k8s.io/apimachinery ``pkg/api/resource/{quantity,amount}.go``; k8s.io/apiserver ``pkg/cel/library/quantity.go``.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

from attrs import define

from drakit.cel.values import INT64, NO_SUCH_OVERLOAD, Fault, NotDecided, Thing, Value, register
from drakit.model import Quantity
from drakit.model.quantity import MissingDigits, exponent_of

__all__ = ["QuantityValue"]

_PARTS: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(.*)", re.DOTALL)
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NANO: Final = -9
_MAX_LENGTH: Final = 16_384  # what drakit.model reads
_SHAPE: Final = re.compile(r"[+-]?[0-9]*(?:\.[0-9]*)?[eEinumkKMGTP]*[-+]?[0-9]*", re.ASCII)
_WRONG_SUFFIX: Final = "unable to parse quantity's suffix"
_WRONG_FORMAT: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@register
class QuantityValue(Thing):
    """A quantity during one evaluation; not shared between evaluations, because comparing may change it."""

    __slots__ = ("_held", "computed", "fast")
    type_name = "kubernetes.Quantity"

    def __init__(self, quantity: Quantity, fast: tuple[int, int] | None, *, places: int = 0, computed: bool = False) -> None:
        self._held = _Held(quantity, places)
        self.fast = fast
        """Number and power of ten while it is held as an int64; None once it is held the slow way."""
        self.computed = computed
        """From ``add`` or ``sub``: cel-go's equality does not take such a one on the right."""

    @property
    def quantity(self) -> Quantity:
        return self._held.quantity

    @property
    def places(self) -> int:
        """Of the slow way, how many digits behind the point are held, negative for zeros before it."""
        return self._held.places if self.fast is None else -self.fast[1]

    @classmethod
    def parse(cls, text: str) -> QuantityValue:
        """Read a quantity, with apimachinery's text where it is none.

        :raises Fault: not a quantity.
        """
        if len(text) > _MAX_LENGTH:
            raise NotDecided(f"a quantity longer than {_MAX_LENGTH}")
        try:
            quantity = Quantity.parse(text)
        except MissingDigits:
            raise Fault("unable to parse numeric part of quantity") from None
        except ValueError:
            raise Fault(_WRONG_SUFFIX if text and _SHAPE.fullmatch(text) else _WRONG_FORMAT) from None
        fast = _fast(text)
        return cls(quantity, fast, places=0 if fast else _places(text, quantity))

    @classmethod
    def of(cls, quantity: Quantity) -> QuantityValue:
        """A device's capacity, as a cluster would read it."""
        text = str(quantity)
        fast = _fast(text)
        return cls(quantity, fast, places=0 if fast else _places(text, quantity))

    def fresh(self) -> QuantityValue:
        """The same for another evaluation."""
        return QuantityValue(self.quantity, self.fast, places=self.places)

    @property
    def native_text(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return str(self.quantity)

    def equals(self, other: Value) -> bool:
        if not isinstance(other, QuantityValue) or other.computed:
            raise Fault(NO_SUCH_OVERLOAD)
        return self.quantity == other.quantity

    def compare(self, other: QuantityValue) -> int:
        """-1, 0 or 1."""
        if other.fast is None:
            self._held.places, self.fast = self.places, None
        return (self.quantity > other.quantity) - (self.quantity < other.quantity)

    def sign(self) -> int:
        return (self.quantity.value > 0) - (self.quantity.value < 0)

    def as_int64(self) -> int | None:
        """The value where it is held as an integer."""
        if self.fast is None or self.fast[1] < 0:
            return None
        return _scaled(*self.fast)

    def approximate(self) -> float:
        """As a double: the number as a double, times the power of ten."""
        number, scale = self.fast or (None, -self.places)
        if number is not None:
            base = float(number)
        elif self.quantity.value and self.quantity.value.adjusted() - scale > _MAX_POWER:
            base = math.copysign(math.inf, self.quantity.value)
        else:
            try:
                base = float(_whole(self.quantity.value, -scale))
            except OverflowError:
                base = math.copysign(math.inf, self.quantity.value)
        return base if scale == 0 else base * _power_of_ten(scale)

    def plus(self, other: QuantityValue | int, sign: int = 1, *, minor: int = 37) -> QuantityValue:
        """The sum, or the difference with a sign of -1.

        :param minor: of Kubernetes. Before 1.37, a receiver held the slow way becomes the sum, and both stay one.
        """
        right = QuantityValue(Quantity(Decimal(other)), (other, 0)) if isinstance(other, int) else other
        fast = _added(self.fast, right.fast, sign)
        if fast is not None and right.fast is not None and right.fast[0] == INT64[0]:
            sign = 1  # Go negates the least int64 to itself, so it is added whatever was asked
        try:
            total = self.quantity + right.quantity if sign > 0 else self.quantity - right.quantity
        except ValueError as error:
            raise NotDecided(str(error)) from None
        result = QuantityValue(total, fast, places=max(self.places, right.places), computed=True)
        if minor < _COPIES and self.fast is None:
            self._held.quantity, self._held.places = total, result.places
            result._held = self._held
        return result


_COPIES: Final = 37
"""The release since which a sum is another number than its first term."""
_MAX_POWER: Final = 310  # of ten, beyond what a double holds


@define
class _Held:
    """A number held the slow way, of which two quantities may be the owners."""

    quantity: Quantity
    places: int


def _whole(value: Decimal, places: int) -> int:
    """A number without its point, so many digits behind which it has at most; whatever the decimal context is."""
    sign, digits, exponent = value.as_tuple()
    number = int(Decimal((0, digits, 0)))  # int() of a text is for 4,300 digits
    if number:
        number *= 10 ** (int(exponent) + places)
    return -number if sign else number


def _power_of_ten(exponent: int) -> float:
    """As Go's ``math.Pow10``, which multiplies two powers and is not always the nearest double."""
    if exponent > 308:
        return math.inf
    if exponent < -323:
        return 0.0
    high, low = divmod(abs(exponent), 32)
    if exponent >= 0:
        return float(f"1e{32 * high}") * float(f"1e{low}")
    return float(f"1e-{32 * high}") / float(f"1e{low}")


def _places(text: str, quantity: Quantity) -> int:
    """How many digits behind the point ``ParseQuantity`` holds of a number that it holds the slow way."""
    match = _PARTS.fullmatch(text)
    assert match is not None
    integer, fraction, suffix = match[2], match[3] or "", match[4]
    if not quantity.value:
        exponent = 0 if suffix in _BINARY else _DECIMAL[suffix] if suffix in _DECIMAL else exponent_of(suffix) or 0
        return len(fraction) - exponent
    digits = integer + fraction
    if suffix not in _BINARY:
        return -_NANO
    capped = int(Decimal(digits or "0")) << _BINARY[suffix] > INT64[-1] * 10 ** len(fraction)
    return 0 if capped else -_NANO


def _fast(text: str) -> tuple[int, int] | None:
    """How ``ParseQuantity`` holds a number it accepts: number and power of ten, or None for the slow way."""
    match = _PARTS.fullmatch(text)
    assert match is not None
    sign, integer, fraction, suffix = match[1], match[2].lstrip("0"), match[3] or "", match[4]
    multiplier, scale = 1, 0
    if suffix in _BINARY:
        exponent = _BINARY[suffix]
        # 2**exponent has about exponent * 3 / 10 digits.
        digits_left = 15 - len(integer or "0") - exponent * 3 // 10 - 1 if not fraction else -1
        multiplier = 2**exponent
    else:
        scale = _DECIMAL[suffix] if suffix in _DECIMAL else exponent_of(suffix) or 0
        digits_left = 18 - len(integer or "0") - len(fraction)
    scale -= len(fraction)
    if digits_left < 0 or scale < _NANO:
        return None
    number = int((integer or "0") + fraction) * multiplier
    if number not in INT64:
        return None
    return (-number if sign == "-" else number), scale


def _added(left: tuple[int, int] | None, right: tuple[int, int] | None, sign: int) -> tuple[int, int] | None:
    if left is None or right is None:
        return None
    (one, one_scale), (other, other_scale) = left, right
    if other != INT64[0]:
        other *= sign
    if other == 0:
        return left
    if one == 0:
        return other, other_scale
    scale = min(one_scale, other_scale)
    first, second = _scaled(one, one_scale - scale), _scaled(other, other_scale - scale)
    if first is None or second is None or first + second not in INT64:
        return None
    return first + second, scale


def _scaled(number: int, scale: int) -> int | None:
    """``number * 10**scale`` where that fits an int64."""
    if number == 0 or scale > 18:
        return None if number else 0
    value = number * 10**scale
    return value if value in INT64 else None
