"""Amounts as integers of 1e-9, so that sums are exact whatever the decimal context of the caller, and cheap.

A quantity has no finer part than 1e-9. Beyond 1e64 every amount counts as the same "more than there is of anything":
nothing that large is divided up.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from drakit.model import Quantity, QuantityFormat

__all__ = ["NANO", "nano", "shown"]

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
