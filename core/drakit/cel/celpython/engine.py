"""cel-python as a second engine for selectors: slower, with fewer functions, and somebody else's.

drakit reads and checks an expression, because cel-python has no types; cel-python reads it again and evaluates it, with
its own operators. Versions and quantities are drakit's, held by objects with Kubernetes' functions. There is no cost limit.
``docs/explanation/cel-engines.md`` says what it gets wrong.

Source: cel-python 0.5.0, https://github.com/cloud-custodian/cel-python; k8s.io/dynamic-resource-allocation
``cel/compile.go``.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from attrs import frozen

from drakit.cel.celpython.exchange import Values
from drakit.cel.celpython.subset import check_subset, unsupported
from drakit.cel.checking.checker import Checked, check
from drakit.cel.device import CelDevice
from drakit.cel.errors import EvaluationError, UnsupportedExpression
from drakit.cel.exact.evaluator import plan
from drakit.cel.reads import Reads, reads
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.cel.values import NotDecided
from drakit.model import DrakitError

__all__ = ["CelPythonSelector", "MissingEngine", "compile", "require"]

_CACHE_SIZE: Final = 1024  # expressions, as many as drakit's own
_LOCK: Final = threading.Lock()


class MissingEngine(DrakitError):
    """cel-python is asked for and not installed: ``pip install 'drakit[cel-python]'``."""


class CelPythonSelector:
    """A compiled expression, as :class:`drakit.cel.Selector`.

    Safe to share between threads: each evaluation has a runner of its own, which cel-python's are not safe without.
    """

    def __init__(self, source: str, checked: Checked) -> None:
        self.source: Final = source
        """The expression as written."""
        self._checked = checked
        self._engine = _engine()
        self._tree = self._engine.read(source)

    def __repr__(self) -> str:
        return f"CelPythonSelector(source={self.source!r})"

    def matches(self, device: CelDevice) -> bool:
        """Whether the device is one that the expression selects.

        :raises EvaluationError: the expression fails on this device, in cel-python's words.
        :raises UnsupportedExpression: cel-python broke down.
        """
        if device.fault:
            raise EvaluationError(device.fault)
        result = self._engine.evaluate(self._tree, device)
        if isinstance(result, self._engine.celpy.celtypes.BoolType):
            return bool(result)
        raise EvaluationError(f"the result is of type {type(result).__name__}, not a bool")

    def key(self, device: CelDevice) -> Hashable | None:
        """What decides about a device, as :meth:`drakit.cel.Selector.key`."""
        return self._reads.key(device)

    @functools.cached_property
    def _reads(self) -> Reads:
        return reads(self._checked)


def require() -> None:
    """Make sure that cel-python is there.

    :raises MissingEngine: it is not.
    """
    _engine()


@functools.lru_cache(maxsize=_CACHE_SIZE)
def compile(expression: str) -> CelPythonSelector:  # noqa: A001  # as drakit.cel.compile
    """The selector of an expression.

    :raises CompileError: Kubernetes would refuse the expression, as :func:`drakit.cel.compile` finds out.
    :raises UnsupportedExpression: cel-python cannot read or evaluate it; the construct is named, with line and column.
    :raises MissingEngine: cel-python is not installed.
    """
    source = Source(expression)
    checked = check(parse(source), source)
    with contextlib.suppress(UnsupportedExpression):
        plan(checked)  # refuses constants that cannot be converted
    check_subset(checked)
    return CelPythonSelector(expression, checked)


@frozen
class _Engine:
    """What is needed of cel-python, made once."""

    celpy: Any
    """The package; typed so because it may not be there."""
    environment: Any
    functions: Mapping[str, Callable[..., Any]]
    values: Values

    def read(self, source: str) -> Any:
        """The tree of an expression.

        :raises UnsupportedExpression: the grammar does not have it.
        """
        try:
            with _LOCK:
                return self.environment.compile(source)
        except self.celpy.CELParseError as error:
            raise _unread(source, error.line or 1, error.column or 1) from error
        except RecursionError:
            raise unsupported("nesting this deep") from None

    def evaluate(self, tree: Any, device: CelDevice) -> Any:
        """The value of an expression.

        :raises CelError: as :meth:`CelPythonSelector.matches`.
        """
        runner = self.celpy.InterpretedRunner(self.environment, tree, self.functions)
        try:
            return runner.evaluate({"device": self.values.device(device)})
        except self.celpy.CELEvalError as error:
            raise EvaluationError(str(error.args[0])) from error
        except NotDecided as reason:
            raise UnsupportedExpression(str(reason)) from None
        except RecursionError:
            raise unsupported("nesting this deep") from None
        except Exception as error:
            raise unsupported(f"what ends in a {type(error).__name__}") from error


@functools.cache
def _engine() -> _Engine:
    try:
        import celpy  # noqa: PLC0415  # optional, and slow
    except ImportError as error:
        raise MissingEngine("cel-python is not installed: pip install 'drakit[cel-python]'") from error
    logging.getLogger("celpy").addHandler(logging.NullHandler())  # what it logs it also returns
    limit = sys.getrecursionlimit()
    environment = celpy.Environment()  # sets the limit to 2500, which is for the program to decide
    sys.setrecursionlimit(limit)
    values = Values(celpy)
    return _Engine(celpy, environment, values.functions(), values)


def _unread(source: str, line: int, column: int) -> UnsupportedExpression:
    """What cel-python does not read, at its place, which may be the end: both from 1, -1 for none."""
    place = sum(map(len, source.split("\n")[: line - 1])) + line - 1 + column - 1
    return unsupported("this syntax", Source(source), min(max(place, 0), len(source)))
