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
    def from_rows(cls, rows: Sequence[Row], points: Sequence[Mapping[str, Any]]) -> RowTable:
        """Returns a table of some rows, at least one, whose points are among ``points``."""
        places = {json.dumps(dict(point), sort_keys=True): at for at, point in enumerate(points)}
        columns = pd.DataFrame([{key: row[key] for key in row if key != "point"} for row in rows])
        index = [places[json.dumps(dict(row["point"]), sort_keys=True)] for row in rows]
        columns.insert(0, POINT, index)
        return cls(columns, points)

    def refused(self) -> RowTable:
        """Returns the rows that say why they have no number."""
        if "refused" not in self.columns:
            return RowTable(self.columns.iloc[:0], self.points)
        return RowTable(self.columns[self.columns["refused"].notna()], self.points)

    @classmethod
    def of(cls, parts: Sequence[RowTable]) -> RowTable:
        """Returns the rows of some tables, of the same points, one after another."""
        names = dict.fromkeys(name for part in parts for name in part.columns.columns)
        # A column without a value has no kind of its own to be reconciled with the others'.
        said = [part.columns.dropna(axis="columns", how="all") for part in parts]
        columns = pd.concat(said, ignore_index=True).reindex(columns=list(names))
        return cls(columns, parts[0].points)


def _plain(column: pd.Series[Any]) -> list[Any]:
    return [None if cell != cell else cell for cell in column.tolist()]  # noqa: PLR0124 - NaN
