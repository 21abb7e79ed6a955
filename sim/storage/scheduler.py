"""The transaction layer of one store: latches, pools, snapshots, commands, replies.

Law: a command runs with the latches of its keys, on a snapshot that its region's leader gives it.
What it has to write goes the way of ``write_path``, and its latches are freed when that is done.

Source: tikv/tikv src/storage/txn/scheduler.rs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.protocol.percolator import Acquired, KeyIsLocked, Prewritten
from sim.protocol.region_errors import MaxTimestampNotSynced, RegionNotFound, ServerIsBusy
from sim.storage.commands import LOOKS_UP_TO, read
from sim.storage.request import LAST_READ, Kind, KvRequest, hand_over

if TYPE_CHECKING:
    from sim.distributions import Sampler
    from sim.engine import Cores, LeanEnv, ThreadPool
    from sim.hardware.network import Link
    from sim.protocol.latches import Latches
    from sim.protocol.region_errors import RegionError
    from sim.protocol.write_batch import WriteBatch
    from sim.raftstore.peer import Peer
    from sim.raftstore.serving import Serving
    from sim.server.store import Store
    from sim.storage.block_cache import BlockCache
    from sim.storage.lock_manager import LockManager
    from sim.storage.request_costs import RequestCosts
    from sim.storage.write_path import WritePath

_LOCK: Final = Kind.LOCK
_COP: Final = Kind.COP

SCANNED_ROW = 0.1
"""CPU of one row of a range scan, as a part of one further key's. ASSUMED."""

_REPLY_BYTES = 80
_REPLY_KEY_BYTES = 120
"""A reply, and what it carries per row asked for. ASSUMED; small against 10 Gb/s."""


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
        "_probe",
        "_read_pool",
        "_replies",
        "_serving",
        "_store",
        "max_ts",
        "waits",
        "writes",
    )

    waits: LockManager
    writes: WritePath

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
        replies: list[Link],
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
        self._replies = replies
        self._blocked: dict[int, KvRequest] = {}
        self._next_cid = 0
        self.max_ts = 0
        """Largest timestamp that this store has served a read at (concurrency manager)."""
        self._pending_max_bytes = pending_max_bytes

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
        if self.writes.pending_bytes > self._pending_max_bytes:
            self.answer(request, ServerIsBusy("scheduler is busy"))
            return
        self._next_cid = request.cid = self._next_cid + 1
        keys = request.keys or [mutation[0] for mutation in request.mutations]
        request.slots = self._latches.slots_of(keys)
        self._take_latches(request)

    def _receive_read(self, request: KvRequest) -> None:
        keys = request.rows * SCANNED_ROW + (1 if request.kind is _COP else len(request.keys))
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
        """Takes the snapshot; if that cannot be now, the request is answered or waits."""
        current = request.region.epoch.version == peer.locks.version
        if current and self._env.now_ns <= peer.lease_until_ns and peer.merge is None:
            request.term = peer.raft.term
            return True
        return self._serving.look_closer(request, peer)

    def serve(self, request: KvRequest, peer: Peer) -> None:
        """Goes on with a request that has its snapshot after all."""
        if request.kind <= LAST_READ:
            self._answer_read(request, peer)
        else:
            self._run_command(request, peer)

    def turn_away(self, request: KvRequest, error: RegionError) -> None:
        """Answers a request that has got no further than its snapshot."""
        request.result = error
        if request.slots:
            self.free_latches(request)
        self.reply(request)

    def _read(self, request: KvRequest) -> None:
        request.executed_ns = self._env.now_ns
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if self._may_serve(request, peer):
            self._answer_read(request, peer)

    def _answer_read(self, request: KvRequest, peer: Peer) -> None:
        self.max_ts = max(self.max_ts, request.start_ts)
        request.result = read(request, peer, self.writes.prewriting)
        self.reply(request)

    def _execute(self, request: KvRequest) -> None:
        request.executed_ns = self._env.now_ns
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if self._may_serve(request, peer):
            self._run_command(request, peer)

    def _run_command(self, request: KvRequest, peer: Peer) -> None:
        """Lets a command read its snapshot, and does what it says."""
        if not peer.max_ts_synced and self._serving.not_synced(request):
            self.turn_away(request, MaxTimestampNotSynced(request.region.region_id))
            return
        looks = LOOKS_UP_TO.get(request.kind)
        if looks is not None:
            self.max_ts = max(self.max_ts, looks(request))
        request.result = self._serving.commands[request.kind](request, peer, self.max_ts)
        if not self._holds.active or not self._holds.stops(
            "after_snapshot", peer.store, peer.region.region_id, self._go_on, request
        ):
            self._settle(request, peer)

    def _go_on(self, request: KvRequest) -> None:
        """Goes on some time after a command's snapshot: it finds out what has changed."""
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if peer.died:
            return
        error = self._serving.changed_since(request, peer)
        if error is not None:
            self.turn_away(request, error)
        else:
            self._settle(request, peer)

    def _settle(self, request: KvRequest, peer: Peer) -> None:
        """Writes what a command has to write, lets it wait, or answers it."""
        result = request.result
        if result.__class__ is Acquired:
            self.writes.grant(request, peer, result)
        elif result.__class__ is KeyIsLocked and request.kind is _LOCK:
            if request.wait_timeout_ns < 0:
                self.answer_now(request)
                return
            self.free_latches(request)
            self.waits.wait(request, result)
        else:
            batch: WriteBatch | None = getattr(result, "batch", None)
            if batch is None or not batch.keys:
                self.answer_now(request)
                return
            if result.__class__ is Prewritten and request.use_async_commit:
                self.writes.prewriting.update(batch.lock_puts)
            self.writes.write(request, peer, batch)

    def reset(self, latches: Latches) -> None:
        """Forgets everything in memory: the process has died."""
        self._latches = latches
        self._blocked = {}
        self.writes.reset()
        self.max_ts = 0

    def answer(self, request: KvRequest, result: object) -> None:
        """Answers a request that has been waiting for a lock."""
        request.result = result
        self.reply(request)

    def resume(self, request: KvRequest) -> None:
        """Carries out again a request whose lock has become free (fair locking)."""
        self._take_latches(request)

    def answer_now(self, request: KvRequest) -> None:
        """Answers a command that has nothing to write, and frees its latches."""
        self.free_latches(request)
        self.reply(request)

    def free_latches(self, request: KvRequest) -> None:
        """Frees a command's latches and runs whoever had waited for the last of them."""
        for cid in self._latches.release(request.cid, request.slots):
            waiter = self._blocked.pop(cid)
            self._probe.latch_passed_on(request, waiter)
            self._run(waiter)

    def reply(self, request: KvRequest) -> None:
        """Sends a request back with its result."""
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
        self._env.at(arrival, hand_over, request)
