"""What a transaction costs in a cluster of a hundred stores, beside one of three.

Warehouses, TiDB nodes and clients grow with the stores, so each store has the same to do: little,
since one store leads TPC-C's two hottest regions however many there are. Events repeat exactly; the
ratio of CPU times is of two units one after the other, with the same windows from their beginning,
when most regions are touched for the first time.

Run it with ``python -m benchmarks.stores``.
"""

from __future__ import annotations

from time import process_time
from typing import Final

from benchmarks.tpcc_unit import tpcc_unit
from sim.unit_result import run_until
from sim.units import NS_PER_MS

_FEW: Final = 3
_MANY: Final = 99
_OF_A_STORE: Final = {"workload.warehouses": 5_000 / 3, "workload.threads": 4}
_WARMUP_NS: Final = 60 * NS_PER_MS
"""The clients have begun."""
_MEASURED_NS: Final = 40 * NS_PER_MS


def measure(*, tiny: bool = False) -> dict[str, float]:
    """Returns ``events_of_many_stores`` and ``cpu_of_many_stores``: a transaction's, over few's."""
    many = 2 * _FEW if tiny else _MANY
    few_events, few_s = _cost(_FEW)
    many_events, many_s = _cost(many)
    return {
        "events_of_many_stores": round(many_events / few_events, 2),
        "cpu_of_many_stores": round(many_s / few_s, 2),
    }


def _cost(stores: int) -> tuple[float, float]:
    """Returns events and CPU seconds per transaction of a cluster."""
    sizes = {key: round(of_a_store * stores) for key, of_a_store in _OF_A_STORE.items()}
    sizes |= {"cluster.stores": stores, "cluster.tidb_nodes": stores}
    unit = tpcc_unit(_WARMUP_NS, overrides=tuple(f"{key}={size}" for key, size in sizes.items()))
    events, committed = unit.env.events, unit.stats.total_committed()
    began_s = process_time()
    run_until(unit.env, unit.env.now_ns + _MEASURED_NS)
    spent_s = process_time() - began_s
    committed = unit.stats.total_committed() - committed
    return (unit.env.events - events) / committed, spent_s / committed


if __name__ == "__main__":
    print(measure())
