"""``csv/*.csv``: the rows of ``summary.json`` and the course of every unit, for spreadsheets.

RFC 4180: commas, CRLF, quotes where needed, a header; UTF-8. Numbers are as in ``summary.json``. A
text that a spreadsheet would take for a formula (it begins with ``=``, ``+``, ``-``, ``@``, a tab
or a carriage return) gets an apostrophe before it: names come from scenarios, which
may be by anyone.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from analysis.program import command
from analysis.study.study_folder import StudyFolderError, write_text_whole

FOLDER: Final = "csv"

ROW: Final = ("variant", "metric", "class", "stat", "unit",
              "value", "ci_low", "ci_high", "replications")  # fmt: skip
COMPARISON: Final = ("baseline", "variant", "metric", "class", "stat",
                     "ratio", "ci_low", "ci_high")  # fmt: skip

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def write_csv_tables(folder: Path, out: Path) -> list[Path]:
    """Writes ``summary.csv`` and ``comparisons.csv`` from a study's ``summary.json``.

    Args:
        folder: the study's.
        out: where the folder ``csv`` is made.

    Raises:
        StudyFolderError: if there is no summary that can be read.
    """
    summary = read_summary(folder)
    tables = {
        "summary.csv": (ROW, summary["rows"]),
        "comparisons.csv": (COMPARISON, summary["comparisons"]),
    }
    written = []
    for name, (columns, rows) in tables.items():
        path = out / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_whole(path, table_text(summary["study"], columns, rows))
        written.append(path)
    return written


def read_summary(folder: Path) -> dict[str, Any]:
    """Returns name, rows and comparisons of a study's summary.

    Raises:
        StudyFolderError: if it is missing or is none.
    """
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        return {name: summary[name] for name in ("study", "rows", "comparisons")}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise StudyFolderError(
            f"{path}: cannot be read; {command('report', folder)} makes it again"
        ) from error


def table_text(
    study: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> Iterable[str]:
    """Yields a table's lines: the study, a column for each swept key, and ``columns``.

    Args:
        study: its name.
        columns: of the rows, in their order.
        rows: each with its ``point``; a key that a point does not set is an empty cell.
    """
    keys = sorted({key for row in rows for key in row["point"]})
    yield line(["study", *keys, *columns])
    for row in rows:
        point = row["point"]
        yield line([study, *(point.get(key) for key in keys), *(row.get(name) for name in columns)])


def line(cells: Iterable[Any]) -> str:
    """Returns one line with its end."""
    text = io.StringIO()
    csv.writer(text).writerow([_cell(cell) for cell in cells])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return f"'{text}" if text.startswith(_FORMULA) else text
