"""Stations answer as a dumb queue would."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from sim.engine import FifoServers, smt_slowness

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
    many = FifoServers(servers)
    expected = finishes_by_hand(arrivals, services, servers)
    assert [many.reserve(*job) for job in zip(arrivals, services, strict=True)] == expected
    assert many.busy_ns == sum(services)


def test_a_job_is_slowed_down_by_those_that_run_when_it_starts() -> None:
    # Two cores of two hardware threads: 1, 2, 2.5, 3 cores' worth of work a second.
    servers = FifoServers(4, smt_slowness(4, threads_per_core=2, smt_gain=0.5))
    finishes = [servers.reserve(0, 300) for _ in range(5)]
    assert finishes == [300, 300, 360, 400, 660]  # The fifth starts beside two others.
    assert servers.busy_ns == 300 + 300 + 360 + 400 + 360
    assert servers.reserve(10_000, 300) == 10_300
