"""Tables as wide as a plot, made in Spark SQL: tails of latencies, latency over time, moves.

All replications of a variant at a point are shown together; where their spread is shown, it is
computed here too, so that what leaves Spark does not grow with their number. A coarse bucket is a
whole number of the facts' own, named by the last of them, so its upper bound is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from sim.record.histogram import BUCKETS_PER_DOUBLING

if TYPE_CHECKING:
    from pyspark.sql import Column

LOCKS: Final = "lock_latency"
TAILS: Final = (LOCKS, "txn_latency")
TAIL_STEP: Final = BUCKETS_PER_DOUBLING // 8
"""Buckets in one of a tail's: eight a doubling, so neighbours are 9 % apart."""
HEAT_STEP: Final = BUCKETS_PER_DOUBLING // 4
"""Buckets in a row of a heat map: four a doubling."""
HEAT_COLUMNS: Final = 120
"""Columns of a heat map, at most."""
MOVES: Final = ("leaders_gained", "leaders_lost", "leader_transfers", "splits", "merges")

_CASE: Final = ("point_index", "variant", "metric")


def tails(merged: DataFrame, units: DataFrame) -> DataFrame:
    """Returns what share of values is above each bound, and how replications differ in it.

    The warm-up is cut.

    Args:
        merged: from ``aggregate.merged_histograms``.
        units: ``unit``, ``point_index``, ``variant``.

    Returns:
        ``point_index``, ``variant``, ``metric``, ``bucket`` (coarse), ``share`` (mean over the
        replications that have values), ``deviation`` (theirs, of one replication null),
        ``replications``, ``above`` (values above the bound in all of them together).
    """
    wanted = merged.where(F.col("metric").isin(*TAILS)).join(
        F.broadcast(units.select("unit", "point_index", "variant")), "unit"
    )
    each = (
        wanted.withColumn("bucket", coarse(TAIL_STEP))
        .groupBy(*_CASE, "unit", "bucket")
        .agg(F.sum("count").alias("count"))
    )
    totals = each.groupBy(*_CASE, "unit").agg(F.sum("count").alias("total"))
    everywhere = totals.join(each.select(*_CASE, "bucket").distinct(), list(_CASE))
    filled = everywhere.join(each, [*_CASE, "unit", "bucket"], "left").fillna(0, "count")
    in_order = Window.partitionBy(*_CASE, "unit").orderBy("bucket")
    above = filled.withColumn("above", F.col("total") - F.sum("count").over(in_order))
    share = F.col("above") / F.col("total")
    return above.groupBy(*_CASE, "bucket").agg(
        F.avg(share).alias("share"),
        F.stddev_samp(share).alias("deviation"),
        F.count("*").alias("replications"),
        F.sum("above").alias("above"),
    )


def latency_heat(histogram: DataFrame, units: DataFrame) -> DataFrame:
    """Returns how many lock requests took how long when; the warm-up is in, for it has to be seen.

    Args:
        histogram: raw facts.
        units: ``unit``, ``point_index``, ``variant``, ``window_ns``, ``simulated_s``.

    Returns:
        ``point_index``, ``variant``, ``column``, ``column_s`` (its length), ``bucket`` (coarse),
        ``count``. Units of a point have columns of the same length.
    """
    point = Window.partitionBy("point_index")
    windows = F.max("simulated_s").over(point) * 1e9 / F.col("window_ns")
    wide = units.select(
        "unit",
        "point_index",
        "variant",
        F.greatest(F.lit(1), F.ceil(windows / HEAT_COLUMNS - 1e-6)).cast("int").alias("windows"),
        (F.col("window_ns") / 1e9).alias("window_s"),
    )
    placed = histogram.where(F.col("metric") == LOCKS).join(F.broadcast(wide), "unit")
    return placed.groupBy(
        "point_index",
        "variant",
        F.floor(F.col("window") / F.col("windows")).cast("int").alias("column"),
        (F.col("windows") * F.col("window_s")).alias("column_s"),
        coarse(HEAT_STEP).alias("bucket"),
    ).agg(F.sum("count").alias("count"))


def region_moves(counters: DataFrame, binned: DataFrame) -> DataFrame:
    """Returns how leaders and regions changed by bin, in a replication on average.

    Args:
        counters: raw facts.
        binned: from ``course_tables.binned_units``.

    Returns:
        ``point_index``, ``variant``, ``metric`` (one of ``MOVES``), ``class`` (a store for
        leaders gained and lost), ``bin``, ``bin_s``, ``value``; absent where nothing changed.
    """
    rows = counters.where(F.col("metric").isin(*MOVES)).join(F.broadcast(binned), "unit")
    return rows.groupBy(
        *_CASE,
        "class",
        F.floor(F.col("window") / F.col("bin_windows")).cast("int").alias("bin"),
        "bin_s",
    ).agg((F.sum("value") / F.max("units")).alias("value"))


def coarse(step: int) -> Column:
    """Returns the coarse bucket of a row, ``step`` buckets wide; values below 1 ns in the first."""
    return (F.ceil(F.greatest(F.col("bucket"), F.lit(0)) / step) * step).cast("int")
