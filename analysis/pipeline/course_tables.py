"""What a study looks like over simulated time, made in Spark SQL: one row a bin of windows.

Law: a bin is a whole number of windows, so its histogram is the exact sum of theirs and a quantile
is read off that sum, over all replications. Beside every value stand the lowest and the highest of
the replications. The warm-up is in, for it has to be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from analysis.pipeline.aggregate import value_at_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

LOCKS: Final = "lock_latency"
LATENCIES: Final = (LOCKS, "txn_latency")
RATES: Final = ("txns", "txn_aborts", "region_errors")
LEVEL: Final = "lock_table_bytes"
FALLBACK_SHARE: Final = "fallback_share"
QUIET_BINS: Final = 60
EVENTFUL_BINS: Final = 240
"""A course has from so many bins to twice as many; events last shorter than what settles."""

DETAILED: Final = 24
"""Happenings of a kind, per unit, up to which each keeps its detail."""

QUANTILES: Final = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
FEWEST_ABOVE: Final = 10
"""Values that must be above p999: with fewer it is one request's luck."""

_COURSE: Final = ("point_index", "variant", "metric", "class", "bin", "bin_s")
_POOLED: Final = -1


def binned_units(units: DataFrame, events: DataFrame) -> DataFrame:
    """Returns for every unit how many windows make a bin: few where something happens.

    Args:
        units: ``unit``, ``point_index``, ``variant``, ``window_ns``, ``simulated_s``.
        events: raw facts.

    Returns:
        ``unit``, ``point_index``, ``variant``, ``bin_windows``, ``bin_s``, ``units`` (of the
        same point and variant), ``point_units``. Units of a point have bins of the same length.
    """
    eventful = events.select("unit").distinct().withColumn("eventful", F.lit(1))
    marked = units.join(F.broadcast(eventful), "unit", "left")
    point = Window.partitionBy("point_index")
    windows = F.max("simulated_s").over(point) * 1e9 / F.col("window_ns")
    bins = F.when(F.max("eventful").over(point) == 1, EVENTFUL_BINS).otherwise(QUIET_BINS)
    bin_windows = F.greatest(F.lit(1), F.floor(windows / bins)).cast("int")
    return marked.select(
        "unit",
        "point_index",
        "variant",
        bin_windows.alias("bin_windows"),
        (bin_windows * F.col("window_ns") / 1e9).alias("bin_s"),
        F.count("*").over(Window.partitionBy("point_index", "variant")).alias("units"),
        F.count("*").over(point).alias("point_units"),
    )


def courses(
    moments: DataFrame, histogram: DataFrame, counters: DataFrame, binned: DataFrame
) -> DataFrame:
    """Returns latencies, rates and levels by bin.

    Args:
        moments: raw facts.
        histogram: raw facts.
        counters: raw facts.
        binned: from ``binned_units``.

    Returns:
        ``point_index``, ``variant``, ``metric``, ``class``, ``bin``, ``bin_s``, ``stat``,
        ``value``, ``low``, ``high``. Latencies have ``mean``, ``p50``, ``p99``, ``p999`` (where
        ten values or more are above it) and ``max`` in ns, locks by path; rates are per second
        and absent where 0; the lock table's ``max`` is that of the fullest store, in bytes;
        ``fallback_share`` is a share of the lock requests.
    """
    levels = _levels(_pooled_too(_in_bins(moments, binned)))
    tails = _quantiles(_pooled_too(_in_bins(histogram, binned)))
    return _spread(levels.unionByName(tails)).unionByName(_rates(_in_bins(counters, binned)))


def happenings(events: DataFrame, binned: DataFrame) -> DataFrame:
    """Sums events of a kind up by point and bin, over variants and replications.

    Returns:
        ``point_index``, ``kind``, ``detail`` (empty for kinds that happen often), ``from_ns``,
        ``until_ns``, ``times`` (in all units together), ``units`` (of the point).
    """
    placed = events.join(F.broadcast(binned), "unit")
    of_kind = F.count("*").over(Window.partitionBy("point_index", "kind"))
    often = of_kind > DETAILED * F.col("point_units")
    return (
        placed.withColumn("detail", F.when(often, F.lit("")).otherwise(F.col("detail")))
        .groupBy("point_index", "kind", "detail", F.floor(F.col("at_ns") / 1e9 / F.col("bin_s")))
        .agg(
            F.min("at_ns").alias("from_ns"),
            F.max("at_ns").alias("until_ns"),
            F.count("*").alias("times"),
            F.max("point_units").alias("units"),
        )
        .select("point_index", "kind", "detail", "from_ns", "until_ns", "times", "units")
    )


def _in_bins(facts: DataFrame, binned: DataFrame) -> DataFrame:
    joined = facts.join(F.broadcast(binned), "unit")
    return joined.withColumn("bin", F.floor(F.col("window") / F.col("bin_windows")))


def _pooled_too(facts: DataFrame) -> DataFrame:
    """Returns the rows twice: as their unit's, and as those of all replications together."""
    return facts.withColumn("unit", F.explode(F.array("unit", F.lit(_POOLED))))


def _class() -> Column:
    """Locks by path, the rest over all classes."""
    return F.when(F.col("metric") == LOCKS, F.col("class")).otherwise("all")


def _levels(series: DataFrame) -> DataFrame:
    """Means and maxima of latencies, the share that fell back, the greatest lock table.

    A lock's row counts twice: for its path's mean, and for the share of those that fell back.
    """
    fell = F.when(F.col("class") == "fallback", F.col("count")).otherwise(0)
    own = F.struct(
        F.col("metric").alias("metric"), _class().alias("class"), F.col("sum").alias("part")
    )
    share = F.struct(
        F.lit(FALLBACK_SHARE).alias("metric"), F.lit("all").alias("class"), fell.alias("part")
    )
    is_lock = F.col("metric") == LOCKS
    terms = series.where(F.col("metric").isin(LEVEL, *LATENCIES)).select(
        "unit", "point_index", "variant", "bin", "bin_s", "count", "max",
        F.explode(F.when(is_lock, F.array(own, share)).otherwise(F.array(own))).alias("term"),
    )  # fmt: skip
    quotient = F.struct(F.lit("mean").alias("stat"), F.col("quotient").alias("value"))
    greatest = F.struct(F.lit("max").alias("stat"), F.col("greatest").alias("value"))
    stats = (
        F.when(F.col("metric") == LEVEL, F.array(greatest))
        .when(F.col("metric") == FALLBACK_SHARE, F.array(quotient))
        .otherwise(F.array(quotient, greatest))
    )
    return (
        terms.select("*", "term.*")
        .groupBy("unit", *_COURSE)
        .agg(
            (F.sum("part") / F.sum("count")).alias("quotient"),
            F.max("max").cast("double").alias("greatest"),
        )
        .select("unit", *_COURSE, F.explode(stats).alias("stat"))
        .select("unit", *_COURSE, "stat.value", "stat.stat")
    )


def _quantiles(histogram: DataFrame) -> DataFrame:
    """Reads quantiles off each bin; those that too few values are above would show luck."""
    rows = histogram.where(F.col("metric").isin(*LATENCIES)).withColumn("class", _class())
    of = ("unit", *_COURSE)
    merged = rows.groupBy(*of, "bucket").agg(F.sum("count").alias("count"))
    ranked = merged.select(
        "*",
        F.sum("count").over(Window.partitionBy(*of).orderBy("bucket")).alias("up_to"),
        F.sum("count").over(Window.partitionBy(*of)).alias("total"),
    )
    wanted = F.map_from_arrays(*map(_literals, zip(*QUANTILES.items(), strict=True)))
    asked = ranked.select("*", F.explode(wanted).alias("stat", "share"))
    rank = F.col("share") * F.col("total")
    hit = asked.where(rank.between(F.col("up_to") - F.col("count"), F.col("up_to")))
    rare = (F.col("stat") == "p999") & (F.col("total") - rank < FEWEST_ABOVE)
    return hit.where(~rare).groupBy(*of, "stat").agg(F.min(value_at_rank(rank)).alias("value"))


def _literals(values: Sequence[object]) -> Column:
    return F.array(*map(F.lit, values))


def _spread(values: DataFrame) -> DataFrame:
    """Puts the pooled value beside the lowest and highest of the replications."""
    pooled = F.col("unit") == _POOLED
    return values.groupBy(*_COURSE, "stat").agg(
        F.max(F.when(pooled, F.col("value"))).alias("value"),
        F.min(F.when(~pooled, F.col("value"))).alias("low"),
        F.max(F.when(~pooled, F.col("value"))).alias("high"),
    )


def _rates(counters: DataFrame) -> DataFrame:
    """Growth per second; a replication without a row had none, so its rate is 0."""
    rows = counters.where(F.col("metric").isin(*RATES)).withColumn("class", F.lit("all"))
    each = rows.groupBy("unit", *_COURSE).agg(
        (F.sum("value") / F.max("bin_s")).alias("rate"), F.max("units").alias("units")
    )
    everywhere = F.count("*") == F.max("units")
    return each.groupBy(*_COURSE).agg(
        F.lit("mean").alias("stat"),
        (F.sum("rate") / F.max("units")).alias("value"),
        F.when(everywhere, F.min("rate")).otherwise(0.0).alias("low"),
        F.max("rate").alias("high"),
    )
