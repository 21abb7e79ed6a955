"""Tables on a terminal: plain, without frames; what is too wide becomes several tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from analysis.report.table import Cell, ReportTable

_LEAST_WORDS: Final = 40
"""Columns of words are wrapped down to this width together before a table is cut in two."""
_LONGEST_HEADING: Final = 10
"""A heading may be as long, or a little longer than what is below it; then it is broken."""
_STYLES: Final = {"": "", "better": "green", "worse": "red", "quiet": "dim", "refused": "yellow"}


def print_tables(console: Console, tables: Iterable[ReportTable]) -> None:
    """Prints tables, none wider than the console; a note once, below the last one that has it."""
    shown = list(tables)
    for place, table in enumerate(shown):
        for part in _parts(console, table):
            console.print(part)
        later = {note for other in shown[place + 1 :] for note in other.notes}
        for note in table.notes:
            if note not in later:
                console.print(Text(note, style="dim"))


def print_text(console: Console, text: str, style: str = "") -> None:
    """Prints a sentence: wrapped on a terminal, elsewhere a line."""
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


def _parts(console: Console, table: ReportTable) -> Iterator[Table]:
    """Yields a table as it is; else without its spare columns, in as few parts as fit.

    Each part has the names of the rows, and about as many columns as the others.
    """
    every = list(range(len(table.headings)))
    whole = _drawn(table, every)
    whole.title = table.title or None
    if _width(console, whole).maximum <= console.width:
        yield whole
        return
    names = [place for place in every if {*range(place + 1)} <= {*table.words}]
    others = [place for place in every if place not in {*names, *table.spare}]
    for size in range(max(len(others), 1), 0, -1):
        cuts = range(0, max(len(others), 1), size)
        parts = [_drawn(table, names + others[cut : cut + size]) for cut in cuts]
        if size == 1 or all(_width(console, part).minimum <= console.width for part in parts):
            parts[0].title = table.title or None
            yield from parts
            return


def _width(console: Console, drawn: Table) -> Measurement:
    return Measurement.get(console, console.options.update(max_width=1000), drawn)


def _drawn(table: ReportTable, places: Sequence[int]) -> Table:
    """Returns some columns; those of words can be wrapped, the others cannot."""
    drawn = Table(
        box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1), pad_edge=False,
        collapse_padding=True, show_header=any(table.headings),
    )  # fmt: skip
    for place in places:
        is_words = place in table.words
        cells = max((len(_plain(row[place])) for row in table.rows), default=0)
        heading = _heading(table.headings[place], max(_LONGEST_HEADING, cells + 4))
        width = max(cells, *map(len, heading.split("\n")))
        least = min(width, _LEAST_WORDS // len(table.words)) if is_words else width
        drawn.add_column(
            Text(heading), justify="left" if is_words else "right", min_width=least,
            no_wrap=not is_words, overflow="fold",
        )  # fmt: skip
    for row in table.rows:
        drawn.add_row(*(Text(_plain(row[at]), style=_STYLES[row[at].tone]) for at in places))
    return drawn


def _plain(cell: Cell) -> str:
    return f"{cell.text} {cell.note}" if cell.note else cell.text


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
