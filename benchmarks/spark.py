"""What Spark costs: session start, the first query, and units through it beside a process pool.

``spark_over_pool``: seconds of 64 units that use a second of CPU each, as those of quickstart.yaml
do, through ``run_units`` on ``local[2]``, over those of the same unit tasks in a pool of two
processes; starts are not counted. ``benchmarks.spark_overhead`` is the long version, where both
take turns.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter
from typing import Final

from pyspark import SparkContext

from analysis.pipeline.session import SparkStarter, stop_spark
from benchmarks.spark_overhead import process_pool, through_pool_s, through_spark_s

_MASTER: Final = "local[2]"
_UNITS: Final = 64
_UNIT_MS: Final = 1_000


def measure(*, tiny: bool = False) -> dict[str, float]:
    """Returns ``spark_start_s``, ``spark_first_query_s`` and ``spark_over_pool``.

    The first query is a map over two Python workers.
    """
    units, unit_ms = (2, 100) if tiny else (_UNITS, _UNIT_MS)
    starter = SparkStarter(_MASTER)
    try:
        spark = starter.context()
        begun_s = perf_counter()
        spark.parallelize(range(2), 2).map(abs).collect()
        first_query_s = perf_counter() - begun_s
        over_pool = _over_pool(spark, units, unit_ms)
    finally:
        stop_spark(starter)
    return {
        "spark_start_s": round(starter.start_s, 2),
        "spark_first_query_s": round(first_query_s, 2),
        "spark_over_pool": round(over_pool, 3),
    }


def _over_pool(spark: SparkContext, units: int, unit_ms: int) -> float:
    """Returns the ratio, after two units on each side that nobody counts."""
    with tempfile.TemporaryDirectory(prefix="pessim-bench-") as scratch, process_pool() as pool:

        def ratio(folder: Path, units: int) -> float:
            spark_s = through_spark_s(spark, folder / "spark", units, unit_ms)
            return spark_s / through_pool_s(pool, folder / "pool", units, unit_ms)

        ratio(Path(scratch) / "first", 2)
        return ratio(Path(scratch) / "counted", units)


if __name__ == "__main__":
    print(measure())
