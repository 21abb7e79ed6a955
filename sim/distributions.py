"""Distributions of durations: the specs in a scenario, and how they are drawn (``Sampler``).

A spec is a frozen value that can be compared and hashed into a unit's key. A sampler owns one
random stream. Draws are integer nanoseconds, never negative, made in blocks of up to 512. Standard
draws (uniform, normal, exponential) are scaled by the spec, so that two variants with different
means still use the same random numbers (common random numbers).
"""

from dataclasses import dataclass
from itertools import pairwise
from math import exp, floor, log, sqrt
from typing import Any

import numpy as np

from sim.streams import FIRST_BLOCK, LARGEST_BLOCK, Stream

_Z99 = 2.3263478740408408
"""The 0.99 quantile of the standard normal distribution."""

_Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Constant:
    """Always the same duration."""

    value_ns: int


@dataclass(frozen=True, slots=True)
class Exponential:
    """Memoryless, with the given mean."""

    mean_ns: int


@dataclass(frozen=True, slots=True)
class Lognormal:
    """Log-normal through two published quantiles, the median and the 99th percentile."""

    p50_ns: int
    p99_ns: int

    def __post_init__(self) -> None:
        if not 0 < self.p50_ns <= self.p99_ns:
            raise ValueError(f"needs 0 < p50 <= p99, is {self.p50_ns} ns and {self.p99_ns} ns")


@dataclass(frozen=True, slots=True)
class LognormalMean:
    """Log-normal with the given mean and coefficient of variation (deviation / mean)."""

    mean_ns: int
    cv: float


@dataclass(frozen=True, slots=True)
class Empirical:
    """Linear between known quantiles, constant beyond the first and the last.

    ``quantiles`` are (probability, nanoseconds), both ascending.
    """

    quantiles: tuple[tuple[float, int], ...]

    def __post_init__(self) -> None:
        if not self.quantiles:
            raise ValueError("needs at least one (probability, duration) pair")
        if list(self.quantiles) != sorted(self.quantiles) or (
            [ns for _, ns in self.quantiles] != sorted(ns for _, ns in self.quantiles)
        ):
            raise ValueError("probabilities and durations must both ascend")


@dataclass(frozen=True, slots=True)
class Spiky:
    """``base``, but with probability ``prob`` uniform between ``lo_ns`` and ``hi_ns`` instead."""

    base: "Distribution"
    prob: float
    lo_ns: int
    hi_ns: int


Distribution = Constant | Exponential | Lognormal | LognormalMean | Empirical | Spiky


def mean_ns(spec: Distribution) -> float:
    """Returns the exact mean of a distribution in nanoseconds."""
    match spec:
        case Constant(value_ns):
            return float(value_ns)
        case Exponential(mean):
            return float(mean)
        case LognormalMean(mean, _):
            return float(mean)
        case Lognormal(p50_ns, p99_ns):
            sigma = log(p99_ns / p50_ns) / _Z99
            return p50_ns * exp(sigma * sigma / 2)
        case Empirical(quantiles):
            return _mean_of_lines(quantiles)
        case Spiky(base, prob, lo_ns, hi_ns):
            return (1 - prob) * mean_ns(base) + prob * (lo_ns + hi_ns) / 2


def squared_cv(spec: Distribution) -> float:
    """Returns the exact variance of a distribution over its squared mean."""
    mean = mean_ns(spec)
    return _mean_square(spec) / (mean * mean) - 1 if mean else 0.0


def _mean_square(spec: Distribution) -> float:
    match spec:
        case Constant(value_ns):
            return float(value_ns) ** 2
        case Exponential(mean):
            return 2 * float(mean) ** 2
        case LognormalMean(mean, cv):
            return float(mean) ** 2 * (1 + cv * cv)
        case Lognormal(p50_ns, p99_ns):
            sigma = log(p99_ns / p50_ns) / _Z99
            return float(p50_ns) ** 2 * exp(2 * sigma * sigma)
        case Empirical(quantiles):
            corners = [(0.0, quantiles[0][1]), *quantiles, (1.0, quantiles[-1][1])]
            return sum(
                (p1 - p0) * (ns0 * ns0 + ns0 * ns1 + ns1 * ns1) / 3
                for (p0, ns0), (p1, ns1) in pairwise(corners)
            )
        case Spiky(base, prob, lo_ns, hi_ns):
            spikes = (lo_ns * lo_ns + lo_ns * hi_ns + hi_ns * hi_ns) / 3
            return (1 - prob) * _mean_square(base) + prob * spikes


def _mean_of_lines(quantiles: tuple[tuple[float, int], ...]) -> float:
    corners = [(0.0, quantiles[0][1]), *quantiles, (1.0, quantiles[-1][1])]
    return sum((p1 - p0) * (ns0 + ns1) / 2 for (p0, ns0), (p1, ns1) in pairwise(corners))


def _draw_block(spec: Distribution, stream: Stream, count: int) -> _Floats:
    """Returns ``count`` draws in nanoseconds, shape (count,)."""
    match spec:
        case Constant(value_ns):
            return np.full(count, float(value_ns))
        case Exponential(mean):
            return mean * stream.block_of("exponential", count)
        case Lognormal(p50_ns, p99_ns):
            sigma = log(p99_ns / p50_ns) / _Z99
            return _floats(np.exp(log(p50_ns) + sigma * stream.block_of("normal", count)))
        case LognormalMean(mean, cv):
            variance = log(1 + cv * cv)
            mu = log(mean) - variance / 2 if mean else -np.inf
            return _floats(np.exp(mu + sqrt(variance) * stream.block_of("normal", count)))
        case Empirical(quantiles):
            probabilities, durations = zip(*quantiles, strict=True)
            return _floats(np.interp(stream.block_of("uniform", count), probabilities, durations))
        case Spiky(base, prob, lo_ns, hi_ns):
            draws = _draw_block(base, stream, count)
            where, how_high = stream.block_of("uniform", 2 * count).reshape(count, 2).T
            return _floats(np.where(where < prob, lo_ns + (hi_ns - lo_ns) * how_high, draws))


def _floats(values: Any) -> _Floats:
    """Returns the same values with the type that numpy's stubs leave open."""
    return np.asarray(values, dtype=np.float64)


class Sampler:
    """Draws durations of one distribution from a stream of its own."""

    def __init__(self, spec: Distribution, stream: Stream) -> None:
        self._spec = spec
        self._stream = stream
        self._mean_ns = mean_ns(spec)
        self._size = FIRST_BLOCK
        self._draws: list[int] = []
        self._units: list[float] = []

    def draw(self) -> int:
        """Returns a duration in nanoseconds."""
        if not self._draws:
            self._draws = self.block()
        return self._draws.pop()

    def scaled(self, mean_ns: float) -> int:
        """Returns a duration of the given mean, with the shape of this distribution.

        Raises:
            ValueError: if the distribution is always 0, which has no shape.
        """
        if not self._units:
            self._units = self.unit_block()
        return floor(mean_ns * self._units.pop())

    def unit_block(self) -> list[float]:
        """Returns the next draws divided by the mean, ready to be popped, as ``scaled`` uses them.

        For hot code that keeps them itself; draws that ``scaled`` has buffered are not among them.

        Raises:
            ValueError: if the distribution is always 0, which has no shape.
        """
        if not self._mean_ns:
            raise ValueError("a distribution of mean 0 cannot be scaled; use Constant(1)")
        units: list[float] = (self._next()[::-1] / self._mean_ns).tolist()
        return units

    def block(self) -> list[int]:
        """Returns the next durations in nanoseconds, the first at the end, ready to be popped.

        For hot code that keeps them itself; draws that ``draw`` has buffered are not among them.
        """
        block: list[int] = np.rint(self._next()[::-1]).astype(np.int64).tolist()
        return block

    def _next(self) -> _Floats:
        block = _draw_block(self._spec, self._stream, self._size)
        self._size = min(2 * self._size, LARGEST_BLOCK)
        return block
