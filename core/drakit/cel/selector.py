"""Compiling selectors, and asking them about devices.

Source: k8s.io/dynamic-resource-allocation ``cel/{compile,cache}.go`` and ``cel/errors.go``.
"""

from __future__ import annotations

import functools
from typing import Final

from attrs import field, frozen

from drakit.cel.checker import check
from drakit.cel.device import CelDevice
from drakit.cel.errors import EvaluationError, UnsupportedExpression
from drakit.cel.evaluator import Program, plan
from drakit.cel.parser import parse
from drakit.cel.source import Source
from drakit.cel.values import Abort, Fault, NotDecided, Optional, TypeValue, Value, type_name

__all__ = ["Selector", "compile"]

_CACHE_SIZE: Final = 1024  # expressions; a cluster has few DeviceClasses and many claims with the same selectors
_HINT: Final = (
    "consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
)


@frozen(eq=False)
class Selector:
    """A compiled expression. Safe to share between threads."""

    source: str
    """The expression as written."""
    _program: Program = field(repr=False)

    def matches(self, device: CelDevice) -> bool:
        """Whether the device is one that the expression selects.

        :raises EvaluationError: the expression fails on this device. That is no mismatch: the scheduler gives up the
            allocation.
        :raises UnsupportedExpression: the evaluation reached something drakit cannot decide yet.
        """
        value = device.value()
        try:
            result = self._program(value)
        except Fault as fault:
            raise EvaluationError(_with_hint(str(fault))) from None
        except Abort as abort:
            raise EvaluationError(str(abort)) from None
        except NotDecided as reason:
            raise UnsupportedExpression(str(reason)) from None
        except RecursionError:
            raise UnsupportedExpression("nesting this deep, from this deep a call") from None
        return _verdict(result)


def _verdict(result: Value) -> bool:
    """The result as a bool; an optional counts as what is in it."""
    value = result
    while isinstance(value, Optional) and value.present:
        value = value.value
    if isinstance(value, bool):
        return value
    raise EvaluationError(f"CEL result of type {type_name(result)} could not be converted to bool: {_reason(value)}")


def _reason(value: Value) -> str:
    """Why Go cannot make a bool of a value; each type says it in its own way."""
    if isinstance(value, Optional):
        return "optional.none() dereference"
    if isinstance(value, TypeValue):
        return "type conversion not supported for 'type'"
    name = type_name(value)
    if name in ("int", "uint"):
        return f"unsupported type conversion from '{name}' to bool"
    if name == "string":
        return "unsupported native conversion from string to 'bool'"
    words = {"double": "Double", "bytes": "Bytes", "null_type": "'null_type'", "list": "list", "map": "map"}
    return f"type conversion error from {words.get(name) or repr(name.rpartition('.')[2])} to 'bool'"


def _with_hint(message: str) -> str:
    return f"{message}. {_HINT}" if message.startswith("no such key: ") else message


@functools.lru_cache(maxsize=_CACHE_SIZE)
def compile(expression: str) -> Selector:  # noqa: A001  # as in re.compile; reads well as cel.compile
    """The selector of an expression. The most recently used are kept; failures are not.

    :raises CompileError: Kubernetes would refuse the expression; all faults, each with line and column.
    :raises UnsupportedExpression: it uses something drakit cannot decide yet, named with line and column.
    """
    try:
        source = Source(expression)
        program = plan(check(parse(source), source))
    except RecursionError:
        raise UnsupportedExpression("nesting this deep") from None
    return Selector(expression, program)
