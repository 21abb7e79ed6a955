"""What Spark costs a study before it does anything: session start, and the first query.

Source of the settings: ``analysis/pipeline/session.py``.
"""

from __future__ import annotations

import time

from analysis.pipeline.session import SparkStarter, stop_spark


def measure() -> dict[str, float]:
    """Returns ``spark_start_s`` and ``spark_first_query_s`` (a map over two Python workers)."""
    starter = SparkStarter("local[2]")
    try:
        spark = starter.session()
        begun_s = time.perf_counter()
        ids = spark.range(0, 2, 1, numPartitions=2)
        ids.mapInArrow(lambda batches: batches, "id bigint").groupBy().count().collect()
        first_query_s = time.perf_counter() - begun_s
    finally:
        stop_spark(starter)
    return {
        "spark_start_s": round(starter.start_s, 2),
        "spark_first_query_s": round(first_query_s, 2),
    }
