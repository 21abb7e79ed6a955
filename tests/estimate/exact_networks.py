"""Closed networks whose solution is exact: what approximations are held against.

Source: Reiser and Lavenberg, Mean-Value Analysis of Closed Multichain Queuing Networks, 1980.
"""

from __future__ import annotations

from collections.abc import Sequence


def mean_value_analysis(
    customers: int, demands: Sequence[float], think: float
) -> tuple[float, list[float]]:
    """Returns (throughput, mean number at each station) of a closed network, exactly.

    Args:
        customers: in the network.
        demands: time that a customer needs of each single-server station per cycle.
        think: time per cycle that is spent without queueing.
    """
    at_station = [0.0] * len(demands)
    throughput = 0.0
    for present in range(1, customers + 1):
        stays = [demand * (1 + n) for demand, n in zip(demands, at_station, strict=True)]
        throughput = present / (think + sum(stays))
        at_station = [throughput * stay for stay in stays]
    return throughput, at_station
