"""What a device's latency becomes with the size of an access, and with others in flight.

Law: a load-dependent server (Chandy, Herzog, Woo 1975: the flow-equivalent service centre). Its
latency was measured alone and with 2, 3, ... accesses kept in flight, which is what a closed loop
of so many jobs does. From one alone to the first number measured, what company adds to a quantile
grows as the chance 1 - 1/n that somebody else is there: a sync waits for another's flush, or for a
processor, or it does not. Between two measured numbers every quantile lies on a straight line, and
beyond the last it goes on along one, since a device at its limit serves no more per second
(asymptotic bound: each further access adds the bottleneck's demand to the latency). Longer accesses
stretch every quantile by what they stretch it on an idle device.

How many are in flight is what an access finds, itself included, or the mean of the last millisecond
if that is more: whoever is away for microseconds between two accesses still loads the device. An
access is not slowed by those that come after it.
"""

from bisect import bisect_right
from dataclasses import dataclass
from heapq import heappop, heappush
from math import exp

import numpy as np

from sim.distributions import Empirical
from sim.streams import Stream
from sim.units import NS_PER_MS

_MEMORY_NS = 1 * NS_PER_MS
"""Over which the mean in flight is taken, exponentially. ASSUMED: some ten accesses of an SSD."""
_FIRST_BLOCK = 64
_LARGEST_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Crowd:
    """The latency of the shortest access while so many are in flight."""

    in_flight: int
    latency: Empirical


@dataclass(frozen=True, slots=True)
class Crowding:
    """Latencies measured with several accesses in flight, ascending, and how it goes on."""

    crowds: tuple[Crowd, ...]
    further: Empirical | None = None
    """What each access in flight beyond the last number adds, rank by rank; None: nothing."""

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
    """Draws latencies of one kind of access to one device. Calls must not go back in time."""

    __slots__ = (
        "_columns",
        "_goes_on",
        "_in_flight",
        "_mean",
        "_mean_at_ns",
        "_numbers",
        "_quantiles",
        "_size",
        "_sizes",
        "_stream",
        "longest_bytes",
    )

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
        self._goes_on = further is not None
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
        self._size = _FIRST_BLOCK
        self._columns: list[tuple[float, ...]] = []
        self._in_flight: list[int] = []
        self._mean = 0.0
        self._mean_at_ns = 0

    def draw(self, now_ns: int, size_bytes: int) -> int:
        """Returns the latency of an access that comes now, in nanoseconds; see ``occupy``."""
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
        """Returns how many others an access finds that comes now, as its latency counts them."""
        ends = self._in_flight
        while ends and ends[0] <= now_ns:
            self._pass(ends[0])
            heappop(ends)
        self._pass(now_ns)
        return max(float(len(ends)), self._mean - 1)

    def _pass(self, now_ns: int) -> None:
        """Takes the time until now, in which nothing came or went, into the mean."""
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
                # Of the way to the first company: by the chance that somebody is there.
                part *= high / number
            return column[above - 1] + (column[above] - column[above - 1]) * part
        added = column[-1] * (number - numbers[-1]) if self._goes_on else 0.0
        return column[above - 1] + added

    def _stretched(self, column: tuple[float, ...], size_bytes: int) -> float:
        """Returns how many times the shortest access' latency one of this size has."""
        sizes, first = self._sizes, len(self._numbers) - 1
        above = min(bisect_right(sizes, size_bytes), len(sizes) - 1)
        low = column[0] if above == 1 else column[first + above - 1]
        part = min(1.0, (size_bytes - sizes[above - 1]) / (sizes[above] - sizes[above - 1]))
        return (low + (column[first + above] - low) * part) / column[0] if column[0] else 1.0

    def _block(self) -> list[tuple[float, ...]]:
        """Returns the next ranks' latencies, the next last: alone, crowded, longer, further."""
        # One rank for all of them: luck is the same whoever else is there.
        ranks = self._stream.block_of("uniform", self._size)[::-1]
        self._size = min(2 * self._size, _LARGEST_BLOCK)
        drawn = [
            np.interp(ranks, known, latencies).tolist() for known, latencies in self._quantiles
        ]
        return list(zip(*drawn, strict=True))
