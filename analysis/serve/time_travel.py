"""One unit over simulated time: what was done to the cluster, and what became of locks then.

Facts count by window, not by lock: beside a happening stands what all locks met in the windows from
it on.

Studies over simulated time: latency and throughput, from the facts of their first replications.

Only a study of one point has a course that can be held against another one's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.page.charts import one_view
from analysis.serve.studies import NoStudyError, Studies
from analysis.statistics.intervals import half_widths, means
from analysis.study.parquet_sink import read_here
from analysis.study.plan_file import PLAN_FILE, read_plan
from analysis.study.study_folder import StudyFolderError
from analysis.study.unit_folder import UNIT_FILE
from analysis.study.units import Unit
from sim.record.facts import COUNTER, EVENT, MOMENTS
from sim.units import NS_PER_MS, NS_PER_S

MOST_UNITS: Final = 200
_MOST_EVENTS: Final = 500
_AFTER_S: Final = 0.5
_TOLD: Final = {
    "lock_fates": "locks",
    "locks_lost": "locks lost",
    "locks_total": "lock requests granted",
    "region_errors": "region errors",
    "statement_retries": "statements tried again",
    "txn_aborts": "transactions aborted",
    "txns": "transactions committed",
}
"""Counters that are told beside a happening, and what a reader calls them."""


def units_of(studies: Studies, study: str) -> list[dict[str, str]]:
    """Returns the units of a study that are done: ``unit`` and ``words``, the first ones only.

    Raises:
        NoStudyError: if there is no such study, or it has no plan.
    """
    plan = studies.plan(study)
    there = [unit for unit in plan.units[: 10 * MOST_UNITS] if _has(studies, study, unit)]
    return [{"unit": unit.unit_hash, "words": plan.words(unit)} for unit in there[:MOST_UNITS]]


def course(studies: Studies, study: str, unit_hash: str) -> dict[str, Any]:
    """Returns ``span_s``, ``window_s``, ``warmup_s``, ``events`` and ``charts`` of a unit.

    Raises:
        NoStudyError: if there is no such unit, or its facts cannot be read.
    """
    if unit_hash not in {unit.unit_hash for unit in studies.plan(study).units}:
        raise NoStudyError(f"{study} has no unit {unit_hash}")
    folder = f"units/{unit_hash}"
    try:
        record = json.loads(studies.read(study, f"{folder}/{UNIT_FILE}", 1024 * 1024))
        window_s = record["window_ns"] / NS_PER_S
        span_s = record["simulated_ns"] / NS_PER_S
        warmup_s = record["warmup_windows"] * window_s
        events, counters, moments = (
            _read(studies.facts(study, f"{folder}/{table}.parquet"))
            for table in (EVENT, COUNTER, MOMENTS)
        )
        return {
            "span_s": span_s,
            "window_s": window_s,
            "warmup_s": warmup_s,
            "events": _events(events, counters, moments, window_s),
            "charts": _charts(counters, moments, window_s, span_s),
        }
    except (ValueError, KeyError, TypeError, OSError, pa.ArrowException) as error:
        raise NoStudyError(f"the facts of unit {unit_hash} cannot be read") from error


def _has(studies: Studies, study: str, unit: Unit) -> bool:
    try:
        studies.file(study, f"units/{unit.unit_hash}/{UNIT_FILE}")
    except NoStudyError:
        return False
    return True


def _read(file: Path) -> pd.DataFrame:
    frame: pd.DataFrame = read_here(file).to_pandas(use_threads=False)
    return frame


def _events(
    events: pd.DataFrame, counters: pd.DataFrame, moments: pd.DataFrame, window_s: float
) -> list[dict[str, Any]]:
    windows = max(1, round(_AFTER_S / window_s))
    told = counters[counters["metric"].isin(list(_TOLD))]
    found = []
    ordered = events.sort_values("at_ns").head(_MOST_EVENTS)
    names = (ordered[name].tolist() for name in ("at_ns", "kind", "detail"))
    for at_ns, kind, detail in zip(*names, strict=True):
        first = int(at_ns / NS_PER_S / window_s)
        counts = told[(told["window"] >= first) & (told["window"] < first + windows)]
        totals = counts.groupby(["metric", "class"], as_index=False)["value"].sum()
        cells = (totals[name].tolist() for name in ("metric", "class", "value"))
        after, before = (
            _mean_ms(moments, "lock_latency", begin, begin + windows)
            for begin in (first, first - windows)
        )
        found.append(
            {
                "at_s": at_ns / NS_PER_S,
                "kind": kind,
                "detail": detail,
                "after_s": windows * window_s,
                "counts": [
                    {"what": _TOLD[metric], "class": class_, "count": count}
                    for metric, class_, count in zip(*cells, strict=True)
                ],
                "latency_ms": {"before": before, "after": after},
            }
        )
    return found


def _mean_ms(moments: pd.DataFrame, metric: str, first: int, end: int) -> float | None:
    rows = moments[moments["metric"] == metric]
    rows = rows[(rows["window"] >= first) & (rows["window"] < end)]
    count = int(rows["count"].sum())
    return float(rows["sum"].sum()) / count / NS_PER_MS if count else None


def _charts(
    counters: pd.DataFrame, moments: pd.DataFrame, window_s: float, span_s: float
) -> list[dict[str, Any]]:
    """Returns lock latency, leaders and lock tables by store, as far as facts have them."""
    windows = int(span_s / window_s + 1e-9)
    latency = moments[moments["metric"] == "lock_latency"]
    tables = moments[moments["metric"] == "lock_table_bytes"]
    leaders = counters[counters["metric"].isin(["leaders_gained", "leaders_lost"])]
    signs = np.where(leaders["metric"] == "leaders_lost", -1, 1)
    found = [
        ("Lock latency, mean (ms)", {"all locks": _means(latency, windows, NS_PER_MS)}),
        (
            "Leaders by store",
            {
                str(store): rows.reindex(range(windows), fill_value=0).cumsum().tolist()
                for store, rows in leaders.assign(net=leaders["value"] * signs)
                .groupby(["class", "window"])["net"].sum().groupby(level=0)
                for rows in [rows.droplevel(0)]
            },
        ),
        (
            "Locks in memory by store, mean (KiB)",
            {str(store): _means(rows, windows, 1024) for store, rows in tables.groupby("class")},
        ),
    ]  # fmt: skip
    return [
        {
            "title": title, "heading": "h2", "axis": "simulated time (s)",
            "x": [(window + 0.5) * window_s for window in range(windows)],
            "views": one_view({name: {"v": line} for name, line in sorted(lines.items())}),
        }
        for title, lines in found
        if any(value is not None for line in lines.values() for value in line)
    ]  # fmt: skip


def _means(moments: pd.DataFrame, windows: int, divisor: float) -> list[float | None]:
    """Returns the mean of each window; None where there was nothing."""
    by_window = moments.groupby("window")[["sum", "count"]].sum().reindex(range(windows))
    means = by_window["sum"] / by_window["count"] / divisor
    return [None if np.isnan(value) else float(value) for value in means.tolist()]


File = Callable[[str], Path]
"""Returns the path of a study's file; ``NoStudyError`` if it has none that may be read."""
Line = list[list[float]]
"""Time in simulated seconds, mean over replications, and the ends of its 95 % interval."""

MOST_BINS: Final = 60
REPLICATIONS: Final = 5
_LONGEST_RECORD_BYTES: Final = 1024 * 1024
_LONGEST_FACTS_BYTES: Final = 64 * 1024 * 1024
COURSES: Final = {
    "lock_latency": "Lock latency over time, mean (ms)",
    "txn_latency": "Transaction latency over time, mean (ms)",
    "txns": "Transactions over time (1/s)",
}
"""Facts that have a course, and what a page calls it."""


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
            for name, line in _lines(list(_done(file, units))[:REPLICATIONS]).items():
                found[name][variant] = line
    except (NoStudyError, StudyFolderError, OSError, pa.ArrowException):
        return {}
    except (ValueError, KeyError, TypeError, ArithmeticError):
        return {}
    return found


def _done(file: File, units: Sequence[Unit]) -> Iterator[tuple[Any, pa.Table, pa.Table]]:
    """Yields record, moments and counters of the first units that are done."""
    for unit in units[:REPLICATIONS]:
        folder = f"units/{unit.unit_hash}"
        try:
            record = file(f"{folder}/{UNIT_FILE}")
        except NoStudyError:
            continue
        if record.stat().st_size > _LONGEST_RECORD_BYTES:
            continue
        moments, counters = (file(f"{folder}/{name}.parquet") for name in (MOMENTS, COUNTER))
        if max(moments.stat().st_size, counters.stat().st_size) <= _LONGEST_FACTS_BYTES:
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
