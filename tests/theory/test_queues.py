"""Where queueing theory has a formula, the model meets it inside a 99.9 % confidence interval.

Seeds are fixed, so these tests cannot fail by chance. Intervals must also be narrow: an interval
that holds everything proves nothing.

Source of the formulas: Gross et al., Fundamentals of Queueing Theory, 4th ed.: M/D/1 and M/G/1
(Pollaczek-Khinchine) in chapter 5, M/M/c (Erlang C) in chapter 2.
"""

from collections.abc import Sequence

import pytest

from analysis.statistics.intervals import mean_interval
from sim.distributions import Constant, Exponential, Sampler
from sim.engine import Cores, FifoServers, LeanEnv, ThreadPool, smt_slowness
from sim.hardware import Disk, DiskSpec, Network, NetworkSpec
from sim.queueing.catalogue import QUEUES
from sim.queueing.formulas import crowded_servers, mean_wait
from sim.streams import Streams
from sim.units import KIB, MIB, NS_PER_S, NS_PER_US

JOBS = 200_000
LOADS = [0.3, 0.7, 0.85]
CONFIDENCE = 0.999


def poisson_arrivals(rate_per_s: float, jobs: int = JOBS) -> list[int]:
    """Returns the instants of a Poisson process in ns."""
    gaps = Streams(1, 0).stream("arrivals")
    arrivals, now = [], 0
    for _ in range(jobs):
        now += gaps.exponential(NS_PER_S / rate_per_s)
        arrivals.append(now)
    return arrivals


def assert_mean(series: Sequence[int], expected: float, *, within: float = 0.1) -> None:
    _, low, high = mean_interval(series, CONFIDENCE)
    assert low <= expected <= high, f"{expected:.0f} ns lies outside {low:.0f} to {high:.0f} ns"
    assert high - low <= 2 * within * expected, f"{low:.0f} to {high:.0f} ns is too wide"


def wait_m_d_1(load: float, service_ns: float) -> float:
    return mean_wait(1, load / service_ns, service_ns, cv=0.0)


def wait_m_m_c(servers: int, load: float, service_ns: float) -> float:
    return mean_wait(servers, servers * load / service_ns, service_ns)


@pytest.mark.parametrize("load", LOADS)
def test_a_disk_at_its_iops_is_m_d_1(load: float) -> None:
    append_ns = 89 * NS_PER_US
    spec = DiskSpec("nvme", 1000 * MIB, 20_000, Constant(append_ns))
    disk = Disk(spec, Streams(1, 0).stream("disk"))
    arrivals = poisson_arrivals(load * spec.write_iops)
    waits = [disk.sync_write(t, 4 * KIB) - t - append_ns for t in arrivals]
    assert_mean(waits, wait_m_d_1(load, NS_PER_S / spec.write_iops), within=0.15)
    assert disk.busy_until(arrivals[-1]) / arrivals[-1] == pytest.approx(load, rel=0.01)


@pytest.mark.parametrize("throttled", [False, True])
def test_a_disk_at_its_bandwidth_is_m_d_1(throttled: bool) -> None:
    spec = DiskSpec("ebs", 128 * MIB, 10**6, Constant(0), throttled=throttled, burst_ns=0)
    disk = Disk(spec, Streams(1, 0).stream("disk"))
    service_ns = NS_PER_S // 1024
    served_ns = 0 if throttled else service_ns
    arrivals = poisson_arrivals(0.7 * 1024)
    waits = [disk.sync_write(t, 128 * KIB) - t - served_ns for t in arrivals]
    assert_mean(waits, wait_m_d_1(0.7, service_ns))


def test_a_rare_write_beside_a_backlog_waits_for_half_an_io() -> None:
    spec = DiskSpec("nvme", 1000 * MIB, 100_000, Constant(0))
    disk = Disk(spec, Streams(1, 0).stream("disk"))
    io_ns = 256 * KIB * NS_PER_S // spec.write_bytes_per_s
    waits = []
    for now in poisson_arrivals(10, 20_000):
        disk.background_write(
            now, max(0, 512 * MIB - disk.backlog_ns(now) * 1000 * MIB // NS_PER_S)
        )
        waits.append(disk.sync_write(now + 7 * NS_PER_US, 4 * KIB) - now - 17 * NS_PER_US)
    assert_mean(waits, io_ns / 2)


@pytest.mark.parametrize(("threads", "load"), [(1, 0.7), (4, 0.5), (4, 0.8)])
def test_a_thread_pool_is_m_m_c(threads: int, load: float) -> None:
    env, service_ns = LeanEnv(), 40 * NS_PER_US
    pool = ThreadPool(env, Cores(threads), threads)
    services = Sampler(Exponential(service_ns), Streams(1, 0).stream("services"))
    waits: list[int] = []

    def arrive(now: int) -> None:
        service = services.draw()
        pool.submit(service, lambda began: waits.append(env.now_ns - began - service), now)

    arrivals = poisson_arrivals(load * threads * NS_PER_S / service_ns)
    for arrival in arrivals:
        env.at(arrival, arrive, arrival)
    env.run_until(arrivals[-1] + NS_PER_S)
    assert_mean(waits, wait_m_m_c(threads, load, service_ns), within=0.15)
    busy_ns = pool.busy_until(env.now_ns)
    assert busy_ns / arrivals[-1] == pytest.approx(load * threads, rel=0.02)


def test_servers_by_reservation_are_m_m_c() -> None:
    service_ns = 40 * NS_PER_US
    servers = FifoServers(8)
    services = Sampler(Exponential(service_ns), Streams(1, 0).stream("services"))
    waits = []
    for arrival in poisson_arrivals(0.7 * 8 * NS_PER_S / service_ns):
        service = services.draw()
        waits.append(servers.reserve(arrival, service) - arrival - service)
    assert_mean(waits, wait_m_m_c(8, 0.7, service_ns), within=0.15)


@pytest.mark.parametrize("load", LOADS)
def test_hardware_threads_by_reservation_slow_each_other_down(load: float) -> None:
    service_ns = 400 * NS_PER_US
    slowness = smt_slowness(16, threads_per_core=2, smt_gain=0.3)
    capacity = [running / slow for running, slow in enumerate(slowness)]
    threads = FifoServers(16, slowness)
    services = Sampler(Exponential(service_ns), Streams(1, 0).stream("services"))
    arrivals = poisson_arrivals(load * capacity[-1] * NS_PER_S / service_ns)
    for arrival in arrivals:
        threads.reserve(arrival, services.draw())
    busy, _ = crowded_servers(load * capacity[-1], capacity)
    # The formula lets a job's speed change while it runs; here it is fixed at the start.
    assert threads.busy_ns / arrivals[-1] == pytest.approx(busy, rel=0.02)


@pytest.mark.parametrize("load", LOADS)
def test_a_link_is_m_d_1(load: float) -> None:
    spec = NetworkSpec(Constant(150 * NS_PER_US), None, 100 * MIB)
    link = Network(spec, Streams(1, 0), {"a": "z", "b": "z"}).link("a", "b")
    service_ns = KIB * NS_PER_S // spec.bandwidth_bytes_per_s
    fixed_ns = service_ns + 75 * NS_PER_US
    arrivals = poisson_arrivals(load * NS_PER_S / service_ns)
    waits = [link.send(t, KIB) - t - fixed_ns for t in arrivals]
    assert_mean(waits, wait_m_d_1(load, service_ns), within=0.15)


@pytest.mark.parametrize("name", QUEUES)
def test_a_queue_of_the_catalogue_meets_its_formula(name: str) -> None:
    queue = QUEUES[name]
    _, low, high = mean_interval(queue.run(), CONFIDENCE)
    ends = sorted((queue.to_unit(low), queue.to_unit(high)))
    assert ends[0] <= queue.expected <= ends[1]
    assert ends[1] - ends[0] <= 0.3 * queue.expected
