"""Go's ``sort.Slice``, for where it shows that it is not stable: of equal keys, it decides which comes first.

Pattern-defeating quicksort, step by step as Go does it, its fixed "random" numbers included.

Source: Go ``sort`` (``zsortfunc.go``, ``sort.go``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["sorted_indexes"]

_FEW: Final = 12  # sorted by insertion
_SHORT: Final = 50
_MAX_SWAPS: Final = 12
_MAX_STEPS: Final = 5
_UINT64: Final = 2**64 - 1


def sorted_indexes(length: int, less: Callable[[int, int], bool]) -> list[int]:
    """The indexes of so many elements in their order.

    :param less: whether the element at one index comes before that at another; it need not be consistent.
    """
    sorter = _Sorter(length, less)
    sorter.sort(0, length, length.bit_length())
    return sorter.order


class _Sorter:
    def __init__(self, length: int, less: Callable[[int, int], bool]) -> None:
        self.order = list(range(length))
        self._less = less
        self.swaps = 0

    def less(self, i: int, j: int) -> bool:
        return self._less(self.order[i], self.order[j])

    def swap(self, i: int, j: int) -> None:
        self.order[i], self.order[j] = self.order[j], self.order[i]

    def sort(self, a: int, b: int, limit: int) -> None:
        balanced = partitioned = True
        while (length := b - a) > _FEW:
            if limit == 0:
                self.heap_sort(a, b)
                return
            if not balanced:
                self.break_patterns(a, b)
                limit -= 1
            pivot = self.choose_pivot(a, b)
            increasing = self.swaps == 0
            if self.swaps == _MAX_SWAPS:
                self.order[a:b] = self.order[a:b][::-1]
                pivot, increasing = (b - 1) - (pivot - a), True
            if balanced and partitioned and increasing and self.insert_some(a, b):
                return
            if a > 0 and not self.less(a - 1, pivot):
                a = self.partition_equal(a, b, pivot)
                continue
            middle, partitioned = self.partition(a, b, pivot)
            left, right = middle - a, b - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(a, middle, limit)
                a = middle + 1
            else:
                self.sort(middle + 1, b, limit)
                b = middle
        self.insertion_sort(a, b)

    def insertion_sort(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            j = i
            while j > a and self.less(j, j - 1):
                self.swap(j, j - 1)
                j -= 1

    def sift_down(self, low: int, high: int, first: int) -> None:
        root = low
        while (child := 2 * root + 1) < high:
            if child + 1 < high and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def heap_sort(self, a: int, b: int) -> None:
        high = b - a
        for i in range((high - 1) // 2, -1, -1):
            self.sift_down(i, high, a)
        for i in range(high - 1, -1, -1):
            self.swap(a, a + i)
            self.sift_down(0, i, a)

    def partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Where the pivot came to, and whether nothing had to be moved."""
        self.swap(a, pivot)
        i, j = self.narrow(a, a + 1, b - 1)
        if i > j:
            self.swap(j, a)
            return j, True
        while i <= j:
            self.swap(i, j)
            i, j = self.narrow(a, i + 1, j - 1)
        self.swap(j, a)
        return j, False

    def narrow(self, a: int, i: int, j: int) -> tuple[int, int]:
        while i <= j and self.less(i, a):
            i += 1
        while i <= j and not self.less(j, a):
            j -= 1
        return i, j

    def partition_equal(self, a: int, b: int, pivot: int) -> int:
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i, j = i + 1, j - 1

    def insert_some(self, a: int, b: int) -> bool:
        """Sort what is nearly sorted; False where that is too much."""
        i = a + 1
        for _ in range(_MAX_STEPS):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < _SHORT:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                j = i - 1
                while j >= 1 and self.less(j, j - 1):
                    self.swap(j, j - 1)
                    j -= 1
            if b - i >= 2:
                j = i + 1
                while j < b and self.less(j, j - 1):
                    self.swap(j, j - 1)
                    j += 1
        return False

    def break_patterns(self, a: int, b: int) -> None:
        length = b - a
        random, mask = length, (1 << length.bit_length()) - 1
        middle = a + length // 4 * 2
        for index in range(middle - 1, middle + 2):
            random ^= random << 13 & _UINT64
            random ^= random >> 7
            random ^= random << 17 & _UINT64
            other = random & mask
            self.swap(index, a + (other - length if other >= length else other))

    def choose_pivot(self, a: int, b: int) -> int:
        """An index; ``swaps`` tells how many elements on the way there were out of order."""
        self.swaps = 0
        quarter = (b - a) // 4
        i, j, k = a + quarter, a + quarter * 2, a + quarter * 3
        if b - a >= _SHORT:
            i, j, k = (self.median(index - 1, index, index + 1) for index in (i, j, k))
        return self.median(i, j, k)

    def median(self, a: int, b: int, c: int) -> int:
        a, b = self.ordered(a, b)
        b, c = self.ordered(b, c)
        return self.ordered(a, b)[1]

    def ordered(self, a: int, b: int) -> tuple[int, int]:
        if self.less(b, a):
            self.swaps += 1
            return b, a
        return a, b
