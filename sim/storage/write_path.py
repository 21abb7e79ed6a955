"""The way of a command's records into the region: the three paths of a lock, and proposals.

Law: a lock kept in memory frees its latches at once; one that is proposed keeps them until it is
applied, even if its client has been answered before, so the same transaction's prewrite queues
behind its own pipelined lock. An in-memory lock that may not be written (status, term, version,
full) falls back to a proposal and is answered after apply.

Source: tikv/tikv src/storage/txn/scheduler.rs (handle_non_persistent_write_result,
try_write_in_memory_pessimistic_locks, handle_async_write, on_write_finished).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.protocol.percolator import Acquired, lock_batch
from sim.protocol.region_errors import RegionNotFound
from sim.protocol.write_batch import LOCK, PREWRITE
from sim.storage.request import Kind, KvRequest, LockPath

if TYPE_CHECKING:
    from sim.engine import LeanEnv
    from sim.protocol.mvcc import Lock
    from sim.protocol.region_errors import RegionError
    from sim.protocol.write_batch import WriteBatch
    from sim.raftstore.peer import Peer
    from sim.server.store import Store
    from sim.storage.lock_mode import LockMode
    from sim.storage.scheduler import Scheduler
    from sim.storage.store_stats import StoreStats

_LOCK: Final = Kind.LOCK
_IN_MEMORY: Final = LockPath.IN_MEMORY


class WritePath:
    """Writes of one store."""

    __slots__ = (
        "_env",
        "_holds",
        "_overlooked",
        "_probe",
        "_scheduler",
        "_stats",
        "_store",
        "mode",
        "pending_bytes",
        "prewriting",
    )

    def __init__(
        self,
        env: LeanEnv,
        store: Store,
        scheduler: Scheduler,
        mode: LockMode,
        stats: StoreStats,
        overlooked: tuple[str, ...] = (),
    ) -> None:
        """Args: ``overlooked`` are refusals of a lock table that an ablation does not hear."""
        self._env = env
        self._store = store
        self._scheduler = scheduler
        self._probe = store.probe
        self._holds = store.holds
        self._stats = stats
        self._overlooked = overlooked
        self.mode = mode
        self.prewriting: dict[bytes, Lock] = {}
        """Locks of async-commit prewrites under way (concurrency manager)."""
        self.pending_bytes = 0
        """Writes that have been sent to Raft and are not yet applied."""

    def reset(self) -> None:
        """Forgets everything in memory: the process has died."""
        self.prewriting = {}
        self.pending_bytes = 0

    def grant(self, request: KvRequest, peer: Peer, granted: Acquired) -> None:
        """Puts locks where they belong: into memory, or into a proposal."""
        mode = self.mode
        if self._scheduler.waits.waiting:
            self._scheduler.waits.locked(granted.locks)
        if not granted.locks:
            request.path = LockPath.IN_MEMORY if mode.in_memory else LockPath.PIPELINED
            self._scheduler.answer_now(request)
            return
        if mode.in_memory:
            table = peer.locks
            refusal = table.refusal(request.term, request.region.epoch.version)
            if refusal is not None and refusal in self._overlooked:
                refusal = None
            if refusal is None and table.insert(granted.locks):
                request.path = _IN_MEMORY
                self._stats.lock_table.add(table.instance.used_bytes)
                self._scheduler.answer_now(request)
                return
            request.path = LockPath.FALLBACK
            request.fallback = refusal or "full"
            request.reply_at_proposed = mode.pipelined_fallback
            self._probe.mark(f"fallback.{request.fallback}")
        else:
            request.path = LockPath.PIPELINED if mode.pipelined else LockPath.SYNC
            request.reply_at_proposed = mode.pipelined
            if mode.gate_matters:
                self._probe.mark("gate.closed")
        self.write(request, peer, lock_batch(granted.locks))

    def write(self, request: KvRequest, peer: Peer, batch: WriteBatch) -> None:
        """Sends a batch to Raft; locks in memory that it replaces are marked deleted first."""
        request.batch = batch
        table = peer.locks
        replaces = table.map and request.kind is not _LOCK
        if replaces and table.refers_to(request.term, request.region.epoch.version):
            request.marked = table.mark_replaced(batch)
        if batch.cause == PREWRITE:
            self._probe.prewrite_ran(request)
        self._stats.proposals[batch.cause].value += 1
        self.pending_bytes += batch.raft_bytes
        if not self._holds.active or not self._holds.stops(
            "before_propose", peer.store, peer.region.region_id, self._propose, request
        ):
            self._propose(request)

    def _propose(self, request: KvRequest) -> None:
        peer = request.peer
        assert peer is not None, "a request is proposed where it was executed"
        if peer.died:
            return
        if peer.gone:
            self.refuse(request, RegionNotFound(request.region.region_id))
        else:
            self._store.raft_pool.deliver(peer, request)

    def refuse(self, request: KvRequest, error: RegionError) -> None:
        """Ends a command that the raftstore would not, or could not, carry through.

        Locks that it marked deleted stay so. If its client has been answered, nobody is told.
        """
        batch = request.batch
        assert batch is not None, "only written commands are refused"
        self._end(request, batch)
        if batch.cause == LOCK and request.replied_ns:
            self._probe.proposal_lost(request, error)
        elif not request.replied_ns:
            self._scheduler.answer(request, error)

    def _end(self, request: KvRequest, batch: WriteBatch) -> None:
        """Gives back what a write holds from its command on: room, promises, latches."""
        self.pending_bytes -= batch.raft_bytes
        if self.prewriting and request.use_async_commit:
            for key, _ in batch.lock_puts:
                self.prewriting.pop(key, None)
        self._scheduler.free_latches(request)

    def on_proposed(self, request: KvRequest, at_ns: int) -> None:
        """Notes that a poller has proposed a command at ``at_ns``."""
        request.proposed_ns = at_ns
        if request.reply_at_proposed:
            self._env.at(at_ns, self._reply_proposed, request)

    def _reply_proposed(self, request: KvRequest) -> None:
        """Answers a pipelined lock, unless the process has died meanwhile."""
        if request.peer is not None and not request.peer.died:
            self._scheduler.reply(request)

    def on_applied(self, request: KvRequest) -> None:
        """Finishes a command whose entry is applied on the replica that proposed it."""
        peer = request.peer
        assert peer is not None, "only proposed commands are applied"
        if not self._holds.active or not self._holds.stops(
            "before_finish", peer.store, peer.region.region_id, self._finish, request
        ):
            self._finish(request)

    def _finish(self, request: KvRequest) -> None:
        batch = request.batch
        if request.peer is None or request.peer.died:
            return
        assert batch is not None, "only written commands are applied"
        self._end(request, batch)
        if batch.lock_deletes and self._scheduler.waits.waiting:
            self._scheduler.waits.release(batch.lock_deletes, request.commit_ts)
        if not request.reply_at_proposed:
            self._scheduler.reply(request)
