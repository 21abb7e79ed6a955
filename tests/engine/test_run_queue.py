"""A woken thread waits as in front of one server."""

import pytest

from sim.engine import RunQueues, queued_ns

MS = 1_000_000


def test_a_woken_thread_waits_for_nobody_on_an_idle_node() -> None:
    queues = RunQueues(4, 25_000)
    assert queues.wait(5 * MS, 0) == 0


def test_waits_grow_as_those_before_one_server() -> None:
    queues = RunQueues(4, 30_000)
    for tick in range(1, 3_000):  # Three of four threads run all the time.
        queues.wait(tick * MS, 3 * tick * MS)
    assert queues.wait_ns == pytest.approx(30_000 * 0.75 / 0.25, rel=1e-3)


def test_a_load_is_remembered_for_fifty_milliseconds() -> None:
    queues = RunQueues(1, 100)
    queues.wait(1 * MS, MS // 2)
    first_ns = queues.wait_ns
    busy_share_after_one = 0.5 / 51
    assert first_ns == int(100 * busy_share_after_one / (1 - busy_share_after_one))
    assert queues.wait(MS + 1, MS) == first_ns, "the load is looked at once a millisecond"


def test_not_even_a_full_node_lets_wait_for_ever() -> None:
    assert queued_ns(10, 16, 16) == pytest.approx(160)
    queues = RunQueues(16, 10)
    for tick in range(1, 3_000):
        queues.wait(tick * MS, 40 * tick * MS)
    assert queues.wait_ns == pytest.approx(160, abs=1)
