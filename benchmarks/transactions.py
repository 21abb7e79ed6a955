"""What a simulated transaction costs: events, which repeat exactly, and CPU time, which does not.

Several units of the same scenario take turns, a slice of simulated time each, so that a slow minute
of the machine meets all of them; the best slice is the figure. The warm-up (regions wake up,
queues fill) is left out.

Run it with ``python -m benchmarks.transactions``.
"""

from __future__ import annotations

from time import process_time
from typing import Final

from benchmarks.tpcc_unit import tpcc_unit
from sim.simulation import SimulatedUnit
from sim.unit_result import run_until
from sim.units import NS_PER_MS

_WARMUP_NS: Final = 500 * NS_PER_MS
_SLICE_NS: Final = 500 * NS_PER_MS
_TINY_NS: Final = 30 * NS_PER_MS
_UNITS: Final = 2
_TURNS: Final = 3


def measure(*, tiny: bool = False) -> dict[str, float]:
    """Returns ``events_per_txn`` and ``txn_per_cpu_s`` of one process, at its best.

    Also ``txn_per_cpu_s_median``, which shows how quiet the machine was.
    """
    warmup_ns, slice_ns = (_TINY_NS, _TINY_NS) if tiny else (_WARMUP_NS, _SLICE_NS)
    units = [tpcc_unit(warmup_ns) for _ in range(1 if tiny else _UNITS)]
    events = -units[0].env.events
    committed = -units[0].stats.total_committed()
    turns = 1 if tiny else _TURNS
    speeds = sorted(_speed(unit, slice_ns) for _ in range(turns) for unit in units)
    events += units[0].env.events
    committed += units[0].stats.total_committed()
    return {
        "events_per_txn": round(events / committed, 1),
        "txn_per_cpu_s": round(speeds[-1]),
        "txn_per_cpu_s_median": round(speeds[len(speeds) // 2]),
    }


def _speed(unit: SimulatedUnit, slice_ns: int) -> float:
    """Runs one slice; returns transactions per CPU second."""
    committed = unit.stats.total_committed()
    began_s = process_time()
    run_until(unit.env, unit.env.now_ns + slice_ns)
    return (unit.stats.total_committed() - committed) / (process_time() - began_s)


if __name__ == "__main__":
    print(measure())
