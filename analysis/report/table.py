"""A table as plain values, made once and rendered for a terminal, a page, and Markdown.

Law: no cell holds markup. Whatever comes from a scenario is text here, and each renderer escapes
all text for its format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

Tone = Literal["", "better", "worse", "quiet", "refused"]
"""How a cell is meant; on a page words say it too, so that no colour is needed."""

DASH: Final = "–"
"""Stands for what there is not."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what it says.
        tone: how it is meant.
        note: what belongs to it and may stand below it, such as an interval.
        verdict: the tone in a word, where the text does not say it; a terminal has no room for it.
    """

    text: str
    tone: Tone = ""
    note: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table whose leading columns of words name its rows.

    Attributes:
        title: what it shows, in a line.
        headings: one a column.
        rows: as many cells each as there are headings.
        notes: what a reader has to know of it, a sentence or two each.
        words: columns, from 0, that hold words; the others hold numbers.
        spare: columns that a terminal leaves out if it is too narrow for all.
        cut_at: the column before which a terminal cuts a table first that is too wide; 0: none.
    """

    kind: ClassVar[str] = "table"
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    words: tuple[int, ...] = (0,)
    spare: tuple[int, ...] = ()
    cut_at: int = 0


def texts(*cells: str) -> tuple[Cell, ...]:
    """Returns a row of cells without a tone."""
    return tuple(Cell(text) for text in cells)


def by_variant(
    title: str,
    heading: str,
    variants: Sequence[str],
    rows: Iterable[tuple[str, Iterable[str]]],
    *notes: str,
) -> ReportTable:
    """Returns a table with a column a variant; a row is its name and a text for each of them."""
    cells = tuple(texts(name, *said) for name, said in rows)
    return ReportTable(title, (heading, *variants), cells, notes)
