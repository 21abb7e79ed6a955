"""Tables as wide as a plot, made in Spark SQL: distributions and courses over time.

Both add up all replications of a variant at a point; the warm-up is cut from distributions and
shown in courses.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

DISTRIBUTIONS: Final = ("lock_latency", "txn_latency")
COURSES: Final = ("lock_latency", "txns", "disk_write_bytes")


def distributions(merged: DataFrame, units: DataFrame) -> DataFrame:
    """Merges latency histograms over windows, classes and replications.

    Args:
        merged: from ``aggregate.merged_histograms``.
        units: ``unit_hash``, ``point_index``, ``variant``.

    Returns:
        ``point_index``, ``variant``, ``metric``, ``bucket``, ``count``.
    """
    wanted = merged.where(F.col("metric").isin(*DISTRIBUTIONS))
    group = ("point_index", "variant", "metric", "bucket")
    return (
        wanted.join(F.broadcast(_whose(units)), "unit_hash")
        .groupBy(*group)
        .agg(F.sum("count").alias("count"))
    )


def courses(moments: DataFrame, counters: DataFrame, units: DataFrame) -> DataFrame:
    """Sums series and counters up by window, over classes and replications.

    Returns:
        ``point_index``, ``variant``, ``metric``, ``window``, ``count`` (values seen, or units for
        a counter's window), ``total`` (their sum).
    """
    series = moments.select("unit_hash", "window", "metric", "count", F.col("sum").alias("total"))
    growth = counters.select(
        "unit_hash", "window", "metric", F.lit(1).cast("bigint").alias("count"), "value"
    ).withColumnRenamed("value", "total")
    wanted = series.unionByName(growth).where(F.col("metric").isin(*COURSES))
    group = ("point_index", "variant", "metric", "window")
    return (
        wanted.join(F.broadcast(_whose(units)), "unit_hash")
        .groupBy(*group)
        .agg(F.sum("count").alias("count"), F.sum("total").alias("total"))
    )


def _whose(units: DataFrame) -> DataFrame:
    return units.select("unit_hash", "point_index", "variant")
