"""How much is asked of the oracle, in which order, and the count of it.

``DRAKIT_UPSTREAM_EXAMPLES=200000 tox -e upstream`` asks more, ``DRAKIT_UPSTREAM_SEED=N`` asks other questions. What is
found belongs into the test as an example.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import hypothesis
import pytest
from attrs import define, field
from hypothesis import HealthCheck, seed, settings

Test = TypeVar("Test", bound=Callable[..., Any])


def _number(variable: str, default: int, least: int) -> int:
    text = os.environ.get(variable) or str(default)
    if not text.isdecimal() or int(text) < least:
        raise pytest.UsageError(f"{variable} must be a whole number of at least {least}, not {text!r}")
    return int(text)


EXAMPLES: Final = _number("DRAKIT_UPSTREAM_EXAMPLES", 2000, 1)
"""Questions of each kind."""
SEED: Final = _number("DRAKIT_UPSTREAM_SEED", 1372, 0)
"""The same for everybody unless asked otherwise: a commit shall not fail for what another one did."""

_FEW: Final = 5


@define
class Tally:
    """What was compared for one question."""

    outcomes: Counter[str] = field(factory=Counter[str])
    """Compared examples by what came out of them."""
    seconds: Counter[str] = field(factory=Counter[str])
    """Wall time by who was asked: ``drakit`` and ``kubernetes``."""

    @contextmanager
    def timed(self, who: str) -> Iterator[None]:
        """Count the time of the block for one of the two."""
        start = time.perf_counter()
        yield
        self.seconds[who] += time.perf_counter() - start  # type: ignore[assignment]  # a Counter of floats


TALLIES: Final[dict[str, Tally]] = {}


def tally(question: str) -> Tally:
    return TALLIES.setdefault(question, Tally())


def differential(test: Test) -> Test:
    """A test over ``EXAMPLES`` examples from ``SEED``. They are not small enough to be made in no time."""
    return shared(1)(test)


def shared(tests: int) -> Callable[[Test], Test]:
    """As :func:`differential`, for one of so many tests that share the examples of a question, at least a few each."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    number = max(EXAMPLES // tests, min(EXAMPLES, _FEW))
    asked = settings(max_examples=number, deadline=None, database=None, suppress_health_check=slow)
    return lambda test: seed(SEED)(asked(test))


def header() -> str:
    """What is asked, and how to ask it again."""
    how = f"seed {SEED} (DRAKIT_UPSTREAM_SEED), {EXAMPLES} examples a question (DRAKIT_UPSTREAM_EXAMPLES)"
    return f"upstream: {how}, Hypothesis {hypothesis.__version__}"


def summary() -> list[str]:
    """A line for each question that was asked."""
    lines = [header()] if TALLIES else []
    for question, counted in sorted(TALLIES.items()):
        total = counted.outcomes.total()
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in counted.outcomes.most_common())
        rates = ", ".join(f"{who} {total / seconds:,.0f}/s" for who, seconds in sorted(counted.seconds.items()) if seconds)
        lines.append(f"upstream: {question}: {total} compared ({outcomes}){'; ' if rates else ''}{rates}")
    return lines
