"""Evaluations deeper than Python's stack.

Closures call each other once or twice for every level of nesting, of which Kubernetes allows 250; Python's stack is a
thousand calls deep, some of which the caller has used, and a library must not raise that limit. Threads have a stack of
their own each, so what is deep is run in slices, every slice in a thread of its own, while the one before waits.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

__all__ = ["SLICE", "has_room", "on_a_new_stack"]

T = TypeVar("T")

SLICE: Final = 300
"""How many calls deep a slice may be."""
_RESERVE: Final = 60  # for what closures call that are not closures themselves


def has_room(depth: int) -> bool:
    """Whether this thread's stack has room for so many calls more."""
    try:
        sys._getframe(max(sys.getrecursionlimit() - depth - _RESERVE, 0))  # noqa: SLF001  # the public ways build whole lists
    except ValueError:
        return True
    return False


def on_a_new_stack(work: Callable[[], T]) -> T:
    """Run something in a thread of its own, and come back with what it returns or raises."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is the caller's
            errors.append(error)

    thread = threading.Thread(target=run, name="drakit-cel")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
