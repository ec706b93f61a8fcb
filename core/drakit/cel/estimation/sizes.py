"""Sizes and costs as an estimate counts them: unsigned 64-bit numbers that stop at the greatest.

The roundings through floats are cel-go's and decide over the last
digits of great numbers, so they are kept.

Source: github.com/google/cel-go ``checker/cost.go`` (SizeEstimate, CostEstimate).
"""

from __future__ import annotations

import math
from typing import Final

from attrs import frozen

__all__ = ["MOST", "UNKNOWN", "Entries", "Size", "added", "multiplied", "scaled", "wrapped"]

MOST: Final = 2**64 - 1
"""The greatest size and cost; it also says that there is no bound."""


def added(left: int, right: int) -> int:
    """The sum."""
    return min(left + right, MOST)


def multiplied(left: int, right: int) -> int:
    """The product."""
    return min(left * right, MOST)


def scaled(number: int, factor: float) -> int:
    """A number times a factor, rounded up."""
    product = float(number) * factor
    return math.ceil(product) if product < MOST else MOST


def wrapped(number: int) -> int:
    """A number where cel-go forgets to stop at the greatest: it starts again at zero."""
    return number & MOST


@frozen
class Size:
    """Bounds for ``size()`` of a value: code points, bytes, elements or entries; 1 for a scalar."""

    min: int
    max: int

    @classmethod
    def of(cls, size: int) -> Size:
        """A size that is known."""
        return cls(size, size)

    def plus(self, other: Size) -> Size:
        """Of two values one after the other."""
        return Size(added(self.min, other.min), added(self.max, other.max))

    def times(self, other: Size) -> Size:
        """Of as many values as one says, each as big as the other says."""
        return Size(multiplied(self.min, other.min), multiplied(self.max, other.max))

    def union(self, other: Size) -> Size:
        """Of a value that is one or the other."""
        return Size(min(self.min, other.min), max(self.max, other.max))


UNKNOWN: Final = Size(0, MOST)


@frozen
class Entries:
    """Bounds for the sizes of what a list or a map holds."""

    container: str
    """``list`` or ``map``."""
    key: Size
    value: Size

    def union(self, other: Entries) -> Entries:
        """Of a container that is one or the other, or holds what both hold."""
        return Entries(self.container, self.key.union(other.key), self.value.union(other.value))
