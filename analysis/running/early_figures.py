"""A first look at mean lock latency while units still run, straight from the facts of those done.

It is a figure to wait by: no unit is judged yet, and the report counts for more. Reading a unit's
moments takes some milliseconds; with more than a hundred units, or many points, nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from analysis.metrics.catalogue import MS_PER_NS
from analysis.metrics.rounding import short, with_half_width
from analysis.study.units import Unit

MOST_UNITS: Final = 100
_METRIC: Final = "lock_latency"


class EarlyFigures:
    """Mean lock latency by variant, over the replications that are done, or their batches."""

    def __init__(self, units_dir: Path, units: Sequence[Unit], batches: int = 1) -> None:
        """Takes all units of a study; those of several points, or too many, are not looked at.

        ``batches`` are those of each unit.
        """
        alike = len({unit.point_index for unit in units}) == 1
        self._units_dir = units_dir
        self._batches = batches
        self._left = list(units) if alike and len(units) <= MOST_UNITS else []
        self._means_ms: dict[str, list[float]] = {}

    def text(self) -> str:
        """Returns ``lock latency (ms): pipelined 2.30 ± 0.02, in_memory 0.83``; at first nothing.

        What follows ``±`` is half the 95 % interval; a single replication has none.
        """
        self._look()
        said = [f"{variant} {mean_words(means)}" for variant, means in self._means_ms.items()]
        return f"lock latency (ms): {', '.join(said)}" if said else ""

    def _look(self) -> None:
        """Reads the units that have been finished since."""
        left = []
        for unit in self._left:
            folder = self._units_dir / unit.unit_hash
            if not folder.is_dir():
                left.append(unit)
                continue
            means_ms = mean_lock_latencies_ms(folder, self._batches)
            if means_ms:
                self._means_ms.setdefault(unit.variant, []).extend(means_ms)
        self._left = left


def mean_lock_latencies_ms(folder: Path, batches: int) -> list[float]:
    """Returns the mean of each batch that has locks; nothing if facts cannot be read."""
    import json

    import pyarrow as pa
    import pyarrow.compute as pc

    from analysis.pipeline.batches import first_window
    from analysis.study.parquet_sink import read_here
    from analysis.study.unit_folder import UNIT_FILE
    from sim.record.facts import MOMENTS

    try:
        record = json.loads((folder / UNIT_FILE).read_text(encoding="utf-8"))
        facts = read_here(folder / f"{MOMENTS}.parquet", ["metric", "window", "sum", "count"])
        facts = facts.filter(pc.equal(facts["metric"], _METRIC))
        windows = -(-int(record["simulated_ns"]) // int(record["window_ns"]))
        warmup = int(record["warmup_windows"])
        firsts = [first_window(warmup, windows, at, batches) for at in range(batches + 1)]
        means_ms, of = [], facts["window"]
        for first, end in pairwise(firsts):
            batch = facts.filter(pc.and_(pc.greater_equal(of, first), pc.less(of, end)))
            count = pc.sum(batch["count"]).as_py()
            if count:
                means_ms.append(pc.sum(batch["sum"]).as_py() / count * MS_PER_NS)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return []  # a run does not end for a figure to wait by
    return means_ms


def mean_words(values: Sequence[float]) -> str:
    """Returns a mean of values with half its 95 % interval, which a single one has not."""
    import numpy as np

    from analysis.statistics.intervals import half_widths

    mean = float(np.mean(values))
    if len(values) < 2:
        return short(mean)
    return with_half_width(mean, float(half_widths(np.array([values]))[0]))
