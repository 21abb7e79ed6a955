"""A first look at mean latency while units still run, straight from the facts of those done.

It is a figure to wait by: no unit is judged yet, and the report counts for more. Reading a unit's
moments takes some milliseconds; with more than a hundred units, or many points, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from analysis.metrics.catalogue import MS_PER_NS
from analysis.metrics.rounding import short, with_half_width
from analysis.study.units import Unit

MOST_UNITS: Final = 100
LATENCIES: Final = {"lock_latency": "lock latency", "txn_latency": "transaction latency"}
"""Facts by which a user waits, with their names: where no lock is asked for, the second."""

CENSORED: Final = frozenset({"outage", "degraded"})
"""Each ``Verdict`` that is ``censored``; to import it would start the threads of a library."""


class EarlyLatency(NamedTuple):
    """What a unit says of the first of ``LATENCIES`` that it has."""

    fact: str
    means_ms: list[float]
    """The mean of each batch that has any."""
    of_ended: bool = False
    """Whether work stopped or suffered in it: the report counts what had not ended as well."""


class EarlyFigures:
    """Mean latency by variant, over the replications that are done, or their batches."""

    def __init__(self, units_dir: Path, units: Sequence[Unit], batches: int = 1) -> None:
        """Takes all units of a study; those of several points, or too many, are not looked at.

        ``batches`` are those of each unit.
        """
        alike = len({unit.point_index for unit in units}) == 1
        self._units_dir = units_dir
        self._batches = batches
        self._left = list(units) if alike and len(units) <= MOST_UNITS else []
        self._found: list[tuple[str, EarlyLatency]] = []
        """Variants of the units that have been read, with their latencies."""

    def text(self) -> str:
        """Returns ``lock latency (ms): pipelined 2.30 ± 0.02, in_memory 0.83``; at first nothing.

        Where work stopped it says that they are of what has ended, as the table's are not. What
        follows ``±`` is half the 95 % interval; a single replication has none.
        """
        self._look()
        fact = shared_fact(found.fact for _, found in self._found)
        means_ms: dict[str, list[float]] = {}
        of_ended = ""
        for variant, found in self._found:
            if found.fact == fact:
                means_ms.setdefault(variant, []).extend(found.means_ms)
                of_ended = of_ended or (" of what has ended" if found.of_ended else "")
        said = [f"{variant} {mean_words(means)}" for variant, means in means_ms.items()]
        return f"{LATENCIES[fact]}{of_ended} (ms): {', '.join(said)}" if said else ""

    def _look(self) -> None:
        """Reads the units that have been finished since."""
        left = []
        for unit in self._left:
            folder = self._units_dir / unit.unit_hash
            if not folder.is_dir():
                left.append(unit)
                continue
            found = early_latency(folder, self._batches)
            if found is not None:
                self._found.append((unit.variant, found))
        self._left = left


def shared_fact(facts: Iterable[str]) -> str:
    """Returns by which of ``LATENCIES`` units are compared: the first that any of them has."""
    return min(facts, key=list(LATENCIES).index, default=next(iter(LATENCIES)))


def early_latency(folder: Path, batches: int) -> EarlyLatency | None:
    """Returns a unit's mean latencies; None if it has none, or its facts cannot be read."""
    import json

    import pyarrow.compute as pc

    from analysis.pipeline.batches import first_window
    from analysis.study.parquet_sink import read_here
    from analysis.study.unit_folder import UNIT_FILE
    from sim.record.facts import MOMENTS

    try:
        record = json.loads((folder / UNIT_FILE).read_text(encoding="utf-8"))
        facts = read_here(folder / f"{MOMENTS}.parquet", ["metric", "window", "sum", "count"])
        windows = -(-int(record["simulated_ns"]) // int(record["window_ns"]))
        warmup = int(record["warmup_windows"])
        firsts = [first_window(warmup, windows, at, batches) for at in range(batches + 1)]
        for fact in LATENCIES:
            found = _means_ms(facts.filter(pc.equal(facts["metric"], fact)), firsts)
            if found:
                return EarlyLatency(fact, found, record["verdict"] in CENSORED)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        pass  # a run does not end for a figure to wait by
    return None


def _means_ms(facts: pa.Table, firsts: Sequence[int]) -> list[float]:
    """Returns the mean of each batch that has any; ``firsts`` are windows at which one begins."""
    import pyarrow.compute as pc

    found, of = [], facts["window"]
    for first, end in pairwise(firsts):
        batch = facts.filter(pc.and_(pc.greater_equal(of, first), pc.less(of, end)))
        count = pc.sum(batch["count"]).as_py()
        if count:
            found.append(pc.sum(batch["sum"]).as_py() / count * MS_PER_NS)
    return found


def mean_words(values: Sequence[float]) -> str:
    """Returns a mean of values with half its 95 % interval, which a single one has not."""
    import numpy as np

    from analysis.statistics.intervals import half_widths

    mean = float(np.mean(values))
    if len(values) < 2:
        return short(mean)
    return with_half_width(mean, float(half_widths(np.array(values))))
