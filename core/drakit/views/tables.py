"""The look of every table."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

__all__ = ["Rows", "pool_name", "table"]


class Rows(Table):
    """A table whose cells are shown as they are: a name in brackets is a name, not markup."""

    def add(self, *cells: str | Text) -> None:
        self.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))


def table(*columns: str) -> Rows:
    """An empty table, kubectl's way: headings in capitals, no lines between rows, nothing cut off."""
    made = Rows(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def pool_name(driver: str, pool: str) -> str:
    """A pool for people: the driver is said once, for pools of domains are named after it."""
    return pool if pool.startswith(f"{driver}/") else f"{driver}/{pool}"
