"""Little's law, L = lambda W, on whole runs: closed loop and open loop.

Both sides are measured apart: transactions under way are counted every millisecond from outside,
latencies are what the facts say. Source: J. D. C. Little, A Proof for the Queuing Formula:
L = lambda W, Operations Research 9, 1961.
"""

from __future__ import annotations

import pytest

from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS, NS_PER_S
from tests.scenes import PIPELINED, scenario

RUN_NS = 2 * NS_PER_S


def measured(of: Scenario) -> tuple[float, float, float]:
    """Returns (transactions under way on average, ended per second, their mean latency in s)."""
    sink = MemorySink()
    unit = SimulatedUnit(of, 0, sink)
    stats = unit.stats
    under_way = 0
    for now_ns in range(NS_PER_MS, RUN_NS, NS_PER_MS):
        unit.env.run_until(now_ns)
        under_way += stats.started.value - stats.total_committed()
    assert stats.total_aborted() == 0
    unit.recorder.close(unit.env.now_ns)
    rows = [row for row in sink.rows("moments") if row[1] == "txn_latency"]
    ended = sum(int(count) for *_, count, _, _ in rows)
    latency_ns = sum(int(sum_ns) for *_, sum_ns, _ in rows) / ended
    return under_way * NS_PER_MS / RUN_NS, ended * NS_PER_S / RUN_NS, latency_ns / NS_PER_S


def test_closed_loop() -> None:
    of = scenario("hot_row", tikv=PIPELINED, workload={"threads": 20})
    under_way, rate_per_s, latency_s = measured(of)
    # All 20 threads are always under way, but for the 50 ms in which they start.
    assert under_way == pytest.approx(20, rel=0.02)
    assert rate_per_s * latency_s == pytest.approx(under_way, rel=0.03)


@pytest.mark.parametrize("rate_per_s", [100.0, 400.0])
def test_open_loop(rate_per_s: float) -> None:
    of = scenario(
        "sysbench_write_only", tikv=PIPELINED, workload={"threads": None, "rate_per_s": rate_per_s}
    )
    under_way, ended_per_s, latency_s = measured(of)
    poisson_half = 3.29 * (rate_per_s * RUN_NS / NS_PER_S) ** 0.5 / (RUN_NS / NS_PER_S)
    assert abs(ended_per_s - rate_per_s) < poisson_half + under_way
    assert ended_per_s * latency_s == pytest.approx(under_way, rel=0.02)
