"""RocksDB's write thread: writes to the KV engine take turns, before v6.0.

Law: one write group at a time inserts into the memtables, and several threads of a group insert
hardly faster than one, so a write holds the engine for as long as its records take one thread, and
the others of the apply pool wait. Who waits spins for a while before it blocks; a thread that has
blocked must be woken when its turn comes. Since v6.0 (the commit pipeline) threads insert side by
side, and only what becomes visible when has an order.

Source: tikv/rocksdb 6.4.tikv, db/db_impl/db_impl_write.cc (MultiBatchWriteImpl; PebbleWriteImpl
since v6.0) and db/write_thread.cc (AwaitState); tikv/tikv#6724 ("there are only one group writing",
waits of apply threads) and #12059; tikv/rocksdb#111, batches of 100: two, four and eight threads
insert 0.8, 0.9 and 1.3 times as much as one; tikv/tikv#12060 (v6.0).
"""

from __future__ import annotations

from typing import Final

from sim.engine import Cores, LeanEnv
from sim.units import NS_PER_US

SPIN_NS: Final = 100 * NS_PER_US
"""Source: RocksDB include/rocksdb/options.h, write_thread_max_yield_usec."""


class WriteThread:
    """The turns of one store's writes, first come first served."""

    def __init__(self, env: LeanEnv, cores: Cores) -> None:
        """Begins idle; ``cores`` are what writers run on."""
        self._env = env
        self._cores = cores
        self._free_ns = 0
        self._held_ns = 0
        """For how long writes hold the engine, those that have a turn already included."""

    def join(self, ready_ns: int, work_ns: int, *, takes_turns: bool) -> tuple[int, int]:
        """Queues a write.

        Args:
            ready_ns: how long from now the caller works until it comes; whoever comes before it,
                but queues later, has its turn later.
            work_ns: CPU of the write.
            takes_turns: whether it waits for those before it.

        Returns:
            How long the caller waits for its turn then, and how long the write takes.
        """
        cores, comes_ns = self._cores, self._env.now_ns + ready_ns
        insert_ns = cores.hold(work_ns, cores.slowness())
        if not takes_turns:
            return 0, insert_ns
        wait_ns = max(0, self._free_ns - comes_ns)
        handed_over_ns = cores.wake() if wait_ns > SPIN_NS else 0
        self._free_ns = comes_ns + wait_ns + handed_over_ns + insert_ns
        self._held_ns += handed_over_ns + insert_ns
        return wait_ns + handed_over_ns, insert_ns

    def held_until(self, now_ns: int) -> int:
        """Returns for how long a write has held the engine until now."""
        return self._held_ns - max(0, self._free_ns - now_ns)
