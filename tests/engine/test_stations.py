"""Stations answer as a dumb queue would."""

from heapq import heappop, heappush
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.distributions import Constant, Exponential, Sampler
from sim.engine import (
    FifoServer,
    FifoServers,
    LeanEnv,
    SampledServer,
    SampledServers,
    smt_slowness,
)
from sim.streams import Streams

jobs = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), max_size=60)


def finishes_by_hand(arrivals: list[int], services: list[int], servers: int) -> list[int]:
    free = [0] * servers
    finishes = []
    for arrival, service in zip(arrivals, services, strict=True):
        first = min(range(servers), key=free.__getitem__)
        free[first] = max(free[first], arrival) + service
        finishes.append(free[first])
    return finishes


@given(jobs, st.integers(1, 4))
def test_servers_are_first_come_first_served(gaps: list[tuple[int, int]], servers: int) -> None:
    arrivals = list(accumulate(gap for gap, _ in gaps))
    services = [service for _, service in gaps]
    many, one = FifoServers(servers), FifoServer()
    expected = finishes_by_hand(arrivals, services, servers)
    assert [many.reserve(*job) for job in zip(arrivals, services, strict=True)] == expected
    assert many.busy_ns == sum(services)
    expected = finishes_by_hand(arrivals, services, 1)
    assert [one.reserve(*job) for job in zip(arrivals, services, strict=True)] == expected
    assert one.busy_ns == sum(services)


def test_a_job_is_slowed_down_by_those_that_run_when_it_starts() -> None:
    # Two cores of two hardware threads: 1, 2, 2.5, 3 cores' worth of work a second.
    servers = FifoServers(4, smt_slowness(4, threads_per_core=2, smt_gain=0.5))
    finishes = [servers.reserve(0, 300) for _ in range(5)]
    assert finishes == [300, 300, 360, 400, 660]  # The fifth starts beside two others.
    assert servers.busy_ns == 300 + 300 + 360 + 400 + 360
    assert servers.reserve(10_000, 300) == 10_300


def exponential(mean: int) -> Sampler:
    return Sampler(Exponential(mean), Streams(1, 0).stream("service"))


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 90)), max_size=30))
def test_a_sampled_server_is_a_fifo_server_with_draws(bunches: list[tuple[int, int]]) -> None:
    one_by_one = SampledServer(LeanEnv(), exponential(100), then_ns=7)
    together = SampledServer(LeanEnv(), exponential(100), then_ns=7)
    now = 0
    for gap, count in bunches:
        now += gap
        finishes = [one_by_one.reserve(now) for _ in range(count)]
        assert together.reserve_many(now, count) == finishes
        assert together.free_ns == one_by_one.free_ns or not count
        assert together.busy_ns == one_by_one.busy_ns


def test_submit_calls_at_the_finish() -> None:
    env, log = LeanEnv(), list[tuple[int, str]]()
    server = SampledServer(env, Sampler(Constant(10), Streams(1, 0).stream("x")), then_ns=100)
    for name in "ab":
        server.submit(lambda job: log.append((env.now_ns, job)), name)
    env.run_until(1000)
    assert log == [(110, "a"), (120, "b")]


@pytest.mark.parametrize("servers", [1, 3])
def test_sampled_servers_finish_as_reserved_ones(servers: int) -> None:
    env, seen = LeanEnv(), list[tuple[int, int]]()
    pool = SampledServers(
        env, exponential(100), servers, lambda job: seen.append((env.now_ns, job))
    )
    for job in range(200):
        env.at(job * 30, pool.enter, job)
    env.run_until(10**6)
    twin, sampler = FifoServers(servers), exponential(100)
    expected: list[tuple[int, int, int]] = []
    for job in range(200):
        heappush(expected, (twin.reserve(job * 30, sampler.draw()), job, job))
    assert sorted(seen) == [heappop(expected)[:2] for _ in range(200)]
