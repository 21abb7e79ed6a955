"""Stations answer as a dumb queue would."""

from itertools import accumulate, pairwise

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


@given(jobs, st.integers(1, 4), st.lists(st.integers(1, 200), max_size=20))
def test_servers_are_busy_with_jobs_that_have_come_and_never_for_longer_than_time(
    gaps: list[tuple[int, int]], servers: int, later_ns: list[int]
) -> None:
    many = FifoServers(servers)
    arrivals = list(accumulate(gap for gap, _ in gaps))
    for arrival, (_, service) in zip(arrivals, gaps, strict=True):
        done_ns = many.reserve(arrival, service)
        assert 0 <= many.busy_until(arrival) <= servers * arrival
        assert many.busy_until(done_ns) >= service
    times = list(accumulate([max(arrivals, default=0), *later_ns]))
    busy = [many.busy_until(time) for time in times]
    for (before, after), step_ns in zip(pairwise(busy), later_ns, strict=True):
        assert before <= after <= before + servers * step_ns


def test_a_job_is_slowed_down_by_those_that_run_when_it_starts() -> None:
    # Two cores of two hardware threads: one that meets another does 3/4 of the work, and meets it
    # with probability 0, 1/3, 2/3, 1 when one to four run: 12/12, 11/12, 10/12, 9/12.
    servers = FifoServers(4, smt_slowness(4, threads_per_core=2, smt_gain=0.5))
    finishes = [servers.reserve(0, 300) for _ in range(5)]
    assert finishes == [300, 327, 360, 400, 700]  # The fifth starts beside three others.
    assert servers.busy_ns == 300 + 327 + 360 + 400 + 400
    assert servers.reserve(10_000, 300) == 10_300
