"""A disk: a latency nobody can shorten, and a budget of bandwidth and I/Os that all writers share.

Law: a synchronous write takes its turn in the budget, then a drawn latency. The latency is that of
one small append + fsync on an idle device and may overlap with that of other writes (an SSD has
many channels), or grow with their number and its size where that was measured (``crowding``); the
budget, max(bytes / bandwidth, I/Os / IOPS), may not overlap. Background writes (flush,
compaction, write-back) are cut into I/Os and served in turn with the synchronous ones: a write
meets at most one background I/O before it, not the whole backlog, and the backlog still moves.

Devices of a cloud (EBS, PD) have two budgets in front of them instead, token buckets for bytes and
for I/Os, which save up a little of their idle time.
"""

from dataclasses import dataclass

from sim.distributions import Distribution, Empirical, Sampler
from sim.hardware.budget import DeviceBudget, TokenBudget
from sim.hardware.crowding import CrowdedLatency, Crowding, Longer
from sim.hardware.file_system import NO_METADATA, Metadata
from sim.streams import Stream
from sim.units import KIB, NS_PER_MS, ceil_div

FETCH_BYTES = 32 * KIB
"""A compressed data block of 64 KiB. ASSUMED: half of it."""


@dataclass(frozen=True, slots=True)
class DiskSpec:
    """What a disk is capable of."""

    name: str
    write_bytes_per_s: int
    write_iops: int
    append: Distribution
    """Latency of one append of a page and its fsync, with what the file system writes besides, on
    an otherwise idle disk."""
    page_bytes: int = 4 * KIB
    io_bytes: int = 256 * KIB
    """The largest single I/O; a larger write counts as several."""
    throttled: bool = False
    """Whether hard ceilings in front of the device (a cloud's) limit it, not the device itself."""
    burst_ns: int = 10 * NS_PER_MS
    """How much idle time the ceilings save up. ASSUMED: no cloud publishes it."""
    longer: tuple[Longer, ...] = ()
    """Latency of longer appends and their fsync, ascending; longer ones wait for the bandwidth."""
    crowding: Crowding | None = None
    """Latency with several appends in flight; None: they do not disturb each other."""
    fetch: Distribution | None = None
    """Latency of one random read on an otherwise idle disk; None: that of an append."""
    fetch_crowding: Crowding | None = None
    """Latency with several reads in flight; None: they do not disturb each other."""

    def __post_init__(self) -> None:
        measured = self.crowding is not None or bool(self.longer)
        if measured and not isinstance(self.append, Empirical):
            raise ValueError("longer and crowding build on an append of quantiles")
        if self.fetch_crowding is not None and not isinstance(self.fetch, Empirical):
            raise ValueError("fetch_crowding builds on a fetch of quantiles")
        sizes = [self.page_bytes, *(each.size_bytes for each in self.longer)]
        if sizes != sorted(set(sizes)):
            raise ValueError(f"sizes must ascend from a page, are {sizes}")


class Disk:
    """One disk of one node. Callers round sizes to pages, and must not go back in time."""

    __slots__ = (
        "_append",
        "_budget",
        "_crowd",
        "_fetch",
        "_fetch_crowd",
        "_gathered_bytes",
        "_io_bytes",
        "background_bytes",
        "fetched_blocks",
        "fsyncs",
        "ios",
        "slowdown",
        "spec",
        "written_bytes",
    )

    def __init__(self, spec: DiskSpec, stream: Stream, fetches: Stream | None = None) -> None:
        """Args: ``fetches`` is the stream of read latencies, for a disk that is read from."""
        self.spec = spec
        self._append = Sampler(spec.append, stream)
        self._fetch = self._append
        if fetches is not None:
            self._fetch = Sampler(spec.fetch or spec.append, fetches)
        elif spec.fetch is not None:
            self._fetch = Sampler(spec.fetch, stream)
        self._crowd = self._crowded_appends(spec, stream)
        self._fetch_crowd = self._crowded_fetches(spec, fetches or stream)
        limits = (spec.write_bytes_per_s, spec.write_iops, spec.io_bytes)
        self._budget = (
            TokenBudget(*limits, spec.burst_ns) if spec.throttled else DeviceBudget(*limits)
        )
        self._io_bytes = spec.io_bytes
        self._gathered_bytes = 0
        self.slowdown = 1.0
        """What every latency is multiplied by; more than 1: the disk is ill."""
        self.written_bytes = 0
        """Bytes written, background included."""
        self.background_bytes = 0
        """Bytes written in the background."""
        self.ios = 0
        """I/Os made, background included."""
        self.fsyncs = 0
        """Synchronous writes made."""
        self.fetched_blocks = 0
        """Blocks read, one at a time."""

    @staticmethod
    def _crowded_appends(spec: DiskSpec, stream: Stream) -> CrowdedLatency | None:
        if not isinstance(spec.append, Empirical) or not (spec.crowding or spec.longer):
            return None
        return CrowdedLatency(
            spec.append,
            stream,
            shortest_bytes=spec.page_bytes,
            crowding=spec.crowding,
            longer=spec.longer,
        )

    @staticmethod
    def _crowded_fetches(spec: DiskSpec, stream: Stream) -> CrowdedLatency | None:
        if not isinstance(spec.fetch, Empirical) or spec.fetch_crowding is None:
            return None
        return CrowdedLatency(
            spec.fetch, stream, shortest_bytes=FETCH_BYTES, crowding=spec.fetch_crowding
        )

    @property
    def busy_ns(self) -> int:
        """Time that the budget was in use, so far as it has been handed out."""
        return self._budget.busy_ns

    def backlog_ns(self, now_ns: int) -> int:
        """Returns how long the background writes accepted so far need on an else idle disk."""
        return self._budget.backlog_ns(now_ns)

    def sync_write(self, now_ns: int, size_bytes: int, metadata: Metadata = NO_METADATA) -> int:
        """Returns when an append of ``size_bytes`` and its fsync will be durable, in nanoseconds.

        Several may be in flight; an engine that writes one group at a time waits by itself.

        Args:
            now_ns: when it is called.
            size_bytes: whole pages of the file.
            metadata: what the file system writes for it besides.
        """
        ios = 1 if size_bytes <= self._io_bytes else ceil_div(size_bytes, self._io_bytes)
        ios += metadata.ios
        written_bytes = size_bytes + metadata.size_bytes
        self.written_bytes += written_bytes
        self.ios += ios
        self.fsyncs += 1
        served_ns = self._budget.reserve(now_ns, written_bytes, ios)
        if self._crowd is not None:
            return self._crowded(self._crowd, now_ns, size_bytes, metadata, served_ns)
        # The drawn latency was measured with one page and its metadata: their transfer is in it.
        page_bytes = self.spec.page_bytes + metadata.size_bytes
        page_ns = self._budget.measured_ns(page_bytes, 1 + metadata.ios)
        more_ns = int(self._append.draw() * self.slowdown) - page_ns
        return served_ns + more_ns if more_ns > 0 else served_ns

    def _crowded(
        self,
        crowd: CrowdedLatency,
        now_ns: int,
        size_bytes: int,
        metadata: Metadata,
        served_ns: int,
    ) -> int:
        """Returns when a write will be durable whose latency depends on size and company."""
        latency_ns = int(crowd.draw(now_ns, size_bytes) * self.slowdown)
        # The latency was measured with the transfer of as many bytes in it, so far as was measured.
        measured_bytes = max(min(size_bytes, crowd.longest_bytes), self.spec.page_bytes)
        measured_bytes += metadata.size_bytes
        more_ns = latency_ns - self._budget.measured_ns(measured_bytes, 1 + metadata.ios)
        finish_ns = served_ns + more_ns if more_ns > 0 else served_ns
        crowd.occupy(finish_ns)
        return finish_ns

    def fetch_ns(self, now_ns: int, blocks: int) -> int:
        """Returns how long reading ``blocks`` blocks, one after the other, takes from now.

        A random read takes as long as a small append unless the disk says otherwise (assumed;
        m5d's instance store: 90 us, and 89). It counts against a cloud's ceilings, not against
        the write figures of a device.
        """
        self.fetched_blocks += blocks
        latency_ns = 0
        crowd = self._fetch_crowd
        for _ in range(blocks):
            drawn_ns = self._fetch.draw() if crowd is None else crowd.draw(now_ns, FETCH_BYTES)
            latency_ns += int(drawn_ns * self.slowdown)
        if crowd is not None:
            crowd.occupy(now_ns + latency_ns)
        if not self.spec.throttled:
            return latency_ns
        served_ns = self._budget.reserve(now_ns, blocks * FETCH_BYTES, blocks)
        return max(served_ns - now_ns, latency_ns)

    def background_write(self, now_ns: int, size_bytes: int) -> None:
        """Accepts bytes of a flush, a compaction or write-back, to be written in the background.

        They are gathered to whole I/Os, as the writers of such files do, however small the slices
        are in which they come.
        """
        self.written_bytes += size_bytes
        self.background_bytes += size_bytes
        self._gathered_bytes += size_bytes
        if self._gathered_bytes >= self._io_bytes:
            ios, self._gathered_bytes = divmod(self._gathered_bytes, self._io_bytes)
            self.ios += ios
            self._budget.add_background(now_ns, ios * self._io_bytes)
