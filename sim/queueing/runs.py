"""Runs of the queues: stations of the engine and the hardware, nothing else.

Every function takes the name of its random streams, and returns integers, one a customer in order
of arrival: times in ns, unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Final

import numpy as np

from sim.distributions import Constant, Distribution, Empirical, Exponential, Sampler, mean_ns
from sim.engine import Cores, FifoServers, LeanEnv, ThreadPool
from sim.hardware import Disk, DiskSpec, Network, NetworkSpec
from sim.protocol.raft.quorum import committed_index
from sim.streams import Streams
from sim.units import KIB, NS_PER_S

JOBS: Final = 400_000
SEED: Final = 1
_PLENTY: Final = 10**9


def moments(distribution: Empirical) -> tuple[float, float]:
    """Returns mean in ns and coefficient of variation of lines between quantiles 0 to 1."""
    shares, ns = np.array(distribution.quantiles, dtype=np.float64).T
    weights, low, high = np.diff(shares), ns[:-1], ns[1:]
    mean = float(np.sum(weights * (low + high) / 2))
    square = float(np.sum(weights * (low**2 + low * high + high**2) / 3))
    return mean, sqrt(square / mean**2 - 1)


@dataclass(frozen=True, slots=True)
class _Jobs:
    """Arrivals and services of a queue."""

    arrivals: list[int]
    services: list[int]

    @classmethod
    def draw(cls, name: str, servers: int, load: float, service: Distribution) -> _Jobs:
        """Returns Poisson arrivals at ``load`` per server."""
        streams = _streams(name)
        gaps, sampler = streams.stream("arrivals"), Sampler(service, streams.stream("services"))
        between_ns = mean_ns(service) / (load * servers)
        arrivals, now = [], 0
        for _ in range(JOBS):
            now += gaps.exponential(between_ns)
            arrivals.append(now)
        return cls(arrivals, [sampler.draw() for _ in arrivals])


def _streams(name: str) -> Streams:
    return Streams(SEED, sum(name.encode()))


def thread_pool_waits(name: str, threads: int, load: float, service: Distribution) -> list[int]:
    """Returns how long each job waited for a thread."""
    jobs = _Jobs.draw(name, threads, load, service)
    ends = _through_a_pool(jobs, threads)
    times = zip(ends, jobs.arrivals, jobs.services, strict=True)
    return [end - arrival - service for end, arrival, service in times]


def littles_law(name: str, threads: int, load: float, service: Distribution) -> list[int]:
    """Returns customers in the system over rate times stay, in 1e-9, a slice of time each.

    The number in the system is counted at the slice's ends and in between by arrivals and ends;
    rate and stay are those of the customers that left in it.
    """
    jobs = _Jobs.draw(name, threads, load, service)
    arrivals, ends = np.array(jobs.arrivals), np.array(_through_a_pool(jobs, threads))
    edges = np.linspace(0, arrivals[-1], 62).astype(np.int64)
    ratios = []
    for begin, end in pairwise(edges.tolist()):
        inside = np.clip(ends, begin, end) - np.clip(arrivals, begin, end)
        left = (ends > begin) & (ends <= end)
        ratios.append(int(1e9 * inside.sum() / (ends - arrivals)[left].sum()))
    return ratios


def _through_a_pool(jobs: _Jobs, threads: int) -> list[int]:
    env = LeanEnv()
    pool = ThreadPool(env, Cores(threads), threads)
    ends = [0] * len(jobs.arrivals)

    def done(job: int) -> None:
        ends[job] = env.now_ns

    def arrive(job: int) -> None:
        pool.submit(jobs.services[job], done, job)

    for job, arrival in enumerate(jobs.arrivals):
        env.at(arrival, arrive, job)
    env.run_until(jobs.arrivals[-1] + NS_PER_S)
    return ends


def reserved_waits(name: str, servers: int, load: float, service: Distribution) -> list[int]:
    """Returns how long each job waited for one of servers that are reserved."""
    jobs, cores = _Jobs.draw(name, servers, load, service), FifoServers(servers)
    return [
        cores.reserve(arrival, service_ns) - arrival - service_ns
        for arrival, service_ns in zip(jobs.arrivals, jobs.services, strict=True)
    ]


def disk_waits(name: str, load: float, io_ns: int) -> list[int]:
    """Returns how long writes wait for a disk whose I/Os take ``io_ns`` of its budget."""
    jobs, append_ns = _Jobs.draw(name, 1, load, Constant(io_ns)), 2 * io_ns
    spec = DiskSpec(name, _PLENTY, NS_PER_S // io_ns, Constant(append_ns))
    disk = Disk(spec, _streams(name).stream("disk"))
    return [disk.sync_write(now, 4 * KIB) - now - append_ns for now in jobs.arrivals]


def link_waits(name: str, load: float, transfer_ns: int) -> list[int]:
    """Returns how long messages wait for a port that takes ``transfer_ns`` for each."""
    way_ns = 75_000
    size_bytes = 4 * KIB
    bandwidth = size_bytes * NS_PER_S // transfer_ns
    network = Network(
        NetworkSpec(Constant(2 * way_ns), None, bandwidth), _streams(name), {"a": "z", "b": "z"}
    )
    link = network.link("a", "b")
    jobs = _Jobs.draw(name, 1, load, Constant(transfer_ns))
    return [link.send(now, size_bytes) - now - way_ns - transfer_ns for now in jobs.arrivals]


def quorum_times(name: str, append: Distribution) -> list[int]:
    """Returns when two of three disks have made an entry durable that came to all at once."""
    streams = _streams(name)
    spec = DiskSpec(name, 10**12, 10**9, append)
    disks = [Disk(spec, streams.stream(f"disk-{disk}")) for disk in range(3)]
    times = []
    for entry in range(JOBS):
        now = entry * NS_PER_S
        # A majority has the entry once the second has: the middle one of three times.
        times.append(committed_index([disk.sync_write(now, 4 * KIB) - now for disk in disks]))
    return times


def append_times(name: str, append: Distribution) -> list[int]:
    """Returns what appends take, one after the other on an idle disk."""
    disk = Disk(DiskSpec(name, 10**12, 10**9, append), _streams(name).stream("disk"))
    return [disk.sync_write(now, 4 * KIB) - now for now in range(0, JOBS * NS_PER_S, NS_PER_S)]


def closed_network_gaps(
    name: str, demands_ns: Sequence[int], think_ns: int, customers: int
) -> list[int]:
    """Returns the gaps between the ends of rounds through pools of one thread and a pause."""
    env, streams = LeanEnv(), _streams(name)
    pools = [ThreadPool(env, Cores(1), 1) for place in range(len(demands_ns))]
    services = [
        Sampler(Exponential(demand), streams.stream(f"services-{place}"))
        for place, demand in enumerate(demands_ns)
    ]
    pauses = Sampler(Exponential(think_ns), streams.stream("pauses"))
    ends: list[int] = []

    def visit(place: int) -> None:
        if place == len(pools):
            ends.append(env.now_ns)
            env.at(env.now_ns + pauses.draw(), visit, 0)
        else:
            pools[place].submit(services[place].draw(), visit, place + 1)

    for _ in range(customers):
        env.at(pauses.draw(), visit, 0)
    while len(ends) < JOBS:
        env.run_until(env.now_ns + NS_PER_S)
    return [later - earlier for earlier, later in pairwise(ends[: JOBS + 1])]
