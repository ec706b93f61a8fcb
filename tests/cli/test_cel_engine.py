from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any, Final, get_args

import click
import pytest

from drakit.cel import celpython
from drakit.cel.engines import Engine
from drakit.cli.simulate import command
from tests.cli.running import EXAMPLES, drakit

WITH_CELPY: Final = pytest.mark.skipif(
    importlib.util.find_spec("celpy") is None, reason="cel-python is not installed: pip install 'drakit[cel-python]'"
)
ENGINE: Final = ("--cel-engine", "cel-python")


def question(expression: str) -> str:
    selectors = [{"cel": {"expression": expression}}]
    node = {"metadata": {"name": "n1"}}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": "d0", "attributes": {"index": {"int": 3}}}]
    spec = {"driver": "gpu.example.com", "nodeName": "n1", "pool": pool, "devices": devices}
    requests = [{"name": "r", "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}}]
    claim = {"metadata": {"name": "c", "namespace": "default"}, "spec": {"devices": {"requests": requests}}}
    body: dict[str, Any] = {
        "node": node,
        "slices": [{"metadata": {"name": "s"}, "spec": spec}],
        "classes": [{"metadata": {"name": "any"}, "spec": {"selectors": selectors}}],
        "claims": [claim],
    }
    return json.dumps(body) + "\n"


def answer(expression: str) -> dict[str, Any]:
    result = drakit("simulate", "--jsonl", *ENGINE, stdin=question(expression))
    assert result.code == 0
    found: dict[str, Any] = json.loads(result.out)
    return found


def test_the_command_line_knows_every_engine() -> None:
    (option,) = (parameter for parameter in command.params if parameter.name == "cel_engine")
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == get_args(Engine)


@WITH_CELPY
@pytest.mark.needs("tpu")
def test_an_example_comes_to_the_same_with_either_engine() -> None:
    example = EXAMPLES / "tpu-16x16-failed-host.yaml"
    assert drakit("simulate", "-f", example, *ENGINE) == drakit("simulate", "-f", example)


@WITH_CELPY
def test_questions_are_answered_with_the_engine_that_is_asked_for() -> None:
    expression = 'device.attributes["gpu.example.com"].index'
    assert answer(f"{expression} == 3")["node"] == "n1"
    assert answer(f"{expression} == 4") == {"node": None, "results": None, "error": None}
    assert "found no matching overload for" in answer(f"{expression} == 3.0")["error"]


@WITH_CELPY
def test_what_the_engine_cannot_do_is_said() -> None:
    error = answer('device.attributes["gpu.example.com"].?index.orValue(0) == 3')["error"]
    assert "cannot decide this yet: the optional selection '.?' with cel-python is not supported (line 1, column 37)" in error


@pytest.mark.parametrize("arguments", [("-f", "node.json"), ("--jsonl",)])
def test_an_engine_that_is_not_installed_ends_with_2_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("node.json").write_text('{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}', encoding="utf-8")
    celpython.engine._engine.cache_clear()
    monkeypatch.setitem(sys.modules, "celpy", None)
    result = drakit("simulate", *arguments, *ENGINE)
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: cel-python is not installed: pip install 'drakit[cel-python]'\n"
