"""``simulate --jsonl``: one question a line, one answer a line, for tests and tools.

A question has ``node`` (or ``nodes``), ``slices``, ``classes``, ``claims``, ``taintRules`` and ``allocated``, objects without
their apiVersion and kind; the claims are allocated together, as those of one pod, on the first node that fits. The answer
is ``{"node", "results", "error"}``: one AllocationResult for each claim, or null where they do not fit; the error is text,
or null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO, TypeVar

from attrs import field, frozen

from drakit.allocation import AllocatedState, Cluster
from drakit.allocation.amounts import nano
from drakit.cel.engines import Compile, Engine, engine
from drakit.files.documents import strict_json
from drakit.model import (
    DeviceClass,
    DeviceID,
    DeviceTaintRule,
    DrakitError,
    Fault,
    InvalidObject,
    Node,
    Quantity,
    ResourceClaim,
    ResourceSlice,
)
from drakit.model.errors import did_you_mean
from drakit.model.wire import decode_as, encode_part

__all__ = ["answer_lines"]

T = TypeVar("T")
FIELDS: Final = {"node", "nodes", "slices", "classes", "claims", "taintRules", "allocated", "features"}


def answer_lines(questions: Iterable[str], answers: TextIO, cel_engine: Engine = "drakit") -> None:
    """Answer every line that is not empty; a question that cannot be read gets an error for an answer.

    :raises MissingEngine: what is to run the selectors is not installed.
    """
    compile_ = engine(cel_engine)
    for line in questions:
        if line.strip():
            answers.write(json.dumps(_answer(line, compile_)) + "\n")
            answers.flush()


def _answer(line: str, compile_: Compile) -> dict[str, Any]:
    try:
        question = strict_json(line)
    except (ValueError, RecursionError) as error:
        return _error(f"the line is not JSON: {error}")
    try:
        if not isinstance(question, Mapping):
            raise InvalidObject("question", [Fault("", "must be a JSON object")])
        for name in question.keys() - FIELDS:
            raise InvalidObject("question", [Fault("", f'unknown field "{name}"{did_you_mean(name, FIELDS)}')])
        return _allocate(question, compile_)
    except (DrakitError, ValueError, ArithmeticError, RecursionError) as error:
        return _error("; ".join(str(error).splitlines()))


def _error(message: str) -> dict[str, Any]:
    return {"node": None, "results": None, "error": message}


def _allocate(question: Mapping[str, Any], compile_: Compile) -> dict[str, Any]:
    nodes = _objects(question, "nodes", Node) or [_object(question.get("node") or {}, Node, "node")]
    cluster = Cluster(
        nodes=nodes,
        slices=_objects(question, "slices", ResourceSlice),
        classes=_objects(question, "classes", DeviceClass),
        taint_rules=_objects(question, "taintRules", DeviceTaintRule),
    )
    claims = _objects(question, "claims", ResourceClaim)
    fit = cluster.decider(compile_=compile_).first_fit(claims, nodes, _state(question.get("allocated", {})))
    if fit is None:
        return {"node": None, "results": None, "error": None}
    node, results = fit
    return {"node": node.name, "results": [encode_part(result) for result in results], "error": None}


def _objects(question: Mapping[str, Any], name: str, type_: type[T]) -> list[T]:
    items = question.get(name) or []
    if not isinstance(items, list):
        raise InvalidObject("question", [Fault(name, "must be a list")])
    return [_object(item, type_, f"{name}[{index}]") for index, item in enumerate(items)]


def _object(item: Any, type_: type[T], what: str) -> T:
    body = {k: v for k, v in item.items() if k not in ("apiVersion", "kind")} if isinstance(item, Mapping) else item
    return decode_as(body, type_, what, strict=type_ is not Node)


@frozen(kw_only=True)
class _Taken:
    """A device that is taken, or what is taken of it."""

    driver: str
    pool: str
    device: str
    share_id: str | None = field(default=None, metadata={"wire": "shareID"})
    consumed: Mapping[str, Quantity] = field(factory=dict[str, Quantity])

    @property
    def id(self) -> DeviceID:
        return DeviceID(self.driver, self.pool, self.device)


@frozen(kw_only=True)
class _Allocated:
    """What the claims that are not part of a question hold."""

    devices: tuple[_Taken, ...] = ()
    shared: tuple[_Taken, ...] = ()
    capacity: tuple[_Taken, ...] = ()


def _state(allocated: Any) -> AllocatedState:
    taken = decode_as(allocated, _Allocated, "allocated")
    return AllocatedState(
        devices=[entry.id for entry in taken.devices],
        shared=[entry.id for entry in taken.shared],
        capacity={entry.id: {name: nano(q) for name, q in entry.consumed.items()} for entry in taken.capacity},
    )
