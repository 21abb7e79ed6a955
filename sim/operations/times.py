"""When an operation is carried out."""

from collections.abc import Iterator
from itertools import count, islice, takewhile

from sim.scenario.schema.operations import Timed
from sim.streams import Stream
from sim.units import NS_PER_S


def times_of(operation: Timed, stream: Stream) -> Iterator[int]:
    """Yields the absolute times of an operation, ascending, in ns; endless unless it ends.

    ``every`` begins at ``from``, or after one interval; ``rate`` is a Poisson process.
    """
    times = _unlimited_times(operation, stream)
    until_ns = operation.until_ns
    if until_ns is not None:
        times = takewhile(lambda time_ns: time_ns < until_ns, times)
    return islice(times, operation.count)


def _unlimited_times(operation: Timed, stream: Stream) -> Iterator[int]:
    if operation.at_ns is not None:
        return iter((operation.at_ns,))
    if operation.every_ns is not None:
        first = operation.every_ns if operation.from_ns is None else operation.from_ns
        return count(first, operation.every_ns)
    assert operation.rate_per_s is not None, "the schema wants one of at, every and rate"
    return _poisson_times(operation.from_ns or 0, NS_PER_S / operation.rate_per_s, stream)


def _poisson_times(begin_ns: int, mean_ns: float, stream: Stream) -> Iterator[int]:
    time_ns = begin_ns
    while True:
        time_ns += stream.exponential(mean_ns)
        yield time_ns
