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

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.block_cache import BlockCache
    from sim.cluster.lock_manager import LockManager
    from sim.cluster.peer import Peer
    from sim.cluster.store_stats import StoreStats
    from sim.distributions import Sampler
    from sim.engine import Cores, LeanEnv, ThreadPool
    from sim.hardware.network import Link
    from sim.protocol.latches import Latches
    from sim.protocol.mvcc import Lock
    from sim.protocol.write_batch import WriteBatch

_LOCK: Final = Kind.LOCK
_COP: Final = Kind.COP
_IN_MEMORY: Final = LockPath.IN_MEMORY

_SCANNED_ROW = 0.1
"""CPU of one row of a range scan, as a part of one further key's. ASSUMED."""

_REPLY_BYTES = 80
_REPLY_KEY_BYTES = 120
"""A reply, and what it carries per row asked for. Small against 10 Gb/s; only counted."""


class LockMode:
    """Which path a pessimistic lock takes.

    Attributes:
        pipelined: answer when proposed (``pessimistic-txn.pipelined``).
        in_memory: keep it in memory; needs ``pipelined`` (``pessimistic-txn.in-memory``).
        pipelined_fallback: a lock that cannot be kept in memory is answered when proposed, as the
            documentation says, instead of after apply, as the code does.
    """

    __slots__ = ("in_memory", "pipelined", "pipelined_fallback")

    def __init__(self, *, pipelined: bool, in_memory: bool, pipelined_fallback: bool) -> None:
        self.pipelined = pipelined
        self.in_memory = pipelined and in_memory
        self.pipelined_fallback = pipelined_fallback


class RequestCosts:
    """CPU of a request: ``request_ns`` and ``extra_key`` of it for each further key.

    ``background_ns`` is spent besides, on threads that nobody waits for.
    """

    __slots__ = ("background_ns", "extra_key", "request_ns")

    def __init__(self, *, request_ns: int, extra_key: float, background_ns: int) -> None:
        self.request_ns = request_ns
        self.extra_key = extra_key
        self.background_ns = background_ns

    def mean_ns(self, keys: float) -> float:
        """Returns the mean CPU of a request on ``keys`` keys, in ns."""
        return self.request_ns * (1 + self.extra_key * (keys - 1))


class Scheduler:
    """Requests of one store."""

    __slots__ = (
        "_blocked",
        "_cache",
        "_cores",
        "_costs",
        "_draw",
        "_env",
        "_hop_ns",
        "_latches",
        "_next_cid",
        "_peers",
        "_pool",
        "_prewriting",
        "_propose",
        "_read_pool",
        "_replies",
        "_stats",
        "max_ts",
        "mode",
        "waits",
    )

    waits: LockManager

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        *,
        peers: dict[int, Peer],
        latches: Latches,
        pool: ThreadPool,
        read_pool: ThreadPool,
        cores: Cores,
        cache: BlockCache,
        costs: RequestCosts,
        draw: Sampler,
        hop_ns: int,
        mode: LockMode,
        propose: Callable[[Peer, object], None],
        replies: list[Link],
        stats: StoreStats,
    ) -> None:
        self._env = env
        self._peers = peers
        self._latches = latches
        self._pool = pool
        self._read_pool = read_pool
        self._cores = cores
        self._cache = cache
        self._costs = costs
        self._draw = draw
        self._hop_ns = hop_ns
        self.mode = mode
        self._propose = propose
        self._replies = replies
        self._stats = stats
        self._blocked: dict[int, KvRequest] = {}
        self._prewriting: dict[bytes, Lock] = {}
        self._next_cid = 0
        self.max_ts = 0
        """Largest timestamp that this store has served a read at (concurrency manager)."""

    def receive(self, request: KvRequest) -> None:
        """Takes a request that has arrived from TiDB."""
        request.arrived_ns = self._env.now_ns
        self._cores.add_background(self._costs.background_ns)
        request.peer = self._peers[request.region.region_id]
        if request.kind <= LAST_READ:
            self._receive_read(request)
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

    def _read(self, request: KvRequest) -> None:
        request.executed_ns = self._env.now_ns
        self.max_ts = max(self.max_ts, request.start_ts)
        assert request.peer is not None, "a request runs where it was received"
        request.result = read(request, request.peer, self._prewriting)
        self._reply(request)

    def _execute(self, request: KvRequest) -> None:
        request.executed_ns = self._env.now_ns
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if request.wants_values:
            self.max_ts = max(self.max_ts, request.for_update_ts)
        result = request.result = COMMANDS[request.kind](request, peer, self.max_ts)
        if result.__class__ is Acquired:
            self._grant(request, peer, result)
        elif result.__class__ is KeyIsLocked and request.kind is _LOCK:
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
            refusal = table.refusal(peer.raft.term, peer.region.epoch.version)
            if refusal is None and table.insert(granted.locks):
                request.path = _IN_MEMORY
                self._stats.lock_table.add(table.instance.used_bytes)
                self._answer_now(request)
                return
            request.path = LockPath.FALLBACK
            request.fallback = refusal or "full"
            request.reply_at_proposed = mode.pipelined_fallback
        else:
            request.path = LockPath.PIPELINED if mode.pipelined else LockPath.SYNC
            request.reply_at_proposed = mode.pipelined
        self._write(request, peer, lock_batch(granted.locks))

    def _write(self, request: KvRequest, peer: Peer, batch: WriteBatch) -> None:
        request.batch = batch
        table = peer.locks
        if table.map and request.kind is not _LOCK:
            keys = batch.lock_deletes
            if batch.lock_puts:
                keys = keys + [key for key, _ in batch.lock_puts]
            request.marked = table.mark_deleted(keys)
        self._stats.proposals[batch.cause].value += 1
        self._propose(peer, request)

    def on_proposed(self, request: KvRequest, at_ns: int) -> None:
        """Notes that a poller has proposed a command at ``at_ns``."""
        request.proposed_ns = at_ns
        if request.reply_at_proposed:
            self._env.at(at_ns, self._reply, request)

    def on_applied(self, request: KvRequest) -> None:
        """Finishes a command whose entry is applied on this leader."""
        batch = request.batch
        assert batch is not None, "only written commands are applied"
        if self._prewriting and request.use_async_commit:
            for key, _ in batch.lock_puts:
                self._prewriting.pop(key, None)
        self._free_latches(request)
        if batch.lock_deletes and self.waits.waiting:
            self.waits.release(batch.lock_deletes)
        if not request.reply_at_proposed:
            self._reply(request)

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
        request.replied_ns = now
        size = _REPLY_BYTES
        if request.wants_values or request.kind <= LAST_READ:
            size += _REPLY_KEY_BYTES * max(len(request.keys), request.rows)
        arrival = self._replies[request.tidb].send(now, size)
        if request.batch is not None:
            arrival += self._hop_ns
        self._env.at(arrival, request.caller.replied, request)
