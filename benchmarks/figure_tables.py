"""Tables of the documents that are written whole, each from the summary of one study."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from analysis.report.sensitivity_table import mean_effect
from analysis.report.table import DASH
from benchmarks.figure_readings import ReadingError, read

Summary = Mapping[str, Any]
TableOf = Callable[[Summary], str]
"""Returns a table's lines; raises ``ReadingError`` if the summary lacks its figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Each cell is read by the words of its row and of its column; one without a figure is empty.

    Attributes:
        columns: heading: words of its readings.
        rows: label: words of its readings.
        corner: heading of the labels.
    """

    columns: Mapping[str, str]
    rows: Mapping[str, str]
    corner: str = ""

    def __call__(self, summary: Summary) -> str:
        """Returns the lines; a row without any figure is a mistake."""
        rows = [[label, *self._cells(summary, words)] for label, words in self.rows.items()]
        return _text([self.corner, *self.columns], rows)

    def _cells(self, summary: Summary, words: str) -> list[str]:
        cells: list[str] = []
        for column in self.columns.values():
            try:
                cells.append(read(summary, f"{words} {column}"))
            except ReadingError:
                cells.append(DASH)
        if set(cells) == {DASH}:
            raise ReadingError(f"{words}: no column has a figure")
        return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """How much each factor moves each outcome, mu* of Morris' screening with its interval.

    Attributes:
        outcomes: heading, by the outcomes' order in the scenario.
        scenario: the file whose factors they are.
    """

    outcomes: Sequence[str]
    scenario: Path

    def __call__(self, summary: Summary) -> str:
        """Returns the lines, a factor each."""
        asked = yaml.safe_load(self.scenario.read_text(encoding="utf-8"))["sensitivity"]["factors"]
        found = [one["morris"]["effects"] for one in summary["sensitivity"]["outcomes"]]
        rows = []
        for effects in zip(*found, strict=True):
            factor = effects[0]["factor"]
            between = " to ".join(_spaced(end) for end in asked[factor]["between"])
            rows.append([f"`{factor}`", between, *map(mean_effect, effects)])
        return _text(["factor", "between", *self.outcomes], rows)


def _spaced(bound: object) -> str:
    """Returns ``90 us`` for ``90us``."""
    return re.sub(r"(?<=\d)(?=[a-zA-Z])", " ", str(bound))


def _text(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row(heading), "|---" * len(heading) + "|", *map(_row, rows)]
    return "".join(f"{line}\n" for line in lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")
