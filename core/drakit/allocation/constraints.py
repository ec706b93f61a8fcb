"""matchAttribute and distinctAttribute over the devices of one claim.

A value is a set: a scalar has one element, a list several. Devices match when one element is in all of them; they are
distinct when no element is in two. A device without the attribute satisfies neither.

Source: k8s.io/dynamic-resource-allocation ``structured`` (constraints), KEP-5491 for lists. Stock releases do not restore
the intersection on backtracking (kubernetes/kubernetes#140300) and forget values of a request with a count (#140438).
"""

from __future__ import annotations

from typing import TypeAlias

from drakit.allocation.pools import Candidate
from drakit.model import DeviceConstraint

__all__ = ["ConstraintState", "values_of"]

Values: TypeAlias = frozenset[tuple[str, object]]
"""Elements as (type, value); int 1 and string "1" are different elements."""


def values_of(candidate: Candidate, attribute: str) -> Values:
    """The elements of a device's attribute; empty where it has none."""
    found = candidate.device.attribute(attribute, candidate.id.driver)
    if found is None:
        return frozenset()
    value = found.value
    kind = found.kind.removesuffix("s")
    items = value if isinstance(value, tuple) else () if value is None else (value,)
    return frozenset((kind, item) for item in items)


class ConstraintState:
    """One constraint during a search: a stack of what the devices taken so far leave open."""

    def __init__(self, constraint: DeviceConstraint) -> None:
        self.match = constraint.match_attribute is not None
        self.attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        self._stack: list[Values] = []

    @property
    def kind(self) -> str:
        return "matchAttribute" if self.match else "distinctAttribute"

    def next(self, candidate: Candidate) -> Values | None:
        """What would be open (match) or used up (distinct) with one more device; None if it does not go."""
        values = values_of(candidate, self.attribute)
        if not values:
            return None
        if not self._stack:
            return values
        if self.match:
            return (self._stack[-1] & values) or None
        return None if self._stack[-1] & values else self._stack[-1] | values

    def push(self, values: Values) -> None:
        self._stack.append(values)

    def pop(self) -> None:
        self._stack.pop()
