"""Units that take about a second: one that touches everything, and one that fights for a row.

As a script it runs one and prints its facts, a line each: ``small_units.py tpcc``. Without a name
it runs all of ``SCENARIOS``, each after a line with its name, and says what cycles a run has left.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

from sim.record.facts import TABLES, MemorySink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit, run_unit
from sim.units import NS_PER_MS
from tests.scenes import IN_MEMORY, PIPELINED, scenario

SHORT = {"warmup_ns": 0, "measure_ns": 200 * NS_PER_MS}
BRIEF = {"warmup_ns": 0, "measure_ns": 60 * NS_PER_MS}
"""For small transactions, of which there are hundreds even so."""

SCENARIOS: dict[str, Scenario] = {
    "tpcc": scenario("quickstart", run=SHORT, tikv=IN_MEMORY),
    "hot_row": scenario("hot_row", run=SHORT, tikv=PIPELINED),
    "async_io": scenario("tikv_v8", run=SHORT, workload={"threads": 20, "warehouses": 100}),
    "open_loop": scenario("open_loop", run=SHORT, workload={"rate_per_s": 200.0}),
    "autocommit": scenario("sysbench_update_non_index", run=BRIEF),
    "inserts": scenario("sysbench_update_non_index", run=BRIEF, workload={"kind": "oltp_insert"}),
    "reads": scenario("sysbench_update_non_index", run=BRIEF, workload={"kind": "oltp_read_only"}),
}


LONGER = {"warmup_ns": 200 * NS_PER_MS, "measure_ns": 400 * NS_PER_MS}

RARE: dict[str, Scenario] = {
    "crash": scenario("crash", run=LONGER, tikv=PIPELINED),
    "etcd": scenario("etcd_1ms", run=SHORT),
    "split_merge": scenario("split_merge", run=LONGER, tikv=IN_MEMORY),
    "transfers": scenario("leader_transfer", run=LONGER, tikv=IN_MEMORY),
}
"""Units that pass through code which the others do not."""


def facts(of: Scenario, replication: int = 0) -> Iterator[str]:
    """Yields the facts of a unit as text, table by table."""
    sink = MemorySink()
    yield repr(run_unit(of, replication, sink))
    yield from _rows(sink)


def cycles_and_facts(of: Scenario) -> Iterator[str]:
    """Yields how many objects the cycle collector finds after a run, then the facts."""
    sink = MemorySink()
    unit = SimulatedUnit(of, 0, sink)
    gc.collect()
    gc.disable()
    unit.run()
    yield f"cycles: {gc.collect()}"
    yield repr(unit.result())
    yield from _rows(sink)


def _rows(sink: MemorySink) -> Iterator[str]:
    for table in TABLES:
        for row in sink.rows(table):
            yield f"{table}: {row}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(*facts((SCENARIOS | RARE)[sys.argv[1]]), sep="\n")
    else:
        for each, of_it in SCENARIOS.items():
            print(f"unit: {each}", *cycles_and_facts(of_it), sep="\n")
