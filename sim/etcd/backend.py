"""Bolt, etcd's backend: what is applied gathers in a transaction that is committed now and then.

Law: every 100 ms, if anything has been applied, one commit: CPU, the changed pages with an
fdatasync, the meta page with another. Until it is over nothing is applied.

Source: etcd-io/etcd release-3.4 mvcc/backend/backend.go (defaultBatchInterval 100 ms; the limit of
10,000 operations is reached by nobody here), batch_tx.go; etcd-io/bbolt tx.go (Commit: write,
writeMeta, one fdatasync each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.protocol.write_batch import COMMIT
from sim.raftstore.disk_bytes import FLUSH
from sim.raftstore.kv_engine import KvEngine
from sim.units import KIB, NS_PER_MS, ceil_div

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.etcd.applying import MemberApply
    from sim.etcd.costs import Priced
    from sim.etcd.go_process import GoProcess
    from sim.protocol.write_batch import WriteBatch

COMMIT_EVERY_NS: Final = 100 * NS_PER_MS
"""``defaultBatchInterval``."""

_PAGE_BYTES: Final = 4 * KIB
"""Bolt's pages are those of the operating system."""

_INNER_PAGES: Final = 4
"""Branch pages, the bucket of buckets, the consistent index and the freelist. ASSUMED."""


class Backend(KvEngine):
    """Bolt on one disk."""

    __slots__ = ("_apply", "_call", "_costs", "_dirty_bytes", "_process", "commits")

    def runs_in(self, process: GoProcess, costs: Priced, apply: MemberApply) -> None:
        """Says whose threads it uses and whom its commits keep waiting."""
        self._process = process
        self._costs = costs
        self._apply = apply
        self._dirty_bytes = 0
        self.commits = 0

    def apply(self, batch: WriteBatch) -> None:
        """Takes one put into the open transaction."""
        self._dirty_bytes += batch.wal_bytes

    def end_of_round(self, cause: int) -> None:
        """Does nothing: bytes leave with a commit."""

    def run(self) -> Generator[Event, Any, None]:
        """Commits now and then, for ever."""
        while True:
            yield self._env.timeout(COMMIT_EVERY_NS)
            if self._dirty_bytes:
                self._apply.lock()
                self._process.submit(self._costs.backend_ns(), self._write_pages, None)

    def _write_pages(self, _: None) -> None:
        pages = _INNER_PAGES + ceil_div(self._dirty_bytes, _PAGE_BYTES)
        self._dirty_bytes = 0
        self._sync(pages, self._write_meta)

    def _write_meta(self, _: None) -> None:
        self._sync(1, self._committed)

    def _committed(self, _: None) -> None:
        self.commits += 1
        self._apply.unlock()

    def _sync(self, pages: int, then: Any) -> None:
        size = pages * _PAGE_BYTES
        self._call = self._process.enter_call()
        self._ledger[FLUSH][COMMIT].value += size
        done_ns = self._disk.sync_write(self._env.now_ns, size)
        self._env.at(done_ns, self._woken, then)

    def _woken(self, then: Any) -> None:
        self._process.leave_call(self._call, self._costs.sync_ns(), then, None)
