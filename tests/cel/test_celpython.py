"""cel-python as a second opinion: where it decides, it agrees, but for the faults that are listed here."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings

from drakit import cel
from drakit.cel import celpython
from drakit.cel.engines import engine
from drakit.model import Device, DeviceAttribute
from drakit.testing.strategies import EXAMPLE_DEVICE, EXAMPLE_DRIVER, devices_with_expressions, expressions
from tests.cel.builders import DRIVER, A, C, card
from tests.cel.test_verdicts import CASES

celpy: Any = pytest.importorskip("celpy", reason="cel-python is not installed: pip install 'drakit[cel-python]'")

Verdict = bool | str
ERROR: Final = "EvaluationError"
UNSUPPORTED: Final = "UnsupportedExpression"


def judged(expression: str, device: cel.CelDevice, compile_: Callable[[str], Any] = celpython.compile) -> Verdict:
    """The verdict, or the class of the error."""
    try:
        verdict: bool = compile_(expression).matches(device)
    except cel.CelError as error:
        return type(error).__name__
    return verdict


def spelt_out(expression: str) -> str:
    return expression.replace("A.", f"{A}.").replace("A[", f"{A}[").replace("C.", f"{C}.")


# -- what it gets wrong ----------------------------------------------------------------------------------------------------

ONLY_ONE_TYPE: Final = {
    "A.model == 1": ERROR,
    "A.index == 3.0": ERROR,
    "A.index == 3u": ERROR,
    "A.index == '3'": ERROR,
    "A.most == 9223372036854775807.0": ERROR,
    "A.below == 18446744073709551612u": ERROR,
    "'1.4.2' == A.firmware": ERROR,
    "A.firmware == null": ERROR,
    "[A.firmware] == [A.model]": ERROR,
    "[A.model] == [A.firmware]": ERROR,
    "A.lanes == [4.0, 8.0, 16.0]": ERROR,
    "{'a': A.firmware} == {'a': A.model}": ERROR,
    "dyn({1: 2}) == {1u: 2.0}": ERROR,
    "A.index < 3.5": ERROR,
    "A.index > 2u": ERROR,
    "A.below < 0u": ERROR,
    "A.index in [1.0, 3.0]": ERROR,
    "A.index in [3u]": ERROR,
    "A.index in ['3']": ERROR,
    "A.ecc in [1]": ERROR,
    "1 in [A.firmware]": ERROR,
    "A.index in {3u: 'x'}": ERROR,
    "A.lanes[2.0] == 16": ERROR,
}
"""Values of different types cannot be compared, where Kubernetes says that they differ, or compares numbers by value."""
LIKE_PYTHON: Final[dict[str, Verdict]] = {
    "A.ecc == 1": True,
    "A.ecc + 1 == 2": True,
    "A.lanes[-1] == 16": True,
    "'m1' in A.model": False,
    "A.model.all(c, true)": True,
    "double('NaN') < 1.0": False,
    "string(1e6) == '1e+06' && string(0.5) == '0.5' && string(100000.0) == '100000'": False,
}
"""Values do what Python's do: bools are numbers, lists have a last element at -1, strings are made of parts."""
TEXTS: Final = {
    r"'\a\b\f\n\r\t\v\\\'\"\`\?' == '\x07\x08\x0c\x0a\x0d\x09\x0b\x5c\x27\x22\x60\x3f'": False,
    "'''two\nlines''' == 'two\\nlines'": False,
    "'''two\r\nlines''' == 'two\\nlines'": False,
}
"""Some escapes and line ends are left as they are."""
ERRORS: Final[dict[str, Verdict]] = {
    "has(A.nope.x)": False,
    "has(A.lanes.x)": False,
    "A.nope in []": ERROR,
    "A.firmware in ['1.4.2'] || true": True,
    "{'a': 1, 'a': 2}.a == 2": ERROR,
}
"""has() hides every error; a key that is there twice is one; what ends the evaluation in Go is absorbed."""
FAULTS: Final[dict[str, Verdict]] = {**ONLY_ONE_TYPE, **LIKE_PYTHON, **TEXTS, **ERRORS}
"""What cel-python makes of expressions that drakit and Kubernetes (asked once, 1.37.2) agree about."""
MOST: Final = 60
"""Cases, in hundredths, that cel-python decides at least."""


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_it_agrees_or_is_known_to_be_wrong_or_does_not_decide(expression: str, expected: Verdict) -> None:
    found = judged(spelt_out(expression), card())
    if expression in FAULTS:
        assert found == FAULTS[expression]
    elif found != UNSUPPORTED:
        assert found == (expected if isinstance(expected, bool) else expected.partition(":")[0])


@pytest.mark.parametrize("macro", ["[0].map(x, 1 / x) == []", "[0].filter(x, 1 / x > 0) == []", "[0].exists_one(x, 1 / x > 0)"])
def test_an_error_in_a_macro_that_makes_something_is_not_absorbed(macro: str) -> None:
    assert judged(f"{macro} || true", card()) == ERROR
    assert judged(f"{macro} || true", card(), cel.compile) is True


def test_the_table_of_faults_has_nothing_else() -> None:
    assert FAULTS.keys() <= {expression for expression, _ in CASES}


def test_it_decides_most_cases_of_those_that_compile() -> None:
    found = [judged(spelt_out(expression), card()) for expression, expected in CASES if "CompileError" not in str(expected)]
    assert found.count(UNSUPPORTED) * 100 < len(found) * (100 - MOST)


# -- random expressions ----------------------------------------------------------------------------------------------------


BASE: Final = celpy.evaluation.base_functions


def is_error(value: object) -> bool:
    return isinstance(value, celpy.CELEvalError)


def met(name: str, args: tuple[Any, ...], result: object) -> bool:
    """Whether a call shows a known fault."""
    first = args[0]
    match name:
        case "_[_]":
            return isinstance(first, list) and (isinstance(args[1], float) or (isinstance(args[1], int) and args[1] < 0))
        case "_in_":
            return (is_error(first) and args[1] == []) or (is_error(result) and not any(map(is_error, args)))
        case "_<_" | "_<=_" | "_>_" | "_>=_" if isinstance(first, celpy.celtypes.BoolType):
            return not isinstance(args[1], celpy.celtypes.BoolType)
        case "contains":
            return not isinstance(first, str)
        case "string":
            return isinstance(first, float | celpy.celtypes.BoolType)
    return is_error(result) and not any(map(is_error, args))


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The functions in which an evaluation met a known fault."""
    seen: set[str] = set()

    def watched(name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            try:
                result = BASE[name](*args)
            except TypeError:
                seen.add(name)
                raise
            if met(name, args, result):
                seen.add(name)
            return result

        return call

    for name in ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_in_", "_[_]", "contains", "string"):
        monkeypatch.setitem(celpython.engine._engine().functions, name, watched(name))
    return seen


def leaves_a_macro(expression: str, device: cel.CelDevice) -> bool:
    """Whether the evaluation ends with an error in map, filter or exists_one, which no operator around it could absorb."""
    with pytest.raises(cel.EvaluationError) as caught:
        celpython.compile(expression).matches(device)
    cause = caught.value.__cause__
    return cause is not None and any(frame.name == "sub_expr" for frame in traceback.extract_tb(cause.__traceback__))


def goes_over_a_text(expression: str, device: cel.CelDevice) -> bool:
    """Whether a macro is given what has no elements; cel-python goes over the characters of a text."""
    try:
        cel.compile(expression).matches(device)
    except (cel.CompileError, cel.EvaluationError) as error:
        return "expected iterable type" in str(error)
    return False


def check_one(expression: str, device: cel.CelDevice, noted: set[str]) -> None:
    noted.clear()
    found = judged(expression, device)
    if found == ERROR and leaves_a_macro(expression, device):
        return
    if found != UNSUPPORTED and not noted and not goes_over_a_text(expression, device):
        assert found == judged(expression, device, cel.compile)


RANDOM: Final = settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
"""The same examples in every run: a fault of cel-python that nobody met before is no reason for a commit to fail."""


@RANDOM
@given(expression=expressions())
def test_it_agrees_about_one_device_unless_a_known_fault_was_met(noted: set[str], expression: str) -> None:
    check_one(expression, cel.CelDevice(EXAMPLE_DRIVER, EXAMPLE_DEVICE), noted)


@RANDOM
@given(case=devices_with_expressions())
def test_it_agrees_about_any_device_unless_a_known_fault_was_met(noted: set[str], case: tuple[str, Device, str]) -> None:
    driver, device, expression = case
    check_one(expression, cel.CelDevice(driver, device), noted)


# -- what it cannot do -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "construct", "column"),
    [
        ("A.?model == optional.of('m1')", "the optional selection '.?'", 38),
        ("A[?'model'] == optional.of('m1')", "the optional index '[?'", 38),
        ("[?optional.of(1)] == [1]", "an optional element", 1),
        ("{?'a': optional.of(1)} == {'a': 1}", "an optional entry", 1),
        ("cel.bind(x, 1, x == 1)", "the macro 'cel.bind'", 9),
        ("A[?'model'].optMap(x, x + 1) == optional.of(2)", "the optional index '[?'", 38),
        ("A.model.optMap(x, x + 1) == A.model", "the macro 'optMap'", 51),
        ("[2, 1].sortBy(x, x) == [1, 2]", "the macro 'sortBy'", 14),
        ("[1].exists(i, x, i == x)", "the macro 'exists' with two variables", 11),
        ("[1].transformList(i, x, i + x) == [1]", "the macro 'transformList' with two variables", 18),
        ("[1].map(x, x > 1, x) == []", "the macro 'map' with a condition", 8),
        ("ip('::1') == ip('::1')", "the function 'ip'", 3),
        ("'%d'.format([1]) == '1'", "the function 'format'", 12),
        ("[1,\n 2].sum() == 3", "the function 'sum'", 8),
        (".dyn(1) == 1", "a call with a leading dot", 5),
        ("[1, 2,] == [1, 2]", "this syntax", 7),
    ],
)
def test_what_it_cannot_do_is_named_with_its_place_before_it_is_evaluated(expression: str, construct: str, column: int) -> None:
    with pytest.raises(cel.UnsupportedExpression) as caught:
        celpython.compile(spelt_out(expression))
    assert (caught.value.construct, caught.value.column) == (f"{construct} with cel-python", column)


def test_it_is_no_verdict_when_it_breaks_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_container: object) -> object:
        raise LookupError("nothing")

    monkeypatch.setitem(celpython.engine._engine().functions, "size", broken)
    with pytest.raises(cel.UnsupportedExpression, match="what ends in a LookupError with cel-python"):
        celpython.compile("size([]) == 0 || true").matches(card())


def test_deep_nesting_is_no_verdict() -> None:
    selector = "(" * 200 + "true" + ")" * 200
    assert judged(selector, card()) == UNSUPPORTED


@pytest.mark.parametrize(
    "expression", ["A.model * 9999999999 == A.model", "dyn(A.lanes) * 9999999999 == A.lanes", "A.model % 1 == 1"]
)
def test_strings_and_lists_are_not_multiplied(expression: str) -> None:
    assert judged(spelt_out(expression), card()) == ERROR


# -- how it is used --------------------------------------------------------------------------------------------------------


def test_an_error_is_in_its_own_words() -> None:
    with pytest.raises(cel.EvaluationError, match=r"^no such member in mapping: 'nope'$"):
        celpython.compile(f"{A}.nope == 1").matches(card())


def test_a_wrong_device_is_one_for_every_expression() -> None:
    device = cel.CelDevice(DRIVER, Device("d", attributes={"firmware": DeviceAttribute(version="1.x")}))
    with pytest.raises(cel.EvaluationError, match="attribute firmware: parse semantic version"):
        celpython.compile("true").matches(device)


def test_an_attribute_may_turn_out_to_be_no_bool() -> None:
    with pytest.raises(cel.EvaluationError, match="the result is of type StringType, not a bool"):
        celpython.compile(f"{A}.model").matches(card())


def test_what_kubernetes_refuses_is_refused_with_its_words() -> None:
    with pytest.raises(cel.CompileError, match="found no matching overload for '_==_' applied to '\\(string, int\\)'"):
        celpython.compile("device.driver == 1")
    with pytest.raises(cel.CompileError, match="program instantiation failed"):
        celpython.compile("int('m1') == 1")


def test_devices_that_agree_in_what_is_read_share_a_key() -> None:
    selector = celpython.compile(f"{A}.model == 'm1'")
    first, second = (cel.CelDevice(DRIVER, Device(name, attributes={"model": "m1", "name": name})) for name in "ab")
    assert selector.key(first) == selector.key(second)


def test_threads_do_not_disturb_each_other() -> None:
    selector = celpython.compile(f"[1, 2, 3].exists(n, n == {A}.index) && {A}.model.startsWith('m')")
    devices = [cel.CelDevice(DRIVER, Device("d", attributes={"model": "m1", "index": index})) for index in range(8)] * 10
    barrier = threading.Barrier(4)

    def work() -> list[bool]:
        barrier.wait(10)
        return [selector.matches(device) for device in devices]

    with ThreadPoolExecutor(4) as pool:
        found = [future.result() for future in [pool.submit(work) for _ in range(4)]]
    assert found == [[index % 8 in (1, 2, 3) for index in range(80)]] * 4


@pytest.fixture
def without_celpy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    celpython.engine._engine.cache_clear()
    monkeypatch.setitem(sys.modules, "celpy", None)
    yield
    celpython.engine._engine.cache_clear()


@pytest.mark.usefixtures("without_celpy")
def test_a_missing_engine_says_what_to_install() -> None:
    with pytest.raises(celpython.MissingEngine, match=r"pip install 'drakit\[cel-python\]'"):
        engine("cel-python")
    assert engine("drakit")("true").matches(card())


def test_the_limit_of_recursion_is_the_programs_own() -> None:
    celpython.engine._engine.cache_clear()
    before = sys.getrecursionlimit()
    celpython.compile.__wrapped__("true")
    assert sys.getrecursionlimit() == before
