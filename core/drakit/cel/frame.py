"""What closures share during one evaluation: variables, the device, and the work done so far.

Source: github.com/google/cel-go ``interpreter/{activation,runtimecost}.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from attrs import frozen

from drakit.cel.values import Abort, Fault, Map, NotDecided, Optional, Value, opened

__all__ = ["Frame", "Lazy", "Run", "extent", "operands", "variable"]

_COST_LIMIT: Final = 1_000_000


class Frame:
    """What one evaluation works with."""

    __slots__ = ("device", "slots", "spent")

    def __init__(self, device: Value, slots: int) -> None:
        self.device = device
        self.slots: list[Value] = [None] * slots
        """Variables of folds: a value, a :class:`Fault`, or a :class:`Lazy`."""
        self.spent = 0

    def spend(self, cost: int) -> None:
        """Count work, never less than Kubernetes would.

        Its limit is part of the verdict; what may be beyond it is not decided here.
        """
        self.spent += cost
        if self.spent > _COST_LIMIT:
            raise NotDecided(f"an evaluation that may cost more than {_COST_LIMIT}")


Run: TypeAlias = Callable[[Frame], Value]


@frozen(eq=False)
class Lazy:
    """The value of an accumulator nobody has asked for yet."""

    start: Run


def variable(slot: int) -> Run:
    """Read a variable; an error kept in it is raised."""

    def read(frame: Frame) -> Value:
        frame.spend(1)
        value = frame.slots[slot]
        if isinstance(value, Lazy):
            value = frame.slots[slot] = value.start(frame)
        if isinstance(value, Fault):
            raise value
        if isinstance(value, Optional) and value.present:
            opened(value)
        return value

    return read


def extent(value: Value) -> int:
    """The size of a value as cost accounting sees it, with all that is inside: a comparison may walk through it.

    Parts that are shared count as often as they are met, up to a little over the limit, where counting stops.
    """
    if isinstance(value, str | bytes):
        return len(value)
    if not isinstance(value, tuple | Map):
        return 1
    size, inside = len(value), [value]
    while inside and size <= _COST_LIMIT:
        container = inside.pop()
        items = container if isinstance(container, tuple) else (container.find(key)[0] for key in container)
        for item in items:
            if isinstance(item, tuple | Map):
                size += len(item)
                inside.append(item)
    return size


def operands(frame: Frame, runs: Sequence[Run]) -> list[Value]:
    """All operands. The first error counts, but one that ends the whole evaluation may still come after it."""
    values: list[Value] = []
    first: Fault | None = None
    for operand in runs:
        try:
            values.append(operand(frame))
        except Fault as fault:
            first = first or fault
        except Abort:
            if first is not None and len(runs) > 2:
                raise NotDecided("an error beside one that ends the evaluation") from None
            raise
    if first is not None:
        raise first
    return values
