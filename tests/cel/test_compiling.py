from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from drakit import cel
from drakit.cel.syntax.ast import Node
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.model import Device
from tests.cel.builders import DRIVER, A, card


def test_the_source_is_kept() -> None:
    assert cel.compile(" true // why not").source == " true // why not"


def test_an_expression_is_compiled_once() -> None:
    assert cel.compile("1 + 1 == 2") is cel.compile("1 + 1 == 2")


def test_a_failed_compile_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def noting_parse(source: Source, *, escaped_names: bool) -> Node:
        parsed.append(source.text)
        return parse(source, escaped_names=escaped_names)

    monkeypatch.setattr("drakit.cel.selector.parse", noting_parse)
    for _ in range(2):
        with pytest.raises(cel.CompileError):
            cel.compile("nowhere.to.be.found")
    assert parsed == ["nowhere.to.be.found"] * 2


def test_threads_share_selectors_and_devices() -> None:
    device = card()
    expressions = [f"{A}.lanes.exists(n, n == {number}) && {A}.index + {number} > 0" for number in range(40)]
    start = threading.Barrier(8)

    def ask(_: int) -> list[bool]:
        start.wait()
        return [cel.compile(expression).matches(device) for expression in expressions * 5]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert answers == [[number in (4, 8, 16) for number in range(40)] * 5] * 8


class CountedByOthers(int):
    """A number to which another thread adds whenever this one does."""

    def __add__(self, other: int) -> CountedByOthers:
        return CountedByOthers(int(self) + other + 1)


def test_a_function_is_generated_however_many_threads_have_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    selector = cel.compile(f"{A}.index == 3 && {A}.model == 'm1'")
    monkeypatch.setattr(selector, "_function", None)
    monkeypatch.setattr(selector, "_evaluations", CountedByOthers(1))
    assert selector.matches(card())
    assert selector._function is not None


def test_evaluations_do_not_see_each_other() -> None:
    # Comparing with a number beyond 64 bits changes how the capacity is held, for the one evaluation.
    changing = cel.compile('device.capacity["gpu.acme.example"].slots.isLessThan(quantity("1Pi"))')
    asking = cel.compile('device.capacity["gpu.acme.example"].slots.isInteger()')
    device = card()
    assert changing.matches(device)
    assert asking.matches(device)


def test_a_device_is_seen_with_the_driver_that_publishes_it() -> None:
    selector = cel.compile('device.driver == "b.example" && device.attributes["b.example"].size() == 2')
    device = Device("d", attributes={"short": 1, "b.example/long": 2})
    assert selector.matches(cel.CelDevice("b.example", device))
    assert not selector.matches(cel.CelDevice("a.example", device))


def test_a_name_is_split_at_its_first_slash() -> None:
    device = cel.CelDevice(DRIVER, Device("d", attributes={"x.example/a/b": True}))
    assert cel.compile('device.attributes["x.example"]["a/b"]').matches(device)


def test_a_shared_device_says_so() -> None:
    device = cel.CelDevice(DRIVER, Device("d", allow_multiple_allocations=True))
    assert cel.compile("device.allowMultipleAllocations").matches(device)
    assert cel.compile("device.attributes == {} && device.capacity == {}").matches(device)
