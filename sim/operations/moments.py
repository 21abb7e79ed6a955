"""When a timed operation is carried out, as absolute times."""

from __future__ import annotations

from itertools import count as count_from
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from sim.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sim.scenario.resolved_operations import Timed
    from sim.streams import Stream


def moments(operation: Timed, stream: Stream) -> Iterator[int]:
    """Yields ascending times in ns; endless unless the operation ends.

    ``every`` begins at ``from``, or after one interval; ``rate`` is a Poisson process.
    """
    times = _unlimited(operation, stream)
    until_ns = operation.until_ns
    if until_ns is not None:
        times = takewhile(lambda time_ns: time_ns < until_ns, times)
    return islice(times, operation.count)


def _unlimited(operation: Timed, stream: Stream) -> Iterator[int]:
    if operation.at_ns is not None:
        return iter((operation.at_ns,))
    if operation.every_ns is not None:
        first = operation.every_ns if operation.from_ns is None else operation.from_ns
        return count_from(first, operation.every_ns)
    assert operation.rate_per_s is not None, "the schema wants one of at, every and rate"
    return _poisson(operation.from_ns or 0, NS_PER_S / operation.rate_per_s, stream)


def _poisson(begin_ns: int, mean_ns: float, stream: Stream) -> Iterator[int]:
    time_ns = begin_ns
    while True:
        time_ns += stream.exponential(mean_ns)
        yield time_ns
