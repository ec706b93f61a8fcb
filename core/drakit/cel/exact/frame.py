"""What closures share during one evaluation: variables, the device, what it cost and how much work it was.

Source: github.com/google/cel-go ``interpreter/{activation,frame}.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from attrs import frozen

from drakit.cel.exact.costs import COST_LIMIT
from drakit.cel.exact.ledger import Ledger, Settle, too_expensive
from drakit.cel.exact.stack import SLICE, on_a_new_stack
from drakit.cel.values import Concatenation, Fault, Map, NotDecided, Optional, Value

__all__ = ["Frame", "Lazy", "Run", "extent", "sliced", "sliced_height", "variable", "watched", "weight"]

_WORK_LIMIT: Final = 4_000_000
_SLICE_ENTRY: Final = 8  # calls until a new thread runs


class Frame:
    """What one evaluation works with."""

    __slots__ = ("device", "ledger", "patterns", "slots", "work")

    def __init__(self, device: Value, slots: int, ids: int) -> None:
        self.device = device
        self.slots: list[Value] = [None] * slots
        """Variables of folds: a value, a :class:`Fault`, or a :class:`Lazy`."""
        self.ledger = Ledger(ids)
        self.work = 0
        self.patterns: set[str] = set()
        """Those that were searched for."""

    def labour(self, work: int) -> None:
        """Count work for which Kubernetes takes next to nothing, such as comparing lists of lists of lists.

        :raises NotDecided: it is so much that Kubernetes would not come to an end either.
        """
        self.work += work
        if self.work > _WORK_LIMIT:
            raise NotDecided(f"an evaluation of more than {_WORK_LIMIT} steps")


Run: TypeAlias = Callable[[Frame], Value]


def watched(id_: int, run: Run, settle: Settle) -> Run:
    """A node of the expression, with its account settled after every run, also one that fails."""

    def watch(frame: Frame) -> Value:
        ledger = frame.ledger
        try:
            value = run(frame)
        except Fault as fault:
            settle(ledger, fault)
            ledger.push(id_, fault)
            raise
        settle(ledger, value)
        ledger.stack.append((id_, value))  # as push(), of which there are hundreds of thousands in a loop
        ledger.counts[id_] += 1
        if ledger.cost > COST_LIMIT:
            raise too_expensive()
        return value

    return watch


def sliced_height(height: int) -> int:
    """How many calls deep a closure goes on the stack it is called on."""
    return height if height <= SLICE else _SLICE_ENTRY


def sliced(run: Run, *heights: int) -> Run:
    """A closure that goes on in a thread of its own where the closures it calls are too deep for this one.

    :param heights: of these closures.
    """
    if 1 + max(heights) <= SLICE:
        return run
    return lambda frame: on_a_new_stack(lambda: run(frame))


@frozen(eq=False)
class Lazy:
    """The value of an accumulator nobody has asked for yet."""

    start: Run


def variable(slot: int) -> Run:
    """Read a variable; an error kept in it is raised."""

    def read(frame: Frame) -> Value:
        value = frame.slots[slot]
        if isinstance(value, Lazy):
            value = frame.slots[slot] = value.start(frame)
        if isinstance(value, Fault):
            raise value.with_traceback(None)
        return value

    return read


def extent(value: Value) -> int:
    """The size of a value with all that is inside: a comparison may walk through it.

    Parts that are shared count as often as they are met, but are looked at once.
    """
    if isinstance(value, str | bytes):
        return len(value)
    extents: dict[int, int] = {}
    pending = [value] if isinstance(value, _CONTAINERS) else []
    while pending:
        container = pending[-1]
        items = _items(container)
        inside = [item for item in items if isinstance(item, _CONTAINERS)]
        unknown = [item for item in inside if id(item) not in extents]
        if unknown:
            pending += unknown
            continue
        extents[id(container)] = _own_extent(container) + sum(extents[id(item)] for item in inside)
        pending.pop()
    return extents.get(id(value), 1)


_CONTAINERS: Final = (tuple, Map, Optional)
_OF_ENTRY: Final = 4


def _items(container: tuple[Value, ...] | Map | Optional) -> Iterable[Value]:
    if isinstance(container, Optional):
        return (container.value,) if container.present else ()
    return container if isinstance(container, tuple) else (container.find(key)[0] for key in container)


def _own_extent(container: Value) -> int:
    if isinstance(container, tuple):
        return len(container)
    return _OF_ENTRY * len(container) if isinstance(container, Map) else 1


def weight(value: Value) -> int:
    """What reading or making a value is, of work for which Kubernetes asks next to nothing."""
    kind = value.__class__
    if kind is str or kind is bytes:
        return len(value) >> _TEXT
    return len(value) >> _LIST if kind is tuple or kind is Concatenation else 0


_TEXT: Final = 4
"""A step is 16 characters."""
_LIST: Final = 2
