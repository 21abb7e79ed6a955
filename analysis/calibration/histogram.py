"""Measured latencies: counts by value, or a list of percentiles alone.

Law: a quantile is the value at which the counts reach it, as fio reports it. Between two known
quantiles a model draws on a straight line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np

Pairs = tuple[tuple[float, int], ...]
"""(probability, nanoseconds), both ascending."""

_BODY: Final = tuple(step / 1000 for step in range(25, 951, 25))
GRID: Final = (
    0.0, 0.001, 0.005, 0.01, 0.0175, *_BODY, 0.96, 0.97, 0.98, 0.985, 0.99, 0.9925, 0.995, 0.9965,
    0.9975, 0.9985, 0.999, 0.9993, 0.9995, 0.9998, 0.9999, 0.99995, 0.99998,
    0.99999, 1.0,
)  # fmt: skip
"""Probabilities that a profile keeps: every 2.5 % of the body, and of the tail what is left of a
thousand, of ten thousand and, for the mean's sake, of a hundred thousand."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Latencies of one measurement, in nanoseconds."""

    values_ns: tuple[int, ...]
    """Ascending; the middle of each bin."""
    reached: tuple[float, ...]
    """Which part of all is at most so long, ascending to 1."""
    count: int
    mean_ns: float
    min_ns: int
    max_ns: int
    coarse: bool = False
    """Whether only percentiles are known, so that the tail between them is a guess."""

    def quantile_ns(self, probability: float) -> int:
        """Returns the latency that this part of all does not exceed."""
        if self.coarse:
            return round(np.interp(probability, self.reached, self.values_ns))
        # A part of all that is reached to the last bit is reached: floats must not decide.
        place = bisect_left(self.reached, probability - 1e-12)
        return self.values_ns[min(place, len(self.values_ns) - 1)]

    def pairs(self) -> Pairs:
        """Returns the quantiles of ``GRID``, from the shortest latency to the longest."""
        inner = [(p, self.quantile_ns(p)) for p in GRID[1:-1]]
        full = [(0.0, self.min_ns), *inner, (1.0, self.max_ns)]
        return ascending((p, min(max(ns, self.min_ns), self.max_ns)) for p, ns in full)


def from_bins(bins: Mapping[int, int], mean_ns: float, min_ns: int, max_ns: int) -> Histogram:
    """Returns the histogram of counts by value."""
    values = sorted(value for value, count in bins.items() if count)
    total = sum(bins.values())
    reached = tuple(so_far / total for so_far in accumulate(bins[value] for value in values))
    return Histogram(tuple(values), reached, total, mean_ns, min_ns, max_ns)


def from_percentiles(
    percentiles: Mapping[float, int], count: int, mean_ns: float, min_ns: int, max_ns: int
) -> Histogram:
    """Returns a histogram of which only some percentiles (0 to 100) are known."""
    known = {0.0: min_ns} | {p / 100: ns for p, ns in percentiles.items()} | {1.0: max_ns}
    reached = tuple(sorted(known))
    values = tuple(ns for _, ns in ascending((p, known[p]) for p in reached))
    return Histogram(values, reached, count, mean_ns, min_ns, max_ns, coarse=True)


def ascending(pairs: Iterable[tuple[float, int]]) -> Pairs:
    """Returns pairs of which no latency is below one before it."""
    kept: list[tuple[float, int]] = []
    for probability, ns in pairs:
        kept.append((probability, max(ns, kept[-1][1]) if kept else ns))
    return tuple(kept)


def at_rank(pairs: Pairs, probability: float) -> float:
    """Returns the latency of a rank, in nanoseconds."""
    ranks, values = zip(*pairs, strict=True)
    return float(np.interp(probability, ranks, values))
