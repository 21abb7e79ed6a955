"""Tables of a point as wide as a plot: tails of latencies, latency over time, moves, warm-ups.

All replications of a variant are shown together; where their spread is shown, it is computed here
too, so that what leaves an executor does not grow with their number. A coarse bucket is a whole
number of the facts' own, named by the last of them, so its upper bound is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.metrics.catalogue import COMMITS
from analysis.pipeline.aggregate import numbers, totals, with_columns
from analysis.pipeline.censored import CENSORED, ages_of_unended
from analysis.pipeline.course_tables import (
    LATENCIES,
    LOCKS,
    Numbers,
    PointFacts,
    courses,
    happenings,
    unit_of,
)
from analysis.statistics.saturation import Verdict
from analysis.study.unit_folder import UnitRecord
from sim.record.facts import COUNTER, HISTOGRAM, MOMENTS
from sim.record.histogram import BUCKETS_PER_DOUBLING
from sim.units import NS_PER_MS

TAIL_STEP: Final = BUCKETS_PER_DOUBLING // 8
"""Buckets in one of a tail's: eight a doubling, so neighbours are 9 % apart."""
HEAT_STEP: Final = BUCKETS_PER_DOUBLING // 4
"""Buckets in a row of a heat map: four a doubling."""
HEAT_COLUMNS: Final = 120
"""Columns of a heat map, at most."""
MOVES: Final = ("leaders_gained", "leaders_lost", "leader_transfers", "splits", "merges")

_CASE: Final = ("variant", "metric")


def tails(facts: PointFacts) -> pa.Table:
    """Returns what share of values is above each bound, and how replications differ in it.

    The warm-up is cut. Where work stopped, what had not ended is above all bounds.

    Returns:
        ``variant``, ``metric``, ``bucket`` (coarse), ``share`` (mean over the replications that
        have values), ``deviation`` (theirs, of one replication NaN), ``replications``, ``above``
        (values above the bound in all of them together), ``unended`` (of those, the ones that had
        not ended).
    """
    histogram = facts.read(HISTOGRAM, LATENCIES)
    warmup = np.array([unit.warmup_windows for unit in facts.units])
    rows = histogram.filter(pa.array(histogram["window"].to_numpy() >= warmup[unit_of(histogram)]))
    each = totals(
        with_columns(rows, bucket=coarse(rows, TAIL_STEP)),
        (*_CASE, "unit", "bucket"),
        count="sum",
    )
    cases = totals(each, _CASE, count="sum").to_pylist()
    left = _unended(facts)
    found = (_tail(each, case["variant"], case["metric"], left[case["metric"]]) for case in cases)
    return pa.concat_tables([_NO_TAIL, *found])


def _unended(facts: PointFacts) -> dict[str, Numbers]:
    """Returns by latency how much had not ended in each unit in which work stopped."""
    ages = facts.read(MOMENTS, CENSORED.values())
    stopped = np.array([Verdict(unit.verdict).censored for unit in facts.units])
    found = {}
    for latency in CENSORED:
        rows = ages.filter(ages_of_unended(latency))
        weights = numbers(rows["count"]) * stopped[unit_of(rows)]
        found[latency] = np.bincount(unit_of(rows), weights, len(facts.units)).astype(np.int64)
    return found


_NO_TAIL: Final = pa.table(
    {
        "variant": pa.array([], pa.string()),
        "metric": pa.array([], pa.string()),
        "bucket": pa.array([], pa.int32()),
        "share": pa.array([], pa.float64()),
        "deviation": pa.array([], pa.float64()),
        "replications": pa.array([], pa.int64()),
        "above": pa.array([], pa.int64()),
        "unended": pa.array([], pa.int64()),
    }
)


def _tail(each: pa.Table, variant: str, metric: str, left: Numbers) -> pa.Table:
    """Returns the tail of a case; a bucket that a replication has not counts nothing there.

    ``left`` had not ended, by unit.
    """
    own = each.filter((pc.field("variant") == variant) & (pc.field("metric") == metric))
    buckets, column = np.unique(own["bucket"].to_numpy(), return_inverse=True)
    units, row = np.unique(own["unit"].to_numpy(), return_inverse=True)
    count = np.zeros((len(units), len(buckets)), dtype=np.int64)
    count[row, column] = own["count"].to_numpy()
    unended = left[units][:, np.newaxis]
    total = count.sum(axis=1, keepdims=True) + unended
    above = total - count.cumsum(axis=1)
    share = above / total
    spread = share.std(axis=0, ddof=1) if len(units) > 1 else np.full(len(buckets), np.nan)
    return with_columns(
        pa.table({"bucket": buckets}),
        variant=variant,
        metric=metric,
        share=share.mean(axis=0),
        deviation=spread,
        replications=len(units),
        above=above.sum(axis=0),
        unended=int(unended.sum()),
    ).select(_NO_TAIL.column_names)


def latency_heat(facts: PointFacts) -> pa.Table:
    """Returns how many lock requests took how long when; the warm-up is in, for it has to be seen.

    Returns:
        ``variant``, ``column``, ``column_s`` (its length), ``bucket`` (coarse), ``count``. All
        columns are equally long.
    """
    windows = np.maximum(1, np.ceil(facts.windows / HEAT_COLUMNS - 1e-6)).astype(np.int64)
    rows = facts.read(HISTOGRAM, (LOCKS,))
    unit = unit_of(rows)
    placed = with_columns(
        rows,
        column=(rows["window"].to_numpy() // windows[unit]).astype(np.int32),
        column_s=(windows * (facts.window_ns / 1e9))[unit],
        bucket=coarse(rows, HEAT_STEP),
    )
    return totals(placed, ("variant", "column", "column_s", "bucket"), count="sum")


def region_moves(facts: PointFacts) -> pa.Table:
    """Returns how leaders and regions changed by bin, in a replication on average.

    Returns:
        ``variant``, ``metric`` (one of ``MOVES``), ``class`` (a store for leaders gained and
        lost), ``bin``, ``bin_s``, ``value``; absent where nothing changed.
    """
    rows = facts.in_bins(facts.read(COUNTER, MOVES))
    found = totals(rows, (*_CASE, "class", "bin", "bin_s"), value="sum")
    return with_columns(found, value=numbers(found["value"]) / facts.replications(found))


def coarse(rows: pa.Table, step: int) -> Numbers:
    """Returns the coarse bucket of rows, ``step`` buckets wide; values below 1 ns in the first."""
    bucket = np.maximum(rows["bucket"].to_numpy(), 0)
    return np.asarray(-(-bucket // step) * step).astype(np.int32)


MOST_BINS: Final = 100
"""Of a replication: a panel is no wider."""


def warmup_series(facts: PointFacts) -> pa.Table:
    """Returns what each replication's warm-up was cut from: lock latency and throughput by bin.

    Returns:
        ``unit_hash``, ``metric`` (``lock_latency`` in ms, ``txns`` per second), ``at_s`` (the
        middle of the bin), ``value``; a bin without a lock or a commit is absent, as is a last one
        cut short.
    """
    locks = _by_bin(facts, facts.read(MOMENTS, (LOCKS,)), "sum", "count")
    commits = _by_bin(facts, facts.read(COUNTER, (COMMITS,)), "value")
    mean_ms = numbers(locks["sum"]) / numbers(locks["count"]) / NS_PER_MS
    per_s = numbers(commits["value"]) / commits["bin_s"].to_numpy()
    parts = [with_columns(locks, value=mean_ms), with_columns(commits, value=per_s)]
    found = pa.concat_tables([part.select(["unit", "metric", "at_s", "value"]) for part in parts])
    hashes = pa.array([unit.unit_hash for unit in facts.units])
    named = with_columns(found, unit_hash=hashes.take(found["unit"].combine_chunks()))
    return named.drop_columns(["unit"])


def _by_bin(facts: PointFacts, rows: pa.Table, *summed: str) -> pa.Table:
    """Sums columns by unit and whole bin, and adds ``bin_s`` and ``at_s``."""
    simulated_ns = np.array([unit.simulated_ns for unit in facts.units])
    windows = simulated_ns // facts.window_ns
    bin_windows = np.maximum(1, -(-windows // MOST_BINS))
    unit = unit_of(rows)
    place = rows["window"].to_numpy() // bin_windows[unit]
    whole = (place + 1) * bin_windows[unit] <= windows[unit]
    placed = with_columns(rows, bin=place).filter(pa.array(whole))
    found = totals(placed, ("unit", "metric", "bin"), **dict.fromkeys(summed, "sum"))
    bin_s = bin_windows[unit_of(found)] * (facts.window_ns / 1e9)[unit_of(found)]
    return with_columns(found, bin_s=bin_s, at_s=(found["bin"].to_numpy() + 0.5) * bin_s)


class FigureTables(NamedTuple):
    """Tables of a point, each named after the function that makes it."""

    courses: pa.Table
    happenings: pa.Table
    warmups: pa.Table
    tails: pa.Table
    heat: pa.Table
    moves: pa.Table


def figure_tables(units_dir: str, units: Sequence[UnitRecord]) -> FigureTables:
    """Reads the facts of a point's units and returns its tables."""
    facts = PointFacts(units_dir, units)
    return FigureTables(
        courses=courses(facts),
        happenings=happenings(facts),
        warmups=warmup_series(facts),
        tails=tails(facts),
        heat=latency_heat(facts),
        moves=region_moves(facts),
    )
