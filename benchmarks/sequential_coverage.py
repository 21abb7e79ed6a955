"""What stopping as soon as an interval is narrow does to how often it contains the truth.

M/M/1 at half load, a few seconds a replication, the mean time in the system. Replications are added
as a study with ``run.precision`` does, until the relative half width is met; the share of studies
whose last interval contains the truth stands beside that of studies of a fixed size. The same with
``run.batches``, where a replication has as many values, after a warm-up that is given.

Run it with ``python -m benchmarks.sequential_coverage``.

Source: Law, Simulation Modeling and Analysis, 5th ed., 9.4.1 (a sequential procedure covers less
than it says, since it is more likely to stop when the variance looks small by chance).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from analysis.statistics.intervals import Array, half_widths, replications_needed
from analysis.statistics.warmup import mser_cut
from benchmarks.queue_units import QueueRun, QueueScenario, simulate
from sim.units import NS_PER_MS, NS_PER_S

STUDIES: Final = 400
MOST: Final = 50
FIRST: Final = (2, 5, 8, 10)
BATCHES: Final = (2, 5)
FIRST_VALUES: Final = 8
TARGETS: Final = (0.1, 0.05, 0.03)
TRUTH_MS: Final = 2.0
RUN: Final = QueueRun(seed=2, measure_ns=4 * NS_PER_S)


def measure() -> list[tuple[str, float, float]]:
    """Returns for each way to stop: its words, the share covered, the mean replications."""
    means = _means_ms(1)[:, :, 0]
    found = [
        (f"always {count}", _covered([row[:count] for row in means]), float(count))
        for count in (*FIRST, 20, MOST)
    ]
    for first in FIRST:
        for target in TARGETS:
            stopped = [_stopped(row, first, target) for row in means]
            size = float(np.mean([len(values) for values in stopped]))
            words = f"from {first} on until {target:.0%}"
            found.append((words, _covered(stopped), size))
    return found + [row for batches in BATCHES for row in _in_batches(batches)]


def _in_batches(batches: int) -> list[tuple[str, float, float]]:
    """Returns the same of replications that are cut into batches, each with a value."""
    means = _means_ms(batches)
    first = max(2, -(-FIRST_VALUES // batches))
    found = []
    for target in TARGETS:
        stopped = [_stopped(row, first, target) for row in means]
        size = float(np.mean([len(values) / batches for values in stopped]))
        words = f"{batches} batches, from {first} on until {target:.0%}"
        found.append((words, _covered(stopped), size))
    return found


def _means_ms(batches: int) -> Array:
    """Returns mean times in the system, shape (studies, replications, batches)."""
    return np.array(
        [
            [_of_batches(study, replication, batches) for replication in range(MOST)]
            for study in range(STUDIES)
        ]
    )


def _of_batches(study: int, replication: int, batches: int) -> Array:
    """Returns the mean time in the system of each batch.

    A replication that is one batch has the warm-up that MSER-5 finds, others that of ``auto``.
    """
    customers = simulate(QueueScenario(RUN, servers=1, load=0.5, study=study), replication)
    window = customers.end // RUN.window_ns
    windows = (RUN.measure_ns + RUN.measure_ns // 2) // RUN.window_ns
    stay = (customers.end - customers.arrival) / NS_PER_MS
    count = np.bincount(window, minlength=windows)[:windows]
    total = np.bincount(window, weights=stay, minlength=windows)[:windows]
    each = total / np.maximum(count, 1)
    start = windows - RUN.measure_ns // RUN.window_ns
    if batches == 1:
        start = max(mser_cut(count.astype(np.float64)).observations, mser_cut(each).observations)
    edges = start + (windows - start) * np.arange(batches) // batches
    return np.add.reduceat(total, edges) / np.add.reduceat(count, edges)


def _stopped(values: Array, first: int, target: float) -> Array:
    """Returns the values of the replications that a study would have run.

    Args:
        values: shape (replications,), or (replications, batches).
        first: replications of the first round.
        target: relative half width.
    """
    count, batches = first, values[0].size
    while count < len(values):
        needed = -(-replications_needed(values[:count].ravel(), target) // batches)
        if needed <= count:
            break
        count = min(needed, len(values))
    return values[:count].ravel()


def _covered(studies: list[Array]) -> float:
    hits = [abs(values.mean() - TRUTH_MS) <= half_widths(values[None, :])[0] for values in studies]
    return float(np.mean(hits))


if __name__ == "__main__":
    for words, covered, replications in measure():
        print(f"{words:24} covered {covered:6.1%}, {replications:4.1f} replications")
