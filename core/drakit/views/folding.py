"""Many names in few words: ``gpu-0 ... gpu-7``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Final

from drakit.model import DeviceID
from drakit.views.tables import pool_name

__all__ = ["fold_devices", "fold_names"]

_NUMBERED: Final = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.ASCII | re.DOTALL)
_FOLDED_FROM: Final = 3
"""Names in a row that become the first and the last of them."""
_SHOWN: Final = 6
"""Names, rows of names, or pools."""


def fold_devices(devices: Sequence[DeviceID], *, with_driver: bool = False) -> str:
    """Devices by pool; pools with the same devices are said together.

    :param with_driver: whether the driver is named too, as it must be where there are several.
    """
    by_pool: dict[str, list[str]] = {}
    for device in devices:
        pool = pool_name(device.driver, device.pool) if with_driver else device.pool
        by_pool.setdefault(pool, []).append(device.device)
    pools: dict[str, list[str]] = {}
    for pool, names in by_pool.items():
        pools.setdefault(fold_names(names), []).append(pool)
    shown = [f"{own[0]}/{names}" if len(own) == 1 else f"{fold_names(own)}: each {names}" for names, own in pools.items()]
    return _cut(shown, "; ", "pools alike")


def fold_names(names: Iterable[str]) -> str:
    """Names in their natural order, rows of numbers folded."""
    numbered = sorted((_parts(name), name) for name in set(names))
    rows: list[str] = []
    places = enumerate(numbered)
    for _, group in itertools.groupby(places, key=lambda item: (item[1][0][0], item[1][0][2], item[1][0][1] - item[0])):
        row = [name for _, (_, name) in group]
        rows.extend([f"{row[0]} ... {row[-1]}"] if len(row) >= _FOLDED_FROM else row)
    return _cut(rows, ", ", "more")


def _parts(name: str) -> tuple[str, int, str]:
    match = _NUMBERED.fullmatch(name)
    return (match[1], int(match[2]), match[3]) if match else (name, -1, "")


def _cut(items: Sequence[str], separator: str, what: str) -> str:
    left = len(items) - _SHOWN
    shown = separator.join(items[:_SHOWN])
    return f"{shown}{separator}and {left} {what}" if left > 0 else shown
