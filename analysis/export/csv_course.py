"""``csv/course.csv``: every unit over simulated time, one line a window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analysis.export.csv_tables import FOLDER, line
from analysis.export.families import MadeOf
from analysis.export.openmetrics import MOST_POINTS
from analysis.export.unit_course import CounterCourse, read_course
from analysis.metrics.catalogue import MS_PER_NS, QUANTILES
from analysis.pipeline.aggregate import quantiles, read_facts, totals
from analysis.report.tidy import point_columns
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole
from sim.record.facts import HISTOGRAM, MOMENTS

_COUNTERS: Final = ("txns", "txn_aborts", "disk_write_bytes")
_LATENCIES: Final = ("lock_latency", "txn_latency")
WANTED: Final = MadeOf(_COUNTERS, _LATENCIES)
COLUMNS: Final = (
    "variant", "replication", "begin_s", "end_s", "warmup", "transactions", "aborts",
    "disk_written_bytes", "locks", "lock_latency_mean_ms", "lock_latency_p99_ms",
    "txn_latency_mean_ms", "txn_latency_p99_ms",
)  # fmt: skip


def write_csv_course(run: FinishedStudy, out: Path) -> list[Path]:
    """Writes ``csv/course.csv`` below ``out``; nothing for a study of more than six points."""
    if len(run.plan.points) > MOST_POINTS:
        return []
    path = out / FOLDER / "course.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_whole(path, _lines(run))
    return [path]


def _lines(run: FinishedStudy) -> Iterator[str]:
    points = point_columns(run.plan.points)
    yield line(["study", *points.columns, *COLUMNS])
    for unit, record in run.done.items():
        point = points.iloc[unit.point_index].tolist()
        head = [run.name, *point, unit.variant, unit.replication]
        folder = run.folder / "units" / unit.unit_hash
        course = read_course(folder, record, 1, WANTED)
        numbers = _numbers(course, _p99s(folder))
        begin_ns = 0
        for step, end_ns in enumerate(course.ends_ns):
            times = [begin_ns / 1e9, end_ns / 1e9, int(step < record.warmup_windows)]
            yield line([*head, *times, *(column[step] for column in numbers)])
            begin_ns = end_ns


def _numbers(
    course: CounterCourse, p99s: Mapping[tuple[str, int], float]
) -> list[list[float | None]]:
    """Returns the columns after ``warmup``, a value a window."""
    windows = range(len(course.ends_ns))
    columns: list[list[float | None]] = [
        _grown(course, course.counters, fact).tolist() for fact in _COUNTERS
    ]
    columns.append(_grown(course, course.counts, "lock_latency").tolist())
    for series in _LATENCIES:
        columns += [_means(course, series), [p99s.get((series, window)) for window in windows]]
    return columns


def _grown(
    course: CounterCourse, part: dict[tuple[str, str], NDArray[np.int64]], metric: str
) -> NDArray[np.int64]:
    """Returns by how much a total of all classes grew in each window."""
    return np.diff(course.total(part, [key for key in part if key[0] == metric]), prepend=0)


def _means(course: CounterCourse, series: str) -> list[float | None]:
    counts = _grown(course, course.counts, series).tolist()
    sums = _grown(course, course.sums, series).tolist()
    return [
        round(total / count * MS_PER_NS, 6) if count else None
        for count, total in zip(counts, sums, strict=True)
    ]


def _p99s(folder: Path) -> dict[tuple[str, int], float]:
    """Returns a unit's 99th percentiles in ms by series and window, read off as a report does."""
    keys = ("metric", "window")
    counts = totals(read_facts(folder, HISTOGRAM, _LATENCIES), (*keys, "bucket"), count="sum")
    greatest = totals(read_facts(folder, MOMENTS, _LATENCIES), keys, max="max")
    found = quantiles(counts, greatest, keys, {"p99": QUANTILES["p99"]})
    rows = zip(*(found[name].to_pylist() for name in (*keys, "value")), strict=True)
    return {(series, window): round(ns * MS_PER_NS, 6) for series, window, ns in rows}
