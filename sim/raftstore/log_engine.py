"""The raft log of one store: writers join a group, one group is appended and synced at a time.

Law: while one append + fsync is in flight, whoever comes next waits and is written with all others
that wait. Nobody chooses the group's size; it follows from the load and from the disk. A sync
writes whole pages, so a group's padding follows from its size and from where the log ends, and
what the file system needs to find them again.

``raftdb`` is a RocksDB: its WAL grows and is synced, and its memtable is flushed later (bytes
again). ``raft-engine`` writes once, into preallocated or recycled files, and compresses large
batches.

Source: RocksDB ``db/write_thread.cc`` (write groups), ``include/rocksdb/env.h``
(``fallocate_with_keep_size``; a WAL's size grows with each append), tikv/tikv#6486 (TiKV's do not
recycle logs); tikv/raft-engine ``src/log_batch.rs``, ``src/engine.rs``, ``src/file_pipe_log``;
tikv/tikv components/raftstore/src/store/async_io/write.rs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sim.engine import UNTIL_WOKEN, Cores, LeanEnv, Story
from sim.hardware.disk import Disk
from sim.hardware.file_system import FileSystemName, LogFile, metadata_of
from sim.protocol.encoding import (
    ENTRY_OVERHEAD_BYTES,
    RAFT_ENGINE_BATCH_BYTES,
    RAFT_ENGINE_ITEM_BYTES,
    RAFTDB_BATCH_BYTES,
    RAFTDB_ITEM_BYTES,
)
from sim.protocol.raft.log import Entry
from sim.protocol.write_batch import ADMIN
from sim.raftstore.disk_bytes import CAUSES, RAFT_LOG, DiskBytes, spread
from sim.record.recorder import Counter
from sim.scenario.resolved import Scenario
from sim.scenario.schema.hardware import CpuCosts
from sim.scenario.schema.tikv import Tikv
from sim.units import MIB

_HARD_STATE_BYTES: Final = 40
"""A replica's term and vote as a record of the raft engine (raft_serverpb RaftLocalState)."""

_REWRITE_SLICE_BYTES: Final = MIB
"""What of raftdb's memtable is flushed at a time. ASSUMED; it only spreads the bytes."""


_Writer = tuple[Callable[[Any], object], Any]
"""What is called, with which argument, when a writer's entries are durable."""


def record_ns(tikv: Tikv, costs: CpuCosts) -> int:
    """Returns the CPU of a record of the log's engine: of a put into raftdb, none in raft-engine.

    An entry is a record when it is appended, with its region's state as another, and one more when
    it is deleted.

    Source: tikv/tikv components/engine_rocks/src/raft_engine.rs (append_impl, gc_impl).
    """
    return 0 if tikv.raft_engine_enable else costs.raftdb_record_ns


class LogFormat:
    """What an engine adds to the entries it is given, and what it writes them to.

    Attributes:
        file: what a group is appended to.
        file_system: where that lies.
        item_bytes: framing of one region's entry in a batch.
        batch_bytes: framing of one write group.
        compression: stored bytes per byte of a group above ``compress_above_bytes``.
        rewrite: bytes written again, in the background, per byte of log (raftdb's flush).
    """

    def __init__(
        self,
        *,
        raft_engine: bool,
        file: LogFile,
        file_system: FileSystemName,
        compression: float,
        compress_above_bytes: int,
        rewrite: float,
    ) -> None:
        self.file = file
        self.file_system = file_system
        self.item_bytes = RAFT_ENGINE_ITEM_BYTES if raft_engine else RAFTDB_ITEM_BYTES
        self.batch_bytes = RAFT_ENGINE_BATCH_BYTES if raft_engine else RAFTDB_BATCH_BYTES
        self.compression = compression if raft_engine else 1.0
        self.compress_above_bytes = compress_above_bytes
        self.rewrite = 0.0 if raft_engine else rewrite

    @classmethod
    def of(cls, scenario: Scenario) -> LogFormat:
        """Returns what the stores of a scenario log in."""
        tikv, hardware = scenario.tikv, scenario.hardware
        return cls(
            raft_engine=tikv.raft_engine_enable,
            file=tikv.log_file,
            file_system=hardware.file_system,
            compression=hardware.lsm.raft_engine_compression,
            compress_above_bytes=tikv.compress_above_bytes,
            rewrite=hardware.lsm.raftdb_rewrite,
        )


class LogEngine:
    """Write groups on one disk."""

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        disk: Disk,
        log_format: LogFormat,
        ledger: DiskBytes,
        entry_bytes: list[Counter],
        *,
        cores: Cores | None = None,
        flushed_byte_ns: float = 0.0,
        slice_phase: float = 0.0,
    ) -> None:
        """Begins with nothing to write.

        Args:
            env: the clock.
            disk: what is written to.
            log_format: what is added to entries.
            ledger: where bytes are entered.
            entry_bytes: counts, by cause, entries before framing, padding, compression.
            cores: whose threads write, and have to be woken; None: nobody has to be.
            flushed_byte_ns: CPU of a byte of raftdb's flush, which no writer waits for.
            slice_phase: how full the first slice of raftdb's flush is, in [0, 1).
        """
        self._env = env
        self._disk = disk
        self._format = log_format
        self._counters = ledger.by_place[RAFT_LOG]
        self._entry_bytes = entry_bytes
        self._page = disk.spec.page_bytes
        self._cores = cores
        self._flushed_byte_ns = flushed_byte_ns
        self._offset = 0
        self._writers: list[_Writer] = []
        """Who waits for the next group."""
        self._idle = False
        self._by_cause = [0] * CAUSES
        self._rewrite_due = [0] * CAUSES
        self._rewrite_bytes = int(slice_phase * _REWRITE_SLICE_BYTES)
        self.entries = 0
        self.fsyncs = 0
        self._writing_ns = self._durable_ns = 0
        """How long all groups take, and when the last one is durable."""
        self._process = env.process(self._run())

    def writing_until(self, now_ns: int) -> int:
        """Returns for how long an append + fsync has been in flight until now."""
        return self._writing_ns - max(0, self._durable_ns - now_ns)

    def write(
        self,
        entries: list[Entry],
        fn: Callable[[Any], object],
        arg: object,
        *,
        hard_states: int = 0,
    ) -> None:
        """Joins the next group with ``entries`` and calls ``fn(arg)`` when they are durable.

        ``hard_states`` is how many replicas' terms and votes are to be written besides.
        """
        by_cause, entry_bytes = self._by_cause, self._entry_bytes
        item_bytes = self._format.item_bytes
        for entry in entries:
            commands: list[Any] = entry.payload
            if len(commands) == 1:  # As most often: all of it has one cause.
                cause, size = commands[0].batch.cause, entry.size_bytes
            else:
                cause, size = ADMIN, ENTRY_OVERHEAD_BYTES
                for command in commands:
                    batch = command.batch
                    cause = batch.cause
                    by_cause[cause] += batch.raft_bytes
                    entry_bytes[cause].value += batch.raft_bytes
            by_cause[cause] += size + item_bytes
            entry_bytes[cause].value += size
        by_cause[ADMIN] += hard_states * _HARD_STATE_BYTES
        self.entries += len(entries)
        self._writers.append((fn, arg))
        if self._idle:
            self._process.wake()

    def _run(self) -> Story:
        """Appends and syncs, group after group."""
        group: list[_Writer] = []
        while True:
            if not group and not self._writers:
                self._idle = True
                yield UNTIL_WOKEN
                self._idle = False
            written, group = group, self._writers
            self._writers = []
            finish_ns = self._append(len(group))
            if written and group and self._cores:
                finish_ns += self._cores.wake()
            self._tell(written)
            if group:
                yield finish_ns - self._env.now_ns

    def _tell(self, written: list[_Writer]) -> None:
        """Tells writers that they are durable; who writes again joins the group after the next.

        Who has led goes on at once, those that it led have to be woken.
        """
        for led, (fn, arg) in enumerate(written):
            if led and self._cores:
                self._env.at(self._env.now_ns + self._cores.wake(), fn, arg)
            else:
                fn(arg)

    def _append(self, writers: int) -> int:
        """Writes what has come since the last group; returns when it is durable."""
        if not writers:
            return 0
        weights = self._by_cause
        self._by_cause = [0] * CAUSES
        payload = sum(weights) + self._format.batch_bytes
        if payload > self._format.compress_above_bytes:
            payload = int(payload * self._format.compression)
        begun = self._offset > 0  # The first page has been written before.
        end = self._offset + payload
        pages = (end - 1) // self._page - self._offset // self._page + 1
        self._offset = end % self._page
        size = pages * self._page
        metadata = metadata_of(self._format.file, pages - begun, self._format.file_system)
        self._charge(size + metadata.size_bytes, weights)
        if self._format.rewrite:
            self._rewrite(payload, weights)
        now_ns = self._env.now_ns
        finish_ns = self._disk.sync_write(now_ns, size, metadata)
        self.fsyncs += 1
        self._writing_ns += finish_ns - now_ns
        self._durable_ns = finish_ns
        return finish_ns

    def _charge(self, written: int, weights: list[int]) -> None:
        counters = self._counters
        for cause, part in enumerate(spread(written, weights)):
            if part:
                counters[cause].value += part

    def _rewrite(self, payload: int, weights: list[int]) -> None:
        """Flushes raftdb's memtable in slices, as its log grows."""
        due = self._rewrite_due
        for cause, weight in enumerate(weights):
            if weight:
                due[cause] += weight
        self._rewrite_bytes += payload
        if self._rewrite_bytes >= _REWRITE_SLICE_BYTES:
            parts = spread(int(self._rewrite_bytes * self._format.rewrite), due)
            self._rewrite_due = [0] * CAUSES
            self._rewrite_bytes = 0
            for cause, part in enumerate(parts):
                self._counters[cause].value += part
            size = sum(parts)
            if self._cores:
                self._cores.background_ns += int(size * self._flushed_byte_ns)
            self._disk.background_write(self._env.now_ns, size)
