"""What ports send on paper is what they send in the simulation; a message waits as in M/G/1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.study.load import load_study
from sim.estimate import estimate, footprint_of
from sim.estimate.ports import Traffic, tidb_traffic
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS, NS_PER_S
from tests.estimate.test_estimate import estimates_of
from tests.estimate.test_footprint import scenario_of, simulated

ROWS = """
hardware: {profile: i3.4xlarge}
workload:
  kind: custom
  threads: 300
  tables:
    blobs: {rows: 3000, row_bytes: 1MiB}
  transactions:
    look:
      statements:
        - {read: blobs}
compare: {only: {}}
"""


@pytest.mark.parametrize(
    ("name", "overrides", "seconds"),
    [
        ("sysbench_write_only", ("workload.threads=4",), 0.6),
        ("sysbench_update_non_index", ("workload.threads=4",), 0.5),
        ("crash", (), 2.0),  # in async commit, the primary names the other keys
        ("hot_region_full", ("workload.threads=4",), 2.0),
    ],
)
def test_ports_send_as_much_as_in_the_simulation(
    name: str, overrides: tuple[str, ...], seconds: float
) -> None:
    scenario = scenario_of(name, *overrides)
    seen, footprint = simulated(scenario, seconds), footprint_of(scenario)
    bandwidth = scenario.hardware.network.bandwidth_bytes_per_s
    per_ns = bandwidth / NS_PER_S
    begun = scenario.cluster.tidb_nodes * tidb_traffic(scenario, footprint).sent_bytes
    assert begun == pytest.approx(seen["busy_ns", "tidb_network"] * per_ns, rel=0.03)
    found = estimate(scenario, footprint)
    (port,) = [each for each in found.stations if each.name == "store_network"]
    per_s = port.utilisation * bandwidth * scenario.cluster.stores
    sent = per_s / (found.txn_per_s / footprint.committed)
    assert sent == pytest.approx(seen["busy_ns", "store_network"] * per_ns, rel=0.05)


def sending_ms(scenario: Scenario) -> dict[str, float]:
    """Returns by kind how long a request and its answer take through their nodes' ports."""
    per_ms = scenario.hardware.network.bandwidth_bytes_per_s / 1000
    return {
        kind: (each.request_bytes + each.reply_bytes) / each.count / per_ms
        for kind, each in footprint_of(scenario).requests.items()
    }


def test_requests_of_all_kinds_are_outside_the_store_for_as_long() -> None:
    sending = sending_ms(scenario_of("rfc77"))
    for found in estimates_of("rfc77").values():
        total, inside = found.request_latency_ms, found.request_service_ms
        ways = {kind: ms - inside[kind] - sending[kind] for kind, ms in total.items()}
        assert ways == pytest.approx(dict.fromkeys(total, ways["lock"]))
        assert min(inside.values()) > 0


@pytest.mark.parametrize(("threads", "within"), [(300, 0.05), (10, 0.15), (3, 0.1)])
def test_large_rows_are_read_as_fast_as_the_stores_ports_send_them(
    tmp_path: Path, threads: int, within: float
) -> None:
    file = tmp_path / "rows.yaml"
    file.write_text(ROWS)
    (scenario,) = load_study(file, [f"workload.threads={threads}"]).variants.values()
    run = replace(scenario.run, warmup_ns=0, measure_ns=300 * NS_PER_MS, checks=False)
    unit = SimulatedUnit(replace(scenario, run=run), 0, MemorySink())
    unit.run()
    found = estimate(scenario)
    assert found.bottleneck == "store_network"
    assert found.txn_per_s == pytest.approx(unit.stats.total_committed() / 0.3, rel=within)
    assert found.left_out  # of what is left out, ports are no part
    assert not any("port" in each for each in found.left_out)


def test_a_message_waits_as_pollaczek_and_khinchine_say() -> None:
    sent = Traffic(1e6)
    sent.add(1.0, 1_000)  # 1 ms
    sent.add(0.5, 0.5 * 10_000)  # 10 ms each
    port = sent.port(100.0)
    used = 100 * 1e-3 + 50 * 10e-3
    squares = 100 * 1e-3**2 + 50 * 10e-3**2
    assert port.busy == pytest.approx(used)
    assert port.wait_ns / NS_PER_MS == pytest.approx(squares / 2 / (1 - used) * 1e3)
    assert port.queue == pytest.approx(150 * port.wait_ns / NS_PER_S)


def test_a_port_that_sends_nothing_lets_nobody_wait() -> None:
    port = Traffic(1e6).port()
    assert (port.busy, port.wait_ns, port.service_ns) == (0, 0, 0)
