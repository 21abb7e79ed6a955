"""``summary.json`` and its rows as ``summary.parquet``, written row by row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.report.freshness import SUMMARY
from analysis.report.row_table import POINT, RowTable
from analysis.study.study_folder import write_text_whole

_INDENT: Final = "\n "


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Writes ``summary.json`` and its rows as ``summary.parquet``."""
    write_text_whole(folder / SUMMARY, summary_text(summary))
    rows: RowTable = summary["rows"]
    points = pa.array([json.dumps(point, sort_keys=True) for point in rows.points], pa.string())
    indices = pa.array(rows.columns[POINT].to_numpy(), pa.int32())
    columns = rows.columns.drop(columns=POINT)
    table = pa.Table.from_pandas(columns, preserve_index=False)
    dictionary = pa.DictionaryArray.from_arrays(indices, points)
    table = table.add_column(0, "point", dictionary.cast(pa.string()))
    pq.write_table(table, folder / "summary.parquet")


def summary_text(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yields the text of ``json.dumps(summary, indent=1)`` and a newline, piece by piece."""
    separator = "{"
    for key, value in summary.items():
        yield f"{separator}{_INDENT}{json.dumps(key)}: "
        if isinstance(value, RowTable):
            yield from _rows_text(value)
        else:
            yield json.dumps(value, indent=1).replace("\n", _INDENT)
        separator = ","
    yield "\n}\n" if summary else "{}\n"


def _rows_text(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yields a list of rows as it stands one level deep."""
    separator = "["
    texts: dict[str, str] = {}
    for row in rows:
        cells = ",\n   ".join(f'"{key}": {_cell(value, texts)}' for key, value in row.items())
        yield f"{separator}\n  {{\n   {cells}\n  }}"
        separator = ","
    yield "[]" if separator == "[" else "\n ]"


def _cell(value: Any, texts: dict[str, str]) -> str:
    if isinstance(value, str):
        if value not in texts:
            texts[value] = json.dumps(value)
        return texts[value]
    if isinstance(value, dict):
        return json.dumps(value, indent=1).replace("\n", "\n   ")
    return json.dumps(value)
