"""How often something happens: the few draws that all strategies here are made of.

Each of them shrinks to the plain case: to no, to nothing, to the first. Draws are what a strategy costs (some 15 µs each),
so the tables they choose from are long and the number of draws is small.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = ["happens", "one_in", "pick"]

T = TypeVar("T")
_PERCENT: Final = st.integers(0, 99)


@functools.cache
def one_in(number: int) -> SearchStrategy[bool]:
    """True one time in ``number``, which is 2 or more."""
    return st.sampled_from((*(False,) * (number - 1), True))


def happens(draw: DrawFn, percent: int) -> bool:
    """True in so many cases of a hundred, 0..100."""
    return draw(_PERCENT) >= 100 - percent


def pick(draw: DrawFn, choices: Sequence[T]) -> T:
    """One of the choices, of which there is at least one; the first is the simplest."""
    return choices[0] if len(choices) == 1 else draw(st.sampled_from(choices))
