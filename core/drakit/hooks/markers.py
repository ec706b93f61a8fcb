"""The two pluggy markers of project ``drakit``."""

from __future__ import annotations

from typing import Final

import pluggy

__all__ = ["PROJECT", "hookimpl", "hookspec"]

PROJECT: Final = "drakit"
"""Name of the pluggy project and of the entry-point group plugins register in."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
