"""The look of every table."""

from __future__ import annotations

from rich import box
from rich.table import Table

__all__ = ["pool_name", "table"]


def table(*columns: str) -> Table:
    """An empty table, kubectl's way: headings in capitals, no lines between rows, nothing cut off."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def pool_name(driver: str, pool: str) -> str:
    """A pool for people: the driver is said once, for pools of domains are named after it."""
    return pool if pool.startswith(f"{driver}/") else f"{driver}/{pool}"
