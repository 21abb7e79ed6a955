"""A store's disks: bytes by place, the time of a log write, the budget that is used up.

A write of the log takes whole pages, and begins somewhere in a page: payload + one page less one
byte on average, and the file system's metadata if the file changes by it. Flush and compaction
follow from what enters the memtables.

Source: as ``sim.raftstore.log_engine``, ``kv_engine``, ``sim.hardware.disk``, whose sums these are.
"""

from dataclasses import dataclass
from math import exp
from typing import Final

from sim.distributions import mean_ns, squared_cv
from sim.estimate.footprint import Footprint
from sim.estimate.store_shares import StoreShare
from sim.hardware.disk import DiskSpec
from sim.hardware.file_system import FILE_SYSTEMS, metadata_share
from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES, KV_APPLY_BYTES, KV_BATCH_BYTES
from sim.raftstore.log_engine import LogFormat
from sim.scenario.resolved import Scenario
from sim.units import NS_PER_S

_LEFT_FOR_LOG: Final = 0.1
"""Of a cloud's ceilings, whatever flush and compaction ask for: they take turns with the log."""


@dataclass(frozen=True, slots=True)
class DiskLoad:
    """What one store writes and reads per second, and one write of its log."""

    fsyncs: float
    payload: float
    """Bytes of one write of the log, as stored."""
    write_bytes: float
    """With padding and metadata."""
    write_ios: float
    rewritten: float
    kv_wal: float
    flush: float
    compaction: float
    fetches: float

    def places(self) -> dict[str, float]:
        """Returns the bytes a second by place."""
        return {
            "raft_log": self.fsyncs * self.write_bytes + self.rewritten,
            "kv_wal": self.kv_wal,
            "flush": self.flush,
            "compaction": self.compaction,
        }


class DiskDemand:
    """What one store writes per transaction and per write of its log."""

    def __init__(
        self,
        scenario: Scenario,
        footprint: Footprint,
        lock_share: float,
        share: StoreShare,
        copies: float,
    ) -> None:
        """Args: ``copies`` is the part of the cluster's commands that the store applies."""
        hardware, lsm = scenario.hardware, scenario.hardware.lsm
        self._lsm, self._stores = lsm, scenario.cluster.stores
        self._copies = copies
        self._format = LogFormat.of(scenario)
        self._metadata = FILE_SYSTEMS[hardware.file_system]
        self.raft = hardware.raft_disk
        self.kv = hardware.kv_disk or hardware.raft_disk
        self.shared = hardware.kv_disk is None
        self.by_station = {"raft_disk": self.raft}
        if not self.shared:
            self.by_station["kv_disk"] = self.kv
        self.append_ns = mean_ns(self.raft.append)
        self.append_scv = squared_cv(self.raft.append)
        self.fetch_ns = mean_ns(self.kv.fetch or self.kv.append)
        self._fetches = sum(
            each.fetches * share.led.get(kind, 1.0) for kind, each in footprint.requests.items()
        )
        self._block_bytes = hardware.stored_bytes(scenario.tikv.block_bytes)
        self._proposed = footprint.proposed(lock_share)

    def appended_bytes(self, txn_per_s: float, entries: float) -> float:
        """Returns the bytes of so many entries that a store appends a second, as Raft counts."""
        return txn_per_s * self._proposed.raft * self._copies + entries * ENTRY_OVERHEAD_BYTES

    def load(self, txn_per_s: float, fsyncs: float, entries: float) -> DiskLoad:
        """Returns what a store does to its disks.

        Args:
            txn_per_s: transactions of the whole cluster.
            fsyncs: writes of this store's log per second.
            entries: that they write.
        """
        logged = self.appended_bytes(txn_per_s, entries) + entries * self._format.item_bytes
        payload = logged / max(fsyncs, 1e-9)
        payload = self._compressed(payload + self._format.batch_bytes)
        metadata = metadata_share(self._format.file, payload, self.raft.page_bytes)
        applied = txn_per_s * self._copies
        data, tombstones = applied * self._proposed.data_cf, applied * self._proposed.tombstones
        amplified = (
            (data, self._lsm.write_amplification),
            (tombstones, self._lsm.lock_write_amplification),
        )
        return DiskLoad(
            fsyncs=fsyncs,
            payload=payload,
            write_bytes=payload + self.raft.page_bytes - 1 + metadata * self._metadata.size_bytes,
            write_ios=1 + metadata * self._metadata.ios,
            rewritten=fsyncs * payload * self._format.rewrite,
            kv_wal=applied * (self._proposed.wal + self._proposed.count * KV_APPLY_BYTES)
            + min(entries, applied * self._proposed.count) * KV_BATCH_BYTES,
            flush=sum(size * min(1.0, factor) for size, factor in amplified),
            compaction=sum(size * max(0.0, factor - 1) for size, factor in amplified),
            fetches=txn_per_s * self._fetches / self._stores,
        )

    def _compressed(self, payload: float) -> float:
        """Groups vary: as if exponential, the bytes that come in large ones are compressed."""
        large = self._format.compress_above_bytes / payload
        return payload * (1 - (1 + large) * exp(-large) * (1 - self._format.compression))

    def write_ns(self, load: DiskLoad) -> float:
        """Returns how long one append + fsync takes; one page is in the latency of an append."""
        disk = self.raft
        if not disk.throttled:
            return self.append_ns + (load.payload - 1) / disk.write_bytes_per_s * NS_PER_S
        background, reads = self._background(load, disk)
        left_bytes = disk.write_bytes_per_s - background - reads * self._block_bytes
        left_ios = disk.write_iops - background / disk.io_bytes - reads
        apart = NS_PER_S * max(
            load.write_bytes / max(left_bytes, _LEFT_FOR_LOG * disk.write_bytes_per_s),
            load.write_ios / max(left_ios, _LEFT_FOR_LOG * disk.write_iops),
        )
        used = load.fsyncs * apart / NS_PER_S
        # A bucket of idle time runs dry the more often the less is left (diffusion).
        dry = exp(-2 * max(0.0, 1 - used) * disk.burst_ns / apart)
        return self.append_ns + dry * max(0.0, apart - self.append_ns)

    def _background(self, load: DiskLoad, disk: DiskSpec) -> tuple[float, float]:
        """Returns (bytes written in the background, blocks read) on a disk, per second."""
        of_kv = load.kv_wal + load.flush + load.compaction
        if self.shared:
            return load.rewritten + of_kv, load.fetches
        return (load.rewritten, 0.0) if disk is self.raft else (of_kv, load.fetches)

    def used(self, load: DiskLoad, disk: DiskSpec) -> tuple[float, float]:
        """Returns (share of a disk's budget that is used up, I/Os per second)."""
        per_byte, per_io = 1 / disk.write_bytes_per_s, 1 / disk.write_iops
        beside_bytes, beside_ios = self._beside_log(load, disk)
        size, ios = self._with_log(load, disk)
        if not disk.throttled:
            one = max(load.write_bytes * per_byte, load.write_ios * per_io)
            one_io = max(disk.io_bytes * per_byte, per_io)
            writes = self._fsyncs(load, disk) * one + beside_ios * one_io
            return writes + self._read_share(load, disk), ios
        others = max(beside_bytes * per_byte, beside_ios * per_io)
        # Writes of the log that wait grow instead: they never ask for more than is let in.
        return min(max(size * per_byte, ios * per_io), max(1.0, others)), ios

    def limit(self, load: DiskLoad, disk: DiskSpec) -> str:
        """Returns which of a disk's figures is used up first, ``3,000 I/Os a second``."""
        if self._read_share(load, disk) > 0.5:
            return "reads"
        size, ios = self._with_log(load, disk)
        if size / disk.write_bytes_per_s > ios / disk.write_iops:
            return f"{disk.write_bytes_per_s / 1e6:,.0f} MB/s"
        return f"{disk.write_iops:,} I/Os a second"

    def _with_log(self, load: DiskLoad, disk: DiskSpec) -> tuple[float, float]:
        """Returns (bytes, I/Os) a second on a disk, but for a device's reads."""
        size, ios = self._beside_log(load, disk)
        fsyncs = self._fsyncs(load, disk)
        return size + fsyncs * load.write_bytes, ios + fsyncs * load.write_ios

    def _beside_log(self, load: DiskLoad, disk: DiskSpec) -> tuple[float, float]:
        """Returns them without the log's writes; a device's reads take nothing from writes."""
        background, reads = self._background(load, disk)
        reads *= disk.throttled
        return background + reads * self._block_bytes, background / disk.io_bytes + reads

    def _fsyncs(self, load: DiskLoad, disk: DiskSpec) -> float:
        return load.fsyncs if disk is self.raft else 0.0

    def asked(self, load: DiskLoad, disk: DiskSpec) -> float:
        """Returns the share of a disk's budget that is asked for, however few the writes are.

        The more wait for the log, the more go with one write: only their bytes are always written.
        """
        size, ios = self._beside_log(load, disk)
        size += self._fsyncs(load, disk) * load.payload
        writes = max(size / disk.write_bytes_per_s, ios / disk.write_iops)
        return writes + self._read_share(load, disk)

    def _read_share(self, load: DiskLoad, disk: DiskSpec) -> float:
        """Returns the share of a device's time that reads take; a cloud's take tokens instead."""
        _, reads = self._background(load, disk)
        return disk.read_ns(reads, self._block_bytes) / NS_PER_S
