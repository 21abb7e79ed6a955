"""How a device's latency depends on the size of an access and on the number in flight.

A load-dependent server (Chandy, Herzog, Woo 1975: the flow-equivalent service centre). Its latency
was measured with 1, 2, 3, ... accesses kept in flight, by a closed loop of so many jobs. Between 1
and the next number measured, what is added to a quantile grows with n as 1 - 1/n, the probability
that another access is there: a sync then waits for another's flush, or for a processor. Between two
measured numbers every quantile is interpolated linearly, and beyond the last it is extrapolated
linearly, since a device at its limit serves no more per second (asymptotic bound: each further
access adds the bottleneck's demand to the latency). A longer access multiplies every quantile by
the factor measured on an idle device.

The number in flight is what an access finds, itself included, or the mean of the last millisecond
if that is larger: a job that pauses for microseconds between two accesses still loads the device.
An access is not slowed by those that arrive after it.
"""

from bisect import bisect_right
from dataclasses import dataclass
from heapq import heappop, heappush
from math import exp

import numpy as np

from sim.distributions import Empirical
from sim.streams import FIRST_BLOCK, LARGEST_BLOCK, Stream
from sim.units import NS_PER_MS

_MEMORY_NS = 1 * NS_PER_MS
"""Time constant of the (exponential) mean in flight. ASSUMED: some ten accesses of an SSD."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """The latency of the shortest access with ``in_flight`` accesses in flight."""

    in_flight: int
    latency: Empirical


@dataclass(frozen=True, slots=True)
class Crowding:
    """Latencies measured with several accesses in flight, ascending, and the extrapolation."""

    crowds: tuple[Crowd, ...]
    further: Empirical | None = None
    """What each access beyond the last number adds to each quantile; None: nothing."""

    def __post_init__(self) -> None:
        numbers = [crowd.in_flight for crowd in self.crowds]
        if not numbers or numbers != sorted(set(numbers)) or numbers[0] < 2:
            raise ValueError(f"numbers in flight must ascend from 2, are {numbers}")


@dataclass(frozen=True, slots=True)
class Longer:
    """The latency of a longer access on an idle device."""

    size_bytes: int
    latency: Empirical


class CrowdedLatency:
    """Draws latencies of one kind of access to one device. Calls come in the order of time."""

    def __init__(
        self,
        alone: Empirical,
        stream: Stream,
        *,
        shortest_bytes: int,
        crowding: Crowding | None = None,
        longer: tuple[Longer, ...] = (),
    ) -> None:
        """Args: ``alone`` is of an access of up to ``shortest_bytes``; ``longer`` ascends."""
        crowds = crowding.crowds if crowding is not None else ()
        further = crowding.further if crowding is not None else None
        self._extrapolates = further is not None
        self._numbers = [1, *(crowd.in_flight for crowd in crowds)]
        self._sizes = [shortest_bytes, *(each.size_bytes for each in longer)]
        self.longest_bytes = self._sizes[-1]
        """The longest access that was measured."""
        latencies = [each.latency for each in crowds] + [each.latency for each in longer]
        latencies += [further] if further is not None else []
        self._quantiles = [
            np.array(each.quantiles, dtype=np.float64).T for each in (alone, *latencies)
        ]
        self._stream = stream
        self._size = FIRST_BLOCK
        self._columns: list[tuple[float, ...]] = []
        self._in_flight: list[int] = []
        self._mean = 0.0
        self._mean_at_ns = 0

    def draw(self, now_ns: int, size_bytes: int) -> int:
        """Returns the latency of an access that arrives now, in nanoseconds; see ``occupy``."""
        if not self._columns:
            self._columns = self._block()
        column = self._columns.pop()
        latency = self._crowded(column, self.in_flight(now_ns) + 1)
        if size_bytes > self._sizes[0] and len(self._sizes) > 1:
            latency *= self._stretched(column, size_bytes)
        return round(latency)

    def occupy(self, until_ns: int) -> None:
        """Counts an access as in flight from now until its end."""
        heappush(self._in_flight, until_ns)

    def in_flight(self, now_ns: int) -> float:
        """Returns how many others count for the latency of an access that arrives now."""
        ends = self._in_flight
        while ends and ends[0] <= now_ns:
            self._pass(ends[0])
            heappop(ends)
        self._pass(now_ns)
        return max(float(len(ends)), self._mean - 1)

    def _pass(self, now_ns: int) -> None:
        """Updates the mean for the time until now, in which the number did not change."""
        passed_ns = now_ns - self._mean_at_ns
        if passed_ns > 0:
            count = len(self._in_flight)
            self._mean = count + (self._mean - count) * exp(-passed_ns / _MEMORY_NS)
            self._mean_at_ns = now_ns

    def _crowded(self, column: tuple[float, ...], number: float) -> float:
        numbers = self._numbers
        above = bisect_right(numbers, number)
        if above < len(numbers):
            low, high = numbers[above - 1], numbers[above]
            part = (number - low) / (high - low)
            if above == 1:
                # Up to the first measured number: by the probability of another access.
                part *= high / number
            return column[above - 1] + (column[above] - column[above - 1]) * part
        added = column[-1] * (number - numbers[-1]) if self._extrapolates else 0.0
        return column[above - 1] + added

    def _stretched(self, column: tuple[float, ...], size_bytes: int) -> float:
        """Returns the factor by which an access of this size takes longer than the shortest."""
        sizes, first = self._sizes, len(self._numbers) - 1
        above = min(bisect_right(sizes, size_bytes), len(sizes) - 1)
        low = column[0] if above == 1 else column[first + above - 1]
        part = min(1.0, (size_bytes - sizes[above - 1]) / (sizes[above] - sizes[above - 1]))
        return (low + (column[first + above] - low) * part) / column[0] if column[0] else 1.0

    def _block(self) -> list[tuple[float, ...]]:
        """Returns the next ranks' latencies, the next last: alone, crowded, longer, further."""
        # One rank for all of them, so that the draw does not depend on the number in flight.
        ranks = self._stream.block_of("uniform", self._size)[::-1]
        self._size = min(2 * self._size, LARGEST_BLOCK)
        drawn = [
            np.interp(ranks, known, latencies).tolist() for known, latencies in self._quantiles
        ]
        return list(zip(*drawn, strict=True))
