"""A Go program's heap: when it is marked, and how much CPU that takes.

Law: a cycle begins when as much has been allocated as was alive after the last one (GOGC 100), at
least 4 MiB in all; its CPU is in proportion to what is alive. What allocations pay for it
themselves (assists, a twentieth of the CPU as measured) and the two stops of the world (0.1 ms) are
left out, and so is that a cycle begins a little early.

Source: golang/go release-branch.go1.19 src/runtime/mgcpacer.go, mgc.go. CPU: our own measurement,
``gctrace`` of three etcd 3.4.23 members and a client, 50 cycles of 19 to 47 MB: 0.35 to 0.59 ms a
MB, 0.43 in the middle.
"""

from __future__ import annotations

from typing import Final

from sim.units import MIB

MARK_NS_PER_BYTE: Final = 0.43
"""CPU of marking, by bytes alive."""

_SMALLEST_BYTES: Final = 4 * MIB
"""No cycle begins below it (``heapMinimum``)."""


class Heap:
    """What one process has allocated, and what of a cycle is left to do.

    Args:
        live_bytes: alive at the start.
    """

    __slots__ = ("_allocated_bytes", "_live_bytes", "began_ns", "cycles", "left_ns", "marked_ns")

    def __init__(self, live_bytes: int) -> None:
        self._live_bytes = live_bytes
        self._allocated_bytes = 0
        self.began_ns = 0
        self.left_ns = 0
        """CPU that nobody has taken yet of the cycle under way; 0: there is none."""
        self.cycles = 0
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
        self.cycles += 1
        self.left_ns = max(1, int(self._live_bytes * MARK_NS_PER_BYTE))

    def take(self, most_ns: int) -> int:
        """Returns how much CPU somebody is to mark for, at most what is left."""
        piece_ns = min(self.left_ns, most_ns)
        self.left_ns -= piece_ns
        self.marked_ns += piece_ns
        return piece_ns
