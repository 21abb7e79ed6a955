"""The KV RocksDB of one store, as far as its disk notices: WAL, memtables, flush, compaction.

Law: what is applied enters the WAL (not synced: the raft log is) and the memtable of its column
family. Bytes leave in slices as they come in, instead of in one burst when a memtable is full: a
window shorter than a memtable's fill time would otherwise see no flush or a whole one. If the disk
does not keep up, what it still has to write grows; the engine is behind above a limit, and whoever
writes has to wait (``FlowController``).

In the lock CF a put, the put that overwrites it and the delete meet in one memtable and leave a
tombstone; only tombstones are flushed. (The locks alive at the moment of a flush would be too:
fewer than 0.5 % of a 32 MiB memtable.) The write and default CFs keep all they are given.

Source: tikv/tikv src/config (LockCfConfig, write buffers),
components/raftstore/src/store/fsm/apply.rs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sim.engine import Cores, LeanEnv
from sim.hardware.disk import Disk
from sim.protocol.encoding import KV_APPLY_BYTES, KV_BATCH_BYTES
from sim.protocol.write_batch import WriteBatch
from sim.raftstore.disk_bytes import CAUSES, COMPACTION, FLUSH, KV_WAL, DiskBytes, spread
from sim.units import KIB, NS_PER_MS, NS_PER_S

_SLICE_BYTES: Final = 512 * KIB
"""Bytes that gather before they go to the disk. ASSUMED; a filesystem's write-back works in such
pieces."""

_MOST_DEBT_NS: Final = 250 * NS_PER_MS
"""What flush and compaction may owe, as time of the disk. ASSUMED; a dozen slices of a 125 MiB/s
volume, which a disk that keeps up does not owe. One that is asked for 1.4 times what it can write
owes it after 0.6 s; a study that does not leave out as much is not settled, and says so."""


@dataclass(frozen=True)
class Amplification:
    """Bytes written to tables per byte that enters a column family's memtable."""

    data: float
    """Default and write CF: flush (1) and every compaction after it."""
    lock: float
    """Tombstones of the lock CF, likewise."""


class _Slice:
    """Bytes that gather until there are enough to be written: by cause, and in all.

    What had gathered before the simulation began is taken to have the causes of what follows.
    """

    def __init__(self, begun_bytes: int) -> None:
        self.by_cause = [0] * CAUSES
        self.total = begun_bytes

    def take(self) -> list[int]:
        """Returns the bytes by cause and begins again."""
        taken = spread(self.total, self.by_cause)
        self.by_cause = [0] * CAUSES
        self.total = 0
        return taken


class KvEngine:
    """WAL and column families on one disk."""

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        disk: Disk,
        cores: Cores,
        amplification: Amplification,
        ledger: DiskBytes,
        *,
        byte_ns: float,
        slice_phase: float,
    ) -> None:
        """Begins with empty column families.

        Args:
            env: the clock.
            disk: what is written to.
            cores: what flush and compaction run on.
            amplification: how often a byte is written.
            ledger: where bytes are entered.
            byte_ns: CPU of a byte flushed or compacted.
            slice_phase: how full the first slices are, in [0, 1).
        """
        self._env = env
        self._disk = disk
        self._cores = cores
        self._byte_ns = byte_ns
        self._amplification = amplification
        self._ledger = ledger.by_place
        begun_bytes = int(slice_phase * _SLICE_BYTES)
        self._wal = _Slice(begun_bytes)
        self._memtables = _Slice(begun_bytes)
        self._lock_memtable = _Slice(begun_bytes)
        self.is_behind = False
        """Whether more was owed than may be when a slice was last given to the disk."""

    def overdue_ns(self) -> int:
        """Returns for how long the disk alone would write what is owed above the limit."""
        return self._disk.backlog_ns(self._env.now_ns) - _MOST_DEBT_NS

    def writing_ns(self, batch: WriteBatch) -> int:
        """Returns for how long the disk alone would write what comes of a batch."""
        data_bytes = batch.write_cf_bytes + batch.default_cf_bytes
        size_bytes = (
            batch.wal_bytes
            + KV_APPLY_BYTES
            + data_bytes * self._amplification.data
            + batch.lock_tombstone_bytes * self._amplification.lock
        )
        return int(size_bytes * NS_PER_S / self._disk.spec.write_bytes_per_s)

    def apply(self, batch: WriteBatch) -> None:
        """Takes one command's records: into the WAL and the memtables."""
        cause = batch.cause
        wal, size = self._wal, batch.wal_bytes + KV_APPLY_BYTES
        wal.by_cause[cause] += size
        wal.total += size
        size = batch.write_cf_bytes + batch.default_cf_bytes
        if size:
            memtables = self._memtables
            memtables.by_cause[cause] += size
            memtables.total += size
        size = batch.lock_tombstone_bytes
        if size:
            memtable = self._lock_memtable
            memtable.by_cause[cause] += size
            memtable.total += size

    def end_of_round(self, cause: int) -> None:
        """Notes the end of one write to RocksDB; what has gathered goes to the disk."""
        wal = self._wal
        wal.by_cause[cause] += KV_BATCH_BYTES
        wal.total += KV_BATCH_BYTES
        if (
            wal.total >= _SLICE_BYTES
            or self._memtables.total >= _SLICE_BYTES
            or self._lock_memtable.total >= _SLICE_BYTES
        ):
            self._write_slices()

    def _write_slices(self) -> None:
        """Write-back of the WAL, flush and compaction, each as far as a slice has gathered."""
        if self._wal.total >= _SLICE_BYTES:
            self._write(KV_WAL, self._wal.take())
        if self._memtables.total >= _SLICE_BYTES:
            self._flush_and_compact(self._memtables.take(), self._amplification.data)
        if self._lock_memtable.total >= _SLICE_BYTES:
            self._flush_and_compact(self._lock_memtable.take(), self._amplification.lock)
        self.is_behind = self.overdue_ns() > 0

    def _flush_and_compact(self, entered: list[int], amplification: float) -> None:
        """Flushes what entered, and pays now for the compactions that it will go through."""
        if amplification <= 0:
            return
        flushed = min(1.0, amplification)
        self._write(FLUSH, [int(size * flushed) for size in entered])
        if amplification > 1:
            self._write(COMPACTION, [int(size * (amplification - 1)) for size in entered])

    def _write(self, place: int, parts: list[int]) -> None:
        counters = self._ledger[place]
        for cause, part in enumerate(parts):
            if part:
                counters[cause].value += part
        size = sum(parts)
        if place != KV_WAL:
            self._cores.background_ns += int(size * self._byte_ns)
        self._disk.background_write(self._env.now_ns, size)
