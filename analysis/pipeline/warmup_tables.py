"""Throughput and latency of each replication over simulated time: what its warm-up was cut from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_BINS: Final = 100
"""Of a replication: a panel is no wider."""
LOCKS: Final = "lock_latency"
COMMITS: Final = "txns"


def warmup_series(moments: DataFrame, counters: DataFrame, units: DataFrame) -> DataFrame:
    """Returns mean lock latency and committed transactions by bin of windows, warm-up included.

    Args:
        moments: raw facts.
        counters: raw facts.
        units: ``unit``, ``window_ns``, ``simulated_s``.

    Returns:
        ``unit``, ``metric`` (``lock_latency`` in ms, ``txns`` per second), ``at_s`` (the middle of
        the bin), ``value``; a bin without a lock or a commit is absent, as is a last one cut short.
    """
    windows = F.floor(F.col("simulated_s") * 1e9 / F.col("window_ns") + 1e-6)
    binned = units.select(
        "unit",
        F.greatest(F.lit(1), F.ceil(windows / MOST_BINS)).alias("bin_windows"),
        windows.alias("windows"),
        (F.col("window_ns") / 1e9).alias("window_s"),
    )
    mean_ms = F.sum("sum") / F.sum("count") / 1e6
    per_s = F.sum("value") / F.max("bin_s")
    latency = _by_bin(moments.where(F.col("metric") == LOCKS), binned, mean_ms)
    return latency.unionByName(_by_bin(counters.where(F.col("metric") == COMMITS), binned, per_s))


def _by_bin(facts: DataFrame, binned: DataFrame, value: Column) -> DataFrame:
    placed = facts.join(F.broadcast(binned), "unit").select(
        "*",
        F.floor(F.col("window") / F.col("bin_windows")).alias("bin"),
        (F.col("bin_windows") * F.col("window_s")).alias("bin_s"),
    )
    whole = placed.where((F.col("bin") + 1) * F.col("bin_windows") <= F.col("windows"))
    return (
        whole.groupBy("unit", "metric", "bin")
        .agg(value.alias("value"), F.max("bin_s").alias("bin_s"))
        .select("unit", "metric", ((F.col("bin") + 0.5) * F.col("bin_s")).alias("at_s"), "value")
    )
