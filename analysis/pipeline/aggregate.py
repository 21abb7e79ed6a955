"""Facts to per-replication values and plot tables, in Spark SQL.

Facts stay on the workers: what reaches the driver is one row per unit, metric, class and statistic,
and tables as wide as a plot. Histograms merge by adding bucket counts over windows (exactly), and a
quantile is read off the merged histogram, never averaged from quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from sim.record.facts import TABLES
from sim.record.histogram import BUCKETS_PER_DOUBLING, ZERO_BUCKET

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column

QUANTILES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
_SQL_TYPES: Final = {"int32": "int", "int64": "bigint", "string": "string"}
_SERIES: Final = ("unit", "metric", "class")


def read_facts(
    spark: SparkSession,
    units_dir: Path,
    units: pd.DataFrame,
    table: str,
    metrics: Sequence[str] | None = None,
) -> DataFrame:
    """Returns a fact table over many units, with ``unit`` and ``warmup_windows`` beside its own.

    Which unit a row is of says its file's path; 64 digits are too many to be carried by every row,
    so they become a number at once. The hash is cut from the path by its place (all hashes are
    equally long): splitting the path for every row took longer than reading it.

    Args:
        spark: the session.
        units_dir: ``results/<study>/units``.
        units: ``unit_hash``, ``warmup_windows``; ``unit`` is the row's place in it.
        table: name of the fact table.
        metrics: the only ones to be read; None for all.
    """
    schema = ", ".join(f"`{name}` {_SQL_TYPES[kind]}" for name, kind in TABLES[table].items())
    hashes = list(units["unit_hash"])
    paths = [str(units_dir / unit_hash / f"{table}.parquet") for unit_hash in hashes]
    facts = spark.read.schema(schema).parquet(*paths)
    if metrics is not None:
        facts = facts.where(F.col("metric").isin(*metrics))
    length = len(hashes[0])
    from_end = length + len(f"/{table}.parquet")
    folder = F.substring(F.col("_metadata.file_path"), -from_end, length)
    numbers = F.broadcast(_numbers(spark, units))
    return facts.select(folder.alias("unit_hash"), "*").join(numbers, "unit_hash").drop("unit_hash")


def _numbers(spark: SparkSession, units: pd.DataFrame) -> DataFrame:
    table = units[["unit_hash", "warmup_windows"]].assign(unit=range(len(units)))
    return spark.createDataFrame(table.astype({"unit": "int32", "warmup_windows": "int32"}))


def measured(facts: DataFrame) -> DataFrame:
    """Returns the facts after each unit's warm-up."""
    return facts.where(F.col("window") >= F.col("warmup_windows")).drop("warmup_windows")


def series_values(moments: DataFrame) -> DataFrame:
    """Sums a series up by unit, over windows and, as class ``all``, over classes.

    Returns:
        ``unit``, ``metric``, ``class``, ``stat`` (``count``, ``mean``, ``max``, ``sum``),
        ``value``.
    """
    by_class = moments.groupBy(*_SERIES).agg(*_total_moments())
    totals = _also_over_classes(by_class).groupBy(*_SERIES).agg(*_total_moments())
    stats = {
        "count": F.col("count").cast("double"),
        "mean": F.col("sum") / F.col("count"),
        "max": F.col("max").cast("double"),
        "sum": F.col("sum").cast("double"),
    }
    return _long(totals, stats)


def _total_moments() -> tuple[Column, Column, Column]:
    return (
        F.sum("count").alias("count"),
        F.sum("sum").alias("sum"),
        F.max("max").alias("max"),
    )


def counter_values(counters: DataFrame) -> DataFrame:
    """Sums a counter up by unit and class; columns as ``series_values``, ``stat`` is ``total``."""
    totals = counters.groupBy(*_SERIES).agg(F.sum("value").alias("value"))
    return _long(totals, {"total": F.col("value").cast("double")})


def merged_histograms(histogram: DataFrame) -> DataFrame:
    """Merges histograms over windows: a row a unit, ``metric``, ``class`` and ``bucket``."""
    return histogram.groupBy(*_SERIES, "bucket").agg(F.sum("count").alias("count"))


def quantile_values(histogram: DataFrame) -> DataFrame:
    """Reads quantiles off each unit's merged histogram, by class and over all classes.

    Args:
        histogram: measured facts.

    Returns:
        Columns as ``series_values``; ``stat`` is ``p50`` ... ``p999``. The value is interpolated
        within its bucket on a log scale, so it is within the bucket's width of the exact quantile.
    """
    merged = merged_histograms(_also_over_classes(merged_histograms(histogram)))
    ordered = Window.partitionBy(*_SERIES).orderBy("bucket")
    whole = Window.partitionBy(*_SERIES)
    ranked = merged.select(
        "*",
        F.sum("count").over(ordered).alias("up_to"),
        F.sum("count").over(whole).alias("total"),
    )
    return _long_quantiles(ranked)


def _long_quantiles(ranked: DataFrame) -> DataFrame:
    """Picks the bucket in which each rank falls: the first whose cumulated count reaches it."""
    wanted = F.explode(F.map_from_arrays(*map(_literals, zip(*QUANTILES.items(), strict=True))))
    asked = ranked.select("*", wanted.alias("stat", "share"))
    rank = F.col("share") * F.col("total")
    below = F.col("up_to") - F.col("count")
    hit = asked.where((rank > below) & (rank <= F.col("up_to")))
    return hit.select(*_SERIES, "stat", value_at_rank(rank).alias("value"))


def value_at_rank(rank: Column) -> Column:
    """Returns the value at a rank within its bucket, on a log scale.

    The row is that bucket's: ``bucket``, ``count``, and ``up_to``, the count cumulated to its end.
    """
    below = F.col("up_to") - F.col("count")
    inside = F.col("bucket") - 1 + (rank - below) / F.col("count")
    return F.when(F.col("bucket") == ZERO_BUCKET, 0.0).otherwise(
        F.pow(F.lit(2.0), inside / BUCKETS_PER_DOUBLING)
    )


def _literals(values: Sequence[object]) -> Column:
    return F.array(*map(F.lit, values))


def _also_over_classes(facts: DataFrame) -> DataFrame:
    """Returns the rows twice where a class is named: as they are, and as class ``all``."""
    classes = F.when(F.col("class") == "all", F.array(F.lit("all"))).otherwise(
        F.array(F.col("class"), F.lit("all"))
    )
    return facts.withColumn("class", F.explode(classes))


def _long(wide: DataFrame, stats: dict[str, Column]) -> DataFrame:
    pairs = F.array(
        *(
            F.struct(F.lit(name).alias("stat"), value.alias("value"))
            for name, value in stats.items()
        )
    )
    stat = wide.select(*_SERIES, F.explode(pairs).alias("pair"))
    return stat.select(*_SERIES, "pair.stat", "pair.value")
