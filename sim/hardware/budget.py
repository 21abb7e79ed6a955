"""Budgets of a disk: which write or read may use its bandwidth and its I/Os when.

Synchronous writes are served first come first served. Background bytes wait in a backlog. While no
synchronous write waits, the backlog is written one I/O after the other; when synchronous writes
queue, the two take turns. An I/O that has begun is finished, so a write that finds the disk busy
with the background waits for the rest of one I/O (non-preemptive, two queues in turn).

Nothing here needs an event: the backlog's progress is computed at the next call. Calls come in the
order of time.
"""

from math import floor

from sim.units import NS_PER_S, ceil_div


class DeviceBudget:
    """The device is the limit: one server, held by a write as long as its tighter limit says."""

    def __init__(self, bytes_per_s: int, iops: int, io_bytes: int) -> None:
        self._ns_per_byte = NS_PER_S / bytes_per_s
        self._ns_per_io = NS_PER_S / iops
        self._io_bytes = io_bytes
        self._backlog_bytes = 0
        self._background_was_last = False
        self.free_ns = 0
        """When everything begun so far will be finished."""
        self._busy_ns = 0
        """Service handed out so far, until ``free_ns``."""

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long the device has been held until now, in nanoseconds."""
        since_ns = now_ns - self.free_ns
        if since_ns <= 0:
            return self._busy_ns + since_ns
        size_bytes = self._backlog_bytes  # Begun since then; the next call will find that.
        return self._busy_ns + min(since_ns, self._background_ns(size_bytes))

    def service_ns(self, size_bytes: int, ios: int) -> int:
        """Returns how long a write holds the device."""
        return int(max(size_bytes * self._ns_per_byte, ios * self._ns_per_io))

    def measured_ns(self, size_bytes: int, ios: int) -> int:
        """Returns the part of a write's measured latency that ``reserve`` includes: its service."""
        return self.service_ns(size_bytes, ios)

    def reserve(self, now_ns: int, size_bytes: int, ios: int) -> int:
        """Returns when a write that arrives now will have been served, in nanoseconds."""
        service_ns = floor(size_bytes * self._ns_per_byte)
        if ios * self._ns_per_io > service_ns:
            service_ns = floor(ios * self._ns_per_io)
        return self.serve(now_ns, service_ns)

    def serve(self, now_ns: int, service_ns: int) -> int:
        """Returns when what arrives now and holds the device so long will have been served."""
        if self._backlog_bytes:
            self._take_turns(now_ns)
        served_ns = self.free_ns
        if now_ns > served_ns:
            served_ns = now_ns
        self.free_ns = served_ns = served_ns + service_ns
        self._busy_ns += service_ns
        return served_ns

    def _take_turns(self, now_ns: int) -> None:
        """Serves the background I/Os that go before a write that arrives now."""
        self._catch_up(now_ns)
        if self.free_ns > now_ns and not self._background_was_last:
            self._serve_background(self._io_bytes)
        self._background_was_last = False

    def add_background(self, now_ns: int, size_bytes: int) -> None:
        """Adds bytes to the backlog."""
        self._catch_up(now_ns)
        self.free_ns = max(self.free_ns, now_ns)
        self._backlog_bytes += size_bytes

    def backlog_ns(self, now_ns: int) -> int:
        """Returns how long the backlog alone would take, in nanoseconds."""
        self._catch_up(now_ns)
        return self._background_ns(self._backlog_bytes)

    def _background_ns(self, size_bytes: int) -> int:
        return self.service_ns(size_bytes, ceil_div(size_bytes, self._io_bytes))

    def _catch_up(self, now_ns: int) -> None:
        """Writes the part of the backlog that began in the idle time until now."""
        idle_ns = now_ns - self.free_ns
        if idle_ns > 0 and self._backlog_bytes:
            begun = ceil_div(idle_ns, self.service_ns(self._io_bytes, 1) or 1)
            self._serve_background(begun * self._io_bytes)

    def _serve_background(self, at_most_bytes: int) -> None:
        size_bytes = min(self._backlog_bytes, at_most_bytes)
        service_ns = self._background_ns(size_bytes)
        self._backlog_bytes -= size_bytes
        self._background_was_last = True
        self.free_ns += service_ns
        self._busy_ns += service_ns


class TokenBudget:
    """A ceiling in front of the device: one token bucket for bytes and one for I/Os.

    Each bucket is a clock that runs ahead of time as tokens are taken, and admits a write while it
    is ahead by no more than the burst (the generic cell rate algorithm, ITU-T I.371).
    """

    def __init__(self, bytes_per_s: int, iops: int, io_bytes: int, burst_ns: int) -> None:
        self._ns_per_byte = NS_PER_S / bytes_per_s
        self._ns_per_io = NS_PER_S / iops
        self._io_bytes = io_bytes
        self._burst_ns = burst_ns
        self._bytes_clock_ns = 0.0
        self._ios_clock_ns = 0.0
        self._used_bytes_ns = 0.0
        self._used_ios_ns = 0.0
        self._backlog_bytes = 0
        self._background_was_last = False

    def busy_until(self, now_ns: int) -> int:
        """Returns how long the tokens used until now took to come, of the bucket that limits more.

        Tokens that are taken ahead of time count as they come, in nanoseconds.
        """
        bytes_ns, ios_ns = self._background_ns()  # Admitted since then, if there was room.
        used_bytes_ns = self._used_bytes_ns + min(now_ns - self._bytes_clock_ns, bytes_ns)
        used_ios_ns = self._used_ios_ns + min(now_ns - self._ios_clock_ns, ios_ns)
        return int(max(used_bytes_ns, used_ios_ns))

    def measured_ns(self, size_bytes: int, ios: int) -> int:  # noqa: ARG002
        """Returns the part of a write's measured latency that ``reserve`` includes: none."""
        return 0

    def reserve(self, now_ns: int, size_bytes: int, ios: int) -> int:
        """Returns when the last I/O of a write that arrives now is admitted, in nanoseconds."""
        if self._backlog_bytes:
            self._take_turns(now_ns)
        if ios > 1:
            # Those before the last are admitted first; only the time of the last one matters.
            before_bytes = min((ios - 1) * self._io_bytes, size_bytes)
            self._take(now_ns, before_bytes, ios - 1)
            size_bytes -= before_bytes
        admitted_ns = self._admitted_ns()
        self._take(now_ns, size_bytes, 1)
        return admitted_ns if admitted_ns > now_ns else now_ns

    def _take_turns(self, now_ns: int) -> None:
        """Serves the background I/Os that go before a write that arrives now."""
        self._catch_up(now_ns)
        if self._admitted_ns() > now_ns and not self._background_was_last:
            self._take(now_ns, *self._next_background(1))
        self._background_was_last = False

    def add_background(self, now_ns: int, size_bytes: int) -> None:
        """Adds bytes to the backlog."""
        self._catch_up(now_ns)
        self._backlog_bytes += size_bytes
        self._take(now_ns, 0, 0)

    def backlog_ns(self, now_ns: int) -> int:
        """Returns how long the backlog alone would take, in nanoseconds."""
        self._catch_up(now_ns)
        return int(max(self._background_ns()))

    def _background_ns(self) -> tuple[float, float]:
        """Returns how long the tokens of the backlog take to come, in each bucket."""
        ios = ceil_div(self._backlog_bytes, self._io_bytes)
        return self._backlog_bytes * self._ns_per_byte, ios * self._ns_per_io

    def _admitted_ns(self) -> int:
        """Returns when the next I/O would be admitted."""
        return int(max(self._bytes_clock_ns, self._ios_clock_ns)) - self._burst_ns

    def _take(self, now_ns: int, size_bytes: int, ios: int) -> None:
        """Takes tokens; a full bucket gains nothing from the time before now."""
        bytes_ns, ios_ns = size_bytes * self._ns_per_byte, ios * self._ns_per_io
        self._bytes_clock_ns = max(self._bytes_clock_ns, now_ns) + bytes_ns
        self._ios_clock_ns = max(self._ios_clock_ns, now_ns) + ios_ns
        self._used_bytes_ns += bytes_ns
        self._used_ios_ns += ios_ns

    def _catch_up(self, now_ns: int) -> None:
        """Admits the part of the backlog that found tokens before now."""
        if not self._backlog_bytes:
            return
        before_ns = now_ns + self._burst_ns
        begun = min(
            ceil_div(
                int(before_ns - self._bytes_clock_ns), int(self._io_bytes * self._ns_per_byte)
            ),
            ceil_div(int(before_ns - self._ios_clock_ns), int(self._ns_per_io)),
        )
        if begun > 0:
            since_ns = int(min(self._bytes_clock_ns, self._ios_clock_ns))
            self._take(since_ns, *self._next_background(begun))
            self._background_was_last = True

    def _next_background(self, ios: int) -> tuple[int, int]:
        """Removes up to ``ios`` I/Os from the backlog and returns (bytes, I/Os)."""
        size_bytes = min(self._backlog_bytes, ios * self._io_bytes)
        self._backlog_bytes -= size_bytes
        return size_bytes, ceil_div(size_bytes, self._io_bytes)
