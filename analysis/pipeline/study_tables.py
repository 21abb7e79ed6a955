"""All tables of a study in one go: units in, pandas tables out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from analysis.metrics.study_tables import StudyTables
from analysis.pipeline.batches import batches_of
from analysis.pipeline.plot_tables import FigureTables, figure_tables
from analysis.pipeline.point_facts import DrawnUnit
from analysis.pipeline.spark_jobs import answers, cores
from analysis.pipeline.unit_sums import (
    EVERYTHING,
    UNITS_AT_ONCE,
    sums_questions,
    sums_table,
)
from analysis.study.unit_folder import UnitRecord
from analysis.study.units import Unit
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from pyspark import SparkContext

FIGURE_POINTS: Final = 6
"""Figures are looked at one by one; a sweep of more points has views of its own."""
Asked = Callable[[], FigureTables]
_NO_ROWS: Final = pd.DataFrame({"point_index": [], "variant": []})


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
            "measured_s": record.measured_s,
            "simulated_s": record.simulated_ns / NS_PER_S,
            "events": record.events,
            "transactions": record.transactions,
            "cpu_s": record.cpu_s,
        }
        for unit, record in done.items()
    ]
    return pd.DataFrame(rows)


def read_study_tables(
    spark: SparkContext | None,
    folder: Path,
    done: Mapping[Unit, UnitRecord],
    figure_points: int = FIGURE_POINTS,
    batches: int = 1,
) -> StudyTables:
    """Aggregates the facts of all finished units.

    Args:
        spark: its context; None to read them in this process.
        folder: the study's.
        done: finished units.
        figure_points: the first so many points get figures, and tables for them.
        batches: of each unit.
    """
    table = units_table(done)
    parts = batches_of(table, batches)
    begun_s = time.perf_counter()
    units_dir = folder / "units"
    points = _point_questions(units_dir, table[table["point_index"] < figure_points])
    each = min(UNITS_AT_ONCE, -(-len(parts) // cores(spark)))
    found: Iterator[Any] = answers(
        spark, [*points.values(), *sums_questions(units_dir, parts, EVERYTHING, each)]
    )
    figures = _figure_tables(points, [next(found) for _ in points])
    return StudyTables(
        units=table,
        batches=parts,
        sums=sums_table(found, len(parts)),
        **figures,
        facts_s=time.perf_counter() - begun_s,
    )


def _point_questions(units_dir: Path, drawn: pd.DataFrame) -> dict[int, Asked]:
    """Returns what is asked for the figures of each point."""
    columns = [drawn[each.name].tolist() for each in fields(DrawnUnit)]
    units: dict[int, list[DrawnUnit]] = {}
    for index, *values in zip(drawn["point_index"].tolist(), *columns, strict=True):
        units.setdefault(index, []).append(DrawnUnit(*values))
    return {index: partial(figure_tables, str(units_dir), own) for index, own in units.items()}


def _figure_tables(
    points: Mapping[int, Asked], found: Sequence[FigureTables]
) -> dict[str, pd.DataFrame]:
    """Returns the answers for all points as one table each, with ``point_index``."""
    asked = dict(zip(points, found, strict=True))
    tables = {}
    for name in FigureTables._fields:
        parts = [
            getattr(answer, name).to_pandas().assign(point_index=index)
            for index, answer in asked.items()
        ]
        tables[name] = pd.concat(parts, ignore_index=True) if parts else _NO_ROWS
    return tables
