"""The chain of pollers and log against queues whose solution is known."""

from __future__ import annotations

import pytest

from sim.estimate.formulas import in_queue
from sim.estimate.poller_chain import PollerFigures, PollerLoad, solve_pollers


def _solved(
    pollers: int,
    messages: float,
    *,
    burst: float = 1.0,
    durable: float = 0.0,
    write: float = 0.0,
    stages: int = 1,
) -> PollerFigures:
    return solve_pollers(PollerLoad(pollers, messages, burst, 1.0, durable, write, stages))


@pytest.mark.parametrize(("pollers", "messages"), [(1, 0.5), (2, 1.0), (3, 2.4), (5, 4.5)])
def test_without_a_log_pollers_are_an_m_m_c_queue(pollers: int, messages: float) -> None:
    found = _solved(pollers, messages)
    assert found.handling == pytest.approx(messages)
    assert found.waiting == pytest.approx(in_queue(pollers, messages))


@pytest.mark.parametrize("burst", [1.5, 3.0])
def test_bursts_make_the_queue_of_bulk_arrivals(burst: float) -> None:
    # M^X/M/1 with geometric bursts of mean b: L = used b / (1 - used).
    used = 0.5
    found = _solved(1, used, burst=burst)
    assert found.handling + found.waiting == pytest.approx(used * burst / (1 - used))


def test_a_lone_poller_that_writes_after_each_idle_period() -> None:
    # Little traffic: every message is a round of its own, with its own write.
    messages = 1e-4
    found = _solved(1, messages, durable=1.0, write=2.0, stages=3)
    assert found.rounds == pytest.approx(messages, rel=1e-3)
    assert found.writing == pytest.approx(messages * 2.0, rel=1e-3)
    assert found.in_write == pytest.approx(found.writing)


def test_the_cpu_of_messages_is_used_whatever_else_happens() -> None:
    for pollers, messages in ((2, 1.6), (3, 1.2), (4, 3.5)):
        found = _solved(pollers, messages, burst=1.7, durable=0.8, write=1.5, stages=3)
        assert found.handling == pytest.approx(messages)
        assert found.handling + found.in_write <= pollers


def test_a_message_is_always_served_by_a_gated_vacation() -> None:
    # One poller, one message a round at least: it works, writes, and takes what has come. With
    # exponential writes of mean 1 and durable rounds, rounds per unit of time solve a balance:
    # the poller is idle, works or writes.
    found = _solved(1, 0.5, durable=1.0, write=1.0)
    idle = 1 - found.handling - found.in_write
    assert 0 < idle < 1 - found.handling
    assert found.rounds * 1.0 == pytest.approx(found.in_write)  # Little's law on writes.


def test_pollers_share_writes() -> None:
    alone = _solved(1, 0.6, durable=1.0, write=1.0, stages=3)
    many = _solved(4, 0.6 * 4, durable=1.0, write=1.0, stages=3)
    writes = many.writing / 1.0
    assert writes < many.rounds  # Some rounds went together.
    assert alone.writing == pytest.approx(alone.rounds)  # A lone poller shares with nobody.


def test_a_good_beginning_changes_nothing() -> None:
    load = PollerLoad(3, 2.0, 1.5, 1.0, 0.7, 1.2, 3)
    once = solve_pollers(load)
    again = solve_pollers(load, solve_pollers(PollerLoad(3, 1.0, 1.2, 1.0, 0.7, 1.2, 3)))
    assert again.waiting == pytest.approx(once.waiting, rel=1e-4)
    other_shape = solve_pollers(load, solve_pollers(PollerLoad(2, 1.0, 1.2, 1.0, 0.7, 1.2, 3)))
    assert other_shape.in_write == pytest.approx(once.in_write, rel=1e-4)


def test_too_much_work_has_no_balance() -> None:
    with pytest.raises(AssertionError, match="more work"):
        _solved(2, 2.0)
