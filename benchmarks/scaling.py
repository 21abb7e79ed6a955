"""How much more two units at once get done than one: 2 where nothing is shared.

Units share no state, so what is missing to 2 is the machine's: caches, memory, clock, neighbours.
One and two take turns; the median of the ratios of neighbours is the figure. It is taken by the
clock on the wall, and once more by CPU time: on a machine where others compute, only the second
one speaks of the units.

Run it with ``python -m benchmarks.scaling``.
"""

from __future__ import annotations

import multiprocessing
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final

from benchmarks.tpcc_unit import tpcc_unit
from sim.units import NS_PER_MS

if TYPE_CHECKING:
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Barrier

_WARMUP_NS: Final = 300 * NS_PER_MS
_MEASURED_NS: Final = 800 * NS_PER_MS
_ROUNDS: Final = 4

Speed = tuple[float, float]
"""Transactions per second of wall time and of CPU time."""


def measure() -> dict[str, float]:
    """Returns ``two_unit_scaling``: throughput of two units at once over that of one alone.

    ``two_unit_scaling_cpu`` is the same by CPU time.
    """
    by_wall, by_cpu = [], []
    for _ in range(_ROUNDS):
        one_wall, one_cpu = _throughput(1)
        two_wall, two_cpu = _throughput(2)
        by_wall.append(two_wall / one_wall)
        by_cpu.append(two_cpu / one_cpu)
    return {
        "two_unit_scaling": round(median(by_wall), 2),
        "two_unit_scaling_cpu": round(median(by_cpu), 2),
    }


def _throughput(units: int) -> Speed:
    """Returns the throughput of so many processes, summed."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(units)
    speeds: Queue[Speed] = context.Queue()
    processes = [context.Process(target=_run_unit, args=(barrier, speeds)) for _ in range(units)]
    for process in processes:
        process.start()
    found = [speeds.get() for _ in processes]
    for process in processes:
        process.join()
    return sum(wall for wall, _ in found), sum(cpu for _, cpu in found)


def _run_unit(barrier: Barrier, speeds: Queue[Speed]) -> None:
    unit = tpcc_unit(_WARMUP_NS)
    committed = unit.stats.total_committed()
    barrier.wait()
    began_s, began_cpu_s = perf_counter(), process_time()
    unit.env.run_until(_WARMUP_NS + _MEASURED_NS)
    elapsed_s, cpu_s = perf_counter() - began_s, process_time() - began_cpu_s
    committed = unit.stats.total_committed() - committed
    speeds.put((committed / elapsed_s, committed / cpu_s))


if __name__ == "__main__":
    print(measure())
