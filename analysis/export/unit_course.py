"""The facts of one unit, cumulated over simulated time at the ends of equal steps.

Only a few units are exported, each by itself: their Parquet files are read here, without Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from analysis.export.families import MadeOf
from analysis.study.unit_folder import UnitRecord
from sim.record.facts import COUNTER, HISTOGRAM, MOMENTS
from sim.record.histogram import BUCKETS_PER_DOUBLING, ZERO_BUCKET

Key = tuple[str, str]
"""Metric and class of facts."""

_LAST_BUCKET: Final = 62 * BUCKETS_PER_DOUBLING


@dataclass(slots=True)
class CounterCourse:
    """Totals since the unit's beginning; arrays have shape (steps,)."""

    ends_ns: list[int]
    """Where each step ends, in simulated time."""
    counters: dict[Key, NDArray[np.int64]] = field(default_factory=dict)
    counts: dict[Key, NDArray[np.int64]] = field(default_factory=dict)
    """How many values a series has had."""
    sums: dict[Key, NDArray[np.int64]] = field(default_factory=dict)
    buckets: dict[Key, NDArray[np.int64]] = field(default_factory=dict)
    """Values by exponential bucket, shape (steps, buckets); the first is for 0."""

    def total(
        self, part: Mapping[Key, NDArray[np.int64]], keys: Iterable[Key]
    ) -> NDArray[np.int64]:
        """Returns the sum of some series of ``counters``, ``counts`` or ``sums``."""
        none = np.zeros(len(self.ends_ns), dtype=np.int64)
        return sum((part.get(key, none) for key in keys), none)


@dataclass(frozen=True, slots=True)
class ReplicationFacts:
    """One unit's place in a file."""

    record: UnitRecord
    course: CounterCourse
    begin_ns: int
    """From 1970."""


def step_ends_ns(record: UnitRecord, windows: int) -> list[int]:
    """Returns the ends of steps of so many windows; the last one ends with the unit."""
    step_ns = windows * record.window_ns
    whole = range(step_ns, record.simulated_ns, step_ns)
    return [*whole, record.simulated_ns]


def read_course(folder: Path, record: UnitRecord, windows: int, wanted: MadeOf) -> CounterCourse:
    """Returns what a unit's facts say at the end of every step.

    Args:
        folder: the unit's, with its Parquet files.
        record: the unit's.
        windows: of facts, in a step.
        wanted: the facts to read.
    """
    course = CounterCourse(step_ends_ns(record, windows))
    steps = len(course.ends_ns)
    for key, rows in _by_series(folder, COUNTER, wanted.counters):
        course.counters[key] = _cumulated(rows, "value", windows, steps)
    for key, rows in _by_series(folder, MOMENTS, wanted.series):
        course.counts[key] = _cumulated(rows, "count", windows, steps)
        course.sums[key] = _cumulated(rows, "sum", windows, steps)
    for key, rows in _by_series(folder, HISTOGRAM, wanted.histograms):
        table = np.zeros((steps, _LAST_BUCKET + 2), dtype=np.int64)
        places = (_steps_of(rows, windows, steps), rows["bucket"].to_numpy() - ZERO_BUCKET)
        np.add.at(table, places, rows["count"].to_numpy())
        course.buckets[key] = table.cumsum(axis=0)
    return course


def up_to(buckets: NDArray[np.int64], bounds_ns: Iterable[float]) -> NDArray[np.int64]:
    """Returns how many values are at most each bound; shape (steps, bounds).

    A bound falls within an exponential bucket; the bucket counts as below it if its (geometric)
    middle is. So a bound is moved by at most half a bucket, 0.54 %.
    """
    places = np.floor(BUCKETS_PER_DOUBLING * np.log2(np.array(list(bounds_ns))) + 0.5)
    last = places.astype(np.int64) - ZERO_BUCKET
    below: NDArray[np.int64] = buckets.cumsum(axis=1)[:, np.clip(last, 0, _LAST_BUCKET + 1)]
    return below


def _by_series(
    folder: Path, table: str, metrics: tuple[str, ...]
) -> Iterable[tuple[Key, pd.DataFrame]]:
    """Yields the rows of each metric and class, by name."""
    facts = pq.read_table(folder / f"{table}.parquet")
    if metrics:
        facts = facts.filter(pc.field("metric").isin(sorted(metrics)))
    frame = facts.to_pandas()
    for (metric, class_), rows in frame.groupby(["metric", "class"], sort=True):
        yield (str(metric), str(class_)), rows


def _steps_of(rows: pd.DataFrame, windows: int, steps: int) -> NDArray[np.int64]:
    step: NDArray[np.int64] = rows["window"].to_numpy(dtype=np.int64) // windows
    return np.minimum(step, steps - 1)


def _cumulated(rows: pd.DataFrame, column: str, windows: int, steps: int) -> NDArray[np.int64]:
    totals = np.zeros(steps, dtype=np.int64)
    np.add.at(totals, _steps_of(rows, windows, steps), rows[column].to_numpy(dtype=np.int64))
    return totals.cumsum()
