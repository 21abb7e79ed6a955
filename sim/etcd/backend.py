"""Bolt, etcd's backend: what is applied gathers in a transaction that is committed now and then.

Invariant: every 100 ms, if anything has been applied, one commit: CPU, the changed pages with an
fdatasync, the meta page with another. Until it is over nothing is applied. (A real member's 100 ms
begin when a commit ends, so that members drift apart; here all commit at the same moments.)

Source: etcd-io/etcd release-3.4 mvcc/backend/backend.go (defaultBatchInterval 100 ms; the limit of
10,000 operations is reached by nobody here), batch_tx.go; etcd-io/bbolt tx.go (Commit: write,
writeMeta, one fdatasync each).
"""

from functools import partial
from typing import Final

from sim.engine.environment import Call, LeanEnv
from sim.etcd.costs import Priced
from sim.etcd.goroutine import Body, Mutex, Sleep, SystemCall
from sim.etcd.put import PUT_CAUSE, Put
from sim.hardware.disk import Disk
from sim.raftstore.disk_bytes import FLUSH, DiskBytes
from sim.units import KIB, NS_PER_MS, ceil_div

COMMIT_EVERY_NS: Final = 100 * NS_PER_MS
"""``defaultBatchInterval``."""

_PAGE_BYTES: Final = 4 * KIB
"""Bolt's pages are those of the operating system."""

_INNER_PAGES: Final = 4
"""Branch pages, the bucket of buckets, the consistent index and the freelist. ASSUMED."""


class Backend:
    """Bolt on one disk. What a crash takes from its open transaction comes back from Raft's log."""

    def __init__(self, env: LeanEnv, disk: Disk, ledger: DiskBytes, costs: Priced) -> None:
        self._env = env
        self._disk = disk
        self._written = ledger.by_place[FLUSH][PUT_CAUSE]
        self._costs = costs
        self._dirty_bytes = 0
        self.versions: dict[bytes, int] = {}
        """By key: the greatest of its puts; concurrent ones may be applied in another order."""
        self.open()

    def open(self) -> None:
        """Begins when its process does: nobody holds the lock."""
        self.batch_tx = Mutex()
        """Held by whoever applies, and by a commit."""

    def apply(self, put: Put) -> None:
        """Takes one put into the open transaction."""
        self.versions[put.key] = max(put.version, self.versions.get(put.key, 0))
        self._dirty_bytes += put.sizes.backend_bytes

    def commit_regularly(self) -> Body:
        """Commits for ever, in a goroutine of its own."""
        while True:
            yield Sleep(COMMIT_EVERY_NS - self._env.now_ns % COMMIT_EVERY_NS)
            if self._dirty_bytes:
                yield self.batch_tx
                yield self._costs.backend_ns()
                pages = _INNER_PAGES + ceil_div(self._dirty_bytes, _PAGE_BYTES)
                self._dirty_bytes = 0
                yield SystemCall(partial(self._sync, pages), self._costs.sync_ns)
                yield SystemCall(partial(self._sync, 1), self._costs.sync_ns)
                self.batch_tx.unlock()

    def _sync(self, pages: int, then: Call) -> None:
        size_bytes = pages * _PAGE_BYTES
        self._written.value += size_bytes
        self._env.at(self._disk.sync_write(self._env.now_ns, size_bytes), then, None)
