"""Formulas against what is known exactly: M/M/1, M/D/1, M/M/c, MVA."""

from __future__ import annotations

from math import exp

import pytest

from sim.queueing.formulas import (
    crowded_servers,
    erlang_b,
    erlang_c,
    finds_idle,
    gathering_server,
    in_queue,
    mean_wait,
)
from tests.estimate.exact_networks import mean_value_analysis


@pytest.mark.parametrize("used", [0.1, 0.5, 0.9])
def test_one_server_waits_as_pollaczek_and_khinchine_say(used: float) -> None:
    assert mean_wait(1, used, 1.0) == pytest.approx(used / (1 - used))
    assert mean_wait(1, used, 1.0, cv=0.0) == pytest.approx(used / (1 - used) / 2)
    assert in_queue(1, used) == pytest.approx(used * used / (1 - used))


def test_units_of_time_do_not_matter() -> None:
    assert mean_wait(3, 2.0e-6, 1.0e6) == pytest.approx(1.0e6 * mean_wait(3, 2.0, 1.0))


def test_erlang_formulas_agree_with_the_tables() -> None:
    assert erlang_b(1, 1.0) == pytest.approx(0.5)
    assert erlang_b(2, 1.0) == pytest.approx(0.2)
    assert erlang_b(10, 5.0) == pytest.approx(0.018385, rel=1e-4)
    assert erlang_b(0, 1.0) == 1.0
    assert erlang_c(2, 1.0) == pytest.approx(1 / 3)
    assert erlang_c(1, 0.7) == pytest.approx(0.7)
    assert erlang_c(2, 2.0) == 1.0


@pytest.mark.parametrize(("servers", "offered"), [(1, 0.3), (5, 3.5), (64, 50.0), (1_000, 2.0)])
def test_who_comes_alone_finds_all_taken_by_erlang_c_and_who_comes_in_a_crowd_finds_all_idle(
    servers: int, offered: float
) -> None:
    assert finds_idle(servers, offered) == pytest.approx(1 - erlang_c(servers, offered))
    idle = servers - offered
    assert finds_idle(servers, offered, 2.0 * servers) == pytest.approx(idle / (2 * servers))


def test_of_two_at_once_the_second_needs_another_idle_server() -> None:
    # M/M/2: both idle with 1/3, one with 1/3, if half of the servers' time is asked for.
    assert finds_idle(2, 1.0, 2.0) == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert finds_idle(2, 0.0, 4.0) == pytest.approx(0.5)
    assert finds_idle(2, 2.0, 2.0) == 0.0


@pytest.mark.parametrize("servers", [1, 3, 1_000])
def test_servers_that_do_not_slow_each_other_down_are_m_m_c(servers: int) -> None:
    work = 0.8 * servers
    busy, waiting = crowded_servers(work, [float(number) for number in range(servers + 1)])
    assert busy == pytest.approx(work)
    assert waiting == pytest.approx(in_queue(servers, work), abs=1e-9)


def test_servers_that_share_one_core_are_one_server() -> None:
    busy, waiting = crowded_servers(0.5, [0.0, 1.0, 1.0])
    # M/M/1 with 0.5: one in the system on average, of whom the second is "served" as well.
    assert busy + waiting == pytest.approx(1.0)
    assert busy == pytest.approx(0.5 + 0.25)
    assert crowded_servers(1.0, [0.0, 1.0, 1.0]) == (2.0, float("inf"))


def test_a_full_station_waits_for_ever() -> None:
    assert mean_wait(2, 2.0, 1.0) == float("inf")


def test_mean_value_analysis_of_small_networks_is_exact() -> None:
    # One customer never waits; two at one server share it.
    assert mean_value_analysis(1, [2.0, 3.0], 5.0)[0] == pytest.approx(0.1)
    throughput, present = mean_value_analysis(2, [1.0], 0.0)
    assert (throughput, *present) == pytest.approx((1.0, 2.0))
    # Machine repair, two machines: P0 = 1 / (1 + 2 a + 2 a^2), with a = service / time to failure.
    a = 0.5
    working = 1 - 1 / (1 + 2 * a + 2 * a * a)
    assert mean_value_analysis(2, [1.0], 1 / a)[0] == pytest.approx(working)


def test_mean_value_analysis_tends_to_its_bounds() -> None:
    throughput, waiting = mean_value_analysis(200, [0.01, 0.002], 0.1)
    assert throughput == pytest.approx(100, rel=1e-6)
    assert sum(waiting) + throughput * 0.1 == pytest.approx(200)


def test_a_server_that_takes_all_who_wait() -> None:
    arrivals, service = 3.0, 0.2
    busy, services = gathering_server(arrivals, service)
    chain = exp(arrivals * service)
    assert busy == pytest.approx(chain * service / (chain * service + 1 / arrivals))
    assert services == pytest.approx(busy / service)
    assert gathering_server(0.0, 1.0) == (0.0, 0.0)
    # Few arrivals: each is served alone. Many: it never stops, and still keeps up.
    assert gathering_server(0.01, 1.0)[1] == pytest.approx(0.01, rel=0.01)
    assert gathering_server(1000.0, 1.0)[0] == pytest.approx(1.0)
