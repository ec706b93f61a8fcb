"""Amounts as integers of 1e-9, so that sums are exact whatever the decimal context of the caller, and cheap.

A quantity has no finer part than 1e-9. Beyond 1e64 every amount counts as the same "more than there is of anything":
nothing that large is divided up.

Source for the notation: k8s.io/apimachinery ``pkg/api/resource/quantity.go`` (ParseQuantity, MarshalJSON).
"""

from __future__ import annotations

import functools
import re
from decimal import Decimal
from typing import Final

from drakit.model import Quantity, QuantityFormat

__all__ = ["NANO", "nano", "shown", "stored"]

NANO: Final = 10**9
"""One, in the unit of amounts."""
_MOST: Final = 10**64 * NANO


def nano(quantity: Quantity) -> int:
    """The amount of a quantity in 1e-9."""
    if not quantity.value:
        return 0  # whatever its exponent
    sign, digits, exponent = quantity.value.as_tuple()
    if quantity.value.adjusted() > 64:
        return -_MOST if sign else _MOST
    number = int("".join(map(str, digits)))
    shift = int(exponent) + 9
    magnitude: int = number * 10**shift if shift >= 0 else -(-number // 10**-shift)
    return -magnitude if sign else magnitude


def shown(amount: int, like: Quantity | None = None) -> Quantity:
    """An amount as a quantity again, in the notation of another one."""
    digits = tuple(map(int, str(abs(amount))))
    value = Decimal((int(amount < 0), digits, -9))
    whole = amount % NANO == 0
    if whole:
        value = Decimal(amount // NANO)
    return Quantity(value, like.format if like is not None else QuantityFormat.DECIMAL_SI)


def stored(quantity: Quantity) -> Quantity:
    """The quantity as Kubernetes writes it again once it has read it: canonical, unless it took the text for that.

    It does so where the text looks canonical at a glance: ``1.500`` stays, ``1.50`` becomes ``1500m``.
    """
    return quantity if _looks_canonical(quantity.text) else Quantity(quantity.value, quantity.format)


_PARTS: Final = re.compile(r"[+-]?0*([0-9]*)\.?([0-9]*)(.*)")
_BINARY_DIGITS: Final = {"Ki": 11, "Mi": 8, "Gi": 5, "Ti": 2}
"""Most digits of a number that Kubernetes multiplies as an int64, by suffix."""
_DECIMAL_DIGITS: Final = 18
_EXPONENTS: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@functools.lru_cache(maxsize=4096)
def _looks_canonical(text: str) -> bool:
    match = _PARTS.fullmatch(text)
    number, fraction, suffix = match.groups() if match else ("", "", "")
    if not number:
        return False
    if suffix.endswith("i"):
        return not fraction and len(number) <= _BINARY_DIGITS.get(suffix, 0) and int(number) % 8 != 0
    digits = number + fraction
    exponent = _EXPONENTS[suffix] if suffix in _EXPONENTS else int(suffix[1:])
    scale = exponent - len(fraction)
    return len(digits) <= _DECIMAL_DIGITS and scale >= -9 and scale % 3 == 0 and not digits.endswith("000")
