"""One unit over simulated time: what was done to the cluster, and what became of locks then.

Facts count by window, not by lock: beside a happening stands what all locks met in the windows from
it on.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from analysis.page.charts import one_view
from analysis.serve.studies import LONGEST_RECORD_BYTES, NoStudyError, Studies
from analysis.study.parquet_sink import read_here
from analysis.study.unit_folder import UNIT_FILE
from sim.record.facts import COUNTER, EVENT, MOMENTS
from sim.units import KIB, NS_PER_MS, NS_PER_S

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
"""Counters that are shown beside an event, and what a reader calls them."""
_LATENCIES: Final = {
    "lock_latency": ("Lock latency, mean (ms)", "all locks"),
    "txn_latency": ("Transaction latency, mean (ms)", "transactions that ended"),
}
"""Facts with a chart of their own: its title, and the name of its line."""

Lines = dict[str, list[float | None]]
"""A value a window, by the name of its line; None where there is nothing."""


def units_of(studies: Studies, study: str) -> list[dict[str, str]]:
    """Returns the units of a study that are done: ``unit`` and ``words``, the first ones only.

    Raises:
        NoStudyError: if there is no such study, or it has no plan.
    """
    plan = studies.plan(study)
    there = []
    for unit in plan.units[: 10 * MOST_UNITS]:
        with suppress(NoStudyError):
            studies.file(study, f"units/{unit.unit_hash}/{UNIT_FILE}")
            there.append({"unit": unit.unit_hash, "words": plan.words(unit)})
    return there[:MOST_UNITS]


def course(studies: Studies, study: str, unit_hash: str) -> dict[str, Any]:
    """Returns ``span_s``, ``window_s``, ``warmup_s``, ``events`` and ``charts`` of a unit.

    Raises:
        NoStudyError: if there is no such unit, or its facts cannot be read.
    """
    if unit_hash not in {unit.unit_hash for unit in studies.plan(study).units}:
        raise NoStudyError(f"{study} has no unit {unit_hash}")
    folder = f"units/{unit_hash}"
    try:
        record = json.loads(studies.read(study, f"{folder}/{UNIT_FILE}", LONGEST_RECORD_BYTES))
        window_s = record["window_ns"] / NS_PER_S
        span_s = record["simulated_ns"] / NS_PER_S
        warmup_s = record["warmup_windows"] * window_s
        events, counters, moments = (
            read_here(studies.facts(study, f"{folder}/{table}.parquet")).to_pandas(
                use_threads=False
            )
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
    """Returns throughput, latencies, leaders and lock tables by store, as far as facts have them.

    Rates and means stand in the middle of their window, leaders at its end, when they are so many.
    """
    windows = int(span_s / window_s + 1e-9)
    commits = counters[counters["metric"] == "txns"].groupby("window")["value"].sum()
    tables = moments[moments["metric"] == "lock_table_bytes"]
    found: list[tuple[str, float, Lines]] = [
        ("Transactions (1/s)", 0.5, {"committed": (_filled(commits, windows) / window_s).tolist()}),
        *(
            (title, 0.5, {name: _means(moments[moments["metric"] == fact], windows, NS_PER_MS)})
            for fact, (title, name) in _LATENCIES.items()
        ),
        ("Leaders by store", 1.0, _leaders(counters, windows)),
        (
            "Locks in memory by store, mean (KiB)",
            0.5,
            {str(store): _means(rows, windows, KIB) for store, rows in tables.groupby("class")},
        ),
    ]
    return [
        {
            "title": title, "heading": "h2", "axis": "simulated time (s)",
            "x": [(window + within) * window_s for window in range(windows)],
            "views": one_view({name: {"v": line} for name, line in sorted(lines.items())}),
        }
        for title, within, lines in found
        if any(value is not None for line in lines.values() for value in line)
    ]  # fmt: skip


def _leaders(counters: pd.DataFrame, windows: int) -> Lines:
    """Returns how many regions each store leads at the end of each window."""
    rows = counters[counters["metric"].isin(["leaders_gained", "leaders_lost"])]
    signs = np.where(rows["metric"] == "leaders_lost", -1, 1)
    net = rows.assign(net=rows["value"] * signs).groupby(["class", "window"])["net"].sum()
    return {
        str(store): _filled(of_store.droplevel(0), windows).cumsum().tolist()
        for store, of_store in net.groupby(level=0)
    }


def _filled(by_window: pd.Series[Any], windows: int) -> pd.Series[Any]:
    """Returns the value of every window: 0 where there was nothing."""
    return by_window.reindex(range(windows), fill_value=0)


def _means(moments: pd.DataFrame, windows: int, divisor: float) -> list[float | None]:
    """Returns the mean of each window; None where there was nothing."""
    by_window = moments.groupby("window")[["sum", "count"]].sum().reindex(range(windows))
    means = by_window["sum"] / by_window["count"] / divisor
    return [None if np.isnan(value) else float(value) for value in means.tolist()]
