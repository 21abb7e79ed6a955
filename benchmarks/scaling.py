"""How much more two units at once get done than one: 2 where nothing is shared.

Units share no state, so what is missing to 2 is the machine's: caches, memory, clock, neighbours.
One and two take turns; the median of the ratios of neighbours is the figure. It is taken by the
clock on the wall, and once more by CPU time: on a machine where others compute, only the second
one speaks of the units.

Run it with ``python -m benchmarks.scaling``.
"""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from statistics import median
from time import perf_counter, process_time
from typing import Final

from benchmarks.tpcc_unit import tpcc_unit
from sim.units import NS_PER_MS

_WARMUP_NS: Final = 200 * NS_PER_MS
_MEASURED_NS: Final = 300 * NS_PER_MS
_TINY_NS: Final = 30 * NS_PER_MS
_ROUNDS: Final = 3

Speed = tuple[float, float]
"""Transactions per second of wall time and of CPU time."""


def measure(*, tiny: bool = False) -> dict[str, float | str]:
    """Returns ``two_unit_scaling``: throughput of two units at once over that of one alone.

    ``two_unit_scaling_cpu`` is the same by CPU time.
    """
    if len(os.sched_getaffinity(0)) < 2:
        return {"two_unit_scaling": "there is one core"}
    times = (_TINY_NS, _TINY_NS) if tiny else (_WARMUP_NS, _MEASURED_NS)
    by_wall, by_cpu = [], []
    for _ in range(1 if tiny else _ROUNDS):
        one_wall, one_cpu = _throughput(1, *times)
        two_wall, two_cpu = _throughput(2, *times)
        by_wall.append(two_wall / one_wall)
        by_cpu.append(two_cpu / one_cpu)
    return {
        "two_unit_scaling": round(median(by_wall), 2),
        "two_unit_scaling_cpu": round(median(by_cpu), 2),
    }


def _throughput(units: int, warmup_ns: int, measured_ns: int) -> Speed:
    """Returns the throughput of so many processes, summed."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(units)
    speeds: Queue[Speed] = context.Queue()
    args = (barrier, speeds, warmup_ns, measured_ns)
    processes = [context.Process(target=_run_unit, args=args) for _ in range(units)]
    for process in processes:
        process.start()
    found = [speeds.get() for _ in processes]
    for process in processes:
        process.join()
    return sum(wall for wall, _ in found), sum(cpu for _, cpu in found)


def _run_unit(barrier: Barrier, speeds: Queue[Speed], warmup_ns: int, measured_ns: int) -> None:
    unit = tpcc_unit(warmup_ns)
    committed = unit.stats.total_committed()
    barrier.wait()
    began_s, began_cpu_s = perf_counter(), process_time()
    unit.env.run_until(warmup_ns + measured_ns)
    elapsed_s, cpu_s = perf_counter() - began_s, process_time() - began_cpu_s
    committed = unit.stats.total_committed() - committed
    speeds.put((committed / elapsed_s, committed / cpu_s))


if __name__ == "__main__":
    print(measure())
