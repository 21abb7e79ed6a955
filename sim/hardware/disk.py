"""A disk: a latency per access, and a budget of bandwidth and I/Os that all writers share.

A synchronous write waits for its share of the budget, then for a drawn latency. The latency is that
of one small append + fsync on an idle device. It may overlap with that of other writes (an SSD has
many channels), or grow with their number and its size where that was measured (``crowding``). The
budget, max(bytes / bandwidth, I/Os / IOPS), is used by one write at a time. Background writes
(flush, compaction, write-back) are cut into I/Os and served in turn with the synchronous ones: a
write waits for at most one background I/O, not the whole backlog, and the backlog still shrinks.

A read holds the device for max(bytes / bandwidth, I/Os / IOPS), too, by its own figures: a device
that does R reads or W writes a second does r and w of them together as long as r / R + w / W <= 1.

Devices of a cloud (EBS, PD) have two budgets in front of them instead, token buckets for bytes and
for I/Os, which accumulate a little of their idle time. Reads and writes take the same tokens.

Source of the sum: ScyllaDB blog, Implementing a New IO Scheduler Algorithm for Mixed Read/Write
Workloads (2022), of local NVMe disks.
"""

from dataclasses import dataclass

from sim.distributions import Distribution, Empirical, Sampler
from sim.hardware.budget import DeviceBudget, TokenBudget
from sim.hardware.crowding import CrowdedLatency, Crowding, Longer
from sim.hardware.file_system import NO_METADATA, Metadata
from sim.streams import Stream
from sim.units import KIB, NS_PER_MS, NS_PER_S, ceil_div


@dataclass(frozen=True, slots=True)
class DiskSpec:
    """What a disk is capable of."""

    name: str
    write_bytes_per_s: int
    write_iops: int
    append: Distribution
    """Latency of one append of a page and its fsync, metadata of the file system included, on an
    otherwise idle disk."""
    page_bytes: int = 4 * KIB
    io_bytes: int = 256 * KIB
    """The largest single I/O; a larger write counts as several."""
    throttled: bool = False
    """Whether hard ceilings in front of the device (a cloud's) limit it, not the device itself."""
    burst_ns: int = 10 * NS_PER_MS
    """How much idle time the ceilings accumulate. ASSUMED: no cloud publishes it."""
    longer: tuple[Longer, ...] = ()
    """Latency of longer appends and their fsync, by ascending size; beyond the last the bandwidth
    decides."""
    crowding: Crowding | None = None
    """Latency with several appends in flight; None: they do not slow each other down."""
    fetch: Distribution | None = None
    """Latency of one random read on an otherwise idle disk; None: that of an append."""
    fetch_crowding: Crowding | None = None
    """Latency with several reads in flight; None: they do not slow each other down."""
    read_bytes_per_s: int | None = None
    read_iops: int | None = None
    """What the device reads if it writes nothing; None: reads do not use it up."""

    def __post_init__(self) -> None:
        measured = self.crowding is not None or bool(self.longer)
        if measured and not isinstance(self.append, Empirical):
            raise ValueError("longer and crowding build on an append of quantiles")
        if self.fetch_crowding is not None and not isinstance(self.fetch, Empirical):
            raise ValueError("fetch_crowding builds on a fetch of quantiles")
        sizes = [self.page_bytes, *(each.size_bytes for each in self.longer)]
        if sizes != sorted(set(sizes)):
            raise ValueError(f"sizes must ascend from a page, are {sizes}")

    def read_ns(self, blocks: float, block_bytes: float) -> float:
        """Returns for how long reading blocks holds the device."""
        if self.read_bytes_per_s is None or self.read_iops is None:
            return 0.0
        size_bytes = blocks * block_bytes
        return NS_PER_S * max(size_bytes / self.read_bytes_per_s, blocks / self.read_iops)


class Disk:
    """One disk of one node. Callers round sizes up to pages; calls come in the order of time."""

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
        self._collected_bytes = 0
        self.slowdown = 1.0
        """Factor of every latency; more than 1: the disk is degraded."""
        self.written_bytes = 0
        """Bytes written, background included."""
        self.ios = 0
        """I/Os made, background included."""
        self.fsyncs = 0
        """Synchronous writes made."""

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
            spec.fetch, stream, shortest_bytes=spec.page_bytes, crowding=spec.fetch_crowding
        )

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long the budget has been in use until now, in nanoseconds."""
        return self._budget.busy_until(now_ns)

    def backlog_ns(self, now_ns: int) -> int:
        """Returns how long the background writes accepted so far would take on an idle disk."""
        return self._budget.backlog_ns(now_ns)

    def sync_write(self, now_ns: int, size_bytes: int, metadata: Metadata = NO_METADATA) -> int:
        """Returns when an append of ``size_bytes`` and its fsync will be durable, in nanoseconds.

        Several may be in flight; an engine that writes one group at a time has to wait itself.

        Args:
            now_ns: when it is called.
            size_bytes: whole pages of the file.
            metadata: what the file system writes in addition.
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
        # The latency was measured with one page and its metadata, so it includes their transfer.
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
        """Returns when a write is durable whose latency depends on its size and those in flight."""
        latency_ns = int(crowd.draw(now_ns, size_bytes) * self.slowdown)
        # The latency includes the transfer of as many bytes, up to the longest append measured.
        measured_bytes = max(min(size_bytes, crowd.longest_bytes), self.spec.page_bytes)
        measured_bytes += metadata.size_bytes
        more_ns = latency_ns - self._budget.measured_ns(measured_bytes, 1 + metadata.ios)
        finish_ns = served_ns + more_ns if more_ns > 0 else served_ns
        crowd.occupy(finish_ns)
        return finish_ns

    def fetch_ns(self, now_ns: int, blocks: int, block_bytes: int) -> int:
        """Returns how long reading ``blocks`` blocks, one after the other, takes from now.

        A random read takes as long as a small append unless the disk says otherwise (assumed;
        m5d's instance store: 90 us, and 89). It does not count in the write figures of a device.
        """
        latency_ns = 0
        crowd = self._fetch_crowd
        for _ in range(blocks):
            drawn_ns = self._fetch.draw() if crowd is None else crowd.draw(now_ns, block_bytes)
            latency_ns += int(drawn_ns * self.slowdown)
        if crowd is not None:
            crowd.occupy(now_ns + latency_ns)
        if isinstance(self._budget, TokenBudget):
            served_ns = self._budget.reserve(now_ns, blocks * block_bytes, blocks)
            return max(served_ns - now_ns, latency_ns)
        service_ns = int(self.spec.read_ns(blocks, block_bytes))
        if not service_ns:
            return latency_ns
        return self._budget.serve(now_ns, service_ns) - now_ns + max(0, latency_ns - service_ns)

    def background_write(self, now_ns: int, size_bytes: int) -> None:
        """Accepts bytes of a flush, a compaction or write-back, to be written in the background.

        They are collected into whole I/Os, as the writers of such files do, however small the
        slices are.
        """
        self.written_bytes += size_bytes
        self._collected_bytes += size_bytes
        if self._collected_bytes >= self._io_bytes:
            ios, self._collected_bytes = divmod(self._collected_bytes, self._io_bytes)
            self.ios += ios
            self._budget.add_background(now_ns, ios * self._io_bytes)
