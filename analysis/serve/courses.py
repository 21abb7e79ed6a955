"""Studies over simulated time: latency and throughput, from the facts of their first replications.

Only a study of one point has a course that can be held against another one's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.serve.studies import LONGEST_FACTS_BYTES, LONGEST_RECORD_BYTES, NoStudyError
from analysis.statistics.intervals import half_widths, means
from analysis.study.parquet_sink import read_here
from analysis.study.study_folder import StudyFolderError
from analysis.study.unit_folder import UNIT_FILE
from analysis.study.units import PLAN_FILE, Unit, read_plan
from sim.record.facts import COUNTER, MOMENTS
from sim.units import NS_PER_MS, NS_PER_S

File = Callable[[str], Path]
"""Returns the path of a study's file; ``NoStudyError`` if it may not be read."""
Line = list[list[float]]
"""Time in simulated seconds, mean over replications, and the ends of its 95 % interval."""

MOST_BINS: Final = 60
REPLICATIONS: Final = 5
COURSES: Final = {
    "lock_latency": "Lock latency over time, mean (ms)",
    "txn_latency": "Transaction latency over time, mean (ms)",
    "txns": "Transactions over time (1/s)",
}
"""Facts that have a course, and what a page calls it."""


_UNREADABLE: Final = (
    NoStudyError, StudyFolderError, OSError, pa.ArrowException,
    ValueError, KeyError, TypeError, ArithmeticError,
)  # fmt: skip


def study_courses(file: File) -> dict[str, dict[str, Line]]:
    """Returns the courses of a study by fact and variant; none if it cannot have any.

    A bin is a whole number of windows, the warm-up is in. Facts that are missing, too long or of
    another form are left out with all of their study.
    """
    try:
        plan = read_plan(file(PLAN_FILE).parent)
        if len(plan.points) != 1:
            return {}
        found: dict[str, dict[str, Line]] = {name: {} for name in COURSES}
        for variant in dict.fromkeys(unit.variant for unit in plan.units):
            units = [unit for unit in plan.units if unit.variant == variant]
            for name, line in _lines(list(_done(file, units))).items():
                found[name][variant] = line
    except _UNREADABLE:
        return {}
    return found


def _done(file: File, units: Sequence[Unit]) -> Iterator[tuple[Any, pa.Table, pa.Table]]:
    """Yields record, moments and counters of those of the first units that are done."""
    for unit in units[:REPLICATIONS]:
        folder = f"units/{unit.unit_hash}"
        try:
            record = file(f"{folder}/{UNIT_FILE}")
            if record.stat().st_size > LONGEST_RECORD_BYTES:
                continue
        except (NoStudyError, FileNotFoundError):
            continue
        moments, counters = (file(f"{folder}/{name}.parquet") for name in (MOMENTS, COUNTER))
        if max(moments.stat().st_size, counters.stat().st_size) <= LONGEST_FACTS_BYTES:
            yield json.loads(record.read_bytes()), read_here(moments), read_here(counters)


def _lines(units: Sequence[tuple[Any, pa.Table, pa.Table]]) -> dict[str, Line]:
    """Returns the courses of a variant."""
    if not units:
        return {}
    window_ns, simulated_ns = (int(units[0][0][name]) for name in ("window_ns", "simulated_ns"))
    windows = simulated_ns // window_ns
    bin_windows = max(1, -(-windows // MOST_BINS))
    bins, bin_s = windows // bin_windows, bin_windows * window_ns / NS_PER_S
    at_s = (np.arange(bins) + 0.5) * bin_s

    def summed(facts: pa.Table, metric: str, column: str) -> NDArray[np.float64]:
        rows = facts.filter(pc.equal(facts["metric"], metric))
        place = rows["window"].to_numpy() // bin_windows
        sums = np.bincount(place, rows[column].to_numpy().astype(np.float64), minlength=bins)
        return np.asarray(sums[:bins], dtype=np.float64)

    found = {}
    for name in COURSES:
        with np.errstate(invalid="ignore", divide="ignore"):
            values = [
                summed(counters, name, "value") / bin_s
                if name == "txns"
                else summed(moments, name, "sum") / summed(moments, name, "count") / NS_PER_MS
                for _, moments, counters in units
            ]
        table = np.array(values).T
        middle, half = means(table), half_widths(table)
        half[np.isnan(half)] = 0.0
        least = np.maximum(middle - half, 0.0)  # As no rate and no latency is less.
        ends = np.stack([at_s, middle, least, middle + half], axis=1)
        found[name] = [row for row in ends.tolist() if not np.isnan(row[1])]
    return {name: line for name, line in found.items() if line}
