"""Published numbers of a few units, between two rounds of a study that decides as it goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analysis.metrics.catalogue import MetricKey, needed_facts
from analysis.metrics.unit_metrics import asked_metrics
from analysis.pipeline.batches import batches_of
from analysis.pipeline.unit_sums import EVERYTHING, read_unit_sums
from analysis.study.unit_folder import UnitRecord
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from pyspark import SparkContext


def read_unit_metrics(
    spark: SparkContext | None,
    units_dir: Path,
    units: Sequence[tuple[str, UnitRecord]],
    keys: Sequence[MetricKey] | None = None,
    batches: int = 1,
) -> pd.DataFrame:
    """Returns published numbers of some finished units.

    A counter that is asked for is 0 where a unit has not counted it, whatever other units have
    done: what a unit gives does not depend on which units are read with it.

    Args:
        spark: its context; None to read facts in this process.
        units_dir: ``results/<study>/units``.
        units: hash and record of each.
        keys: the numbers wanted, of which only the facts they need are read; None for all.
        batches: of each unit.

    Returns:
        ``unit_hash``, ``batch`` (from 0), ``metric``, ``class``, ``stat``, ``unit``, ``value``; a
        number that a batch does not have is absent.
    """
    parts = parts_of(units, batches)
    needed = EVERYTHING if keys is None else needed_facts(keys)
    tall = asked_metrics(read_unit_sums(spark, units_dir, parts, needed), parts["measured_s"], keys)
    place = tall.pop("place").to_numpy()
    tall.insert(0, "unit_hash", parts["unit_hash"].to_numpy()[place])
    tall.insert(1, "batch", parts["replication"].to_numpy()[place])
    return tall


def parts_of(units: Sequence[tuple[str, UnitRecord]], batches: int) -> pd.DataFrame:
    """Returns a row for each batch of each unit, as ``read_unit_sums`` takes them."""
    table = pd.DataFrame(
        {
            "unit_hash": [unit_hash for unit_hash, _ in units],
            "replication": 0,
            "window_ns": [record.window_ns for _, record in units],
            "warmup_windows": [record.warmup_windows for _, record in units],
            "verdict": [record.verdict for _, record in units],
            "simulated_s": [record.simulated_ns / NS_PER_S for _, record in units],
        }
    )
    return batches_of(table, batches)
