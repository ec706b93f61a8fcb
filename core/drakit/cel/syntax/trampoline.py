"""Recursion without Python's stack.

Expressions may nest 250 deep, and each level takes several calls: more than Python's default stack allows, and a
library must not raise that limit. So the walkers of a tree are generators that yield the walk of a child and get its
result back, and :func:`run` keeps the stack.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar, cast

__all__ = ["Walk", "run", "run_catching"]

T = TypeVar("T")

Walk: TypeAlias = "Generator[Generator[Any, Any, Any], Any, T]"
"""A walk that ends in a ``T``; what it yields are walks too."""


def run(walk: Walk[T]) -> T:
    """Walk to the end and give the result; what a walk raises passes through the walks that wait for it."""
    stack: list[Generator[Any, Any, Any]] = []
    current: Generator[Any, Any, Any] = walk
    result: Any = None
    while True:
        try:
            below = current.send(result)
        except StopIteration as stop:
            result = stop.value
            if not stack:
                return cast("T", result)
            current = stack.pop()
        else:
            stack.append(current)
            current = below
            result = None


def run_catching(walk: Walk[T], catchable: type[Exception]) -> T:
    """As :func:`run`; an exception of one kind is raised in the walks that wait too, so that they can catch it."""
    stack: list[Generator[Any, Any, Any]] = []
    current: Generator[Any, Any, Any] = walk
    result: Any = None
    error: Exception | None = None
    while True:
        try:
            below = current.send(result) if error is None else current.throw(error)
        except StopIteration as stop:
            result, error = stop.value, None
            if not stack:
                return cast("T", result)
            current = stack.pop()
        except catchable as raised:
            if not stack:
                raise
            current, error = stack.pop(), raised.with_traceback(None)
        else:
            stack.append(current)
            current, result, error = below, None, None
