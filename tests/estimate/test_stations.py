"""Stations of the estimate against what is known exactly."""

from __future__ import annotations

import pytest

from sim.estimate.machines import JobKind, MachineKind
from sim.estimate.request_pools import _grpc_shares
from sim.estimate.station_load import StationLoad
from sim.queueing.formulas import erlang_c
from sim.units import NS_PER_S, NS_PER_US
from tests.scenes import scenario

US = NS_PER_US


@pytest.mark.parametrize("used", [0.1, 0.5, 0.9])
def test_a_thread_is_woken_as_often_as_it_is_idle(used: float) -> None:
    service_ns, hop_ns = 50 * US, 30 * US
    per_ns = used / service_ns
    pool = StationLoad(1, per_ns * NS_PER_S, used)
    pool.wake(hop_ns)
    # M/G/1 whose first customer of a busy period takes longer (Welch 1964).
    idle = (1 - used) / (1 + per_ns * hop_ns)
    assert pool.hop_ns == pytest.approx(idle * hop_ns, rel=0.02)
    assert pool.busy == pytest.approx(1 - idle, rel=0.02)


def test_of_several_threads_one_is_woken_unless_all_are_busy() -> None:
    pool = StationLoad(4, 60_000.0, 3.0)
    pool.wake(30 * US)
    assert pool.hop_ns == pytest.approx(30 * US * (1 - erlang_c(4, pool.busy)), rel=0.02)
    assert 3.0 < pool.busy < 4.0
    grouped = StationLoad(4, 60_000.0, 3.0, in_groups=30_000.0, together=3.0)
    grouped.wake(30 * US)
    assert grouped.hop_ns < pool.hop_ns
    full = StationLoad(4, 60_000.0, 4.2)
    full.wake(30 * US)
    assert full.busy == pytest.approx(4.2, rel=0.001)


def test_jobs_of_different_length_wait_as_pollaczek_and_khinchine_say() -> None:
    jobs = [JobKind(1.0, 400.0 * US), JobKind(3.0, 100.0 * US), JobKind(5.0, 0.0)]
    cpu = scenario(cpu={"cv": 0.5}).hardware.cpu
    one_thread = [1.0, 1.0]
    one = MachineKind(cpu, 1, one_thread, jobs)
    rate = 1_000.0  # 70 % busy
    squares = (400.0 * US) ** 2 + 3 * (100.0 * US) ** 2
    wait_ns = rate / NS_PER_S * 1.25 * squares / 2 / (1 - 0.7)
    assert one.used(rate) == one.utilisation(rate) == pytest.approx(0.7)
    assert one.times_ns(100.0 * US, rate) == pytest.approx((100.0 * US, wait_ns))
    assert one.times_ns(0.0, rate) == (0.0, 0.0)
    assert one.queue(rate) == pytest.approx(4 * rate * wait_ns / NS_PER_S)
    three = MachineKind(cpu, 3, one_thread, jobs)
    assert three.used(3 * rate) == pytest.approx(0.7)


def test_connections_are_not_spread_evenly_over_grpc_threads() -> None:
    def shares(nodes: int, threads: int) -> list[float]:
        return sorted(
            _grpc_shares(
                scenario(cluster={"tidb_nodes": nodes}, tikv={"grpc_concurrency": threads})
            )
        )

    assert shares(1, 5) == [0, 0.25, 0.25, 0.25, 0.25]
    assert shares(3, 5) == [2 / 12, 2 / 12, 2 / 12, 3 / 12, 3 / 12]
    assert shares(2, 1) == [1.0]
    assert sum(shares(7, 6)) == pytest.approx(1.0)
