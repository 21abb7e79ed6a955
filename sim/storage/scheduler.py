"""The transaction layer of one store: latches, pools, snapshots, commands, replies.

Invariants: a command runs with the latches of its keys, on a snapshot that its region's leader
gives it. A lock kept in memory frees its latches at once; what is proposed keeps them until it is
applied, even if its client has been answered before, so the same transaction's prewrite queues
behind its own pipelined lock. A command that removes a lock wakes a waiter before it is proposed;
with fair locking its latches pass on to that waiter when it is applied.

Source: tikv/tikv src/storage/txn/scheduler.rs (execute, process_write, handle_task,
on_write_finished, release_latches), src/storage/mod.rs (reads), src/server/raftkv (write,
snapshot).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sim.distributions import Sampler
from sim.engine import Cores, LeanEnv
from sim.hardware.network import Link
from sim.protocol.concurrency_manager import ConcurrencyManager
from sim.protocol.latches import Latches, Slots
from sim.protocol.percolator import (
    Acquired,
    KeyIsLocked,
    MvccError,
    Prewritten,
    lock_batch,
    locks_to_resolve,
)
from sim.protocol.region_errors import (
    EngineError,
    MaxTimestampNotSynced,
    RegionError,
    RegionNotFound,
    ServerIsBusy,
)
from sim.protocol.txn_status_cache import TxnStatusCache
from sim.protocol.write_batch import CAUSE_NAMES, LOCK, PREWRITE, WriteBatch
from sim.raftstore.context import StoreContext
from sim.raftstore.peer import Peer, RaftCommand
from sim.raftstore.store import Raftstore
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.scenario.versions import TXN_STATUS_CACHE_SINCE
from sim.storage.block_cache import BlockCache
from sim.storage.commands import (
    Execute,
    execute,
    known_commit_ts,
    read,
    read_up_to,
    seeks_versions,
)
from sim.storage.flow_controller import FlowController
from sim.storage.lock_manager import LockManager
from sim.storage.lock_paths import LockPaths
from sim.storage.message_sizes import REPLY_BYTES, rows_bytes
from sim.storage.probe import Probe
from sim.storage.request import LAST_READ, NO_WAIT, Kind, KvRequest, hand_over
from sim.storage.request_pools import RequestPools
from sim.transport.grpc import GrpcThreads

_LOCK: Final = Kind.LOCK
_COP: Final = Kind.COP
_PREWRITE: Final = Kind.PREWRITE
_RESOLVE_LOCK: Final = Kind.RESOLVE_LOCK


class Scheduler:
    """Requests of one store; the raftstore calls it back (``Callbacks``)."""

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        ctx: StoreContext,
        scenario: Scenario,
        recorder: Recorder,
        probe: Probe,
        *,
        raftstore: Raftstore,
        pools: RequestPools,
        grpc: GrpcThreads,
        cores: Cores,
        cache: BlockCache,
        draw: Sampler,
        replies: list[Link],
        make_lock_manager: Callable[[Scheduler], LockManager],
        on_role_or_region_changed: Callable[[Peer], None],
    ) -> None:
        self._env = env
        self._ctx = ctx
        self._probe = probe
        self._peers = ctx.peers
        self._reader = raftstore.reader
        self._pools = pools
        self._grpc = grpc
        self._cores = cores
        self._cache = cache
        self._cpu = scenario.hardware.store_cpu
        self._grpc_ns = self._cpu.grpc_request_ns >> 1
        self._draw = draw
        self._replies = replies
        self._pending_max_bytes = scenario.tikv.scheduler_pending_write_threshold_bytes
        self._proposals = [recorder.counter("proposals", cause) for cause in CAUSE_NAMES]
        """Commands proposed, by cause."""
        table_bytes = recorder.series("lock_table_bytes", f"store-{ctx.store_id}")
        self.lock_paths = LockPaths(scenario.tikv, probe, table_bytes)
        self.latches = Latches(scenario.tikv.scheduler_concurrency)
        self._pool_answers_proposed = scenario.tikv.pool_answers_proposed
        self._caches_txn_status = scenario.tikv.version >= TXN_STATUS_CACHE_SINCE
        self._txn_status_cache = TxnStatusCache()
        self._waiting_for_latches: dict[int, KvRequest] = {}
        self._last_cid = 0
        self._flow = FlowController(env, raftstore.kv, self._end_delay)
        self._pending_bytes = 0
        """Writes that have been sent to Raft and are not yet applied."""
        self._make_lock_manager = make_lock_manager
        self.waits = make_lock_manager(self)
        self.on_role_or_region_changed = on_role_or_region_changed
        self.execute_command: Execute = execute
        """Carries out a command; a laboratory also checks the keys."""

    def crash(self) -> None:
        """Forgets everything in memory: the process has died."""
        self.latches = Latches(self.latches.size)
        self._txn_status_cache = TxnStatusCache()
        self._waiting_for_latches = {}
        self._flow.crash()
        self._pending_bytes = 0
        self._ctx.concurrency = ConcurrencyManager()
        self.waits.crash()
        self.waits = self._make_lock_manager(self)

    # Receiving.

    def receive(self, request: KvRequest) -> None:
        """Takes a request that has arrived from TiDB; a store that is down takes nothing.

        A prewrite that met a lock comes again: what is known of its first way does not count.
        """
        request.arrived_ns = self._env.now_ns
        request.replied_ns = request.term = 0
        peer = request.peer = self._peers.get(request.region.region_id)
        if peer is None:
            self._receive_without_peer(request)
        elif self._ctx.up:
            self._dispatch(request)

    def _receive_without_peer(self, request: KvRequest) -> None:
        """Takes a request for a region that is not here, or that nobody has touched before."""
        region_id = request.region.region_id
        if not self._ctx.up:
            return
        self._ctx.create_replicas(region_id)
        request.peer = self._peers.get(region_id)
        if request.peer is None:
            self.answer(request, RegionNotFound(region_id))
        else:
            self._dispatch(request)

    def _dispatch(self, request: KvRequest) -> None:
        if request.kind <= LAST_READ:
            self._submit_read(request)
            return
        if self._pending_bytes > self._pending_max_bytes:
            self.answer(request, ServerIsBusy("scheduler is busy"))
            return
        self._last_cid = request.cid = self._last_cid + 1
        keys = request.keys or [mutation[0] for mutation in request.mutations]
        request.slots = self.latches.slots_of(keys)
        self.acquire_latches(request)

    # Reads.

    def _submit_read(self, request: KvRequest) -> None:
        cpu, fetch = self._cpu, None
        if request.kind is _COP:
            pool = self._pools.reads
            mean_ns = cpu.tikv_read_ns + cpu.tikv_key_ns + cpu.tikv_row_ns * request.rows
        else:
            pool = self._pools.point_reads
            mean_ns = cpu.tikv_read_ns + cpu.tikv_key_ns * len(request.keys)
            fetch = self._cache.fetch(request.keys)
        service_ns = self._draw.scaled(mean_ns)
        pool.submit(service_ns, self._take_snapshot, request, fetch)

    def _answer_read(self, request: KvRequest, peer: Peer) -> None:
        request.executed_ns = self._env.now_ns
        self._ctx.concurrency.update_max_ts(request.start_ts)
        request.result = read(request, peer, self._ctx.concurrency)
        if self._probe.watches_reads:
            self._probe.snapshot_read(peer, request)
        self._reply(request)

    # Commands: latches, CPU, snapshot, execution.

    def acquire_latches(self, request: KvRequest) -> None:
        """Runs a command as soon as it has the latches of all its keys."""
        if self.latches.acquire(request.cid, request.slots):
            self._submit(request)
        else:
            self._waiting_for_latches[request.cid] = request

    def _release_latches(self, request: KvRequest) -> None:
        """Frees a command's latches and runs those that waited for the last of them."""
        self._release_slots(request, request.slots)

    def _release_slots(self, request: KvRequest, slots: Slots) -> None:
        for cid in self.latches.release(request.cid, slots):
            waiter = self._waiting_for_latches.pop(cid)
            self._probe.latch_passed_on(request, waiter)
            self._submit(waiter)

    def _hand_over_latches(self, request: KvRequest) -> None:
        """Runs the requests that a command has woken with its latches, and frees the others."""
        kept: set[int] = set()
        for heir in self.waits.resume(request.woken):
            if kept.isdisjoint(heir.slots):
                kept.update(heir.slots)
                self.latches.hand_over(request.cid, heir.slots, heir.cid)
                self._submit(heir)
            else:
                self.acquire_latches(heir)
        self._release_slots(request, tuple(slot for slot in request.slots if slot not in kept))

    def _submit(self, request: KvRequest) -> None:
        """Takes the snapshot of a command that has its latches; a quorum may have to be asked."""
        request.latched_ns = self._env.now_ns
        self._take_snapshot(request)

    def _take_snapshot(self, request: KvRequest) -> None:
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if self._reader.may_serve(request, peer):
            self._serve(request, peer)

    def on_snapshot(self, command: RaftCommand) -> None:
        """Goes on with a request that had to wait for its snapshot."""
        peer = command.peer
        assert isinstance(command, KvRequest), "nobody else asks for one"
        assert peer is not None, "it was received here"
        self._serve(command, peer)

    def _serve(self, request: KvRequest, peer: Peer) -> None:
        if request.kind <= LAST_READ:
            self._answer_read(request, peer)
        else:
            self._execute(request, peer)

    def on_no_snapshot(self, command: RaftCommand, error: RegionError) -> None:
        """Answers a request that gets no snapshot."""
        assert isinstance(command, KvRequest), "nobody else asks for one"
        command.result = error
        if command.slots:
            self._release_latches(command)
        self._reply(command)

    def _execute(self, request: KvRequest, peer: Peer) -> None:
        """Runs a command on its snapshot; what it says is done when its CPU time is over.

        Keys of an async commit are locked in memory in the instant in which max_ts is read.
        """
        if request.kind is _RESOLVE_LOCK and not request.keys:
            found = locks_to_resolve(peer.state.mvcc, request.start_ts, request.commit_ts)
            if found:
                self._go_on_with(request, found)
                return
        if not peer.max_ts_synced and _needs_synced_max_ts(request):
            self.on_no_snapshot(request, MaxTimestampNotSynced(request.region.region_id))
            return
        if request.kind is _PREWRITE and request.pessimistic:
            request.is_retry |= self._txn_status_cache.is_committed(request.start_ts)
        ctx = self._ctx
        concurrency = ctx.concurrency
        concurrency.update_max_ts(read_up_to(request))
        request.result = self.execute_command(request, peer, concurrency.max_ts, ctx.ablations)
        if request.kind is _PREWRITE and isinstance(request.result, Prewritten):
            concurrency.lock_keys(request.result.guards)
        if self._probe.watches_reads:
            self._probe.snapshot_read(peer, request)
        ctx.failpoints.run(
            "after_snapshot", peer, self._process, request, later=self._resume_execution
        )

    def _go_on_with(self, request: KvRequest, found: list[bytes] | MvccError) -> None:
        """Lets a ResolveLock wait for the latches of the locks that it has found."""
        if isinstance(found, MvccError):
            self.answer(request, found)
            return
        request.keys = tuple(found)
        request.slots = self.latches.slots_of(request.keys)
        self.acquire_latches(request)

    def _resume_execution(self, request: KvRequest) -> None:
        """Goes on some time after a command's snapshot: it finds out what has changed."""
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        if peer.died:
            return
        error = self._reader.changed_since(request, peer)
        if error is not None:
            self._drop_guards(request)
            self.on_no_snapshot(request, error)
        else:
            self._process(request)

    def _process(self, request: KvRequest) -> None:
        """Takes the CPU time of a command that has its snapshot."""
        fetch = None
        service_ns = self._draw.scaled(self._command_ns(request))
        if request.kind is _LOCK and not request.insert:
            fetch = self._cache.fetch(request.keys)
        self._pools.scheduler.submit(service_ns, self._finish_process, request, fetch)

    def _command_ns(self, request: KvRequest) -> int:
        """Returns a command's mean CPU time: finding its keys, and making what it writes."""
        cpu, result = self._cpu, request.result
        keys = len(request.keys) or len(request.mutations)
        find_ns = cpu.tikv_key_ns if seeks_versions(request) else cpu.tikv_load_lock_ns
        if isinstance(result, Acquired):
            records = 0 if self.lock_paths.in_memory else len(result.locks)
        else:
            batch = _batch_of(result)
            records = 0 if batch is None else batch.keys
        return cpu.tikv_command_ns + find_ns * keys + cpu.tikv_record_ns * records

    def _finish_process(self, request: KvRequest) -> None:
        """Goes on with a command's result, unless its store has died meanwhile.

        Terms and versions are checked again where the result goes: by the lock table, which a lock
        then does not enter, and by the raftstore, which does not propose it.
        """
        peer = request.peer
        assert peer is not None, "a request runs where it was received"
        request.executed_ns = self._env.now_ns
        if not peer.died:
            self._ctx.failpoints.run("before_write", peer, self._process_result, request)

    def _process_result(self, request: KvRequest) -> None:
        """Writes what a command has to write, lets it wait, or answers it.

        It may come some time after the command has run, as when a quota makes it wait.
        """
        peer, result = request.peer, request.result
        assert peer is not None, "a request runs where it was received"
        if peer.died:
            return
        if isinstance(result, Acquired):
            self._grant(request, peer, result)
        elif request.kind is _LOCK and isinstance(result, KeyIsLocked):
            self._release_latches(request)
            if request.wait_timeout_ns == NO_WAIT:
                self._reply(request)
            else:
                self.waits.wait(request, result)
        else:
            batch = _batch_of(result)
            if batch is None or not batch.keys:
                self._finish_unwritten(request)
                return
            self._write(request, peer, batch)

    def _grant(self, request: KvRequest, peer: Peer, granted: Acquired) -> None:
        """Puts locks where they belong: into memory, or into a proposal."""
        if not granted.locks:
            request.path = self.lock_paths.of_nothing_new()
            self._finish_unwritten(request)
        elif self.lock_paths.keeps_in_memory(request, peer, granted.locks):
            if self.waits.waiters:
                self.waits.locked(granted.locks)
            self._finish_unwritten(request)
        else:
            self._write(request, peer, lock_batch(granted.locks))

    # Writes: proposing, and what the raftstore calls back.

    def _write(self, request: KvRequest, peer: Peer, batch: WriteBatch) -> None:
        """Sends a batch to Raft, as soon as the store's flush and compaction allow it."""
        request.batch = batch
        self._pending_bytes += batch.raft_bytes
        if self._flow.throttles:
            self._flow.delay(request)
        else:
            self._send_to_raft(request, peer, batch)

    def _end_delay(self, request: KvRequest) -> None:
        """Writes what had to wait for flush and compaction, unless its store has died meanwhile."""
        peer, batch = request.peer, request.batch
        assert peer is not None, "a request runs where it was received"
        assert batch is not None, "only writes are delayed"
        request.executed_ns = self._env.now_ns  # The scheduler has had it until now.
        if not peer.died:
            self._send_to_raft(request, peer, batch)

    def _send_to_raft(self, request: KvRequest, peer: Peer, batch: WriteBatch) -> None:
        """Sends a batch to Raft; locks in memory that it replaces are marked deleted first.

        Who waits for a lock that the batch removes is woken before that.
        """
        if request.kind > _PREWRITE:  # What ends something may be written to a disk almost full.
            request.allowed_on_almost_full = True
        if batch.lock_deletes and self.waits.waiters:
            request.woken = self.waits.release(batch.lock_deletes, _commit_ts(request))
        table = peer.locks
        replaces = table.map and request.kind is not _LOCK
        if replaces and table.refers_to(request.term, request.region.epoch.version):
            request.replaced_locks = table.mark_replaced(batch)
        if batch.cause == PREWRITE:
            self._probe.prewrite_ran(request)
        self._proposals[batch.cause].value += 1
        failpoints = self._ctx.failpoints
        if failpoints.active:
            failing = failpoints.failing_write(peer)
            if failing:
                self._fail_write(request, is_proposed=failing == "after")
                return
            if failpoints.stops("before_propose", peer, self._propose, request):
                return
        self._propose(request)

    def _fail_write(self, request: KvRequest, *, is_proposed: bool) -> None:
        """Ends a write at which the engine fails, as TiKV's tests let it."""
        now_ns = self._env.now_ns
        if is_proposed:
            self.on_proposed(request, now_ns)
        error = EngineError(request.region.region_id)
        self._env.at(now_ns, lambda _: self.on_refused(request, error), None)

    def _propose(self, request: KvRequest) -> None:
        peer = request.peer
        assert peer is not None, "a request is proposed where it was executed"
        if peer.died:
            return
        if peer.gone:
            self.on_refused(request, RegionNotFound(request.region.region_id))
        else:
            self._ctx.router.deliver(peer, request)

    def on_proposed(self, command: RaftCommand, at_ns: int) -> None:
        """Answers a pipelined lock when its proposal is known, at ``at_ns``."""
        command.proposed_ns = at_ns
        if command.reply_at_proposed:
            answer = self._wake_to_reply if self._pool_answers_proposed else self._reply_proposed
            self._env.at(at_ns, answer, command)

    def _wake_to_reply(self, command: RaftCommand) -> None:
        self._resume(self._reply_proposed, command)

    def _reply_proposed(self, request: KvRequest) -> None:
        """Answers a pipelined lock, unless the process has died meanwhile."""
        peer = request.peer
        assert peer is not None, "only a replica proposes"
        if not peer.died:
            self._ctx.failpoints.run("proposed", peer, self._reply_if_alive, request)

    def _reply_if_alive(self, request: KvRequest) -> None:
        if request.peer is not None and not request.peer.died and not request.replied_ns:
            self._reply(request)

    def on_applied(self, command: RaftCommand) -> None:
        """Ends a command whose entry is applied on the replica that proposed it.

        The apply thread leaves that to the scheduler's pool.
        """
        self._resume(self._finish_write, command)

    def _resume(self, step: Callable[[KvRequest], None], command: RaftCommand) -> None:
        """Lets a thread of the pool take a written command's next step."""
        service_ns = self._draw.scaled(self._cpu.tikv_finish_ns)
        self._pools.scheduler.submit(service_ns, step, command)

    def _finish_write(self, request: KvRequest) -> None:
        peer = request.peer
        assert peer is not None, "only proposed commands are applied"
        self._ctx.failpoints.run("before_finish", peer, self._finish, request)

    def _finish(self, request: KvRequest) -> None:
        batch = request.batch
        if request.peer is None or request.peer.died:
            return
        assert batch is not None, "only written commands are applied"
        self._end_write(request, batch)
        self._note_txn_status(request)
        if request.kind is _LOCK and self.waits.waiters:
            self.waits.locked(batch.lock_puts)
        if request.woken:
            self._hand_over_latches(request)
        else:
            self._release_latches(request)
        request.slots = ()  # The log keeps the request for long.
        if not request.reply_at_proposed:
            self._reply(request)

    def on_refused(self, command: RaftCommand, error: RegionError) -> None:
        """Ends a command that the raftstore would not, or could not, carry through.

        Locks that it marked deleted stay so. If its client has been answered, it hears nothing.
        """
        batch = command.batch
        assert isinstance(command, KvRequest), "admin commands have nobody who waits"
        assert batch is not None, "only writes are refused"
        self._end_write(command, batch)
        if command.woken:
            self.waits.put_back(command.woken)
        self._release_latches(command)
        if command.reply_at_proposed and command.proposed_ns and not command.replied_ns:
            self._reply_proposed(command)  # It hears of its proposal first.
        if batch.cause == LOCK and command.replied_ns:
            self._probe.proposal_lost(command, error)
        elif not command.replied_ns:
            self.answer(command, error)

    def _end_write(self, request: KvRequest, batch: WriteBatch) -> None:
        """Gives back what a write holds besides its latches: room, and memory locks."""
        self._pending_bytes -= batch.raft_bytes
        self._drop_guards(request)

    def _drop_guards(self, request: KvRequest) -> None:
        """Lets readers pass that would have met the locks of a prewrite on its way."""
        if request.kind is _PREWRITE and isinstance(request.result, Prewritten):
            self._ctx.concurrency.unlock_keys(request.result.guards)

    # Replies.

    def _finish_unwritten(self, request: KvRequest) -> None:
        """Answers a command that has nothing to write, and frees its latches."""
        self._note_txn_status(request)
        self._release_latches(request)
        self._reply(request)

    def _note_txn_status(self, request: KvRequest) -> None:
        if self._caches_txn_status and request.kind is not _LOCK and known_commit_ts(request):
            self._txn_status_cache.insert_committed(request.start_ts, self._env.now_ns)

    def answer(self, request: KvRequest, result: object) -> None:
        """Answers a request, without its latches: it has none, or has given them back."""
        request.result = result
        self._reply(request)

    def _reply(self, request: KvRequest) -> None:
        """Sends a request back with its result."""
        now_ns = self._env.now_ns
        peer = request.peer
        if request.kind is _LOCK:
            if self.waits.waiters:
                self.waits.finished(request)
            if request.result.__class__ is Acquired and peer is not None:
                self._probe.granted(peer, request)
        request.replied_ns = now_ns
        size = REPLY_BYTES
        if request.wants_values or request.kind <= LAST_READ:
            size += rows_bytes(request.row_bytes, len(request.keys), request.rows)
        link = self._replies[request.tidb]
        if link.cut:
            return
        arrival_ns = link.send(now_ns, size)
        handled_ns = self._grpc_ns
        if request.opens_message:
            handled_ns += self._cpu.grpc_message_ns
        arrival_ns += self._grpc.handle(request.connection, now_ns, handled_ns)
        self._env.at(arrival_ns, hand_over, request)


def _batch_of(result: object) -> WriteBatch | None:
    """Returns what a command's result asks to be written; None: nothing, or locks."""
    batch: WriteBatch | None = getattr(result, "batch", None)
    return batch


def _commit_ts(request: KvRequest) -> int:
    """Returns at which timestamp a command commits the locks that it removes; 0: it rolls back."""
    if isinstance(request.result, Prewritten):
        return request.result.one_pc_commit_ts
    return request.commit_ts


def _needs_synced_max_ts(request: KvRequest) -> bool:
    """Returns whether a request asks for a commit_ts that a new leader cannot promise yet."""
    return request.kind is _PREWRITE and (request.use_async_commit or request.one_pc)
