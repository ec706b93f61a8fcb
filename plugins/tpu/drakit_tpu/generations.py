"""TPU generations: how chips sit on hosts, and what things are called.

Source: public documentation of Cloud TPU; the names are those the official driver publishes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import frozen

__all__ = ["GENERATIONS", "Generation"]


@frozen(kw_only=True)
class Generation:
    """One generation, as multi-host slices of it are built."""

    tpu_gen: str
    """Value of the attribute ``tpuGen``."""
    accelerator: str
    """Start of the accelerator type: ``v6e`` in ``v6e-16``."""
    block: tuple[int, ...]
    """Chips of one host in each dimension."""
    cores: int
    """What the accelerator type counts for each chip."""

    @property
    def chips_per_host(self) -> int:
        chips = 1
        for size in self.block:
            chips *= size
        return chips


GENERATIONS: Final[Mapping[str, Generation]] = {
    "v4": Generation(tpu_gen="v4", accelerator="v4", block=(2, 2, 1), cores=2),
    "v5e": Generation(tpu_gen="v5litepod", accelerator="v5litepod", block=(2, 2), cores=1),
    "v5p": Generation(tpu_gen="v5p", accelerator="v5p", block=(2, 2, 1), cores=2),
    "v6e": Generation(tpu_gen="v6e", accelerator="v6e", block=(2, 2), cores=1),
    "tpu7x": Generation(tpu_gen="tpu7x", accelerator="tpu7x", block=(2, 2, 1), cores=2),
}
