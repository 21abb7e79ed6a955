"""A Go program's heap: when it is marked, and how much CPU that takes.

A cycle begins when as much has been allocated as was alive after the last one (GOGC 100), at least
4 MiB in all; its CPU is in proportion to what is alive. Left out: marking by goroutines that
allocate (assists, measured as a twentieth of the CPU), the two stops of the world (0.1 ms), and
that a cycle begins a little early.

Source: golang/go release-branch.go1.19 src/runtime/mgcpacer.go, mgc.go. CPU: our own measurement,
``gctrace`` of three etcd 3.4.23 members and a client, 50 cycles of 19 to 47 MB: 0.35 to 0.59 ms a
MB, 0.43 in the middle.
"""

from typing import Final

from sim.units import MIB, NS_PER_US

MARK_NS_PER_BYTE: Final = 0.43
"""CPU of marking, by bytes alive."""

_SMALLEST_BYTES: Final = 4 * MIB
"""No cycle begins below it (``heapMinimum``)."""

MARK_PIECE_NS: Final = 100 * NS_PER_US
"""How long a proc marks before it looks for other work (``drainCheckThreshold``). Derived: 100,000
units of scanning, at a byte or so a nanosecond."""

_MARK_SHARE: Final = 0.25
"""Of each proc's time, while the heap is marked (``gcBackgroundUtilization``)."""

_MARK_LEEWAY: Final = 1.2
"""A proc stops marking at so many times its share (``pollFractionalWorkerExit``)."""


class Heap:
    """What one process has allocated, and what of a cycle is left to do.

    Args:
        live_bytes: alive at the start.
    """

    def __init__(self, live_bytes: int) -> None:
        self._live_bytes = live_bytes
        self._allocated_bytes = 0
        self.began_ns = 0
        self.left_ns = 0
        """CPU of the present cycle that nobody has taken yet; 0: there is no cycle."""
        self.marked_ns = 0
        """CPU taken so far."""

    def allocate(self, size_bytes: int, kept_bytes: int) -> bool:
        """Notes an allocation, ``kept_bytes`` of which stay; returns whether a cycle is due."""
        self._allocated_bytes += size_bytes
        self._live_bytes += kept_bytes
        live_bytes = self._live_bytes
        due_bytes = max(live_bytes, _SMALLEST_BYTES - live_bytes)
        return self._allocated_bytes >= due_bytes and not self.left_ns

    def begin(self, now_ns: int) -> None:
        """Begins a cycle."""
        self._allocated_bytes = 0
        self.began_ns = now_ns
        self.left_ns = max(1, int(self._live_bytes * MARK_NS_PER_BYTE))

    def take(self, most_ns: int) -> int:
        """Takes a piece of marking, at most what is left; returns its CPU."""
        piece_ns = min(self.left_ns, most_ns)
        self.left_ns -= piece_ns
        self.marked_ns += piece_ns
        return piece_ns

    def take_share(self, marked_ns: int, now_ns: int) -> int:
        """Takes a piece for a proc that has marked so long in this cycle, 0 if that is enough."""
        since_ns = now_ns - self.began_ns
        if marked_ns >= _MARK_SHARE * since_ns:
            return 0
        most = _MARK_LEEWAY * _MARK_SHARE
        return self.take(max(MARK_PIECE_NS, int((most * since_ns - marked_ns) / (1 - most))))
