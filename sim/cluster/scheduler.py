"""The transaction layer of one store: latches, pools, commands, and the three lock paths.

Law: a command runs with the latches of its keys. A lock kept in memory frees them at once; one
that is proposed keeps them until it is applied, even if its client has been answered before, so
the same transaction's prewrite queues behind its own pipelined lock. An in-memory lock that may not
be written (status, term, version, full) falls back to a proposal and is answered after apply.

Source: tikv/tikv src/storage/txn/scheduler.rs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.cluster.commands import COMMANDS, read
from sim.cluster.request import LAST_READ, Kind, KvRequest, LockPath
from sim.protocol.percolator import Acquired, KeyIsLocked, Prewritten, lock_batch
from sim.protocol.region_errors import RegionNotFound, ServerIsBusy
from sim.protocol.write_batch import LOCK

if TYPE_CHECKING:
    from sim.cluster.block_cache import BlockCache
    from sim.cluster.lock_manager import LockManager
    from sim.cluster.lock_mode import LockMode
    from sim.cluster.peer import Peer
    from sim.cluster.request_costs import RequestCosts
    from sim.cluster.serving import Serving
    from sim.cluster.store import Store
    from sim.cluster.store_stats import StoreStats
    from sim.distributions import Sampler
    from sim.engine import Cores, LeanEnv, ThreadPool
    from sim.hardware.network import Link
    from sim.protocol.latches import Latches
    from sim.protocol.mvcc import Lock
    from sim.protocol.region_errors import RegionError
    from sim.protocol.write_batch import WriteBatch

_LOCK: Final = Kind.LOCK
_COP: Final = Kind.COP
_IN_MEMORY: Final = LockPath.IN_MEMORY

_SCANNED_ROW = 0.1
"""CPU of one row of a range scan, as a part of one further key's. ASSUMED."""

_REPLY_BYTES = 80
_REPLY_KEY_BYTES = 120
"""A reply, and what it carries per row asked for. Small against 10 Gb/s; only counted."""


class Scheduler:
    """Requests of one store."""

    __slots__ = (
        "_blocked",
        "_cache",
        "_cores",
        "_costs",
        "_draw",
        "_env",
        "_holds",
        "_hop_ns",
        "_latches",
        "_next_cid",
        "_peers",
        "_pending_max_bytes",
        "_pool",
        "_prewriting",
        "_probe",
        "_read_pool",
        "_replies",
        "_serving",
        "_stats",
        "_store",
        "max_ts",
        "mode",
        "pending_bytes",
        "waits",
    )

    waits: LockManager

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        *,
        store: Store,
        serving: Serving,
        latches: Latches,
        pool: ThreadPool,
        read_pool: ThreadPool,
        cores: Cores,
        cache: BlockCache,
        costs: RequestCosts,
        draw: Sampler,
        hop_ns: int,
        mode: LockMode,
        replies: list[Link],
        stats: StoreStats,
        pending_max_bytes: int,
    ) -> None:
        self._env = env
        self._store = store
        self._peers = store.peers
        self._serving = serving
        self._probe = store.probe
        self._holds = store.holds
        self._latches = latches
        self._pool = pool
        self._read_pool = read_pool
        self._cores = cores
        self._cache = cache
        self._costs = costs
        self._draw = draw
        self._hop_ns = hop_ns
        self.mode = mode
        self._replies = replies
        self._stats = stats
        self._blocked: dict[int, KvRequest] = {}
        self._prewriting: dict[bytes, Lock] = {}
        self._next_cid = 0
        self.max_ts = 0
        """Largest timestamp that this store has served a read at (concurrency manager)."""
        self._pending_max_bytes = pending_max_bytes
        self.pending_bytes = 0
        """Writes that have been sent to Raft and are not yet applied."""

    def receive(self, request: KvRequest) -> None:
        """Takes a request that has arrived from TiDB; a store that is down hears nothing."""
        request.arrived_ns = self._env.now_ns
        self._cores.add_background(self._costs.background_ns)
        peer = request.peer = self._peers.get(request.region.region_id)
        if peer is None:
            self._receive_elsewhere(request)
        elif self._store.up:
            self._dispatch(request)

    def _receive_elsewhere(self, request: KvRequest) -> None:
        """Takes a request for a region that is not here, or that nobody has touched before."""
        region_id = request.region.region_id
        if not self._store.up:
            return
        self._store.awaken(region_id)
        request.peer = self._peers.get(region_id)
        if request.peer is None:
            self.answer(request, RegionNotFound(region_id))
        else:
            self._dispatch(request)

    def _dispatch(self, request: KvRequest) -> None:
        if request.kind <= LAST_READ:
            self._receive_read(request)
            return
        if self.pending_bytes > self._pending_max_bytes:
            self.answer(request, ServerIsBusy("scheduler is busy"))
            return
        self._next_cid = request.cid = self._next_cid + 1
        keys = request.keys or tuple([mutation.key for mutation in request.mutations])
        request.slots = self._latches.slots_of(keys)
        self._take_latches(request)

    def _receive_read(self, request: KvRequest) -> None:
        keys = request.rows * _SCANNED_ROW + (1 if request.kind is _COP else len(request.keys))
        service = self._draw.scaled(self._costs.mean_ns(keys))
        fetch_ns = 0
        if request.kind is not _COP:
            fetch_ns = self._cache.fetch_ns(request.arrived_ns, request.keys)
        self._read_pool.submit(service, self._read, request, fetch_ns)

    def _take_latches(self, request: KvRequest) -> None:
        if self._latches.acquire(request.cid, request.slots):
            self._run(request)
        else:
            self._blocked[request.cid] = request

    def _run(self, request: KvRequest) -> None:
        request.latched_ns = self._env.now_ns
        keys = len(request.keys) or len(request.mutations)
        service = self._draw.scaled(self._costs.mean_ns(keys))
        fetch_ns = 0
        if request.kind is _LOCK and not request.insert:
            fetch_ns = self._cache.fetch_ns(request.latched_ns, request.keys)
        self._pool.submit(service, self._execute, request, fetch_ns)

    def _may_serve(self, request: KvRequest, peer: Peer) -> bool:
        """Takes the snapshot; if that cannot be, answers the request or parks it."""
        if self._env.now_ns <= peer.lease_until_ns:
            version = peer.region.epoch.version
            if request.region.epoch.version == version and peer.merge is None:
                request.term = peer.raft.term
                return True
        if peer.died:
            return False
        error = self._serving.refusal(request, peer)
        if error is not None:
            self._turn_away(request, error)
            return False
        if self._env.now_ns > peer.lease_until_ns:
            self._serving.park(request, peer)
            return False
        request.term = peer.raft.term
        return True

    def serve_parked(self, peer: Peer) -> None:
        """Takes up what waited for a quorum, which has confirmed the leader."""
        parked, peer.parked = peer.parked, []
        for request in parked:
            if request.kind <= LAST_READ:
                self._read(request)
            else:
                self._execute(request)

    def answer_parked(self, peer: Peer, error: RegionError) -> None:
        """Turns away what waited for a quorum: this peer leads no more."""
        parked, peer.parked = peer.parked, []
        for request in parked:
            self._turn_away(request, error)

    def _turn_away(self, request: KvRequest, error: RegionError) -> None:
        request.result = error
        if request.slots:
            self._free_latches(request)
        self._reply(request)

    def _read(self, request: KvRequest) -> None:
        request.executed_ns = self._env.now_ns
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if not self._may_serve(request, peer):
            return
        self.max_ts = max(self.max_ts, request.start_ts)
        request.result = read(request, peer, self._prewriting)
        self._reply(request)

    def _execute(self, request: KvRequest) -> None:
        request.executed_ns = self._env.now_ns
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if not self._may_serve(request, peer):
            return
        if self._holds.active and self._holds.stops(
            "after_snapshot", peer.store, peer.region.region_id, self._go_on, request
        ):
            return
        self._process(request, peer)

    def _go_on(self, request: KvRequest) -> None:
        """Runs a command some time after its snapshot: it finds out what has changed."""
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if peer.died:
            return
        error = RegionNotFound(request.region.region_id) if peer.gone else None
        error = error or self._serving.changed_since(request, peer)
        if error is not None:
            self._turn_away(request, error)
        else:
            self._process(request, peer)

    def _process(self, request: KvRequest, peer: Peer) -> None:
        if not peer.max_ts_synced:
            error = self._serving.not_synced(request, peer)
            if error is not None:
                self._turn_away(request, error)
                return
        if request.wants_values:
            self.max_ts = max(self.max_ts, request.for_update_ts)
        result = request.result = COMMANDS[request.kind](request, peer, self.max_ts)
        if result.__class__ is Acquired:
            self._grant(request, peer, result)
        elif result.__class__ is KeyIsLocked and request.kind is _LOCK:
            if request.wait_timeout_ns < 0:
                self._answer_now(request)
                return
            self._free_latches(request)
            self.waits.wait(request, result)
        else:
            batch: WriteBatch | None = getattr(result, "batch", None)
            if batch is None or not batch.keys:
                self._answer_now(request)
                return
            if result.__class__ is Prewritten and request.use_async_commit:
                self._prewriting.update(batch.lock_puts)
            self._write(request, peer, batch)

    def _grant(self, request: KvRequest, peer: Peer, granted: Acquired) -> None:
        mode = self.mode
        if not granted.locks:
            request.path = LockPath.IN_MEMORY if mode.in_memory else LockPath.PIPELINED
            self._answer_now(request)
            return
        if mode.in_memory:
            table = peer.locks
            refusal = table.refusal(request.term, request.region.epoch.version)
            if refusal is None and table.insert(granted.locks):
                request.path = _IN_MEMORY
                self._stats.lock_table.add(table.instance.used_bytes)
                self._answer_now(request)
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
        self._write(request, peer, lock_batch(granted.locks))

    def _write(self, request: KvRequest, peer: Peer, batch: WriteBatch) -> None:
        request.batch = batch
        table = peer.locks
        if table.map and request.kind is not _LOCK:
            keys = batch.lock_deletes
            if batch.lock_puts:
                keys = keys + [key for key, _ in batch.lock_puts]
            if table.refers_to(request.term, request.region.epoch.version):
                request.marked = table.mark_deleted(keys)
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
        self.pending_bytes -= batch.raft_bytes
        if self._prewriting and request.use_async_commit:
            for key, _ in batch.lock_puts:
                self._prewriting.pop(key, None)
        self._free_latches(request)
        if batch.cause == LOCK and request.replied_ns:
            self._probe.proposal_lost(request, error)
        elif not request.replied_ns:
            self.answer(request, error)

    def on_proposed(self, request: KvRequest, at_ns: int) -> None:
        """Notes that a poller has proposed a command at ``at_ns``."""
        request.proposed_ns = at_ns
        if request.reply_at_proposed:
            self._env.at(at_ns, self._reply_proposed, request)

    def _reply_proposed(self, request: KvRequest) -> None:
        """Answers a pipelined lock, unless the process has died meanwhile."""
        if request.peer is not None and not request.peer.died:
            self._reply(request)

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
        self.pending_bytes -= batch.raft_bytes
        if self._prewriting and request.use_async_commit:
            for key, _ in batch.lock_puts:
                self._prewriting.pop(key, None)
        self._free_latches(request)
        if batch.lock_deletes and self.waits.waiting:
            self.waits.release(batch.lock_deletes, request.commit_ts)
        if not request.reply_at_proposed:
            self._reply(request)

    def reset(self, latches: Latches) -> None:
        """Forgets everything in memory: the process has died."""
        self._latches = latches
        self._blocked = {}
        self._prewriting = {}
        self.pending_bytes = 0
        self.max_ts = 0

    def answer(self, request: KvRequest, result: object) -> None:
        """Answers a request that has been waiting for a lock."""
        request.result = result
        self._reply(request)

    def resume(self, request: KvRequest) -> None:
        """Carries out again a request whose lock has become free (fair locking)."""
        self._take_latches(request)

    def _answer_now(self, request: KvRequest) -> None:
        self._free_latches(request)
        self._reply(request)

    def _free_latches(self, request: KvRequest) -> None:
        woken = self._latches.release(request.cid, request.slots)
        for cid in woken:
            self._run(self._blocked.pop(cid))

    def _reply(self, request: KvRequest) -> None:
        now = self._env.now_ns
        peer = request.peer
        if request.kind is _LOCK and request.result.__class__ is Acquired and peer is not None:
            self._probe.granted(peer, request)
        request.replied_ns = now
        size = _REPLY_BYTES
        if request.wants_values or request.kind <= LAST_READ:
            size += _REPLY_KEY_BYTES * max(len(request.keys), request.rows)
        link = self._replies[request.tidb]
        if link.cut:
            return
        arrival = link.send(now, size)
        if request.batch is not None:
            arrival += self._hop_ns
        self._env.at(arrival, request.caller.replied, request)
