"""What watching costs: CPU time of a transaction with all checkers over that without them.

Three units of the same scenario take turns, a slice of simulated time each: with the checkers, with
the books of locks alone (which are always kept), and with nobody watching. All three do the same,
so the ratio of their CPU times is the cost; the median over the turns is the figure, since a slow
minute of the machine meets all of them.

Run it with ``python -m benchmarks.checks``.
"""

from __future__ import annotations

from statistics import median
from time import process_time
from typing import Final

from benchmarks.tpcc_unit import tpcc_unit
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS

_WARMUP_NS: Final = 300 * NS_PER_MS
_SLICE_NS: Final = 100 * NS_PER_MS
_TURNS: Final = 15


def measure() -> dict[str, float]:
    """Returns the added share of CPU time: ``checks_cost``, ``lock_fates_cost``, end included.

    The comparisons at a unit's end (``checks_end_s``) are not in the ratio of the slices; they are
    told in seconds for a unit of ``_WARMUP_NS + _TURNS * _SLICE_NS``.
    """
    units = [tpcc_unit(checks=True), tpcc_unit(), tpcc_unit()]
    vars(units[2].cluster.probe).clear()
    for unit in units:
        unit.env.run_until(_WARMUP_NS)
    slices = [[_slice_s(unit) for unit in units] for _ in range(_TURNS)]
    began_s = process_time()
    result = units[0].result()
    end_s = process_time() - began_s
    assert not result.violations, result.violations
    run_s = sum(with_nobody for _, _, with_nobody in slices)
    return {
        "checks_cost": round(median(with_all / none for with_all, _, none in slices) - 1, 3),
        "checks_end_cost": round(end_s / run_s, 3),
        "lock_fates_cost": round(median(books / none for _, books, none in slices) - 1, 3),
    }


def _slice_s(unit: SimulatedUnit) -> float:
    """Runs one slice; returns its CPU time in seconds."""
    began_s = process_time()
    unit.env.run_until(unit.env.now_ns + _SLICE_NS)
    return process_time() - began_s


if __name__ == "__main__":
    print(measure())
