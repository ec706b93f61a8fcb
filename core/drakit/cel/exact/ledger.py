"""What an evaluation has cost so far, counted as cel-go counts it.

cel-go watches every node that is evaluated and keeps the values it saw on a stack, with the ids of their nodes. A call
is charged when the values of all its arguments are found there: when one is not, because an error kept it from being
evaluated, the call is free. Not every node takes its arguments off, and a node of a macro's body is evaluated many times
over, so now and then an older value is found. Only the same stack gives the same cost.

Source: github.com/google/cel-go ``interpreter/runtimecost.go`` (CostTracker, refValStack).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from drakit.cel.exact.costs import COST_LIMIT, UINT64_MASK, Price
from drakit.cel.values import Abort, Value

__all__ = ["Ledger", "Settle", "builds", "calls", "drops", "reads", "too_expensive"]


def too_expensive() -> Abort:
    """What cel-go says where the limit is passed."""
    return Abort("operation cancelled: actual cost limit exceeded")


class Ledger:
    """The cost of one evaluation."""

    __slots__ = ("cost", "counts", "stack")

    def __init__(self, ids: int) -> None:
        """Start at nothing.

        :param ids: how many there are; each is less.
        """
        self.cost = 0
        self.stack: list[tuple[int, Value]] = []
        """The nodes that were seen, and what they came to."""
        self.counts = [0] * ids
        """How often an id is on the stack: most searches end here."""

    def charge(self, cost: int) -> None:
        """Add to the cost; as a uint64, it wraps around."""
        self.cost = (self.cost + cost) & UINT64_MASK

    def push(self, id_: int, value: Value) -> None:
        """Note what a node came to, and whether all this has become too expensive.

        :raises Abort: it has.
        """
        self.stack.append((id_, value))
        self.counts[id_] += 1
        if self.cost > COST_LIMIT:
            raise too_expensive()

    def drop(self, id_: int) -> None:
        """Take off the last value of a node, and all above it."""
        if self.counts[id_]:
            self.pop(id_)

    def take(self, ids: Sequence[int]) -> list[Value] | None:
        """Take off the last values of several nodes, the last one first; None as soon as one is not there."""
        values: list[Value] = []
        for id_ in reversed(ids):
            if not self.counts[id_]:
                return None
            values.append(self.pop(id_))
        values.reverse()
        return values

    def pop(self, id_: int) -> Value:
        """The last value of a node, taken off with all above it; there is one."""
        while True:
            top, value = self.stack.pop()
            self.counts[top] -= 1
            if top == id_:
                return value


Settle: TypeAlias = Callable[[Ledger, Value], None]
"""Settles the account of a node that came to a value or a :class:`~drakit.cel.values.Fault`."""


def calls(args: Sequence[int], price: Price) -> Settle:
    """Of a call: its price, if all arguments were seen."""

    def settle(ledger: Ledger, result: Value) -> None:
        values = ledger.take(args)
        if values is not None:
            ledger.charge(price(values, result))

    return settle


def builds(parts: Sequence[int], cost: int) -> Settle:
    """Of a literal of these parts."""

    def settle(ledger: Ledger, _result: Value) -> None:
        ledger.take(parts)
        ledger.charge(cost)

    return settle


def drops(parts: Sequence[int], cost: int = 0) -> Settle:
    """Of a node that costs the same whatever becomes of its parts, such as ``&&``."""

    def settle(ledger: Ledger, _result: Value) -> None:
        counts = ledger.counts
        for part in parts:
            if counts[part]:  # as drop(), which is half of the time of a loop
                ledger.pop(part)
        if cost:
            ledger.charge(cost)

    return settle


def reads(_ledger: Ledger, _result: Value) -> None:
    """Of a node that is free and leaves its parts where they are."""
