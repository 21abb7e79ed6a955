"""Goroutines wait as long as in one queue on average, and far less equally."""

from itertools import accumulate
from statistics import fmean, quantiles

import pytest

from sim.distributions import LognormalMean, Sampler
from sim.engine import FifoServers
from sim.hardware.go_cpu import GoCpu
from sim.streams import Streams
from tests.scenes import scenario

US = 1_000


def _node(threads: int) -> GoCpu:
    streams = Streams(1, 0)
    draw = Sampler(LognormalMean(1_000_000, 0.5), streams.stream("units"))
    return GoCpu(FifoServers(threads), draw, streams.stream("luck"))


@pytest.mark.parametrize(("cores", "left"), [(1, 1), (2, 2), (4, 3), (8, 6), (16, 12), (36, 27)])
def test_a_quarter_of_a_node_collects_garbage(cores: int, left: int) -> None:
    assert scenario(hardware={"tidb_cores": cores}).hardware.goroutine_threads == left


def test_work_on_an_idle_node_takes_its_own_time() -> None:
    node = _node(16)
    times_ns = [node.work_ns(ms * 1_000 * US, 50 * US) for ms in range(4_000)]
    assert fmean(times_ns) == pytest.approx(50 * US, rel=0.05)


def test_work_of_no_time_waits_for_nobody() -> None:
    node = _node(1)
    node.work_ns(0, 1_000 * US)
    assert node.work_ns(0, 0) == 0


def test_no_order_changes_the_mean_wait_and_at_random_it_spreads_wider() -> None:
    gaps, fair = Streams(2, 0).stream("arrivals"), FifoServers(4)
    units = Sampler(LognormalMean(1_000_000, 0.5), Streams(1, 0).stream("units"))
    node, work, unit = _node(4), [], list[float]()
    arrivals = list(accumulate(gaps.exponential(14 * US) for _ in range(60_000)))
    in_order = []
    for now_ns in arrivals:  # Nine tenths of four threads.
        work.append(node.work_ns(now_ns, 50 * US))
        unit = unit or units.unit_block()
        in_order.append(fair.reserve(now_ns, int(50 * US * unit.pop())) - now_ns)
    assert fmean(work) == pytest.approx(fmean(in_order), rel=0.03)
    assert quantiles(work, n=100)[98] > 1.3 * quantiles(in_order, n=100)[98]


def test_threads_are_never_busier_than_the_work_that_was_given() -> None:
    node = _node(2)
    for tick in range(1_000):
        node.work_ns(tick * 10 * US, 30 * US)  # Half again as much as they can do.
    end_ns = 1_000 * 10 * US
    assert node.busy_until(end_ns) == pytest.approx(2 * end_ns, rel=0.02)
