"""All tables of a study in one go: units in, pandas tables out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.metrics.study_tables import StudyTables
from analysis.pipeline.unit_sums import read_unit_sums
from analysis.pipeline.unit_values import NS_PER_S, measured_s
from analysis.study.unit_folder import UnitRecord
from analysis.study.units import Unit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNITS_FILE: Final = "units.parquet"
FIGURE_POINTS: Final = 6
"""Figures are looked at one by one; a sweep of more points has views of its own."""
_PLOT_QUERIES: Final = 6


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
            "measured_s": measured_s(record),
            "simulated_s": record.simulated_ns / NS_PER_S,
            "events": record.events,
            "transactions": record.transactions,
            "cpu_s": record.cpu_s,
        }
        for unit, record in done.items()
    ]
    return pd.DataFrame(rows)


def read_study_tables(
    spark: SparkSession,
    folder: Path,
    done: Mapping[Unit, UnitRecord],
    figure_points: int = FIGURE_POINTS,
) -> StudyTables:
    """Aggregates the facts of all finished units; writes ``units.parquet`` on the way.

    Args:
        spark: the session.
        folder: the study's.
        done: finished units.
        figure_points: the first so many points get figures, and tables for them.
    """
    table = units_table(done)
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / UNITS_FILE)
    begun_s = time.perf_counter()
    sums = read_unit_sums(spark, folder / "units", table)
    sums_s = time.perf_counter() - begun_s
    drawn = table[table["point_index"] < figure_points]
    none = _Answer(drawn[["point_index", "variant"]].assign(unit=0), 0.0)
    queries = () if drawn.empty else _plot_queries(spark, folder / "units", drawn)
    answers = [_timed(query) for query in queries] or [none] * _PLOT_QUERIES
    courses, happenings, warmups, tails, heat, moves = answers
    return StudyTables(
        units=table,
        sums=sums,
        courses=courses.table,
        happenings=happenings.table,
        warmups=_of_units(warmups.table, drawn),
        tails=tails.table,
        heat=heat.table,
        moves=moves.table,
        query_s=(sums_s, *(answer.seconds for answer in answers)),
    )


def _plot_queries(
    spark: SparkSession, units_dir: Path, table: pd.DataFrame
) -> tuple[DataFrame, ...]:
    """Returns the queries whose answers are the tables of figures, in the order of the fields."""
    from analysis.pipeline import aggregate, course_tables, plot_tables, warmup_tables
    from sim.record.facts import COUNTER, EVENT, HISTOGRAM, MOMENTS

    columns = ["point_index", "variant", "window_ns", "simulated_s"]
    units = spark.createDataFrame(table[columns].assign(unit=range(len(table))))
    raw = {
        name: aggregate.read_facts(spark, units_dir, table, name)
        for name in (MOMENTS, HISTOGRAM, COUNTER, EVENT)
    }
    binned = course_tables.binned_units(units, raw[EVENT])
    merged = aggregate.merged_histograms(aggregate.measured(raw[HISTOGRAM]))
    return (
        course_tables.courses(raw[MOMENTS], raw[HISTOGRAM], raw[COUNTER], binned),
        course_tables.happenings(raw[EVENT], binned),
        warmup_tables.warmup_series(raw[MOMENTS], raw[COUNTER], units),
        plot_tables.tails(merged, units),
        plot_tables.latency_heat(raw[HISTOGRAM], units),
        plot_tables.region_moves(raw[COUNTER], binned),
    )


def _of_units(table: pd.DataFrame, units: pd.DataFrame) -> pd.DataFrame:
    """Puts hash and point in place of the number that units have in a query."""
    places = table["unit"].to_numpy()
    named = {name: units[name].to_numpy()[places] for name in ("unit_hash", "point_index")}
    return table.drop(columns="unit").assign(**named)


class _Answer(NamedTuple):
    table: pd.DataFrame
    seconds: float


def _timed(query: DataFrame) -> _Answer:
    begun_s = time.perf_counter()
    return _Answer(query.toPandas(), time.perf_counter() - begun_s)
