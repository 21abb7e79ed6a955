"""All tables of a study in one go: units in, pandas tables out.

Sums and quantiles of facts are gathered as one table, of which eight bytes a batch and number are
kept. Between two rounds of a study that decides as it goes, a few units' are read alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from analysis.metrics.catalogue import MetricKey, NeededFacts, needed_facts
from analysis.metrics.study_tables import StudyTables
from analysis.metrics.unit_metrics import FACT_KEY, asked_metrics
from analysis.pipeline.aggregate import SummedUnit, SumsQuestion
from analysis.pipeline.batches import batches_of
from analysis.pipeline.plot_tables import FigureTables, figure_tables
from analysis.pipeline.spark_jobs import answers, cores
from analysis.statistics.saturation import Verdict
from analysis.study.unit_folder import UnitRecord
from analysis.study.units import Unit
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from pyspark import SparkContext

FIGURE_POINTS: Final = 6
"""Figures are looked at one by one; a sweep of more points has views of its own."""
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
            "others_went_on": record.others_went_on,
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
    drawn: dict[int, list[UnitRecord]] = {}
    for unit, record in done.items():
        if unit.point_index < figure_points:
            drawn.setdefault(unit.point_index, []).append(record)
    asked = [partial(figure_tables, str(units_dir), own) for own in drawn.values()]
    each = min(UNITS_AT_ONCE, -(-len(parts) // cores(spark)))
    found: Iterator[Any] = answers(
        spark, [*asked, *sums_questions(units_dir, parts, EVERYTHING, each)]
    )
    figures = _figure_tables({index: next(found) for index in drawn})
    return StudyTables(
        units=table,
        batches=parts,
        sums=sums_table(found, len(parts)),
        **figures,
        facts_s=time.perf_counter() - begun_s,
    )


def _figure_tables(found: Mapping[int, FigureTables]) -> dict[str, pd.DataFrame]:
    """Returns the answers for all points as one table each, with ``point_index``."""
    tables = {}
    for name in FigureTables._fields:
        parts = [
            getattr(answer, name).to_pandas().assign(point_index=index)
            for index, answer in found.items()
        ]
        tables[name] = pd.concat(parts, ignore_index=True) if parts else _NO_ROWS
    return tables


UNITS_AT_ONCE: Final = 25
EVERYTHING: Final = NeededFacts(None, None, None)

FactKey = tuple[str, str, str]


def read_unit_sums(
    spark: SparkContext | None,
    units_dir: Path,
    batches: pd.DataFrame,
    needed: NeededFacts = EVERYTHING,
    at_once: int = UNITS_AT_ONCE,
) -> pd.DataFrame:
    """Returns sums, means and quantiles, a row a batch, in the order given.

    Args:
        spark: its context; None to read facts in this process.
        units_dir: ``results/<study>/units``.
        batches: ``unit_hash``, ``first_window``, ``end_window``, ``verdict``, from ``batches_of``.
        needed: the facts to read.
        at_once: batches that an executor is asked about at once; the answer does not depend on it.

    Returns:
        Columns ``metric``, ``class``, ``stat`` of facts, sorted; NaN where a batch has no such
        fact.

    Raises:
        SparkJobError: if facts cannot be read.
    """
    each = min(at_once, -(-len(batches) // cores(spark)))
    questions = sums_questions(units_dir, batches, needed, each)
    return sums_table(answers(spark, questions), len(batches))


def sums_questions(
    units_dir: Path, batches: pd.DataFrame, needed: NeededFacts, each: int
) -> list[Callable[[], pa.Table]]:
    """Returns what executors are asked, each question about so many batches."""
    names = ("unit_hash", "first_window", "end_window")
    columns = [batches[name].tolist() for name in names]
    censored = [Verdict(verdict).censored for verdict in batches["verdict"]]
    numbered = list(map(SummedUnit, range(len(batches)), *columns, censored))
    return [
        SumsQuestion(str(units_dir), tuple(numbered[first : first + each]), needed).answer
        for first in range(0, len(numbered), max(each, 1))
    ]


def sums_table(found: Iterable[pa.Table], batches: int) -> pd.DataFrame:
    """Returns the answers as one table, a row a batch."""
    gathered = _Gathered(batches)
    for answer in found:
        gathered.add(answer)
    return gathered.table()


class _Gathered:
    """Numbers by batch and key, as they come in."""

    def __init__(self, batches: int) -> None:
        self._batches = batches
        self._columns: dict[FactKey, NDArray[np.float64]] = {}

    def add(self, answer: pa.Table) -> None:
        """Takes the values of some batches."""
        parts = [answer.column(name).combine_chunks().dictionary_encode() for name in FACT_KEY]
        codes = [part.indices.to_numpy() for part in parts]
        names = [part.dictionary.to_pylist() for part in parts]
        key = np.ravel_multi_index(codes, [max(len(of), 1) for of in names])
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        unit = answer.column("unit").to_numpy()
        value = answer.column("value").to_numpy()
        for rows in np.split(order, starts[1:]) if len(order) else ():
            place = tuple(of[code[rows[0]]] for of, code in zip(names, codes, strict=True))
            self._column(place)[unit[rows]] = value[rows]

    def _column(self, key: tuple[str, ...]) -> NDArray[np.float64]:
        metric, class_, stat = key
        if (metric, class_, stat) not in self._columns:
            self._columns[metric, class_, stat] = np.full(self._batches, np.nan)
        return self._columns[metric, class_, stat]

    def table(self) -> pd.DataFrame:
        """Returns a row a batch."""
        keys = sorted(self._columns)
        names = list(zip(*keys, strict=True)) or [(), (), ()]
        matrix = np.empty((self._batches, len(keys)))
        for place, key in enumerate(keys):
            matrix[:, place] = self._columns.pop(key)
        columns = pd.MultiIndex.from_arrays(names, names=FACT_KEY)
        return pd.DataFrame(matrix, columns=columns)


def read_unit_metrics(
    spark: SparkContext | None,
    units_dir: Path,
    records: Sequence[UnitRecord],
    keys: Sequence[MetricKey] | None = None,
    batches: int = 1,
) -> pd.DataFrame:
    """Returns published numbers of some finished units.

    A counter that is asked for is 0 where a unit has not counted it, whatever other units have
    done: what a unit gives does not depend on which units are read with it.

    Args:
        spark: its context; None to read facts in this process.
        units_dir: ``results/<study>/units``.
        records: of the units.
        keys: the numbers wanted, of which only the facts they need are read; None for all.
        batches: of each unit.

    Returns:
        ``unit_hash``, ``batch`` (from 0), ``metric``, ``class``, ``stat``, ``unit``, ``value``; a
        number that a batch does not have is absent.
    """
    parts = parts_of(records, batches)
    needed = EVERYTHING if keys is None else needed_facts(keys)
    tall = asked_metrics(read_unit_sums(spark, units_dir, parts, needed), parts["measured_s"], keys)
    place = tall.pop("place").to_numpy()
    tall.insert(0, "unit_hash", parts["unit_hash"].to_numpy()[place])
    tall.insert(1, "batch", parts["replication"].to_numpy()[place])
    return tall


def parts_of(records: Sequence[UnitRecord], batches: int) -> pd.DataFrame:
    """Returns a row for each batch of each unit, as ``read_unit_sums`` takes them."""
    alone = {Unit(each.unit_hash, 0, each.variant, 0): each for each in records}
    return batches_of(units_table(alone), batches)
