"""RocksDB's write thread: whom a write to the KV engine waits for, and who helps whom.

Law before v6.0 (multi-batch write): one group of writes at a time inserts into the memtables. Its
writes consist of pieces of 16 records, and every thread that waits, of the group or for the next
one, takes pieces; the group ends as a whole, and what has come since is the next group. Others
begin to help when the group has inserted a piece: that reproduces what was measured of writes of 27
to 243 records, within 3 %.

Law since v6.0 (the commit pipeline): each thread inserts its own records, side by side, and a write
ends when those that began to insert before it have inserted, too; who is done first blocks until
then.

Law of both: threads that insert side by side slow each other down, by the WAL's mutex and by cache
lines of the memtables that cores take from each other (Amdahl's law: a share of each write goes one
at a time).

Source: tikv/rocksdb tikv-5.4, db/db_impl/db_impl_write.cc (MultiBatchWriteImpl),
db/write_thread.cc (AwaitState) and db/write_batch.cc (AsyncInsertInto); 21712fe42 (PebbleWriteImpl,
CommitSequenceAwait); tikv/tikv v5.4.0 engine_rocks write_batch.rs (WRITE_BATCH_LIMIT),
tikv/tikv#12060 (v6.0). Two threads of tikv-5.4 insert 1.13, 1.19, 1.58 and 1.71 times as much as
one, with 9, 27, 81 and 243 random records a write, and of v6.0's 1.72, 1.74, 1.76 and 1.85
(``python -m benchmarks.rocksdb_records``).
"""

from __future__ import annotations

from math import ceil
from typing import Final, NamedTuple

from sim.engine import Cores, LeanEnv, Process

PIECE_KEYS: Final = 16
"""Records that one thread takes at once, and that a group inserts before others help. Source:
tikv/tikv v5.4.0 engine_rocks write_batch.rs, WRITE_BATCH_LIMIT."""

CONTENTION: Final = 0.12
"""By which share of its time a thread inserts longer for each other one that inserts. Source:
measured, as above; with it two threads insert 1.79 times as much as one."""


def contended(others: float) -> float:
    """Returns how many times as long a thread inserts beside so many others."""
    return 1 + CONTENTION * others


class _Write(NamedTuple):
    """A write of a group, and who waits for its end."""

    process: Process
    work_ns: int
    records: int


class WriteGroups:
    """The groups of one store's writes before v6.0."""

    def __init__(self, env: LeanEnv) -> None:
        """Begins idle."""
        self._env = env
        self._group: list[_Write] = []
        """Those that are inserted now."""
        self._next: list[_Write] = []
        """Those that wait, while their threads help."""
        self._speed = 1.0
        """Of the threads that insert together, as a multiple of one thread's."""
        self._alone_ns = 0.0
        """What was still to insert before others help."""
        self._left_ns = 0.0
        """What was still to insert besides, as one thread's time."""
        self._since_ns = 0
        """When that was."""
        self._plans = 0
        """How often the group's end was planned; only the newest plan counts."""

    def insert(self, process: Process, work_ns: int, records: int) -> None:
        """Queues a write that takes one thread ``work_ns``; wakes the process when it has ended."""
        write = _Write(process, work_ns, records)
        if self._group:
            self._next.append(write)
            gone_ns = self._env.now_ns - self._since_ns
            alone_ns = min(self._alone_ns, gone_ns)
            self._alone_ns -= alone_ns
            self._left_ns -= (gone_ns - alone_ns) * self._speed
            self._plan()
        else:
            self._begin([write])

    def _begin(self, group: list[_Write]) -> None:
        self._group = group
        work_ns = records = 0
        for write in group:
            work_ns += write.work_ns
            records += write.records
        self._alone_ns = work_ns * min(1.0, PIECE_KEYS / max(1, records))
        self._left_ns = work_ns - self._alone_ns
        self._plan()

    def _plan(self) -> None:
        """Plans the group's end with the threads that are there now."""
        env = self._env
        threads = len(self._group) + len(self._next)
        self._speed = threads / contended(threads - 1)
        self._since_ns = env.now_ns
        self._plans += 1
        takes_ns = ceil(self._alone_ns + self._left_ns / self._speed)
        env.at(env.now_ns + max(0, takes_ns), self._end, self._plans)

    def _end(self, plan: int) -> None:
        if plan != self._plans:
            return  # Somebody has come to help since.
        ended, self._group = self._group, []
        if self._next:
            group, self._next = self._next, []
            self._begin(group)
        for write in ended:
            write.process.wake()


class _Insertion(NamedTuple):
    """When a write inserts."""

    begin_ns: int
    end_ns: int


class CommitPipeline:
    """The order in which one store's writes end since v6.0."""

    def __init__(self, env: LeanEnv, cores: Cores) -> None:
        """Begins idle; ``cores`` are what writers run on."""
        self._env = env
        self._cores = cores
        self._insertions: list[_Insertion] = []
        """Those that are still to end, one a thread at most."""

    def slowness(self, begin_ns: int) -> float:
        """Returns how many times as long a write inserts from ``begin_ns`` on as it would alone."""
        return contended(sum(each.end_ns > begin_ns for each in self._insertions))

    def insert(self, begin_ns: int, end_ns: int) -> None:
        """Takes a write that is to insert from ``begin_ns`` to ``end_ns``, not before now."""
        self._insertions.append(_Insertion(begin_ns, end_ns))

    def order_ns(self, begin_ns: int) -> int:
        """Returns how long a write that has inserted since ``begin_ns`` waits for those before."""
        now_ns = self._env.now_ns
        self._insertions = [each for each in self._insertions if each.end_ns > now_ns]
        before = [each.end_ns for each in self._insertions if each.begin_ns < begin_ns]
        return max(before) - now_ns + self._cores.wake() if before else 0
