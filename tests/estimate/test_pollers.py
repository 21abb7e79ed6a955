"""The fixed point of pollers and log against queues whose solution is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.estimate.pollers import PollerLoad, solve_pollers
from sim.estimate.station_load import MOST_USED
from sim.queueing.formulas import gathering_server

LOAD = PollerLoad(pollers=3, messages=1.5, message=1.0, logging=0.6, write=1.2)


@pytest.mark.parametrize(("pollers", "messages"), [(1, 0.5), (2, 1.0), (3, 2.4), (5, 4.5)])
def test_without_a_log_pollers_do_the_work_that_comes(pollers: int, messages: float) -> None:
    found = solve_pollers(
        PollerLoad(pollers=pollers, messages=messages, message=1.0, logging=0.0, write=1.0)
    )
    assert found.busy == pytest.approx(messages, rel=0.01)
    assert found.rounds * found.batch == pytest.approx(messages)
    assert found.fsyncs == pytest.approx(0.0, abs=1e-12)


def test_little_traffic_has_a_round_and_a_write_for_each_message() -> None:
    found = solve_pollers(replace(LOAD, pollers=1, messages=1e-4, logging=1.0, write=2.0))
    assert found.batch == pytest.approx(1.0, rel=1e-2)
    assert found.fsyncs == pytest.approx(1e-4, rel=1e-2)
    assert found.round == pytest.approx(1.0 + 2.0, rel=1e-2)
    assert found.wait < 0.01


def test_a_lone_poller_that_never_rests_takes_all_that_has_come() -> None:
    # Gated service: a round takes what came during the one before, b = messages (b x message + W).
    messages, write = 0.5, 50.0
    found = solve_pollers(replace(LOAD, pollers=1, messages=messages, logging=1.0, write=write))
    assert found.batch == pytest.approx(messages * write / (1 - messages), rel=0.01)
    assert found.fsyncs == pytest.approx(found.rounds)


def test_the_log_never_does_more_than_one_write_at_a_time() -> None:
    for pollers in (1, 2, 3, 8):
        found = solve_pollers(replace(LOAD, pollers=pollers, messages=0.9 * pollers, write=9.0))
        assert found.fsyncs * 9.0 <= 1.01
        assert found.busy <= pollers


def test_two_pollers_never_share_a_write_and_more_do() -> None:
    # Who waits while another one writes is alone with it.
    two = solve_pollers(replace(LOAD, pollers=2, messages=1.6, logging=1.0, write=3.0))
    assert two.fsyncs == pytest.approx(two.rounds)
    many = solve_pollers(replace(LOAD, pollers=8, messages=6.0, logging=1.0, write=3.0))
    assert many.fsyncs < 0.8 * many.rounds


def test_write_workers_are_a_server_that_takes_all_who_wait() -> None:
    found = solve_pollers(replace(LOAD, workers=True, logging=1.0, pause=0.1))
    assert found.round == pytest.approx(found.batch * 1.0)
    assert found.fsyncs == pytest.approx(gathering_server(found.rounds, 1.2, 0.1)[1])


def test_messages_that_come_in_bursts_share_rounds() -> None:
    single = solve_pollers(LOAD)
    bursts = solve_pollers(replace(LOAD, together=4.0))
    assert bursts.batch > single.batch
    assert bursts.fsyncs < 0.8 * single.fsyncs


def test_mail_for_peers_in_a_round_waits_for_its_poller() -> None:
    free, met = solve_pollers(LOAD), solve_pollers(replace(LOAD, met=0.5))
    assert met.woken < 0.7 * free.woken
    assert met.round / 2 < met.left < met.round
    spread = solve_pollers(replace(LOAD, met=0.5, write_scv=4.0))
    assert spread.left / spread.round > 1.1 * met.left / met.round


def test_more_work_than_pollers_is_cut() -> None:
    at_most = solve_pollers(replace(LOAD, messages=3 * MOST_USED))
    assert solve_pollers(replace(LOAD, messages=30.0)) == at_most
