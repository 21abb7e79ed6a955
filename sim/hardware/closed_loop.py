"""A disk alone under jobs that wait for each answer, as fio runs them with ``numjobs``.

A calibration compares its result with the measurement, to check the model of the disk and not only
the figures it was given. Ranks are spread evenly over the run and shuffled, so that if a quantile
of the tail differs from the distribution that is drawn from, the model is the cause and not chance.
"""

from heapq import heapify, heappop, heappush
from typing import Any, Literal

import numpy as np

from sim.hardware.disk import Disk, DiskSpec
from sim.streams import Kind, Stream, Streams

Access = Literal["append", "fetch"]

_ARRIVALS_APART_NS = 3_000
_SETTLED = 0.02
"""The first part of a run is not counted: the jobs have not all started."""


class _EvenStream(Stream):
    """Uniform draws spread evenly over [0, 1), in random order."""

    def __init__(self, source: Stream, count: int) -> None:
        super().__init__("even")
        order = np.argsort(source.block_of("uniform", count))
        self._ranks = (order + 0.5) / count
        self._used = 0

    def block_of(self, kind: Kind, count: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """Returns the next ranks; after the last one come the first again."""
        if kind != "uniform":
            return super().block_of(kind, count)
        places = np.arange(self._used, self._used + count) % len(self._ranks)
        self._used += count
        return np.asarray(self._ranks[places], dtype=np.float64)


def closed_loop(
    spec: DiskSpec, access: Access, *, jobs: int, size_bytes: int, pause_ns: int, count: int
) -> tuple[list[int], float]:
    """Runs jobs that make one access after the other, with a pause after each.

    Args:
        spec: the disk.
        access: an append and its sync, or a random read of one block.
        jobs: how many.
        size_bytes: of an access.
        pause_ns: between the end of a job's access and its next.
        count: accesses of all jobs together.

    Returns:
        The latencies in nanoseconds, in the order of their beginning, and the accesses per second.
    """
    stream = _EvenStream(Streams(1, 0).stream("closed-loop"), count)
    disk = Disk(spec, stream, stream)
    ready = [(job * _ARRIVALS_APART_NS, job) for job in range(jobs)]
    heapify(ready)
    latencies, began_ns, now_ns, skipped = [], 0, 0, int(count * _SETTLED)
    for done in range(count):
        now_ns, job = heappop(ready)
        if access == "append":
            latency_ns = disk.sync_write(now_ns, size_bytes) - now_ns
        else:
            latency_ns = disk.fetch_ns(now_ns, 1, size_bytes)
        if done == skipped:
            began_ns = now_ns
        if done >= skipped:
            latencies.append(latency_ns)
        heappush(ready, (now_ns + latency_ns + pause_ns, job))
    return latencies, (len(latencies) - 1) / max(1, now_ns - began_ns) * 1e9
