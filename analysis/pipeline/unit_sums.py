"""Sums and quantiles of every unit's facts, gathered as one table on the driver.

Units are read some hundreds at a time: Spark plans thousands of files in a fraction of what it
takes for all at once, and neither the JVM nor Python ever holds more than the answer to one such
query. What is kept is eight bytes a unit and number.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from analysis.metrics.needed_facts import NeededFacts
from analysis.metrics.unit_metrics import FACT_KEY

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

UNITS_AT_ONCE: Final = 400
EVERYTHING: Final = NeededFacts(None, None, None)

FactKey = tuple[str, str, str]


def read_unit_sums(
    spark: SparkSession,
    units_dir: Path,
    units: pd.DataFrame,
    needed: NeededFacts = EVERYTHING,
    at_once: int = UNITS_AT_ONCE,
) -> pd.DataFrame:
    """Returns sums, means and quantiles after the warm-up, a row a unit, in the order given.

    Args:
        spark: the session.
        units_dir: ``results/<study>/units``.
        units: ``unit_hash``, ``warmup_windows``.
        needed: the facts to read.
        at_once: units in a query; the answer does not depend on it.

    Returns:
        Columns ``metric``, ``class``, ``stat`` of facts, sorted; NaN where a unit has no such fact.
    """
    gathered = _Gathered(len(units))
    for first in range(0, len(units), at_once):
        query = _values(spark, units_dir, units.iloc[first : first + at_once], needed)
        if query is not None:
            gathered.add(first, query.toArrow())
    return gathered.table()


def _values(
    spark: SparkSession, units_dir: Path, units: pd.DataFrame, needed: NeededFacts
) -> DataFrame | None:
    from analysis.pipeline import aggregate
    from sim.record.facts import COUNTER, HISTOGRAM, MOMENTS

    steps = (
        (MOMENTS, needed.moments, aggregate.series_values),
        (COUNTER, needed.counter, aggregate.counter_values),
        (HISTOGRAM, needed.histogram, aggregate.quantile_values),
    )
    values: DataFrame | None = None
    for table, metrics, values_of in steps:
        if metrics is None or metrics:
            facts = aggregate.read_facts(spark, units_dir, units, table, metrics)
            part = values_of(aggregate.measured(facts))
            values = part if values is None else values.unionByName(part)
    return values


class _Gathered:
    """Numbers by unit and key, as they come in."""

    def __init__(self, units: int) -> None:
        self._units = units
        self._columns: dict[FactKey, NDArray[np.float64]] = {}

    def add(self, first: int, answer: pa.Table) -> None:
        """Takes the values of a query whose unit 0 is unit ``first``."""
        parts = [answer.column(name).combine_chunks().dictionary_encode() for name in FACT_KEY]
        codes = [part.indices.to_numpy() for part in parts]
        names = [part.dictionary.to_pylist() for part in parts]
        key = np.ravel_multi_index(codes, [max(len(of), 1) for of in names])
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        unit = answer.column("unit").to_numpy() + first
        value = answer.column("value").to_numpy()
        for rows in np.split(order, starts[1:]) if len(order) else ():
            place = tuple(of[code[rows[0]]] for of, code in zip(names, codes, strict=True))
            self._column(place)[unit[rows]] = value[rows]

    def _column(self, key: tuple[str, ...]) -> NDArray[np.float64]:
        metric, class_, stat = key
        if (metric, class_, stat) not in self._columns:
            self._columns[metric, class_, stat] = np.full(self._units, np.nan)
        return self._columns[metric, class_, stat]

    def table(self) -> pd.DataFrame:
        """Returns a row a unit."""
        keys = sorted(self._columns)
        names = list(zip(*keys, strict=True)) or [(), (), ()]
        matrix = np.empty((self._units, len(keys)))
        for place, key in enumerate(keys):
            matrix[:, place] = self._columns.pop(key)
        columns = pd.MultiIndex.from_arrays(names, names=FACT_KEY)
        return pd.DataFrame(matrix, columns=columns)
