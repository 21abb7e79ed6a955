"""RocksDB's write thread: whom a write to the KV engine waits for.

Law before v6.0: one write group at a time inserts into the memtables, and several threads of a
group insert hardly faster than one, so a write holds the engine for as long as its records take one
thread, and the others of the apply pool wait. Who waits spins for a while before it blocks; a
thread that has blocked must be woken when its turn comes.

Law since v6.0 (the commit pipeline): threads insert side by side, and a write ends when those that
began to insert before it have inserted, too; who is done first blocks until then.

Source: tikv/rocksdb 6.4.tikv, db/db_impl/db_impl_write.cc (MultiBatchWriteImpl, PebbleWriteImpl)
and db/write_thread.cc (AwaitState, CommitSequenceAwait); tikv/tikv#6724 ("there are only one group
writing", waits of apply threads) and #12059; tikv/rocksdb#111, batches of 100: two, four and eight
threads insert 0.8, 0.9 and 1.3 times as much as one; tikv/tikv#12060 (v6.0).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sim.engine import Cores, LeanEnv
from sim.units import NS_PER_US

SPIN_NS: Final = 100 * NS_PER_US
"""Source: RocksDB include/rocksdb/options.h, write_thread_max_yield_usec."""


class WriteTurn(NamedTuple):
    """How long one of the writes that take turns waits and inserts, in nanoseconds."""

    wait_ns: int
    insert_ns: int


class _Insertion(NamedTuple):
    """When one of the writes that go side by side inserts."""

    begin_ns: int
    end_ns: int


class WriteThread:
    """The order of one store's writes, first come first served."""

    def __init__(self, env: LeanEnv, cores: Cores) -> None:
        """Begins idle; ``cores`` are what writers run on."""
        self._env = env
        self._cores = cores
        self._free_ns = 0
        """When all writes that have a turn have ended."""
        self._held_ns = 0
        """For how long writes hold the engine, those that have a turn already included."""
        self._insertions: list[_Insertion] = []
        """Those side by side that are still to end, one a thread at most."""

    def in_turn(self, work_ns: int) -> WriteTurn:
        """Queues a write of ``work_ns`` of CPU that begins when those before it have ended."""
        cores = self._cores
        insert_ns = cores.hold(work_ns, cores.slowness())
        wait_ns = max(0, self._free_ns - self._env.now_ns)
        handed_over_ns = cores.wake() if wait_ns > SPIN_NS else 0
        self._free_ns = self._env.now_ns + wait_ns + handed_over_ns + insert_ns
        self._held_ns += handed_over_ns + insert_ns
        return WriteTurn(wait_ns + handed_over_ns, insert_ns)

    def side_by_side(self, begin_ns: int, end_ns: int) -> None:
        """Takes a write that is to insert from ``begin_ns`` to ``end_ns``, not before now."""
        self._insertions.append(_Insertion(begin_ns, end_ns))

    def order_ns(self, begin_ns: int) -> int:
        """Returns how long a write that has inserted since ``begin_ns`` waits for those before."""
        now_ns = self._env.now_ns
        self._insertions = [each for each in self._insertions if each.end_ns > now_ns]
        before = [each.end_ns for each in self._insertions if each.begin_ns < begin_ns]
        return max(before) - now_ns + self._cores.wake() if before else 0

    def held_until(self, now_ns: int) -> int:
        """Returns for how long writes that take turns have held the engine until now."""
        return self._held_ns - max(0, self._free_ns - now_ns)
