"""``csv/*.csv``: the tidy tables of a study and the course of every unit, for spreadsheets.

RFC 4180: commas, CRLF, quotes where needed, a header; UTF-8. Numbers are as in ``summary.json``. A
text that a spreadsheet would take for a formula (it begins with ``=``, ``+``, ``-``, ``@``, a tab
or a carriage return) gets an apostrophe before it: names come from scenarios, which
may be by anyone.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from numbers import Real
from pathlib import Path
from typing import Any, Final

import pandas as pd

from analysis.report.tidy import SUMMARY, TABLES, read_table
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole

FOLDER: Final = "csv"

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def write_csv_tables(run: FinishedStudy, out: Path) -> list[Path]:
    """Writes each tidy table of a study as ``csv/<name>.csv`` below ``out``, its name in each row.

    Raises:
        StudyFolderError: if one cannot be read.
    """
    there = [name for name in TABLES if (run.folder / f"{name}.parquet").is_file()]
    written = []
    for name in dict.fromkeys([SUMMARY, *there]):
        path = out / FOLDER / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_whole(path, table_text(run.name, read_table(run.folder, name)))
        written.append(path)
    return written


def table_text(study: str, table: pd.DataFrame) -> Iterator[str]:
    """Yields a table's lines: the study, then the columns; what there is not is an empty cell."""
    yield line(["study", *table.columns])
    for row in table.itertuples(index=False):
        yield line([study, *(None if pd.isna(cell) else cell for cell in row)])


def line(cells: Iterable[Any]) -> str:
    """Returns one line with its end."""
    text = io.StringIO()
    csv.writer(text).writerow([_cell(cell) for cell in cells])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, Real):
        return value
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return f"'{text}" if text.startswith(_FORMULA) else text
