from __future__ import annotations

import ast
import decimal
import re
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from drakit import cel
from drakit.cel import selector as selectors
from drakit.cel.checking.checker import Checked, check
from drakit.cel.fast import Flat, generate
from drakit.cel.fast.code import Unfit
from drakit.cel.fast.generator import source_of
from drakit.cel.fast.runtime import RUNTIME
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.model import Device, DeviceAttribute, semver
from drakit.testing.strategies import EXAMPLE_DEVICE, EXAMPLE_DRIVER, devices_with_expressions, expressions
from tests.cel.builders import DRIVER, A, C, card


def checked(expression: str) -> Checked:
    source = Source(expression.replace("A.", f"{A}.").replace("C.", f"{C}."))
    return check(parse(source), source)


def fast(expression: str, device: cel.CelDevice | None = None) -> bool | str:
    """What the generated function says, ``none`` where there is none, and ``gives up``."""
    function = generate(checked(expression))
    if function is None:
        return "none"
    flat = (device or card()).flat
    assert isinstance(flat, Flat)
    try:
        return function(flat)
    except Exception:  # noqa: BLE001  # as the selector does
        return "gives up"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f'device.driver == "{DRIVER}"', True),
        ('A.model == "m1" && A.index > 2 && A.label in ["", "x"]', True),
        ("device.attributes[device.driver].index == 1", False),
        ('C.memory.compareTo(quantity("40Gi")) >= 0', True),
        ('C.memory == quantity("81920Mi")', True),
        ('has(A.firmware) && A.firmware.isGreaterThan(semver("1.4.2-rc.1"))', True),
        ('A.preview.compareTo(semver("2.0.0-rc.10")) < 0', True),
        ('A.model.matches("^m[0-9]$") && C.slots.isGreaterThan(quantity("8"))', True),
        ('A.?nope.orValue("x") == "x"', True),
        ("A.?index.orValue(0) == 3", True),
        ("A.?nope.optMap(n, n > 1).orValue(false)", False),
        ("A.?index.optMap(n, n > 1).orValue(false)", True),
        ("A.?nope.hasValue()", False),
        ('"model" in ' + A, True),
        ('"nope" in device.attributes', False),
        ('A.names.exists(n, n.startsWith("l")) && A.lanes.all(n, n % 4 == 0)', True),
        ("A.lanes.filter(n, n > 4).map(n, n / 8).size() == 2", True),
        ("A.names.exists_one(n, n.size() == 4)", True),
        ('"left" in A.names && 4 in A.lanes', True),
        ("cel.bind(n, A.index, n * n == 9 || n < 0)", True),
        ('A.model.upperAscii() + "x" == "M1x" && A.csv.split(",")[1] == "y"', True),
        ('{"m1": 1, "m2": 2}[A.model] == 1', True),
        ("A.ecc ? A.index == 3 : A.index == 4", True),
        ("A.ecc", True),
        ("!A.spare", True),
        ('A.names.includes("left") && A.model.includes("m1")', True),
        ("C.slots.asInteger() == 16", True),
        ("A.firmware.minor() == 4", True),
        ("device.allowMultipleAllocations", False),
    ],
)
def test_what_is_generated_answers(expression: str, expected: bool) -> None:
    assert fast(expression) is expected


@pytest.mark.parametrize(
    "expression",
    [
        "A.nope == 1",
        'A.firmware == "1.4.2"',
        '"1.4.2" == A.firmware',
        'A.firmware in ["1.4.2"]',
        "A.model > 1",
        "A.ecc > 1",
        "A.model",
        'A.index.startsWith("x")',
        "A.model.startsWith(A.names)",
        "A.most + 1 > 0",
        "A.index / 0 == 1",
        "A.lanes[3] == 1",
        "A.model[0] == 1",
        'A.lanes.contains("x")',
        "A.nope == 1 || true",
        "A.names.exists(n, n == 1 || n < 1)",
    ],
)
def test_what_is_generated_gives_up(expression: str) -> None:
    assert fast(expression) == "gives up"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("A.ecc == 1", False),
        ("1 == A.ecc", False),
        ("A.ecc in [1]", False),
        ("A.flags == dyn([1, 0])", "gives up"),
        ("1 in A.flags", False),
        ("dyn(1) in [true]", False),
        ("A.index == A.ecc", False),
        ("A.firmware != A.preview", True),
    ],
)
def test_a_bool_is_no_int(expression: str, expected: bool | str) -> None:
    versions = {"firmware": semver("1.0.0"), "preview": semver("1.0.1")}
    device = cel.CelDevice(DRIVER, Device("d", attributes={"ecc": True, "flags": [True, False], "index": 1, **versions}))
    assert fast(expression, device) == expected


@pytest.mark.parametrize(
    "expression",
    [
        'C.memory.isLessThan(quantity("1Pi")) && C.memory.isInteger()',
        'C.memory.isLessThan(quantity("1Pi")) && C.memory.asInteger() > 0',
        "device.attributes.exists(d, d == 'x')",
        "[" * 60 + "1" + "]" * 60 + " == dyn(1)",
        "A.lanes.all(a, A.lanes.all(b, A.lanes.all(c, A.lanes.all(d, a + b + c + d > 0))))",
        'device.attributes["a/b"].c == 1',
        "1.5 < 2.0",
        'A.model == b"x"',
    ],
)
def test_some_expressions_have_no_function(expression: str) -> None:
    assert fast(expression) == "none"


@pytest.mark.parametrize(
    "device",
    [
        Device("d", attributes={"x": "a" * 65}),
        Device("d", attributes={"x": list(range(65))}),
        Device("d", attributes={"x": DeviceAttribute(int_=2**63)}),
        Device("d", attributes={"x": DeviceAttribute(version="1")}),
        Device("d", capacity={"x": "1e99"}),
    ],
)
def test_a_device_beyond_the_limits_is_not_flat(device: Device) -> None:
    assert cel.CelDevice(DRIVER, device).flat is None


def test_quantities_are_exact_whatever_precision_the_caller_works_with() -> None:
    number = "1234567890123456789012345678901234567890"
    with decimal.localcontext(decimal.Context(prec=3)):
        flat = cel.CelDevice(DRIVER, Device("d", capacity={"x": number, "y": "1n"})).flat
    assert flat is not None
    assert flat.capacity == {f"{DRIVER}/x": int(number) * 10**9, f"{DRIVER}/y": 1}


def test_a_broken_device_fails_whatever_is_generated() -> None:
    selector = cel.compile("true || device.driver == 'broken'")
    broken = cel.CelDevice(DRIVER, Device("d", attributes={"x": DeviceAttribute(version="1")}))
    for _ in range(4):
        with pytest.raises(cel.EvaluationError):
            selector.matches(broken)


# -- security --------------------------------------------------------------------------------------------------------------

_HOSTILE = (
    "__import__",
    "c0) or give_up(",
    "'''",
    '"',
    "\\n    import os",
    "\\u2028x",
    "{0,1}",
    "%s",
    "x" * 64,
)


def hostile() -> Iterator[str]:
    for word in _HOSTILE:
        text = '"' + word.replace('"', '\\"') + '"'
        yield f"device.driver == {text} || device.attributes[{text}][{text}] == {text}"
        yield f"device.driver in [{text}] || device.driver.matches({re.sub(r'[(){}]', '.', text)})"
        yield f"device.driver.contains({text}) || {{{text}: {text}}}[{text}] == {text} || {text} in device.attributes[{text}]"
        yield f"cel.bind(v0, device.driver, v0 == {text}) || device.attributes[{text}].?x.orValue({text}) == {text}"
    yield "[1].exists(__builtins__, __builtins__ == 1) && cel.bind(give_up, 1, give_up == 1)"
    yield "device.attributes.__class__.__bases__ == 1 || device.capacity.d.__init__ == quantity('1')"


@pytest.mark.parametrize("expression", list(hostile()))
def test_no_text_of_an_expression_gets_into_generated_source(expression: str) -> None:
    assert_harmless(source_of(checked(expression)).source)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(expressions())
def test_generated_source_is_made_of_a_few_words(expression: str) -> None:
    try:
        source = source_of(checked(expression)).source
    except (cel.CelError, Unfit):
        return
    assert_harmless(source)


_OWN_NAMES = re.compile(r"[cv][0-9]+|[daqisegf]")
_ATTRIBUTES = frozenset("driver shared attributes capacity integers domains key get startswith endswith __class__".split())


def assert_harmless(source: str) -> None:
    """Names of the generator's making, no constants but the three that are words."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name):
                assert _OWN_NAMES.fullmatch(name) or name in RUNTIME
            case ast.arg(arg=name) | ast.FunctionDef(name=name):
                assert _OWN_NAMES.fullmatch(name)
            case ast.Attribute(attr=name):
                assert name in _ATTRIBUTES
            case ast.Constant(value=value):
                assert value in (True, False)
                assert isinstance(value, bool)
            case ast.Import() | ast.ImportFrom() | ast.keyword() | ast.Lambda():
                pytest.fail("not of the generator's making")


def test_generated_code_has_no_builtins() -> None:
    function = generate(checked("device.driver == 'x'"))
    assert function is not None
    assert function.__globals__["__builtins__"] == {}


# -- the same verdict ------------------------------------------------------------------------------------------------------


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(expressions())
def test_both_ways_come_to_the_same(expression: str) -> None:
    compare(expression, EXAMPLE_DRIVER, EXAMPLE_DEVICE)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(devices_with_expressions())
def test_both_ways_come_to_the_same_on_any_device(case: tuple[str, Device, str]) -> None:
    driver, device, expression = case
    compare(expression, driver, device)


def compare(expression: str, driver: str, device: Device) -> None:
    try:
        selector = cel.compile(expression)
        exact: bool | cel.CelError = selector.matches_exactly(cel.CelDevice(driver, device))
    except cel.CelError as error:
        exact = error
    if isinstance(exact, cel.CompileError | cel.UnsupportedExpression):
        return
    function, flat = generate(checked(expression)), cel.CelDevice(driver, device).flat
    if function is None or flat is None:
        return
    try:
        verdict = function(flat)
    except Exception:  # noqa: BLE001  # as the selector does
        return
    assert verdict is exact


@pytest.mark.parametrize(
    "expression",
    [
        "A.?model.optMap(n, n > 1).hasValue()",
        "(A.?nope.hasValue() ? optional.of(true) : optional.none()).value()",
        "(A.?model.hasValue() ? optional.of(A.nope) : optional.none()).hasValue()",
    ],
)
def test_an_optional_that_is_made_fails_every_time(expression: str) -> None:
    selector = cel.compile(expression.replace("A.", f"{A}."))
    for _ in range(4):
        with pytest.raises(cel.EvaluationError):
            selector.matches(card())


def test_a_dot_before_device_changes_nothing_about_what_is_read() -> None:
    selector = cel.compile('.device.driver == "b.example" || cel.bind(y, .device, y.driver == "c.example")')
    devices = [cel.CelDevice(driver, Device("d")) for driver in ("a.example", "b.example", "c.example")]
    assert list(selector.matches_all(devices)) == [False, True, True]


def test_versions_that_differ_in_the_build_have_messages_of_their_own() -> None:
    selector = cel.compile("(['x'] + device.attributes['d'].versions).join(',') == ''")
    devices = [
        cel.CelDevice("d", Device("x", attributes={"versions": DeviceAttribute(versions=(version,))}))
        for version in ("1.0.0+a", "1.0.0+b")
    ]
    assert len({str(verdict) for verdict in selector.matches_all(devices)}) == 2


# -- what is read, and many devices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "attributes", "capacity"),
    [
        (f'A.model == "m1" && {A}.?x.orValue(1) == 1', (f"{DRIVER}/model", f"{DRIVER}/x"), ()),
        ("has(device.attributes[device.driver].x)", ("/x",), ()),
        (f'"x" in {A}', (f"{DRIVER}/x",), ()),
        ('C.memory == quantity("1")', (), (f"{DRIVER}/memory",)),
        ("A.lanes[0] == 1 && A.names.exists(n, n == 'x')", (f"{DRIVER}/lanes", f"{DRIVER}/names"), ()),
    ],
)
def test_constant_names_are_what_is_read(expression: str, attributes: tuple[str, ...], capacity: tuple[str, ...]) -> None:
    found = cel.compile(expression.replace("A.", f"{A}.").replace("C.", f"{C}.")).reads
    assert not found.everything
    assert (found.attributes, found.capacity) == (attributes, capacity)


@pytest.mark.parametrize(
    "expression",
    [
        "device.attributes.exists(d, d == 'x')",
        f"{A}.exists(n, n == 'x')",
        f"{A}.size() == 1",
        f"{A}[device.attributes['a'].b] == 1",
        "device.attributes[string(1)].x == 1",
        "device == device",
        "[device].exists(d, d.driver == 'x')",
        "[1].exists(device, device == 1)",
        "device.driver in device.attributes",
    ],
)
def test_everything_else_reads_everything(expression: str) -> None:
    assert cel.compile(expression).reads.everything


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry per evaluation."""
    counted: list[str] = []
    matches = selectors.Selector.matches

    def count(self: cel.Selector, device: cel.CelDevice) -> bool:
        counted.append(self.source)
        return matches(self, device)

    monkeypatch.setattr(selectors.Selector, "matches", count)
    return counted


def fleet(number: int) -> Iterator[cel.CelDevice]:
    for index in range(number):
        attributes = {"uuid": f"GPU-{index:08x}", "index": index, "model": f"m{index % 3}"}
        yield cel.CelDevice(DRIVER, Device(f"gpu-{index}", attributes=attributes, capacity={"memory": f"{index % 2 + 1}Gi"}))


def test_devices_that_agree_in_what_is_read_are_evaluated_once(evaluations: list[str]) -> None:
    selector = cel.compile(f'{A}.model != "m0" && {C}.memory.isGreaterThan(quantity("1Gi")) && {A}.?nope.orValue(1) == 1')
    verdicts = list(selector.matches_all(fleet(40_000)))
    assert len(evaluations) == 6
    assert verdicts == [index % 3 != 0 and index % 2 == 1 for index in range(40_000)]


def test_an_error_is_a_verdict_on_its_group(evaluations: list[str]) -> None:
    verdicts = list(cel.compile(f"{A}.nope == {A}.model").matches_all(fleet(100)))
    assert len(evaluations) == 3
    assert {str(verdict) for verdict in verdicts} == {str(verdicts[0])}
    assert all(isinstance(verdict, cel.EvaluationError) for verdict in verdicts)


def test_a_key_tells_types_apart() -> None:
    selector = cel.compile(f"{A}.x == 1")
    values = [1, True, "1", [1], [True], semver("1.0.0"), "1.0.0", None]
    devices = [cel.CelDevice(DRIVER, Device("d", attributes={"x": value})) for value in values]
    assert len({selector.key(device) for device in devices}) == len(values)
    assert list(selector.matches_all(devices))[:2] == [True, False]


def test_a_broken_device_has_a_group_of_its_own() -> None:
    broken = Device("d", attributes={"x": 1, "y": DeviceAttribute(version="1")})
    devices = [cel.CelDevice(DRIVER, device) for device in (Device("d", attributes={"x": 1}), broken)]
    found = list(cel.compile(f"{A}.x == 1").matches_all(devices))
    assert found[0] is True
    assert isinstance(found[1], cel.EvaluationError)


def test_threads_share_devices_and_selectors() -> None:
    devices = [cel.CelDevice(DRIVER, device.device) for device in fleet(200)]
    plain = [f"{A}.index % 7 == {number}" for number in range(7)]
    slow = f'{C}.memory.isLessThan(quantity("2Pi")) && {C}.memory.isInteger()'  # false: comparing changes how it is held
    asked = {expression: [index % 7 == number for index in range(200)] for number, expression in enumerate(plain)}
    asked |= {f"{expression} && {slow}": [False] * 200 for expression in plain}
    failures: list[str] = []

    def work() -> None:
        for expression, verdicts in asked.items():
            selector = cel.compile(expression)
            if [selector.matches(device) for device in devices] != verdicts or list(selector.matches_all(devices)) != verdicts:
                failures.append(expression)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
