"""What an API server made of what it was sent."""

from __future__ import annotations

from typing import Any

from drakit.testing.cluster import lost

__all__ = ["absent"]


def absent(sent: Any, stored: Any) -> list[str]:
    """Paths of what the server put on top."""
    return [line.removesuffix(": dropped") for line in lost(stored, sent) if line.endswith(": dropped")]
