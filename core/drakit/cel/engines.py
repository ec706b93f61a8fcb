"""The engines that run selectors, by the names the command line has for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal, Protocol, TypeAlias

from drakit.cel import selector
from drakit.cel.device import CelDevice

__all__ = ["Compile", "CompiledSelector", "Engine", "engine"]

Engine: TypeAlias = Literal["drakit", "cel-python"]
"""The default first."""


class CompiledSelector(Protocol):
    """What an allocation asks of a compiled expression; see :class:`drakit.cel.Selector`."""

    def matches(self, device: CelDevice) -> bool:
        """Whether the device is one that the expression selects."""
        ...

    def key(self, device: CelDevice) -> Hashable | None:
        """What decides about a device."""
        ...


Compile: TypeAlias = Callable[[str], CompiledSelector]
"""As :func:`drakit.cel.compile`, errors included."""


def engine(name: Engine) -> Compile:
    """What compiles expressions with an engine.

    :raises MissingEngine: it is not installed.
    """
    if name == "drakit":
        return selector.compile
    from drakit.cel import celpython  # noqa: PLC0415  # optional

    celpython.require()
    return celpython.compile
