"""Tables for a terminal: plain, without frames; what is too wide becomes several tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text


class Column(NamedTuple):
    """A column of a table."""

    heading: str
    cells: Sequence[Text | str]
    justify: Literal["left", "right"] = "right"


def plain_table(title: str = "", *, is_close: bool = False, **more: Any) -> Table:
    """Returns an empty table; a close one takes no room at its edges."""
    close: dict[str, Any] = {"pad_edge": False, "collapse_padding": True} if is_close else {}
    return Table(
        title=title or None, box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1), **close,
        **more,
    )  # fmt: skip


def with_columns(table: Table, columns: Sequence[Column]) -> Table:
    """Fills an empty table."""
    for column in columns:
        heading = Text(column.heading)
        table.add_column(heading, justify=column.justify, no_wrap=True)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table


def width_of(console: Console, table: Table) -> int:
    """Returns the width that a table would take with room enough."""
    return Measurement.get(console, console.options.update(max_width=1000), table).maximum


def print_fitting(
    console: Console,
    title: str,
    names: Sequence[Column],
    columns: Sequence[Column],
    *,
    is_close: bool = False,
) -> None:
    """Prints one table, or several with the names in each, as wide as the console allows."""
    left = columns
    while left:
        for count in range(len(left), 0, -1):
            table = with_columns(plain_table(title, is_close=is_close), [*names, *left[:count]])
            if count == 1 or width_of(console, table) <= console.width:
                console.print(table)
                left = left[count:]
                break
