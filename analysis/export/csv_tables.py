"""``csv/*.csv``: the tidy tables of a study and the course of every unit, for spreadsheets.

RFC 4180: commas, CRLF, quotes where needed, a header; UTF-8. Numbers are as in ``summary.json``. A
text that a spreadsheet would take for a formula (it begins with ``=``, ``+``, ``-``, ``@``, a tab
or a carriage return) gets an apostrophe before it: names come from scenarios, which
may be by anyone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.export.families import MadeOf
from analysis.export.openmetrics import MOST_POINTS
from analysis.export.unit_course import Key, read_course
from analysis.metrics.catalogue import MS_PER_NS, QUANTILES
from analysis.pipeline.aggregate import quantiles, read_facts, totals
from analysis.report.tidy import SUMMARY, TABLES, beside_points, read_table
from analysis.statistics.intervals import Array
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole
from analysis.study.unit_folder import UnitRecord
from sim.record.facts import HISTOGRAM, MOMENTS

FOLDER: Final = "csv"

_ROWS_AT_ONCE: Final = 50_000
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_COUNTERS: Final = {
    "txns": "transactions", "txn_aborts": "aborts", "disk_write_bytes": "disk_written_bytes",
}  # fmt: skip
"""Columns of a course, by fact."""
_LATENCIES: Final = ("lock_latency", "txn_latency")
WANTED: Final = MadeOf(tuple(_COUNTERS), _LATENCIES)


def write_csv_tables(run: FinishedStudy, out: Path) -> list[Path]:
    """Writes each tidy table of a study as ``csv/<name>.csv`` below ``out``, its name in each row.

    Raises:
        StudyFolderError: if one cannot be read.
    """
    there = [name for name in TABLES if (run.folder / f"{name}.parquet").is_file()]
    return [
        _write(run, out, name, read_table(run.folder, name))
        for name in dict.fromkeys([SUMMARY, *there])
    ]


def write_csv_course(run: FinishedStudy, out: Path) -> list[Path]:
    """Writes ``csv/course.csv``, every unit over simulated time, one line a window.

    Nothing for a study of more than six points.
    """
    if len(run.plan.points) > MOST_POINTS:
        return []
    courses = []
    for unit, record in run.done.items():
        course = _course(run.folder / "units" / unit.unit_hash, record)
        course.insert(0, "variant", unit.variant)
        course.insert(1, "replication", unit.replication)
        places = pd.Series(unit.point_index, index=course.index)
        courses.append(beside_points(run.plan.points, places, course))
    return [_write(run, out, "course", pd.concat(courses))]


def _write(run: FinishedStudy, out: Path, name: str, table: pd.DataFrame) -> Path:
    path = out / FOLDER / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_whole(path, table_text(run.name, table))
    return path


def table_text(study: str, table: pd.DataFrame) -> Iterator[str]:
    """Yields a table as text: the study, then the columns; what there is not is an empty cell."""
    for first in range(0, max(len(table), 1), _ROWS_AT_ONCE):
        some = table.iloc[first : first + _ROWS_AT_ONCE].assign(study=study)
        some = some[["study", *table.columns]]
        texts = some.select_dtypes(["object", "string"]).astype(object).map(_cell)
        yield some.assign(**texts).to_csv(index=False, header=not first, lineterminator="\r\n")


def _cell(value: Any) -> Any:
    if not isinstance(value, str | list | dict):
        return value
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _course(folder: Path, record: UnitRecord) -> pd.DataFrame:
    """Returns a row a window of a unit."""
    course = read_course(folder, record, 1, WANTED)
    ends_s = np.array(course.ends_ns) / 1e9

    def grown(part: dict[Key, Any], fact: str) -> Array:
        """Returns by how much a total of all classes grew in each window."""
        return np.diff(course.total(part, [key for key in part if key[0] == fact]), prepend=0)

    columns = {
        "begin_s": np.r_[0.0, ends_s[:-1]],
        "end_s": ends_s,
        "warmup": (np.arange(len(ends_s)) < record.warmup_windows).astype(int),
        **{name: grown(course.counters, fact) for fact, name in _COUNTERS.items()},
        "locks": grown(course.counts, "lock_latency"),
    }
    p99s = _p99s(folder)
    for fact in _LATENCIES:
        with np.errstate(invalid="ignore"):
            means_ns = grown(course.sums, fact) / grown(course.counts, fact)
        columns[f"{fact}_mean_ms"] = (means_ns * MS_PER_NS).round(6)
        columns[f"{fact}_p99_ms"] = np.array(
            [p99s.get((fact, window), np.nan) for window in range(len(ends_s))]
        )
    return pd.DataFrame(columns)


def _p99s(folder: Path) -> dict[tuple[str, int], float]:
    """Returns a unit's 99th percentiles in ms by series and window, read off as a report does."""
    keys = ("metric", "window")
    counts = totals(read_facts(folder, HISTOGRAM, _LATENCIES), (*keys, "bucket"), count="sum")
    greatest = totals(read_facts(folder, MOMENTS, _LATENCIES), keys, max="max")
    found = quantiles(counts, greatest, keys, {"p99": QUANTILES["p99"]})
    rows = zip(*(found[name].to_pylist() for name in (*keys, "value")), strict=True)
    return {(series, window): round(ns * MS_PER_NS, 6) for series, window, ns in rows}
