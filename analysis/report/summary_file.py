"""``summary.json``, written row by row, and its tables as Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from analysis.metrics.row_table import RowTable
from analysis.report.freshness import SUMMARY
from analysis.report.tidy import tables_of
from analysis.study.study_folder import write_text_whole

_INDENT: Final = "\n "


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Writes ``summary.json``, and each of its tidy tables as a Parquet file of its name."""
    write_text_whole(folder / SUMMARY, summary_text(summary))
    for name, table in tables_of(summary).items():
        table.to_parquet(folder / f"{name}.parquet", engine="pyarrow", index=False)


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
