"""What a point looks like over simulated time: one row a bin of windows, on one executor.

A bin is a whole number of windows. Units of a point have bins of the same length: few where nothing
happens, more where something does.

Law: a bin's histogram is the exact sum of its windows', and a quantile is read off that sum, over
all replications. Beside every value stand the lowest and the highest of the replications. The
warm-up is in, for it has to be seen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.metrics.catalogue import COMMITS, QUANTILES
from analysis.pipeline.aggregate import ALL, numbers, quantiles, read_facts, totals, with_columns
from analysis.study.unit_folder import UnitRecord
from sim.record.facts import COUNTER, EVENT, HISTOGRAM, MOMENTS

LOCKS: Final = "lock_latency"
LATENCIES: Final = (LOCKS, "txn_latency")
RATES: Final = (COMMITS, "txn_aborts", "region_errors")
LEVEL: Final = "lock_table_bytes"
FALLBACK_SHARE: Final = "fallback_share"

DETAILED: Final = 24
"""Happenings of a kind, per unit, up to which each keeps its detail."""

_QUANTILES: Final = {stat: QUANTILES[stat] for stat in ("p50", "p99", "p999")}
FEWEST_ABOVE: Final = 10
"""Values that must be above p999: with fewer it is one request's luck."""

_COURSE: Final = ("variant", "metric", "class", "bin", "bin_s")
_POOLED: Final = -1

QUIET_BINS: Final = 60
EVENTFUL_BINS: Final = 240
"""A course has from so many bins to twice as many; events last shorter than what settles."""

Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class PointFacts:
    """Facts of all units of a point; a unit's number is its place among them."""

    units_dir: str
    units: Sequence[UnitRecord]

    def read(self, table: str, metrics: Collection[str] | None = None) -> pa.Table:
        """Returns the facts of all units, warm-up included, with ``unit`` and ``variant``."""
        return pa.concat_tables(
            with_columns(
                read_facts(Path(self.units_dir) / unit.unit_hash, table, metrics),
                unit=np.int32(number),
                variant=unit.variant,
            )
            for number, unit in enumerate(self.units)
        )

    def in_bins(self, facts: pa.Table) -> pa.Table:
        """Returns the facts with ``bin`` and ``bin_s``, the bin's length."""
        unit = unit_of(facts)
        bins = facts["window"].to_numpy() // self.bin_windows[unit]
        return with_columns(facts, bin=bins, bin_s=self.bin_s[unit])

    @cached_property
    def events(self) -> pa.Table:
        """What was done to the cluster in all units."""
        return self.read(EVENT)

    @cached_property
    def window_ns(self) -> Numbers:
        """By unit."""
        return np.array([unit.window_ns for unit in self.units])

    @cached_property
    def windows(self) -> Numbers:
        """How many windows of each unit the longest one is long."""
        return max(unit.simulated_ns for unit in self.units) / self.window_ns

    @cached_property
    def bin_windows(self) -> Numbers:
        """By unit, how many windows make a bin."""
        bins = EVENTFUL_BINS if self.events.num_rows else QUIET_BINS
        return np.maximum(1, np.floor(self.windows / bins)).astype(np.int64)

    @cached_property
    def bin_s(self) -> Numbers:
        """By unit, how long a bin is."""
        return self.bin_windows * self.window_ns / 1e9

    def replications(self, table: pa.Table) -> Numbers:
        """Returns for each row how many units its variant has."""
        variants = [unit.variant for unit in self.units]
        of_variant = {variant: variants.count(variant) for variant in variants}
        return np.array([of_variant[name] for name in table["variant"].to_pylist()], dtype=np.int64)


def unit_of(facts: pa.Table) -> Numbers:
    """Returns the number of each row's unit."""
    return np.asarray(facts["unit"].to_numpy())


def courses(facts: PointFacts) -> pa.Table:
    """Returns latencies, rates and levels by bin.

    Returns:
        ``variant``, ``metric``, ``class``, ``bin``, ``bin_s``, ``stat``, ``value``, ``low``,
        ``high``. Latencies have ``mean``, ``p50``, ``p99``, ``p999`` (where ten values or more are
        above it) and ``max`` in ns, locks by path; rates are per second and absent where 0; the
        lock table's ``max`` is that of the fullest store, in bytes; ``fallback_share`` is a share
        of the lock requests.
    """
    moments = facts.in_bins(facts.read(MOMENTS, (LEVEL, *LATENCIES)))
    histogram = facts.in_bins(facts.read(HISTOGRAM, LATENCIES))
    moments, histogram = _pooled_too(moments), _pooled_too(histogram)
    values = pa.concat_tables([_levels(moments), _quantiles(histogram, moments)])
    return pa.concat_tables([_spread(values), _rates(facts)])


def happenings(facts: PointFacts) -> pa.Table:
    """Sums events of a kind up by bin, over variants and replications.

    Returns:
        ``kind``, ``detail`` (empty for kinds that happen often), ``from_ns``, ``until_ns``,
        ``times`` (in all units together), ``units`` (of the point).
    """
    events = facts.events
    often = {
        each["values"]
        for each in pc.value_counts(events["kind"]).to_pylist()
        if each["counts"] > DETAILED * len(facts.units)
    }
    is_often = pc.is_in(events["kind"], pa.array(sorted(often), pa.string()))
    place = np.floor(events["at_ns"].to_numpy() / 1e9 / facts.bin_s[unit_of(events)])
    rows = pa.table(
        {
            "kind": events["kind"],
            "detail": pc.if_else(is_often, "", events["detail"]),
            "bin": place,
            "from_ns": events["at_ns"],
            "until_ns": events["at_ns"],
            "times": np.ones(len(place), dtype=np.int64),
        }
    )
    how = {"from_ns": "min", "until_ns": "max", "times": "sum"}
    found = totals(rows, ("kind", "detail", "bin"), **how).drop_columns(["bin"])
    return with_columns(found, units=len(facts.units))


def _pooled_too(facts: pa.Table) -> pa.Table:
    """Returns the rows twice: as their unit's, and as those of all replications together."""
    return pa.concat_tables([facts, with_columns(facts, unit=np.int32(_POOLED))])


def _in_one_class(facts: pa.Table) -> pa.Table:
    return with_columns(facts, **{"class": ALL})


def _by_path(facts: pa.Table) -> pa.Table:
    """Returns locks by path, the rest in one class."""
    locks = pc.field("metric") == LOCKS
    return pa.concat_tables([facts.filter(locks), _in_one_class(facts.filter(~locks))])


def _levels(series: pa.Table) -> pa.Table:
    """Means and maxima of latencies, the share that fell back, the greatest lock table.

    A lock's row counts twice: for its path's mean, and for the share of those that fell back.
    """
    locks = _in_one_class(series.filter(pc.field("metric") == LOCKS))
    path = series.filter(pc.field("metric") == LOCKS)["class"]
    fell = pc.if_else(pc.equal(path, "fallback"), locks["count"], 0)
    terms = pa.concat_tables(
        [_by_path(series), with_columns(locks, metric=FALLBACK_SHARE, sum=fell)]
    )
    found = totals(terms, ("unit", *_COURSE), sum="sum", count="sum", max="max")
    named = found.select(["unit", *_COURSE])
    quotient = numbers(found["sum"]) / numbers(found["count"])
    means = with_columns(named, stat="mean", value=quotient)
    greatest = with_columns(named, stat="max", value=numbers(found["max"]))
    return pa.concat_tables(
        [
            means.filter(pc.field("metric") != LEVEL),
            greatest.filter(pc.field("metric") != FALLBACK_SHARE),
        ]
    )


def _quantiles(histogram: pa.Table, moments: pa.Table) -> pa.Table:
    """Reads quantiles off each bin; those that too few values are above would show luck."""
    of = ("unit", *_COURSE)
    merged = totals(_by_path(histogram), (*of, "bucket"), count="sum")
    greatest = totals(_by_path(moments), of, max="max")
    found = quantiles(merged, greatest, of, _QUANTILES)
    above = found["total"].to_numpy() - found["rank"].to_numpy()
    rare = pc.and_(pc.equal(found["stat"], "p999"), pa.array(above < FEWEST_ABOVE))
    return found.filter(pc.invert(rare)).drop_columns(["rank", "total"])


def _spread(values: pa.Table) -> pa.Table:
    """Puts the pooled value beside the lowest and highest of the replications."""
    nothing = pa.scalar(None, pa.float64())
    pooled = pc.equal(values["unit"], _POOLED)
    of_all = pc.if_else(pooled, values["value"], nothing)
    of_one = pc.if_else(pooled, nothing, values["value"])
    beside = with_columns(values, value=of_all, low=of_one, high=of_one)
    return totals(beside, (*_COURSE, "stat"), value="max", low="min", high="max")


def _rates(facts: PointFacts) -> pa.Table:
    """Growth per second; a replication without a row had none, so its rate is 0."""
    rows = _in_one_class(facts.in_bins(facts.read(COUNTER, RATES)))
    each = totals(rows, ("unit", *_COURSE), value="sum")
    rate = numbers(each["value"]) / each["bin_s"].to_numpy()
    spread = with_columns(each, value=rate, low=rate, high=rate, units=1)
    found = totals(spread, _COURSE, value="sum", low="min", high="max", units="sum")
    replications = facts.replications(found)
    everywhere = found["units"].to_numpy() == replications
    return with_columns(
        found.select(list(_COURSE)),
        stat="mean",
        value=found["value"].to_numpy() / replications,
        low=np.where(everywhere, found["low"].to_numpy(), 0.0),
        high=found["high"],
    )
