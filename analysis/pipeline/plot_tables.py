"""Tables as wide as a plot, made in Spark SQL: distributions.

All replications of a variant at a point are added up, the warm-up is cut.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

DISTRIBUTIONS: Final = ("lock_latency", "txn_latency")


def distributions(merged: DataFrame, units: DataFrame) -> DataFrame:
    """Merges latency histograms over windows, classes and replications.

    Args:
        merged: from ``aggregate.merged_histograms``.
        units: ``unit``, ``point_index``, ``variant``.

    Returns:
        ``point_index``, ``variant``, ``metric``, ``bucket``, ``count``.
    """
    wanted = merged.where(F.col("metric").isin(*DISTRIBUTIONS))
    group = ("point_index", "variant", "metric", "bucket")
    return (
        wanted.join(F.broadcast(units.select("unit", "point_index", "variant")), "unit")
        .groupBy(*group)
        .agg(F.sum("count").alias("count"))
    )
