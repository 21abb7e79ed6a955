"""A store's disks: bytes by place, the time of a log write, the budget that is used up.

Law: a write of the log takes whole pages, and begins somewhere in a page: payload + one page less
one byte, on average, and the file system's metadata if the file changes by it. Flush and compaction
follow from what enters the memtables.

Source: as ``sim.raftstore.log_engine``, ``kv_engine``, ``sim.hardware.disk``, whose sums these are.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Final

from sim.estimate.moments import time_of
from sim.hardware.disk import FETCH_BYTES
from sim.hardware.file_system import FILE_SYSTEMS, metadata_share
from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES, KV_APPLY_BYTES, KV_BATCH_BYTES
from sim.raftstore.log_engine import LogFormat
from sim.units import KIB, NS_PER_S

if TYPE_CHECKING:
    from sim.estimate.footprint import Footprint
    from sim.estimate.store_load import StoreLoad
    from sim.hardware.disk import DiskSpec
    from sim.scenario.resolved import Scenario

_COMPRESS_ABOVE: Final = 8 * KIB
_LEFT: Final = 0.1
PLACES: Final = ("raft_log", "kv_wal", "flush", "compaction")


class DiskLoad:
    """What one store writes per transaction and per write of its log."""

    def __init__(self, scenario: Scenario, footprint: Footprint, lock_share: float) -> None:
        hardware, lsm = scenario.hardware, scenario.hardware.lsm
        self._scenario = scenario
        self._format = LogFormat(
            raft_engine=scenario.tikv.raft_engine_enable,
            file=scenario.tikv.log_file,
            file_system=hardware.file_system,
            compression=lsm.raft_engine_compression,
            rewrite=lsm.raftdb_rewrite,
        )
        self.raft = hardware.raft_disk
        self._metadata = FILE_SYSTEMS[hardware.file_system]
        self._blocks = sum(each.blocks for each in footprint.requests.values())
        """Fetched by one transaction."""
        self.kv = hardware.kv_disk or hardware.raft_disk
        self.append = time_of(self.raft.append)
        self.fetch = time_of(self.kv.fetch or self.kv.append)
        self.shared = hardware.kv_disk is None
        share = {kind: lock_share if kind == "lock" else 1.0 for kind in footprint.commands}
        self._copies = scenario.cluster.replicas / scenario.cluster.stores
        """Of a cluster's commands, the part that one store logs."""
        self.applied_copies = self._copies
        """Likewise, the part that it applies in the measured time."""

        def total(what: str) -> float:
            parts = [
                float(getattr(each, what)) * share[kind]
                for kind, each in footprint.commands.items()
            ]
            return sum(parts)

        self._commands, self._raft_bytes = total("count"), total("raft")
        self._wal_bytes = total("wal") + self._commands * KV_APPLY_BYTES
        self._data_bytes, self._tombstone_bytes = total("data_cf"), total("tombstones")
        framing = ENTRY_OVERHEAD_BYTES + self._format.item_bytes
        self._framing = framing
        self.entry_bytes = (
            self._raft_bytes / self._commands + framing if self._commands else float(framing)
        )
        """Of one entry with one command, framing included."""

    def _payload(self, fsyncs: float, entries: float, txn_per_s: float) -> float:
        """Returns the mean bytes of one write of the log."""
        if not fsyncs:
            return 0.0
        requests = txn_per_s * self._raft_bytes * self._copies
        payload = (requests + entries * self._framing) / fsyncs + self._format.batch_bytes
        # Groups vary: as if exponential, the part of the bytes that comes in large ones is stored
        # compressed.
        large = (1 + _COMPRESS_ABOVE / payload) * exp(-_COMPRESS_ABOVE / payload)
        return payload * (1 - large * (1 - self._format.compression))

    def _write(self, payload: float) -> tuple[float, float]:
        """Returns mean bytes and I/Os of one write of the log, metadata included."""
        share = metadata_share(self._format.file, payload, self.raft.page_bytes)
        size = payload + self.raft.page_bytes - 1
        return size + share * self._metadata.size_bytes, 1 + share * self._metadata.ios

    def places(self, load: StoreLoad) -> dict[str, float]:
        """Returns the bytes a second that one store writes, by place."""
        lsm = self._scenario.hardware.lsm
        payload = self._payload(load.fsyncs_per_s, load.entries_per_s, load.txn_per_s)
        padding = self._write(payload)[0] - payload
        per_s = load.txn_per_s * self.applied_copies
        amplified = (
            (self._data_bytes, lsm.write_amplification),
            (self._tombstone_bytes, lsm.lock_write_amplification),
        )
        wal = per_s * self._wal_bytes + min(load.entries_per_s, per_s * self._commands) * (
            KV_BATCH_BYTES
        )
        return {
            "raft_log": load.fsyncs_per_s * (payload * (1 + self._format.rewrite) + padding),
            "kv_wal": wal,
            "flush": per_s * sum(size * min(1.0, factor) for size, factor in amplified),
            "compaction": per_s * sum(size * max(0.0, factor - 1) for size, factor in amplified),
        }

    def _background(self, load_per_s: float, payload: float, fsyncs: float) -> tuple[float, float]:
        """Returns the bytes a second written in the background: to the raft disk, the KV disk."""
        lsm = self._scenario.hardware.lsm
        per_s = load_per_s * self.applied_copies
        kv = per_s * (
            self._wal_bytes
            + self._data_bytes * lsm.write_amplification
            + self._tombstone_bytes * lsm.lock_write_amplification
        )
        rewritten = fsyncs * payload * self._format.rewrite
        return (rewritten + kv, 0.0) if self.shared else (rewritten, kv)

    def _fetched(self, txn_per_s: float) -> float:
        """Returns the blocks a second that one store fetches."""
        return txn_per_s * self._blocks / self._scenario.cluster.stores

    def write_ns(self, fsyncs: float, entries: float, txn_per_s: float) -> float:
        """Returns how long one append + fsync takes, with what it waits for on the device."""
        disk = self.raft
        payload = self._payload(fsyncs, entries, txn_per_s)
        size, ios = self._write(payload)
        background, _ = self._background(txn_per_s, payload, fsyncs)
        if disk.throttled:
            apart = self._admitted_ns(size, ios, background, txn_per_s)
            used = fsyncs * apart / NS_PER_S
            # A bucket of idle time runs dry the more often the less is left (diffusion).
            dry = exp(-2 * max(0.0, 1 - used) * disk.burst_ns / apart)
            return self.append.mean + dry * max(0.0, apart - self.append.mean)
        transfer = max(size / disk.write_bytes_per_s, ios / disk.write_iops)
        measured = size - payload + 1  # A page and its metadata.
        page = max(measured / disk.write_bytes_per_s, ios / disk.write_iops)
        one_io = max(disk.io_bytes / disk.write_bytes_per_s, 1 / disk.write_iops)
        met = min(1.0, background / disk.io_bytes * one_io)
        return self.append.mean + (transfer - page + met * one_io / 2) * NS_PER_S

    def _admitted_ns(self, size: float, ios: float, background: float, txn_per_s: float) -> float:
        """Returns how far apart a cloud's ceilings let writes of the log in, one after the other.

        What flush, compaction and reads take of them is not left for the log, but for a tenth: they
        take turns with it.
        """
        disk = self.raft
        reads = self._fetched(txn_per_s) if self.shared else 0.0
        left_bytes = disk.write_bytes_per_s - background - reads * FETCH_BYTES
        left_ios = disk.write_iops - background / disk.io_bytes - reads
        return NS_PER_S * max(
            size / max(left_bytes, _LEFT * disk.write_bytes_per_s),
            ios / max(left_ios, _LEFT * disk.write_iops),
        )

    def fill(self, load: StoreLoad) -> None:
        """Enters the use of the disks into ``load``."""
        payload = self._payload(load.fsyncs_per_s, load.entries_per_s, load.txn_per_s)
        write = self._write(payload)
        raft, kv = self._background(load.txn_per_s, payload, load.fsyncs_per_s)
        fetches = self._fetched(load.txn_per_s)
        load.busy["raft_log"] = load.fsyncs_per_s * load.write_ns / NS_PER_S
        others = fetches if self.shared else 0.0
        used = _used(self.raft, load.fsyncs_per_s, write, raft, others)
        if self.raft.throttled:
            # Writes of the log that wait grow instead: they never ask for more than is let in.
            used = min(used, max(1.0, _used(self.raft, 0.0, write, raft, others)))
        load.busy["raft_disk"] = used
        load.servers["raft_log"] = load.servers["raft_disk"] = 1
        if not self.shared:
            load.busy["kv_disk"] = _used(self.kv, 0.0, (0.0, 0.0), kv, fetches)
            load.servers["kv_disk"] = 1

    def ios_per_s(self, load: StoreLoad, name: str) -> float:
        """Returns the I/Os a second of ``raft_disk`` or ``kv_disk``, a cloud's reads included."""
        disk = self.raft if name == "raft_disk" else self.kv
        payload = self._payload(load.fsyncs_per_s, load.entries_per_s, load.txn_per_s)
        raft, kv = self._background(load.txn_per_s, payload, load.fsyncs_per_s)
        background = raft if name == "raft_disk" else kv
        reads = self._fetched(load.txn_per_s) if disk.throttled else 0.0
        if name == "raft_disk":
            reads = reads if self.shared else 0.0
            return load.fsyncs_per_s * self._write(payload)[1] + background / disk.io_bytes + reads
        return background / disk.io_bytes + reads


def _used(
    disk: DiskSpec, writes: float, write: tuple[float, float], background: float, reads: float
) -> float:
    """Returns the share of a disk's budget that is used up; a ``write`` is its bytes and I/Os."""
    size, write_ios = write
    ios = background / disk.io_bytes
    per_byte, per_io = 1 / disk.write_bytes_per_s, 1 / disk.write_iops
    if disk.throttled:  # Two buckets, both filled all the time; the fuller one counts.
        used_bytes = (writes * size + background + reads * FETCH_BYTES) * per_byte
        return max(used_bytes, (writes * write_ios + ios + reads) * per_io)
    one_io = max(disk.io_bytes * per_byte, per_io)
    return writes * max(size * per_byte, write_ios * per_io) + ios * one_io
