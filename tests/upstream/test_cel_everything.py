"""Every operator, function and macro of drakit's CEL beside Kubernetes': the whole answer, for stored and new expressions.

Each overload is asked about by itself, and has been reached, as the checker sees it, before its test is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drakit import cel
from drakit.cel.checking.checker import check
from drakit.cel.checking.declarations import FUNCTIONS
from drakit.cel.judging import judge
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.testing.strategies import EXAMPLE_DEVICE, EXAMPLE_DRIVER
from tests.upstream.client import Oracle, OracleError
from tests.upstream.differential import shared, tally
from tests.upstream.test_cel import PANIC, celled, said
from tests.upstream.typed import MACROS, OVERLOADS, calls, macros

pytestmark = pytest.mark.upstream

DEVICE: Final = cel.CelDevice(EXAMPLE_DRIVER, EXAMPLE_DEVICE)
ASKED: Final = celled(EXAMPLE_DRIVER, EXAMPLE_DEVICE)
READERS: Final[tuple[tuple[cel.Environment, Mapping[str, Any]], ...]] = (
    (cel.Environment(), {}),
    *(
        (
            cel.Environment(new=True, list_attributes=lists, consumable_capacity=sharing),
            {"env": "new", "gates": {"DRAListTypeAttributes": lists, "DRAConsumableCapacity": sharing}},
        )
        for lists, sharing in ((True, True), (False, True), (True, False))
    ),
)
"""Who reads an expression, for drakit and for the oracle."""
INSIDE_MACROS: Final = {
    overload.id for name in ("@not_strictly_false", "@sortByAssociatedKeys", "cel.@mapInsert") for overload in FUNCTIONS[name]
}
reached_by_macros: Final = Counter[str]()


def compare(oracle: Oracle, expression: str, reader: int) -> None:
    environment, asked = READERS[reader]
    counted = tally("cel: everything")
    try:
        with counted.timed("kubernetes"):
            theirs = oracle.ask("cel", expr=expression, device=ASKED, **asked)
    except OracleError as error:
        if PANIC not in str(error):
            raise
        counted.outcomes["Kubernetes panics"] += 1
        return
    try:
        with counted.timed("drakit"):
            ours = judge(expression, DEVICE, environment)
    except cel.UnsupportedExpression:
        counted.outcomes["unsupported"] += 1
        return
    counted.outcomes[ours.verdict] += 1
    assert ours.verdict == theirs["verdict"], (ours, theirs)
    assert said(ours.message) == said(theirs.get("message", ""))
    if ours.verdict != "compile_error":
        assert (ours.output_type, ours.max_cost) == (theirs["output_type"], theirs.get("max_cost", 0)), (ours, theirs)
        assert ours.cost == theirs.get("cost", 0), (ours, theirs)


def overloads_in(expression: str) -> Iterator[str]:
    """The overloads that are left for some call, and those that are a function's only one; none where it does not compile."""
    source = Source(expression)
    try:
        checked = check(parse(source), source, cel.Environment())
    except cel.CelError:
        return
    for overloads in checked.overloads.values():
        yield from (overload.id for overload in overloads)
    for name in checked.functions.values():
        if len(FUNCTIONS[name]) == 1:
            yield FUNCTIONS[name][0].id


@pytest.mark.parametrize("overload", OVERLOADS)
def test_every_overload(oracle: Oracle, overload: str) -> None:
    reached = Counter[str]()

    @shared(len(OVERLOADS))
    @given(expression=calls(overload), reader=st.sampled_from((0, 0, 1, 2, 3)))
    def test(expression: str, reader: int) -> None:
        compare(oracle, expression, reader)
        reached.update(overloads_in(expression))

    test()
    assert reached[overload], "no expression that compiles has it"


@pytest.mark.parametrize("macro", MACROS)
def test_every_macro(oracle: Oracle, macro: str) -> None:
    @shared(len(MACROS))
    @given(expression=macros(macro), reader=st.sampled_from((0, 0, 1, 2, 3)))
    def test(expression: str, reader: int) -> None:
        compare(oracle, expression, reader)
        reached_by_macros.update(overloads_in(expression))

    before = reached_by_macros.total()
    test()
    assert reached_by_macros.total() > before
