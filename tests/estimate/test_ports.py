"""What ports send on paper is what they send in the simulation; a message waits as in M/G/1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.study.load import load_study
from sim.estimate import estimate, footprint_of
from sim.estimate.ports import PortLoad, tidb_port
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS, NS_PER_S
from tests.scenes import FOLDER

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


def first_of(file: Path, *overrides: str) -> Scenario:
    return next(iter(load_study(file, list(overrides)).variants.values()))


def seconds_of(scenario: Scenario, seconds: float) -> SimulatedUnit:
    run = replace(
        scenario.run, warmup_ns=0, measure_ns=int(seconds * NS_PER_S), checks=False
    )  # fmt: skip
    unit = SimulatedUnit(replace(scenario, run=run), 0, MemorySink())
    unit.run()
    return unit


def sent_bytes(unit: SimulatedUnit, station: str) -> float:
    """Returns the bytes that ports have sent, per transaction begun."""
    unit.meter.read(unit.env.now_ns)
    busy_ns = {each.class_: each.value for each in unit.recorder.counters()
               if each.metric == "busy_ns"}[station]  # fmt: skip
    bandwidth = unit.scenario.hardware.network.bandwidth_bytes_per_s
    return busy_ns / NS_PER_S * bandwidth / unit.stats.started.value


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
    scenario = first_of(FOLDER / f"{name}.yaml", *overrides)
    unit = seconds_of(scenario, seconds)
    footprint = footprint_of(scenario)
    begun = tidb_port(scenario, footprint).times(scenario.cluster.tidb_nodes).sent_bytes
    assert begun == pytest.approx(sent_bytes(unit, "tidb_network"), rel=0.03)
    found = estimate(scenario, footprint)
    (port,) = [each for each in found.stations if each.name == "store_network"]
    bandwidth = scenario.hardware.network.bandwidth_bytes_per_s * scenario.cluster.stores
    sent = port.utilisation * bandwidth / (found.txn_per_s / footprint.committed)
    assert sent == pytest.approx(sent_bytes(unit, "store_network"), rel=0.05)


@pytest.mark.parametrize(("threads", "within"), [(300, 0.05), (10, 0.15), (3, 0.1)])
def test_large_rows_are_read_as_fast_as_the_stores_ports_send_them(
    tmp_path: Path, threads: int, within: float
) -> None:
    file = tmp_path / "rows.yaml"
    file.write_text(ROWS)
    scenario = first_of(file, f"workload.threads={threads}")
    found, unit = estimate(scenario), seconds_of(scenario, 0.3)
    assert found.bottleneck == "store_network"
    assert found.txn_per_s == pytest.approx(unit.stats.total_committed() / 0.3, rel=within)
    assert found.left_out  # of what is left out, ports are no part
    assert not any("port" in each for each in found.left_out)


def test_a_message_waits_as_pollaczek_and_khinchine_say() -> None:
    port = PortLoad(1e6)
    port.add(100.0, 100.0 * 1_000)  # 1 ms each
    port.add(50.0, 50.0 * 10_000)  # 10 ms each
    used = 100 * 1e-3 + 50 * 10e-3
    squares = 100 * 1e-3**2 + 50 * 10e-3**2
    assert port.busy == pytest.approx(used)
    assert port.wait_ns / NS_PER_MS == pytest.approx(squares / 2 / (1 - used) * 1e3)
    assert port.queue == pytest.approx(150 * port.wait_ns / NS_PER_S)


def test_a_port_that_sends_nothing_lets_nobody_wait() -> None:
    assert (PortLoad(1e6).busy, PortLoad(1e6).wait_ns, PortLoad(1e6).service_ns) == (0, 0, 0)
