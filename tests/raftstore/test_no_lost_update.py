"""The district row hands out order ids: a committed order takes exactly one, in every lock mode.

The row is read and written by every NewOrder and Payment under a pessimistic lock, by twenty
clients on one warehouse. If two transactions ever held the row at once, an id would be handed out
twice and the counters would fall behind the committed orders.
"""

from __future__ import annotations

from typing import Any

import pytest

from sim.protocol.percolator.read import newest_data
from sim.record.facts import MemorySink
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS
from sim.workload.tpcc import keys
from sim.workload.tpcc.schema import FIRST_NEW_ORDER
from tests.scenes import scenario

THREADS = 20
MODES: dict[str, dict[str, Any]] = {
    "sync": {"pipelined": False, "in_memory": False},
    "pipelined": {"pipelined": True, "in_memory": False},
    "in_memory": {"pipelined": True, "in_memory": True},
    "in_memory, nearly no room": {"in_memory": True, "in_memory_peer_size_limit_bytes": 400},
    "in_memory, async IO": {"in_memory": True, "store_io_pool_size": 1},
}


def order_ids_handed_out(unit: SimulatedUnit) -> int:
    """Returns by how much the districts' counters have grown, as prewritten.

    An async commit is told to its client before its records are applied, so the locks count.
    """
    newest: dict[bytes, int] = {}
    for store in unit.cluster.stores.values():
        for peer in store.peers.values():
            if not peer.is_leader:
                continue
            mvcc = peer.state.mvcc
            written = [(key, newest_data(head)) for key, head in mvcc.writes.items()]
            for key, record in [*written, *mvcc.locks.items()]:
                if (
                    key.startswith(keys.DISTRICT)
                    and record is not None
                    and record.value is not None
                ):
                    assert isinstance(record.value, int)
                    newest[key] = max(newest.get(key, 0), record.value)
    return sum(value - FIRST_NEW_ORDER for value in newest.values())


@pytest.mark.parametrize("mode", MODES)
def test_every_committed_order_took_one_id(mode: str) -> None:
    run = {"warmup_ns": 0, "measure_ns": 600 * NS_PER_MS}
    of = scenario(
        "quickstart", run=run, tikv=MODES[mode], workload={"warehouses": 1, "threads": THREADS}
    )
    unit = SimulatedUnit(of, 0, MemorySink())
    unit.run()
    committed = unit.recorder.counter("txns", "new_order").value
    assert committed > 50
    assert committed <= order_ids_handed_out(unit) <= committed + THREADS
    assert unit.result().violations == ()
