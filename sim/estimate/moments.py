"""Mean and deviation of the durations that a scenario names, and of what is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Final

from sim.distributions import (
    Constant,
    Empirical,
    Exponential,
    Lognormal,
    LognormalMean,
    Spiky,
    mean_ns,
)
from sim.transport.nodes import CLIENT_NAME, PD_NAME, store_name, tidb_name, zones_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sim.distributions import Distribution
    from sim.scenario.resolved import Scenario

_Z99: Final = 2.3263478740408408


@dataclass(frozen=True, slots=True)
class Time:
    """A random duration, as far as it is needed here, in ns."""

    mean: float
    variance: float = 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation in ns."""
        return sqrt(max(0.0, self.variance))

    def plus(self, other: Time) -> Time:
        """Returns the sum of two independent durations."""
        return Time(self.mean + other.mean, self.variance + other.variance)

    def times(self, factor: float) -> Time:
        """Returns every value multiplied by ``factor``."""
        return Time(self.mean * factor, self.variance * factor * factor)


NEVER_LONG: Final = Time(0.0)


def exponential(mean: float) -> Time:
    """Returns a memoryless duration."""
    return Time(mean, mean * mean)


def time_of(spec: Distribution) -> Time:
    """Returns mean and variance of a distribution."""
    mean = mean_ns(spec)
    return Time(mean, max(0.0, _second_moment(spec) - mean * mean))


def _second_moment(spec: Distribution) -> float:
    match spec:
        case Constant(value):
            return float(value) ** 2
        case Exponential(mean):
            return 2.0 * mean**2
        case LognormalMean(mean, cv):
            return mean**2 * (1 + cv * cv)
        case Lognormal(p50, p99):
            sigma = log(p99 / p50) / _Z99
            return p50**2 * exp(2 * sigma * sigma)
        case Empirical(quantiles):
            corners = [(0.0, quantiles[0][1]), *quantiles, (1.0, quantiles[-1][1])]
            return sum(
                (p1 - p0) * (a * a + a * b + b * b) / 3 for (p0, a), (p1, b) in pairwise(corners)
            )
        case Spiky(base, chance, low, high):
            spike = (low * low + low * high + high * high) / 3
            return (1 - chance) * _second_moment(base) + chance * spike


@dataclass(frozen=True, slots=True)
class Distances:
    """Round trips between kinds of nodes, over all pairs of them."""

    client: Time
    to_store: Time
    to_pd: Time
    between_stores: Time


def distances(scenario: Scenario) -> Distances:
    """Returns the mean round trips of a cluster, by how its nodes lie in zones."""
    zones = zones_of(scenario)
    stores = [store_name(n + 1) for n in range(scenario.cluster.stores)]
    nodes = range(scenario.cluster.tidb_nodes)
    tidbs = [tidb_name(n) for n in nodes]
    network = scenario.hardware.network

    def over(pairs: Iterable[tuple[str, str]]) -> Time:
        same = [zones[src] == zones[dst] for src, dst in pairs if src != dst]
        near = time_of(network.same_zone)
        if not same or all(same) or network.cross_zone is None:
            return near
        far, share = time_of(network.cross_zone), sum(same) / len(same)
        mean = share * near.mean + (1 - share) * far.mean
        second = share * (near.variance + near.mean**2) + (1 - share) * (far.variance + far.mean**2)
        return Time(mean, second - mean * mean)

    return Distances(
        client=over((f"{CLIENT_NAME}-{n}", tidb_name(n)) for n in nodes),
        to_store=over((a, b) for a in tidbs for b in stores),
        to_pd=over((a, PD_NAME) for a in tidbs),
        between_stores=over((a, b) for a in stores for b in stores),
    )
