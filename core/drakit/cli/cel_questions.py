"""``cel --jsonl``: one question a line, one answer a line, for tests and tools.

A question is ``{"expr", "device", "env"}``. A device has ``driver``, ``attributes``, ``capacity`` and
``allowMultipleAllocations``, as in a ResourceSlice, except that a capacity may be the plain quantity. ``env`` has
``kube_version`` (``1.37``) or ``minor`` (37), ``new`` and ``gates``; what it does not say is as the command line has it, and
every gate is on.

The answer is ``{"verdict", "message", "output_type", "max_cost", "cost"}``, with ``max`` for a cost without bound, or
``{"error"}`` where there is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO

from attrs import evolve

from drakit.cel import CelDevice, Environment
from drakit.cel.checking.environment import NEWEST, OLDEST
from drakit.cel.estimation.sizes import MOST
from drakit.cel.judging import Judgement, judge
from drakit.files.documents import strict_json
from drakit.model import Device, DrakitError, Fault, InvalidObject
from drakit.model.errors import did_you_mean
from drakit.model.wire import decode_as

__all__ = ["GATES", "RECORDED", "answer_lines", "minor_of"]

_RELEASE: Final = re.compile(r"v?1\.([1-9][0-9])(?:\.[0-9]+)?", re.ASCII)
RECORDED: Final = Environment(minor=36)
"""What the recorded answers are from, and what a question means that does not say more."""
GATES: Final = {"DRAConsumableCapacity": "consumable_capacity", "DRAListTypeAttributes": "list_attributes"}
"""Feature gates that matter to an expression, and the field of an environment that holds each."""
_FIELDS: Final = ("expr", "device", "env")
_DEVICE: Final = ("driver", "attributes", "capacity", "allowMultipleAllocations")
_ENVIRONMENT: Final = ("kube_version", "minor", "new", "gates")


def answer_lines(questions: Iterable[str], answers: TextIO, environment: Environment = RECORDED) -> None:
    """Answer every line that is not empty; a question that cannot be read or decided gets an error for an answer.

    :param environment: of questions that do not say otherwise.
    """
    for line in questions:
        if line.strip():
            answers.write(json.dumps(_answer(line, environment)) + "\n")
            answers.flush()


def minor_of(version: str) -> int:
    """The minor version of a release, such as 37 of ``1.37``, ``v1.37`` and ``1.37.2``.

    :raises ValueError: no release that is known.
    """
    match = _RELEASE.fullmatch(version)
    if match and OLDEST <= int(match[1]) <= NEWEST:
        return int(match[1])
    raise ValueError(f'"{version}" is no release that is known: 1.{OLDEST} to 1.{NEWEST} are')


def _answer(line: str, environment: Environment) -> dict[str, Any]:
    try:
        question = strict_json(line)
    except (ValueError, RecursionError) as error:
        return {"error": f"the line is not JSON: {error}"}
    try:
        given = _fields(question, _FIELDS, "question")
        judgement = judge(
            _typed(given.get("expr"), str, "expr", "text"),
            _device(given.get("device", {})),
            _environment(given.get("env", {}), environment),
        )
        return _as_json(judgement)
    except MemoryError:
        return {"error": "the expression takes more memory than there is"}
    except (DrakitError, ValueError, ArithmeticError, RecursionError) as error:
        return {"error": "; ".join(str(error).splitlines())}


def _as_json(judgement: Judgement) -> dict[str, Any]:
    return {
        "verdict": judgement.verdict,
        "message": judgement.message or None,
        "output_type": judgement.output_type,
        "max_cost": "max" if judgement.max_cost == MOST else judgement.max_cost,
        "cost": judgement.cost,
    }


def _device(body: Any) -> CelDevice:
    parts = _fields(body, _DEVICE, "device")
    driver = _typed(parts.pop("driver", ""), str, "device.driver", "text")
    if isinstance(parts.get("capacity"), Mapping):
        parts["capacity"] = {
            name: amount if isinstance(amount, Mapping) else {"value": amount} for name, amount in parts["capacity"].items()
        }
    return CelDevice(driver, decode_as({"name": "device", **parts}, Device, "device"))


def _environment(body: Any, default: Environment) -> Environment:
    given = _fields(body, _ENVIRONMENT, "env")
    changes: dict[str, Any] = {}
    if "kube_version" in given and "minor" in given:
        raise InvalidObject("question", [Fault("env", "kube_version and minor say the same: give one of them")])
    if "kube_version" in given:
        changes["minor"] = minor_of(_typed(given["kube_version"], str, "env.kube_version", "text"))
    if "minor" in given:
        changes["minor"] = minor_of(f"1.{_typed(given['minor'], int, 'env.minor', 'a number')}")
    if "new" in given:
        changes["new"] = _typed(given["new"], bool, "env.new", "true or false")
    for name, value in _fields(given.get("gates", {}), GATES, "env.gates").items():
        changes[GATES[name]] = _typed(value, bool, f"env.gates.{name}", "true or false")
    return evolve(default, **changes)


def _fields(body: Any, known: Iterable[str], what: str) -> dict[str, Any]:
    """The fields of an object; null is an absent one, as in Go."""
    if not isinstance(body, Mapping):
        raise InvalidObject(what, [Fault("", "must be a JSON object")])
    for name in body.keys() - set(known):
        raise InvalidObject(what, [Fault("", f'unknown field "{name}"{did_you_mean(name, known)}')])
    return {name: value for name, value in body.items() if value is not None}


def _typed(value: Any, type_: type[Any], path: str, wanted: str) -> Any:
    if isinstance(value, type_) and not (type_ is int and isinstance(value, bool)):
        return value
    raise InvalidObject("question", [Fault(path, f"must be {wanted}")])
