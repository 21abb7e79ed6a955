"""Tables on a terminal: plain, without frames; what is too wide becomes several tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.report.table import Cell, ReportTable

_LEAST_WORDS: Final = 40
"""Columns of words are wrapped down to this width together before a table is cut in two."""
_LONGEST_HEADING: Final = 10
"""A heading may be as long, or a little longer than what is below it; then it is broken."""
_BETWEEN: Final = 2
"""Blanks beside a column."""
_STYLES: Final = {"": "", "better": "green", "worse": "red", "quiet": "dim", "refused": "yellow"}


def print_tables(console: Console, tables: Iterable[ReportTable]) -> None:
    """Prints tables, none wider than the console; a note once, below the last one that has it."""
    shown = list(tables)
    for place, table in enumerate(shown):
        for part in _parts(table, console.width):
            console.print(part, crop=False)
        later = {note for other in shown[place + 1 :] for note in other.notes}
        for note in table.notes:
            if note not in later:
                console.print(Text(note, style="dim"))


def print_text(console: Console, text: str, style: str = "") -> None:
    """Prints a sentence: wrapped on a terminal, elsewhere a line."""
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


class _Column(NamedTuple):
    """A column of a table as it is printed."""

    heading: str
    cells: list[Text]
    is_words: bool
    least: int
    """The width down to which it can be wrapped."""
    width: int


def _parts(table: ReportTable, width: int) -> Iterator[Table]:
    """Yields a table as it is; else without its spare columns, in parts that fit.

    Each part has the names of the rows.
    """
    columns = [_column(table, place) for place in range(len(table.headings))]
    if sum(column.width + _BETWEEN for column in columns) <= width:
        yield _drawn(table.title, columns, width)
        return
    first = next((at for at, column in enumerate(columns) if not column.is_words), len(columns))
    names = columns[:first]
    others = [at for at in range(first, len(columns)) if at not in table.spare]
    room = width - sum(column.least + _BETWEEN for column in names)
    groups = [
        [columns[at] for at in others if at < table.cut_at],
        [columns[at] for at in others if at >= table.cut_at],
    ]
    parts = [part for group in groups if group for part in _cut(group, room)] or [[]]
    titles = [table.title, *[""] * (len(parts) - 1)]
    yield from (
        _drawn(title, [*names, *part], width) for title, part in zip(titles, parts, strict=True)
    )


def _cut(columns: Sequence[_Column], width: int) -> list[list[_Column]]:
    """Returns columns in as few parts as fit, about as many in each."""
    count = len(columns)
    for number in range(1, count):
        size = -(-count // number)
        parts = [list(columns[at : at + size]) for at in range(0, count, size)]
        if max(sum(column.least + _BETWEEN for column in part) for part in parts) <= width:
            return parts
    return [[column] for column in columns]


def _column(table: ReportTable, place: int) -> _Column:
    is_words = place in table.words
    cells = [_text(row[place]) for row in table.rows]
    widest = max(map(len, cells), default=0)
    heading = _heading(table.headings[place], max(_LONGEST_HEADING, widest + 4))
    width = max(widest, *map(len, heading.split("\n")))
    least = min(width, _LEAST_WORDS // len(table.words)) if is_words else width
    return _Column(heading, cells, is_words, least, width)


def _drawn(title: str, columns: Sequence[_Column], width: int) -> Table:
    """Returns a table, wider than the console if its numbers would be cut short otherwise."""
    least = sum(column.least + _BETWEEN for column in columns)
    drawn = Table(
        title=Text(title, "table.title") if title else None, title_justify="left",
        box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, collapse_padding=True,
        show_header=any(each.heading for each in columns), width=least if least > width else None,
    )  # fmt: skip
    for column in columns:
        drawn.add_column(
            Text(column.heading), justify="left" if column.is_words else "right",
            min_width=column.least, no_wrap=not column.is_words, overflow="fold",
        )  # fmt: skip
    for row in zip(*(column.cells for column in columns), strict=True):
        drawn.add_row(*row)
    return drawn


def _text(cell: Cell) -> Text:
    return Text(f"{cell.text} {cell.note}" if cell.note else cell.text, _STYLES[cell.tone])


def _heading(text: str, width: int) -> str:
    """Returns a heading in as many lines as it takes to be no wider."""
    if "\n" in text or len(text) <= width:
        return text
    lines = [""]
    for word in re.split(r"(?<=[._ ])", text):
        if lines[-1] and (len(lines[-1] + word) > width or word.startswith("/")):
            lines.append("")
        lines[-1] += word
    return "\n".join(map(str.rstrip, lines))
