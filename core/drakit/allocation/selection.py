"""Whether a device is what a request asks for, remembered for every node that asks again.

Source: k8s.io/dynamic-resource-allocation ``structured`` (isSelectable), messages included.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from drakit import cel
from drakit.allocation.errors import AllocationError
from drakit.allocation.pools import Candidate
from drakit.allocation.requests import Alternative, Selector
from drakit.cel.engines import Compile, CompiledSelector
from drakit.model import Node

__all__ = ["Selection"]


class Selection:
    """Selector results by device and expression. One for a whole cluster: nothing in it depends on the node."""

    def __init__(self, compile_: Compile = cel.compile) -> None:
        """Compile expressions with ``compile_``."""
        self._compile = compile_
        self._matches: dict[tuple[int, str], bool | cel.CelError] = {}
        self._failing: dict[tuple[str, ...], bool] = {}
        self._compiled: dict[str, CompiledSelector | cel.CelError] = {}
        self._groups: dict[tuple[str, Hashable], bool | cel.CelError] = {}
        """By expression and what it reads of a device."""

    def first_mismatch(self, candidate: Candidate, alternative: Alternative) -> Selector | None:
        """The first selector that is false for a device, class selectors first; None if all are true.

        :raises AllocationError: a selector does not compile, or fails on this device. That is an error of the whole
            attempt, not a mismatch.
        """
        for selector in alternative.selectors:
            if not self._match(candidate, selector):
                return selector
        return None

    def selects(self, candidate: Candidate, alternative: Alternative, node: Node) -> bool:
        """Whether a device is asked for and usable on a node. The node comes last, so errors show on every node.

        :raises AllocationError: as :meth:`first_mismatch`.
        """
        return self.first_mismatch(candidate, alternative) is None and candidate.is_for(node)

    def fails_on_any(self, alternative: Alternative, candidates: Iterable[Candidate]) -> bool:
        """Whether the selectors of a request fail on any of the devices; remembered, so always ask with the same ones."""
        key = tuple(selector.expression for selector in alternative.selectors)
        if key not in self._failing:
            self._failing[key] = any(self._fails(candidate, alternative) for candidate in candidates)
        return self._failing[key]

    def _fails(self, candidate: Candidate, alternative: Alternative) -> bool:
        try:
            self.first_mismatch(candidate, alternative)
        except AllocationError:
            return True
        return False

    def _match(self, candidate: Candidate, selector: Selector) -> bool:
        key = (id(candidate), selector.expression)
        known = self._matches.get(key)
        if known is None:
            known = self._matches[key] = self._evaluate(candidate, selector.expression)
        if isinstance(known, cel.CelError):
            raise _fatal(candidate, selector, known) from known
        return known

    def _evaluate(self, candidate: Candidate, expression: str) -> bool | cel.CelError:
        selector = self._selector(expression)
        if isinstance(selector, cel.CelError):
            return selector
        key = selector.key(candidate.cel)
        known = None if key is None else self._groups.get((expression, key))
        if known is None:
            known = _answer(selector, candidate.cel)
            if key is not None:
                self._groups[expression, key] = known
        return known

    def _selector(self, expression: str) -> CompiledSelector | cel.CelError:
        """The selector of an expression, or why there is none."""
        known = self._compiled.get(expression)
        if known is None:
            try:
                known = self._compile(expression)
            except cel.CelError as error:
                known = error
            self._compiled[expression] = known
        return known


def _answer(selector: CompiledSelector, device: cel.CelDevice) -> bool | cel.CelError:
    try:
        return selector.matches(device)
    except cel.CelError as error:
        return error


def _fatal(candidate: Candidate, selector: Selector, error: cel.CelError) -> AllocationError:
    if isinstance(error, cel.EvaluationError):
        message = f"{selector.name} on device {candidate.id}: CEL runtime error: {error}"
        return AllocationError(message, selector.place, device=str(candidate.id))
    if isinstance(error, cel.UnsupportedExpression):
        at = f" (line {error.line}, column {error.column})" if error.line else ""
        message = f"{selector.name}: drakit cannot decide this yet: {error.construct} is not supported{at}"
        return AllocationError(message, selector.place, kind="undecided")
    return AllocationError(f"{selector.name}: CEL compile error: {error}", selector.place)
