"""What became of an object on its way through an API server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["lost"]


def lost(sent: Any, stored: Any, path: str = "") -> Iterator[str]:
    """Paths of what was sent and is not stored like that, each with what became of it.

    What the server put on top is not looked at; lists must have the same length, though.
    """
    if isinstance(sent, Mapping) and isinstance(stored, Mapping):
        for key, value in sent.items():
            where = f"{path}.{key}".lstrip(".")
            if key in stored:
                yield from lost(value, stored[key], where)
            else:
                yield f"{where}: dropped"
    elif isinstance(sent, list) and isinstance(stored, list) and len(sent) == len(stored):
        for index, (one, other) in enumerate(zip(sent, stored, strict=True)):
            yield from lost(one, other, f"{path}[{index}]")
    elif sent != stored:
        yield f"{path}: {sent!r} became {stored!r}"
