"""The KV RocksDB of one store, as far as its disk notices: WAL, memtables, flush, compaction.

Law: what is applied enters the WAL (not synced: the raft log is) and the memtable of its column
family. Bytes leave in slices as they come in, instead of in one burst when a memtable is full: a
window shorter than a memtable's fill time would otherwise see no flush or a whole one.

In the lock CF a put, the put that overwrites it and the delete meet in one memtable and leave a
tombstone; only tombstones are flushed. (The locks alive at the moment of a flush would be too:
fewer than 0.5 % of a 32 MiB memtable.) The write and default CFs keep all they are given.

Source: tikv/tikv src/config (LockCfConfig, write buffers), raftstore/src/store/fsm/apply.rs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.cluster.disk_bytes import CAUSES, COMPACTION, FLUSH, KV_WAL, DiskBytes
from sim.protocol.encoding import KV_APPLY_BYTES, KV_BATCH_BYTES
from sim.units import KIB

if TYPE_CHECKING:
    from sim.engine import LeanEnv
    from sim.hardware.disk import Disk
    from sim.protocol.write_batch import WriteBatch

_SLICE_BYTES: Final = 512 * KIB
"""Bytes that gather before they go to the disk; a filesystem's write-back works in such pieces."""


class Amplification:
    """Bytes written to tables per byte that enters a column family's memtable.

    Attributes:
        data: default and write CF: flush (1) and every compaction after it.
        lock: tombstones of the lock CF, likewise.
    """

    __slots__ = ("data", "lock")

    def __init__(self, *, data: float, lock: float) -> None:
        self.data = data
        self.lock = lock


class KvEngine:
    """WAL and column families on one disk."""

    __slots__ = ("_amplification", "_disk", "_env", "_flush", "_ledger", "_lock_flush", "_wal")

    def __init__(
        self, env: LeanEnv, disk: Disk, amplification: Amplification, ledger: DiskBytes
    ) -> None:
        self._env = env
        self._disk = disk
        self._amplification = amplification
        self._ledger = ledger.by_place
        self._wal = [0] * CAUSES
        self._flush = [0] * CAUSES
        self._lock_flush = [0] * CAUSES

    def apply(self, batch: WriteBatch) -> None:
        """Takes one command's records: into the WAL and the memtables."""
        cause = batch.cause
        self._wal[cause] += batch.wal_bytes + KV_APPLY_BYTES
        self._flush[cause] += batch.write_cf_bytes + batch.default_cf_bytes
        self._lock_flush[cause] += batch.lock_tombstone_bytes

    def end_of_round(self, cause: int) -> None:
        """Notes the end of one write to RocksDB, and lets what has gathered go to the disk."""
        self._wal[cause] += KV_BATCH_BYTES
        if sum(self._wal) >= _SLICE_BYTES:
            self._wal = self._write(KV_WAL, self._wal)
        if sum(self._flush) >= _SLICE_BYTES:
            self._compact(self._flush, self._amplification.data)
            self._flush = [0] * CAUSES
        if sum(self._lock_flush) >= _SLICE_BYTES:
            self._compact(self._lock_flush, self._amplification.lock)
            self._lock_flush = [0] * CAUSES

    def _compact(self, entered: list[int], amplification: float) -> None:
        """Flushes what entered, and pays now for the compactions that it will go through."""
        if amplification <= 0:
            return
        flushed = min(1.0, amplification)
        self._write(FLUSH, [int(size * flushed) for size in entered])
        if amplification > 1:
            self._write(COMPACTION, [int(size * (amplification - 1)) for size in entered])

    def _write(self, place: int, parts: list[int]) -> list[int]:
        counters = self._ledger[place]
        for cause, part in enumerate(parts):
            if part:
                counters[cause].value += part
        self._disk.background_write(self._env.now_ns, sum(parts))
        return [0] * CAUSES
