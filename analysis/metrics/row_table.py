"""Rows of ``summary.json``, kept as columns: a study of 10,000 units has a million of them.

A row behaves like a dictionary, and is made only when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, overload

import pandas as pd

OPTIONAL: Final = frozenset({"refused", "at_least"})
"""Keys that a row has only if there is something to say."""

POINT: Final = "point_index"

Row = dict[str, Any]
_ROWS_AT_ONCE = 4096


class RowTable(Sequence[Row]):
    """Rows that look like dictionaries; their first key is ``point``."""

    def __init__(self, columns: pd.DataFrame, points: Sequence[Mapping[str, Any]]) -> None:
        """Takes columns whose first is ``point_index``, an index into ``points``.

        NaN and None become null.
        """
        self.columns = columns
        self.points = points

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> RowTable: ...
    def __getitem__(self, place: int | slice) -> Row | RowTable:
        if isinstance(place, slice):
            return RowTable(self.columns.iloc[place], self.points)
        return next(iter(RowTable(self.columns.iloc[[place]], self.points)))

    def __iter__(self) -> Iterator[Row]:
        for first in range(0, len(self.columns), _ROWS_AT_ONCE):
            yield from self._rows(self.columns.iloc[first : first + _ROWS_AT_ONCE])

    def _rows(self, columns: pd.DataFrame) -> Iterator[Row]:
        names = [name for name in columns.columns if name != POINT]
        optional = OPTIONAL.intersection(names)
        cells = zip(*(_plain(columns[name]) for name in names), strict=True)
        for point, values in zip(columns[POINT].tolist(), cells, strict=True):
            row = {"point": dict(self.points[point])} | dict(zip(names, values, strict=True))
            for name in optional:
                if row[name] is None:
                    del row[name]
            yield row

    def at_point(self, index: int) -> RowTable:
        """Returns the rows of one point."""
        return RowTable(self.columns[self.columns[POINT] == index], self.points)

    @classmethod
    def from_rows(
        cls, rows: Sequence[Mapping[str, Any]], points: Sequence[Mapping[str, Any]] | None = None
    ) -> RowTable:
        """Returns a table of some rows; their points are among ``points``, if these are given."""
        if isinstance(rows, RowTable):
            return rows
        texts = [point_text(row["point"]) for row in rows]
        if points is None:
            points = list(dict(zip(texts, (row["point"] for row in rows), strict=True)).values())
        places = {point_text(point): at for at, point in enumerate(points)}
        names = dict.fromkeys(name for row in rows for name in row if name != "point")
        columns = pd.DataFrame([dict(row) for row in rows], columns=list(names))
        index = pd.Series([places[text] for text in texts], dtype="int64")
        columns.insert(0, POINT, index)
        return cls(columns, points)

    @classmethod
    def of(cls, parts: Sequence[RowTable]) -> RowTable:
        """Returns the rows of some tables, of the same points, one after another."""
        names = dict.fromkeys(name for part in parts for name in part.columns.columns)
        # A column without a value has no kind of its own to be reconciled with the others'.
        said = [part.columns.dropna(axis="columns", how="all") for part in parts]
        columns = pd.concat(said, ignore_index=True).reindex(columns=list(names))
        return cls(columns, parts[0].points)


def point_text(point: Mapping[str, Any]) -> str:
    """Returns a point as JSON, the same for equal points."""
    return json.dumps(dict(point), sort_keys=True)


def _plain(column: pd.Series[Any]) -> list[Any]:
    return [None if cell != cell else cell for cell in column.tolist()]  # noqa: PLR0124 - NaN
