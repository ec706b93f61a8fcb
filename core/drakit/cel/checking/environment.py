"""Which Kubernetes reads an expression, and on which occasion: what it may use, and how it is read.

An API server checks a new expression with what the release before it knows too, so that it could be rolled back; it and
the scheduler read a stored one with everything they know, whatever the feature gates are.

Source: k8s.io/apiserver ``pkg/cel/environment/base.go``; k8s.io/dynamic-resource-allocation ``cel/compile.go``.
"""

from __future__ import annotations

import functools
from typing import Final

from attrs import field, frozen
from attrs.validators import ge, le

__all__ = ["NEWEST", "OLDEST", "Environment"]

OLDEST: Final = 34
NEWEST: Final = 37
"""Minor versions of Kubernetes that are known."""

_SINCE: Final = {34: ("slice", "flatten", "sort", "@sortByAssociatedKeys", "distinct", "lists.range", "first", "last")}
"""Functions that some release which is known does not have yet, by minor version; of lists, see :attr:`has_lists`."""


@frozen(kw_only=True, slots=False)
class Environment:
    """A release of Kubernetes, a stored or a new expression, and the feature gates that matter to it."""

    minor: int = field(default=NEWEST, validator=[ge(OLDEST), le(NEWEST)])
    """37 is Kubernetes 1.37."""
    new: bool = False
    """The expression comes with an object that is created or changed; else it is stored already."""
    consumable_capacity: bool = True
    """DRAConsumableCapacity: whether a new expression may ask for ``device.allowMultipleAllocations``."""
    list_attributes: bool = True
    """DRAListTypeAttributes: whether a new expression may treat an attribute as a list."""

    @property
    def escaped_names(self) -> bool:
        """Whether a field may be written between backticks."""
        return self.minor >= 37

    @property
    def absolute_names(self) -> bool:
        """Whether a name with a dot before it is not one of a macro's variables."""
        return self.minor >= 37

    @property
    def strings_first(self) -> bool:
        """Whether functions of strings and lists alike are tried on strings first."""
        return self.minor >= 37

    @property
    def has_lists(self) -> bool:
        """Whether attributes may be lists, so that nothing is known of their type."""
        return self.minor >= 36 and (self.list_attributes or not self.new)

    @property
    def has_sharing(self) -> bool:
        """Whether ``device.allowMultipleAllocations`` is there."""
        return self.consumable_capacity or not self.new

    @functools.cached_property
    def unknown(self) -> frozenset[str]:
        """Functions that an expression cannot use."""
        known = self.minor - 1 if self.new else self.minor
        younger = {name for since, names in _SINCE.items() if since > known for name in names}
        return frozenset(younger if self.has_lists else younger | {"includes"})
