"""How much more two units at once get done than one: 2 where nothing is shared.

Units share no state, so what is missing to 2 is the machine's: caches, memory, clock, neighbours.
One and two take turns; the median of the ratios of neighbours is the figure.

Run it with ``python -m benchmarks.scaling``.
"""

from __future__ import annotations

import multiprocessing
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.tpcc_unit import tpcc_unit
from sim.units import NS_PER_MS

if TYPE_CHECKING:
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Barrier

_WARMUP_NS: Final = 300 * NS_PER_MS
_MEASURED_NS: Final = 800 * NS_PER_MS
_ROUNDS: Final = 4


def measure() -> dict[str, float]:
    """Returns ``two_unit_scaling``: throughput of two units at once over that of one alone."""
    ratios = []
    for _ in range(_ROUNDS):
        one = _throughput(1)
        ratios.append(_throughput(2) / one)
    return {"two_unit_scaling": round(median(ratios), 2)}


def _throughput(units: int) -> float:
    """Returns the transactions per second of wall time of so many processes, summed."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(units)
    speeds: Queue[float] = context.Queue()
    processes = [context.Process(target=_run_unit, args=(barrier, speeds)) for _ in range(units)]
    for process in processes:
        process.start()
    total = sum(speeds.get() for _ in processes)
    for process in processes:
        process.join()
    return total


def _run_unit(barrier: Barrier, speeds: Queue[float]) -> None:
    unit = tpcc_unit(_WARMUP_NS)
    committed = unit.stats.total_committed()
    barrier.wait()
    began_s = perf_counter()
    unit.env.run_until(_WARMUP_NS + _MEASURED_NS)
    elapsed_s = perf_counter() - began_s
    speeds.put((unit.stats.total_committed() - committed) / elapsed_s)


if __name__ == "__main__":
    print(measure())
