"""Where in a device a value comes from, and how big it can be there.

A path is ``device``, then names of fields, ``@keys``, ``@values`` and ``@items``.

Source: k8s.io/dynamic-resource-allocation ``cel/compile.go`` (the declared types, sizeEstimator); k8s.io/api
``resource/v1/types.go`` (the limits); github.com/google/cel-go ``checker/cost.go`` (which paths there are).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

from drakit.cel.estimation.sizes import Size

__all__ = ["NOWHERE", "Path", "limit"]


class Path:
    """A path that can be made longer.

    Two paths made from the same one may share the cell of their last step, and then the later one changes the earlier:
    cel-go's are slices of Go that share memory. Estimates depend on it, such as where a key of a map that is iterated
    gets the bound of an attribute named inside the loop. Go doubles the cells when they are full.
    """

    __slots__ = ("_cells", "length")

    def __init__(self, cells: list[str], length: int) -> None:
        self._cells = cells
        self.length = length

    @property
    def steps(self) -> list[str]:
        """The steps as they are now."""
        return self._cells[: self.length]

    def apart(self) -> Path:
        """The same path with cells of its own."""
        return Path(self.steps, self.length)

    def then(self, step: str) -> Path:
        """The path with one step more."""
        cells = self._cells
        if self.length == len(cells):
            cells = cells + [""] * max(1, len(cells))
        cells[self.length] = step
        return Path(cells, self.length + 1)


NOWHERE: Final = Path([], 0)
"""Of what does not come from the device."""


@frozen
class _Part:
    """A part of a device, as Kubernetes declares it."""

    size: int
    """The greatest."""
    fields: Mapping[str, _Part] = field(factory=dict)
    keys: _Part | None = None
    values: _Part | None = None


_DOMAIN: Final = _Part(63)
_ID: Final = _Part(32)
_DRIVER: Final = _Part(63)
_ATTRIBUTE: Final = _Part(64)
"""The longest text (64) or the longest list (48), whichever is more."""
_QUANTITY: Final = _Part(0)
_NAMED: Final = 32
"""Attributes and capacities of a device, and so domains of them too."""
_DEVICE: Final = _Part(
    0,
    {
        "driver": _DRIVER,
        "allowMultipleAllocations": _Part(1),
        "attributes": _Part(_NAMED, keys=_DOMAIN, values=_Part(_NAMED, keys=_ID, values=_ATTRIBUTE)),
        "capacity": _Part(_NAMED, keys=_DOMAIN, values=_Part(_NAMED, keys=_ID, values=_QUANTITY)),
    },
)


def limit(path: Path) -> Size | None:
    """Bounds for the size of what is at a path; None where Kubernetes gives none."""
    steps = path.steps
    if not steps or steps[0] != "device":
        return None
    part: _Part | None = _DEVICE
    for step in steps[1:]:
        if part is None:
            return None
        part = _next(part, step)
    return None if part is None else Size(0, part.size)


def _next(part: _Part, step: str) -> _Part | None:
    if step in ("@items", "@values"):
        return part.values
    if step == "@keys":
        return part.keys
    # Any name is one of an attribute; of a capacity Kubernetes does not say so.
    return part.fields.get(step) or (_ATTRIBUTE if part.values is _ATTRIBUTE else None)
