"""Queueing formulas: numbers in, numbers out. Times in any one unit, rates in its inverse.

Source: Kleinrock, Queueing Systems 1 (M/M/c, M/G/1); Allen, Probability, Statistics and Queueing
Theory (the correction for variability); Gross et al., Fundamentals of Queueing Theory, 4th ed.;
Reiser, Lavenberg 1980 (mean value analysis of closed networks); David, Nagaraja, Order Statistics,
3rd ed., section 4.6 (exponential parents).
"""

from collections.abc import Sequence
from math import exp
from typing import Final

_LARGE: Final = 1e200
"""Sums of chances are scaled down beyond it: a double ends at 1e308."""


def erlang_b(servers: int, offered: float) -> float:
    """Returns the share of requests that find all servers taken and go away (M/G/c/c).

    Args:
        servers: places; 0 refuses everything.
        offered: arrivals x mean stay, in servers.
    """
    if offered <= 0:
        return 0.0
    lost = 1.0
    for taken in range(1, servers + 1):
        lost = offered * lost / (taken + offered * lost)
        if not lost:  # Less than a double can hold, and more places make it less.
            break
    return lost


def erlang_c(servers: int, offered: float) -> float:
    """Returns the probability that a job has to wait (M/M/c); 1 at and above saturation."""
    if offered >= servers:
        return 1.0
    lost = erlang_b(servers, offered)
    return lost / (1 - offered / servers * (1 - lost))


def finds_idle(servers: int, offered: float, together: float = 1.0) -> float:
    """Returns the share of jobs that find a server idle, if so many come at once (M/M/c).

    Args:
        servers: how many, with one queue.
        offered: arrivals x mean service, in servers.
        together: jobs of one arrival, 1 or more; each of them takes an idle server.
    """
    waits = erlang_c(servers, offered)
    if waits >= 1:
        return 0.0
    if not waits:  # Less than a double can hold: as many as ever are idle.
        return min(1.0, (servers - offered) / together)
    chance = waits * (1 - offered / servers)
    total, met = waits, 0.0
    for idle in range(1, servers + 1):
        chance *= (servers - idle + 1) / offered
        total += chance
        met += chance * min(idle, together)
    return met / total / together


def mean_wait(servers: int, arrivals: float, service: float, cv: float = 1.0) -> float:
    """Returns the mean time a job waits for one of ``servers`` (Allen-Cunneen; exact for M/G/1).

    Args:
        servers: how many, with one queue.
        arrivals: Poisson, per unit of time.
        service: mean time of one job.
        cv: deviation of the service over its mean.

    Returns:
        Infinity at and above saturation.
    """
    offered = arrivals * service
    if offered >= servers:
        return float("inf")
    return erlang_c(servers, offered) * service / (servers - offered) * (1 + cv * cv) / 2


def crowded_servers(work: float, capacity: Sequence[float]) -> tuple[float, float]:
    """Returns the mean numbers of (busy servers, waiting jobs) where servers slow each other down.

    M/M/c with rates by the number of busy servers (a birth and death process; Gross et al.).

    Args:
        work: that arrives in a unit of time, in units of a server that is busy alone.
        capacity: work done in a unit of time while 0, 1, 2, ... all servers are busy.

    Returns:
        All servers and infinity at and above saturation.
    """
    most = len(capacity) - 1
    used = work / capacity[most]
    if used >= 1:
        return float(most), float("inf")
    chance = seen = 1.0
    busy = 0.0
    for servers in range(1, most + 1):
        chance *= work / capacity[servers]
        seen += chance
        busy += servers * chance
        if seen > _LARGE:
            chance, seen, busy = chance / seen, 1.0, busy / seen
    queued = chance * used / (1 - used)
    return (busy + most * queued) / (seen + queued), queued / (1 - used) / (seen + queued)


def in_queue(servers: int, offered: float, cv: float = 1.0) -> float:
    """Returns the mean number of jobs that wait (Little's law on ``mean_wait``)."""
    return offered * mean_wait(servers, offered, 1.0, cv)


def gathering_server(arrivals: float, service: float, pause: float = 0.0) -> tuple[float, float]:
    """Returns (share of time in service, services per unit of time) of a server that takes all.

    Who comes while it serves makes the next group, so the server ends when nobody has come: a busy
    period has exp(arrivals x time) services on average (M/D/1 with unlimited bulk service).

    Args:
        arrivals: Poisson.
        service: of a group, whatever its size.
        pause: before each service, in which more may come.
    """
    if arrivals <= 0:
        return 0.0, 0.0
    services = exp(min(50.0, arrivals * (service + pause)))
    cycle = services * (service + pause) + 1 / arrivals
    return services * service / cycle, services / cycle


def order_statistic_mean(parts: int, needed: int, mean: float) -> float:
    """Returns the mean time until ``needed`` of ``parts`` exponential times have passed."""
    return mean * sum(1 / (parts - passed) for passed in range(needed))


def closed_network_rate(demands: Sequence[float], think: float, customers: int) -> float:
    """Returns the throughput of a closed network of single servers and one pause, exactly (MVA).

    Args:
        demands: mean service time at each station, exponential.
        think: mean pause between two rounds.
        customers: how many go round.
    """
    queues = [0.0] * len(demands)
    rate = 0.0
    for population in range(1, customers + 1):
        stays = [demand * (1 + queue) for demand, queue in zip(demands, queues, strict=True)]
        rate = population / (think + sum(stays))
        queues = [rate * stay for stay in stays]
    return rate
