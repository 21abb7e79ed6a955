"""Facts to per-replication values, on the executors: Arrow tables in, a far smaller one out.

Histograms merge by adding bucket counts over windows (exactly), and a quantile is read off the
merged histogram, never averaged from quantiles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analysis.metrics.catalogue import QUANTILES, NeededFacts
from analysis.metrics.unit_metrics import FACT_KEY
from analysis.pipeline.censored import CENSORED, censored_values
from analysis.statistics.histogram import values_within
from sim.record.facts import COUNTER, HISTOGRAM, MOMENTS

ALL: Final = "all"
_SERIES: Final = ("unit", "metric", "class")


class SummedUnit(NamedTuple):
    """A batch of a unit whose facts are summed up."""

    number: int
    unit_hash: str
    first_window: int
    end_window: int
    """The first one after it."""
    censored: bool
    """Whether work stopped in it, so that its latencies count what never came back."""


@dataclass(frozen=True, slots=True)
class SumsQuestion:
    """What do the facts of some batches sum up to?"""

    units_dir: str
    units: tuple[SummedUnit, ...]
    needed: NeededFacts

    def answer(self) -> pa.Table:
        """Returns ``unit`` (a batch's number), ``metric``, ``class``, ``stat``, ``value``."""
        steps = (
            (MOMENTS, self.needed.moments, series_values),
            (COUNTER, self.needed.counter, counter_values),
            (HISTOGRAM, self.needed.histogram, self._quantiles),
        )
        values = pa.concat_tables(
            values_of(self._measured(table, metrics))
            for table, metrics, values_of in steps
            if metrics is None or metrics
        )
        for unit in self.units:
            if unit.censored:
                values = self._with_censored(values, unit)
        return values

    def _quantiles(self, histogram: pa.Table) -> pa.Table:
        return quantile_values(histogram, self._measured(MOMENTS, self.needed.histogram))

    def _with_censored(self, values: pa.Table, unit: SummedUnit) -> pa.Table:
        """Returns the values with a unit's latencies as far as they are known."""
        latency = pc.is_in(values["metric"], pa.array(list(CENSORED)))
        asked = (self.needed.moments, self.needed.histogram)
        wanted = {name for name in CENSORED for some in asked if some is None or name in some}
        moments, histogram = (self._facts(unit, table) for table in (MOMENTS, HISTOGRAM))
        rows = [row for row in censored_values(moments, histogram, QUANTILES) if row[0] in wanted]
        of_ended = pc.and_(latency, pc.equal(values["unit"], unit.number))
        of_ended = pc.and_(
            of_ended, pc.invert(pc.is_in(values["stat"], pa.array(["count", "sum"])))
        )
        kept = values.filter(pc.invert(of_ended))
        names = ("unit", *FACT_KEY, "value")
        found = [dict(zip(names, (unit.number, *row), strict=True)) for row in rows]
        return pa.concat_tables([kept, pa.Table.from_pylist(found, schema=kept.schema)])

    def _measured(self, table: str, metrics: Collection[str] | None) -> pa.Table:
        return pa.concat_tables(
            with_columns(self._facts(unit, table, metrics), unit=np.int32(unit.number))
            for unit in self.units
        )

    def _facts(
        self, unit: SummedUnit, table: str, metrics: Collection[str] | None = None
    ) -> pa.Table:
        facts = read_facts(Path(self.units_dir) / unit.unit_hash, table, metrics)
        window = pc.field("window")
        return facts.filter((window >= unit.first_window) & (window < unit.end_window))


def read_facts(folder: Path, table: str, metrics: Collection[str] | None = None) -> pa.Table:
    """Returns a fact table of one unit.

    Args:
        folder: the unit's.
        table: name of the fact table.
        metrics: the only ones wanted; None for all.
    """
    found = pq.ParquetFile(folder / f"{table}.parquet").read(use_threads=False)
    facts = pa.table(found.columns, found.column_names)  # a file's columns are "not null"
    if metrics is None:
        return facts
    return facts.filter(pc.is_in(facts["metric"], pa.array(sorted(metrics), pa.string())))


def with_columns(facts: pa.Table, **columns: Any) -> pa.Table:
    """Returns the rows with some columns added or replaced: Arrow's, numpy's or one value each."""
    for name, given in columns.items():
        if isinstance(given, np.ndarray):
            column = pa.array(given)
        elif isinstance(given, pa.Array | pa.ChunkedArray):
            column = given
        else:
            column = pa.repeat(pa.scalar(given), facts.num_rows)
        if name in facts.column_names:
            facts = facts.set_column(facts.column_names.index(name), name, column)
        else:
            facts = facts.append_column(name, column)
    return facts


def totals(facts: pa.Table, keys: Sequence[str], **how: str) -> pa.Table:
    """Returns a row a group: ``keys``, and columns reduced by ``sum``, ``min`` or ``max``."""
    grouped = facts.group_by(list(keys), use_threads=False).aggregate(list(how.items()))
    return grouped.select([*keys, *(f"{name}_{by}" for name, by in how.items())]).rename_columns(
        [*keys, *how]
    )


def series_values(moments: pa.Table) -> pa.Table:
    """Sums a series up by unit, over windows and, as class ``all``, over classes.

    Returns:
        ``unit``, ``metric``, ``class``, ``stat`` (``count``, ``mean``, ``max``, ``sum``),
        ``value``.
    """
    how = {"count": "sum", "sum": "sum", "max": "max"}
    found = totals(_also_over_classes(totals(moments, _SERIES, **how)), _SERIES, **how)
    count, total = numbers(found["count"]), numbers(found["sum"])
    greatest = numbers(found["max"])
    values = {"count": count, "mean": total / count, "max": greatest, "sum": total}
    return _long(found, values)


def counter_values(counters: pa.Table) -> pa.Table:
    """Sums a counter up by unit and class; columns as ``series_values``, ``stat`` is ``total``."""
    found = totals(counters, _SERIES, value="sum")
    return _long(found, {"total": numbers(found["value"])})


def merged_histograms(histogram: pa.Table) -> pa.Table:
    """Merges histograms over windows: a row a unit, ``metric``, ``class`` and ``bucket``."""
    return totals(histogram, (*_SERIES, "bucket"), count="sum")


def quantile_values(histogram: pa.Table, moments: pa.Table) -> pa.Table:
    """Reads quantiles off each unit's merged histogram, by class and over all classes.

    Args:
        histogram: measured facts.
        moments: likewise, of the same series.

    Returns:
        Columns as ``series_values``; ``stat`` is ``p50`` ... ``p999``.
    """
    merged = merged_histograms(_also_over_classes(merged_histograms(histogram)))
    greatest = totals(_also_over_classes(moments), _SERIES, max="max")
    return quantiles(merged, greatest, _SERIES, QUANTILES).drop_columns(["rank", "total"])


def quantiles(
    merged: pa.Table, greatest: pa.Table, keys: Sequence[str], shares: Mapping[str, float]
) -> pa.Table:
    """Reads quantiles off histograms: the bucket in which each rank falls, and where in it.

    That is the first bucket whose cumulated count reaches the rank. Where in a bucket a value lies
    is a guess: its values divide it into equal parts, each in the middle of its own. It may not be
    above the greatest that was recorded.

    Args:
        merged: ``keys``, ``bucket``, ``count``, each bucket of a histogram once.
        greatest: ``keys``, ``max``, of each histogram's values.
        keys: columns that tell histograms apart.
        shares: of all values, by name of the quantile.

    Returns:
        ``keys``, ``stat``, ``value``, ``rank``, ``total`` (of the histogram's values).
    """
    ordered = merged.sort_by([(name, "ascending") for name in (*keys, "bucket")])
    count, bucket = ordered["count"].to_numpy(), ordered["bucket"].to_numpy()
    starts = _starts(ordered, keys)
    group = np.cumsum(starts) - 1
    up_to = np.cumsum(count)
    before = (up_to - count)[starts][group]
    up_to -= before
    total = np.add.reduceat(count, np.flatnonzero(starts))[group] if len(count) else count
    below = up_to - count
    most = _greatest(ordered.select(list(keys)).filter(pa.array(starts)), greatest, keys)[group]
    parts = []
    for stat, share in shares.items():
        rank = share * total
        hit = np.flatnonzero((rank > below) & (rank <= up_to))
        place = np.ceil(rank[hit]) - below[hit] - 0.5
        guessed = values_within(bucket[hit], place / count[hit])
        value = np.fmin(guessed, most[hit])
        named = ordered.select(list(keys)).take(pa.array(hit))
        parts.append(with_columns(named, stat=stat, value=value, rank=rank[hit], total=total[hit]))
    return pa.concat_tables(parts)


def _greatest(
    groups: pa.Table, greatest: pa.Table, keys: Sequence[str]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns the greatest value of each group, NaN where it is not known."""
    numbered = with_columns(groups, group=np.arange(groups.num_rows))
    found = numbered.join(greatest, list(keys), use_threads=False).sort_by("group")
    return numbers(found["max"])


def _starts(ordered: pa.Table, keys: Sequence[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Returns which rows are the first of their group."""
    starts = np.zeros(ordered.num_rows, dtype=np.bool_)
    starts[:1] = True
    for name in keys:
        column = ordered[name].combine_chunks()
        starts[1:] |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return starts


def numbers(column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns a column of integers as floats."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _also_over_classes(facts: pa.Table) -> pa.Table:
    """Returns the rows twice where a class is named: as they are, and as class ``all``."""
    named = facts.filter(pc.field("class") != ALL)
    return pa.concat_tables([facts, with_columns(named, **{"class": ALL})])


def _long(wide: pa.Table, stats: Mapping[str, Any]) -> pa.Table:
    named = wide.select(list(_SERIES))
    return pa.concat_tables(
        with_columns(named, stat=stat, value=values) for stat, values in stats.items()
    )
