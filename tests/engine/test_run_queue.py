"""A woken thread waits as in front of one server."""

from math import exp
from statistics import fmean

import pytest

from sim.engine import RunQueues, queued_ns
from sim.streams import Streams

MS = 1_000_000


def _queues(count: int, run_ns: int) -> RunQueues:
    return RunQueues(count, run_ns, Streams(1, 0).stream("run-queues"))


def _waits(queues: RunQueues, running: int, count: int = 20_000) -> list[int]:
    for tick in range(1, 3_000):
        queues.look(tick * MS, running * tick * MS)
    return [queues.wait() for _ in range(count)]


def test_a_woken_thread_waits_for_nobody_on_an_idle_node() -> None:
    queues = _queues(4, 25_000)
    queues.look(5 * MS, 0)
    assert queues.wait() == 0


def test_nobody_waits_without_a_stream_of_waits() -> None:
    assert set(_waits(RunQueues(4, 25_000), 3)) == {0}


def test_waits_are_those_before_one_server() -> None:
    waits_ns = _waits(_queues(4, 30_000), running=3)
    assert fmean(waits_ns) == pytest.approx(queued_ns(30_000, 3, 4), rel=0.05)
    assert fmean(wait == 0 for wait in waits_ns) == pytest.approx(1 - 0.75, rel=0.05)
    longer = fmean(wait > 100_000 for wait in waits_ns)
    assert longer == pytest.approx(0.75 * exp(-(1 - 0.75) * 100_000 / 30_000), rel=0.05)


def test_a_load_is_looked_at_once_a_millisecond_and_remembered_for_fifty() -> None:
    def after(*looks: tuple[int, int]) -> list[int]:
        queues = _queues(1, 1_000_000)
        for now_ns, busy_ns in looks:
            queues.look(now_ns, busy_ns)
        return [queues.wait() for _ in range(200_000)]

    half = after((1 * MS, MS // 2))
    busy_share_after_one = 0.5 / 51
    assert fmean(wait > 0 for wait in half) == pytest.approx(busy_share_after_one, rel=0.05)
    assert after((1 * MS, MS // 2), (MS + 1, MS)) == half


def test_not_even_a_full_node_lets_wait_for_ever() -> None:
    assert queued_ns(10, 16, 16) == pytest.approx(160)
    assert fmean(_waits(_queues(16, 1_000), running=40)) == pytest.approx(16_000, rel=0.05)
