"""Formulas of queueing theory. Times come out in the unit in which they go in.

Source: Gross et al., Fundamentals of Queueing Theory, 4th ed.: M/M/c (Erlang C) chapter 2, M/G/1
(Pollaczek-Khinchine) chapter 5; Reiser, Lavenberg 1980 (mean value analysis of closed networks);
David, Nagaraja, Order Statistics, 3rd ed., section 4.6 (exponential parents).
"""

from collections.abc import Sequence
from math import factorial


def wait_m_m_c(servers: int, load: float, service: float) -> float:
    """Returns the mean wait in the queue; ``load`` is per server, below 1."""
    offered = servers * load
    last = offered**servers / factorial(servers) / (1 - load)
    erlang_c = last / (sum(offered**k / factorial(k) for k in range(servers)) + last)
    return erlang_c * service / servers / (1 - load)


def wait_m_g_1(load: float, service: float, squared_cv: float) -> float:
    """Returns the mean wait in the queue; ``squared_cv`` is variance over squared mean."""
    return load * service * (1 + squared_cv) / (2 * (1 - load))


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
