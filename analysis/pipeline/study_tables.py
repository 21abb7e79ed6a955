"""All tables of a study in one go: units in, pandas tables out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.study.plan import Unit
from analysis.study.unit_folder import UnitRecord

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNITS_FILE: Final = "units.parquet"
NS_PER_S: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class StudyTables:
    """What reaches the driver of a study's facts."""

    units: pd.DataFrame
    """One row a unit: hash, point, variant, replication, warm-up, measured seconds, events."""
    values: pd.DataFrame
    """``unit_hash``, ``metric``, ``class``, ``stat``, ``value``."""
    distributions: pd.DataFrame
    courses: pd.DataFrame
    """Latencies, rates and levels by bin of windows."""
    happenings: pd.DataFrame
    """What was done to the cluster, by bin."""
    query_s: tuple[float, ...]
    """Seconds of each query; the first one pays for Spark's own compilation."""


def units_table(done: Mapping[Unit, UnitRecord]) -> pd.DataFrame:
    """Returns one row a finished unit, in the order of the plan."""
    rows = [
        {
            "unit_hash": unit.unit_hash,
            "point_index": unit.point_index,
            "variant": unit.variant,
            "replication": unit.replication,
            "window_ns": record.window_ns,
            "warmup_windows": record.warmup_windows,
            "verdict": record.verdict,
            "verdict_reason": record.verdict_reason,
            "measured_s": (record.simulated_ns - record.warmup_windows * record.window_ns)
            / NS_PER_S,
            "simulated_s": record.simulated_ns / NS_PER_S,
            "events": record.events,
            "transactions": record.transactions,
            "cpu_s": record.cpu_s,
        }
        for unit, record in done.items()
    ]
    return pd.DataFrame(rows)


def read_study_tables(
    spark: SparkSession, folder: Path, done: Mapping[Unit, UnitRecord]
) -> StudyTables:
    """Aggregates the facts of all finished units; writes ``units.parquet`` on the way."""
    from analysis.pipeline import aggregate, course_tables, plot_tables
    from sim.record.facts import COUNTER, EVENT, HISTOGRAM, MOMENTS

    table = units_table(done)
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / UNITS_FILE)
    units = spark.read.parquet(str(folder / UNITS_FILE))
    hashes = list(table["unit_hash"])
    raw = {
        name: aggregate.read_facts(spark, folder / "units", hashes, name)
        for name in (MOMENTS, HISTOGRAM, COUNTER, EVENT)
    }
    cut = {name: aggregate.measured(raw[name], units) for name in (MOMENTS, HISTOGRAM, COUNTER)}
    binned = course_tables.binned_units(units, raw[EVENT])
    merged = aggregate.merged_histograms(cut[HISTOGRAM]).cache()
    queries = (
        aggregate.unit_values(cut[MOMENTS], cut[COUNTER], merged),
        plot_tables.distributions(merged, units),
        course_tables.courses(raw[MOMENTS], raw[HISTOGRAM], raw[COUNTER], binned),
        course_tables.happenings(raw[EVENT], binned),
    )
    values, distributions, courses, happenings = answers = [_timed(query) for query in queries]
    merged.unpersist()
    return StudyTables(
        units=table,
        values=values.table,
        distributions=distributions.table,
        courses=courses.table,
        happenings=happenings.table,
        query_s=tuple(answer.seconds for answer in answers),
    )


class _Answer(NamedTuple):
    table: pd.DataFrame
    seconds: float


def _timed(query: DataFrame) -> _Answer:
    begun_s = time.perf_counter()
    return _Answer(query.toPandas(), time.perf_counter() - begun_s)
