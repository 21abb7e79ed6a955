"""The apply pool: loops that make committed entries visible, and what admin commands change.

One round of a poller::

    collect peers with committed entries ► CPU for every command and record ► insert them into
    RocksDB, in groups (before v6.0) or in order (since) ► apply them ► answer whoever waits ► tell
    the raftstore ► begin again

Invariant: entries of one peer are applied in log order; a peer is owned by one poller at a time. An
entry that was proposed for another version of the region is skipped. Each round is mail to its
peers, which a store poller reads; until the result of an admin command is read, the raftstore knows
the old region only.

Source: tikv/tikv components/raftstore/src/store/fsm/apply.rs (ApplyPoller,
handle_raft_entry_normal, exec_admin_cmd, write_apply_state, flush: notify).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import floor
from typing import Final

from sim.distributions import Sampler
from sim.engine import UNTIL_WOKEN, Cores, Process, Story
from sim.protocol.admin import (
    AdminCommand,
    ChangePeer,
    CommitMerge,
    FinishFlashback,
    PrepareFlashback,
    PrepareMerge,
    RollbackMerge,
    Split,
    TransferLeaderCommand,
)
from sim.protocol.raft import LEADER
from sim.protocol.raft.log import Entry
from sim.protocol.region import Region, RegionEpoch
from sim.protocol.region_errors import EpochNotMatch, FlashbackInProgress, RegionError
from sim.protocol.write_batch import ADMIN, MIGRATION
from sim.raftstore.context import StoreContext
from sim.raftstore.destroy import destroy
from sim.raftstore.kv_engine import KvEngine
from sim.raftstore.membership import Membership
from sim.raftstore.msg import (
    Applied,
    AppliedToTerm,
    FencePassed,
    LocksApplied,
    Skipped,
)
from sim.raftstore.peer import (
    IDLE,
    OWNED,
    QUEUED,
    AdminProposal,
    AppliedState,
    MigratedLocks,
    Peer,
    RaftCommand,
)
from sim.raftstore.split import SplitRegion
from sim.raftstore.write_thread import CommitPipeline, WriteGroups
from sim.scenario.schema.hardware import CpuCosts
from sim.scenario.versions import COMMIT_PIPELINE_SINCE, IN_MEMORY_SINCE, RFC

Batch = list[tuple[Peer, list[Entry]]]

Piece = list[tuple[Peer, list[Entry], int, int]]
"""What goes to RocksDB at once: a peer's entries, and how many commands and keys they have."""

WRITE_BATCH_MAX_KEYS: Final = 256
"""Source: tikv/tikv components/engine_rocks/src/write_batch.rs."""


class ApplyPool:
    """The apply pollers of one store, and the peers that wait for one."""

    def __init__(
        self,
        ctx: StoreContext,
        cores: Cores,
        kv: KvEngine,
        *,
        cpu: CpuCosts,
        draw: Sampler,
        safe_ts: Callable[[], int],
    ) -> None:
        """Args: ``safe_ts`` says below which timestamp nobody reads any more."""
        tikv = ctx.tikv
        self._ctx = ctx
        self._cores = cores
        self._kv = kv
        self._groups = WriteGroups(ctx.env)
        self._pipeline = CommitPipeline(ctx.env, cores)
        self._max_batch = tikv.apply_max_batch_size
        self._cpu = cpu
        self._draw = draw
        self._units: list[float] = []
        self._safe_ts = safe_ts
        self._as_in_rfc = tikv.behaviour == RFC
        self._queue: deque[Peer] = deque()
        self._idle: list[Process] = []
        self.threads = tikv.apply_pool_size
        self._busy_ns = self._running = 0
        """When pollers stopped working less when they began, and how many are at work."""
        for _ in range(self.threads):
            ctx.env.process(self._run())

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long pollers have worked until now, summed over them.

        Waiting for others in RocksDB is no work since v6.0; before, who waits helps.
        """
        return self._busy_ns + self._running * now_ns

    def schedule(self, peer: Peer, entries: list[Entry]) -> None:
        """Queues committed entries of a peer."""
        peer.apply_queue.extend(entries)
        if peer.apply_turn is IDLE:
            peer.apply_turn = QUEUED
            self._queue.append(peer)
            if self._idle:
                self._idle.pop().wake()

    def catch_up(self, peer: Peer, entries: list[Entry]) -> None:
        """Applies entries at once: a merge's target brings its source up to date."""
        finished: list[RaftCommand] = []
        self._apply(peer, entries, finished, ADMIN)
        self._answer(finished)

    def clear(self) -> None:
        """Drops what waits to be applied: the process has died."""
        for peer in self._queue:
            peer.apply_queue = []
            peer.apply_turn = IDLE
        self._queue.clear()

    def _run(self) -> Story:
        """One apply poller."""
        process = self._ctx.env.this_process
        while True:
            woken_ns = 0
            while not self._queue:
                self._idle.append(process)
                yield UNTIL_WOKEN
                woken_ns = self._cores.wake()
            batch = self._collect()
            for written in _write_batches(batch):
                if self._ctx.version < COMMIT_PIPELINE_SINCE:
                    yield from self._write_in_group(process, woken_ns, written)
                else:
                    yield from self._write_in_order(woken_ns, written)
                woken_ns = 0
                self._apply_batch(written)
            self._release(batch)

    def _write_in_group(self, process: Process, woken_ns: int, written: Piece) -> Story:
        """One write of a store without the commit pipeline; who waits helps, so it is at work."""
        cores, slowness = self._cores, self._cores.slowness()
        apply_ns, insert_ns = self._work_ns(written)
        records = sum(keys + 1 for _, _, _, keys in written)
        held_ns, inserting_ns = cores.hold(apply_ns, slowness), cores.hold(insert_ns, slowness)
        share = self._work(held_ns + inserting_ns, woken_ns)
        yield woken_ns + held_ns
        self._groups.insert(process, inserting_ns, records)
        yield UNTIL_WOKEN
        self._pause(share)

    def _write_in_order(self, woken_ns: int, written: Piece) -> Story:
        """One write of a store with the commit pipeline; who waits for others sleeps."""
        cores, pipeline = self._cores, self._pipeline
        slowness = cores.slowness()
        apply_ns, insert_ns = self._work_ns(written)
        now_ns = self._ctx.env.now_ns
        begin_ns = now_ns + woken_ns + cores.hold(apply_ns, slowness)
        end_ns = begin_ns + cores.hold(floor(insert_ns * pipeline.slowness(begin_ns)), slowness)
        pipeline.insert(begin_ns, end_ns)
        share = self._work(end_ns - now_ns - woken_ns, woken_ns)
        yield end_ns - now_ns
        self._pause(share)
        order_ns = pipeline.order_ns(begin_ns)
        if order_ns:
            share = cores.occupy(0, order_ns)
            yield order_ns
            cores.leave(share)

    def _work(self, held_ns: int, woken_ns: int) -> int:
        """One more poller works, once it is awake; returns what it counts among threads."""
        self._running += 1
        self._busy_ns -= self._ctx.env.now_ns + woken_ns
        return self._cores.occupy(held_ns, woken_ns)

    def _pause(self, share: int) -> None:
        """One poller less works."""
        self._cores.leave(share)
        self._running -= 1
        self._busy_ns += self._ctx.env.now_ns

    def _collect(self) -> Batch:
        """Takes peers from the queue, with all that they have to apply.

        Pollers take one peer after the other, so each that runs gets its share of the queue.
        """
        failpoints = self._ctx.failpoints
        batch: Batch = []
        running = self.threads - len(self._idle)
        share = min(self._max_batch, -(-len(self._queue) // running))
        while self._queue and len(batch) < share:
            peer = self._queue.popleft()
            peer.apply_turn = OWNED
            if failpoints.active and failpoints.stops("before_apply", peer, self._requeue, peer):
                continue
            entries, peer.apply_queue = peer.apply_queue, []
            batch.append((peer, entries))
        return batch

    def _requeue(self, peer: Peer) -> None:
        """Queues a peer that was held up."""
        peer.apply_turn = IDLE
        self.schedule(peer, [])

    def _work_ns(self, batch: Piece) -> tuple[int, int]:
        """Returns the CPU of a batch before RocksDB, and that of its records in it; drawn.

        Each peer's apply state is a record, too, which is not parsed.
        """
        cpu, units = self._cpu, self._units
        apply_ns = insert_ns = 0.0
        for _, _, commands, keys in batch:
            if not units:
                units.extend(self._draw.unit_block())
            unit = units.pop()
            apply_ns += (commands * cpu.apply_command_ns + keys * cpu.apply_record_ns) * unit
            insert_ns += (keys + 1) * cpu.kvdb_record_ns * unit
        return floor(apply_ns), floor(insert_ns)

    def _apply_batch(self, batch: Piece) -> None:
        safe_ts = self._safe_ts()
        finished: list[RaftCommand] = []
        cause = ADMIN
        for peer, entries, _, _ in batch:
            if not peer.gone:
                cause = self._apply(peer, entries, finished, cause)
            state = peer.state
            garbage = state.mvcc.garbage
            if garbage and garbage[0][1].commit_ts < safe_ts:
                state.mvcc.collect_garbage(safe_ts)
            peer.raft.note_applied(state.applied)
            merge = peer.merge
            if merge is not None and merge.fence and state.applied >= merge.fence:
                self._ctx.router.deliver(peer, FencePassed())
        self._kv.end_of_round(cause)
        self._answer(finished)
        self._notify(batch)

    def _notify(self, batch: Piece) -> None:
        """Tells each peer's raftstore that something has been applied; a poller visits it."""
        visit = self._ctx.router.visit
        for peer, entries, _, _ in batch:
            if entries and not peer.gone:
                visit(peer)

    def _apply(  # noqa: C901 - one pass over entries, most often one
        self, peer: Peer, entries: list[Entry], finished: list[RaftCommand], cause: int
    ) -> int:
        """Applies entries on one replica; returns the cause of the last command.

        ``cause`` is that of the last command before. Most often there is one entry.
        """
        probe, kv = self._ctx.probe, self._kv
        state = peer.state
        for entry in entries:
            state.applied = entry.index
            state.applied_term = entry.term
            payload: list[RaftCommand] = entry.payload
            if payload and payload[0].is_write and _is_current(payload[0], state):
                records = state.mvcc
                for command in payload:
                    batch = command.batch
                    assert batch is not None, "it is a write"
                    cause = batch.cause
                    kv.apply(batch)
                    records.apply(batch)
                    if command.peer is peer:
                        command.committed_ns = entry.committed_ns
                        finished.append(command)
                        if command.replaced_locks:
                            _remove_replaced(peer, command)
            else:
                cause = self._apply_unusual(peer, entry)
            if probe.watches_replicas:
                probe.applied(peer, entry)
            if not entry.is_applied:
                entry.is_applied = True
                probe.first_applied(peer, entry)
            if peer.gone:
                break
        return cause

    def _apply_unusual(self, peer: Peer, entry: Entry) -> int:
        """Applies an entry of another kind, or one that is out of date; returns its cause."""
        payload: list[RaftCommand] = entry.payload
        if not payload:
            self._new_leaders_entry(peer)
            return ADMIN
        first = payload[0]
        if isinstance(first, AdminProposal):
            self._apply_admin(peer, first, entry)
        elif not _is_current(first, peer.state):
            self._skip(peer, payload)
        elif isinstance(first, MigratedLocks):
            assert first.batch is not None, "it carries locks"
            if self._as_in_rfc and peer.is_leader:
                self._ctx.router.deliver(peer, LocksApplied(entry.index))
            if not self._understands_migration():
                self._ctx.probe.migration_ignored(peer, first.batch.lock_puts)
                return ADMIN
            self._kv.apply(first.batch)
            peer.state.mvcc.apply(first.batch)
            return MIGRATION
        return ADMIN

    def _new_leaders_entry(self, peer: Peer) -> None:
        """A new leader's empty entry: all that was committed before its term is applied here."""
        if peer.raft.role is LEADER and peer.has_applied_to_current_term:
            self._ctx.router.deliver(peer, AppliedToTerm())

    def _understands_migration(self) -> bool:
        """Returns whether this store's version can read the locks that a leader has proposed.

        RFC 77 meant to send them in new fields of messages; TiKV writes ordinary records.
        """
        return not self._as_in_rfc or self._ctx.version >= IN_MEMORY_SINCE

    def _skip(self, peer: Peer, payload: list[RaftCommand]) -> None:
        """Refuses commands behind which the region has changed, or a flashback has begun."""
        if not _is_of_version(payload[0], peer.state):
            self._ctx.probe.mark("apply.stale_epoch")
        for command in payload:
            if command.peer is peer and command.is_write:
                error: RegionError = FlashbackInProgress(peer.region.region_id)
                if not _is_of_version(command, peer.state):
                    error = EpochNotMatch(self._ctx.regions_over(command.region))
                self._ctx.callbacks.on_refused(command, error)

    def _answer(self, commands: list[RaftCommand]) -> None:
        """Calls back those who wait for their commands' being applied here."""
        now_ns = self._ctx.env.now_ns
        on_applied = self._ctx.callbacks.on_applied
        for command in commands:
            command.applied_ns = now_ns
            on_applied(command)

    def _release(self, batch: Batch) -> None:
        for peer, _ in batch:
            if peer.apply_queue:
                peer.apply_turn = QUEUED
                self._queue.append(peer)
            else:
                peer.apply_turn = IDLE

    def _apply_admin(self, peer: Peer, proposal: AdminProposal, entry: Entry) -> None:
        """Executes an admin command, or skips it, and tells the raftstore."""
        shut = peer.state.in_flashback and not proposal.admin.is_flashback
        if shut or _is_out_of_date(proposal, peer.state.region):
            self._ctx.router.deliver(peer, Skipped(entry.index))
        else:
            self._ctx.router.deliver(peer, self._execute(peer, proposal.admin, entry.index))

    def _execute(self, peer: Peer, admin: AdminCommand, index: int) -> Applied:
        state = peer.state
        match admin:
            case Split():
                return SplitRegion.apply(peer, admin, index)
            case ChangePeer():
                return Membership.apply(peer, admin, index)
            case PrepareMerge():
                region = state.region
                epoch = RegionEpoch(region.epoch.conf_ver + 1, region.epoch.version + 1)
                state.region = Region(
                    region.region_id, region.start_key, region.end_key, region.stores, epoch
                )
                state.merging, state.merge_command = index, admin
            case RollbackMerge() if state.merging == admin.commit:
                state.region = state.region.with_version(state.region.epoch.version + 1)
                state.merging, state.merge_command = 0, None
            case PrepareFlashback() | FinishFlashback():
                state.in_flashback = isinstance(admin, PrepareFlashback)
            case CommitMerge():
                self._commit_merge(peer, admin)
            case _:  # TransferLeader: its place in the log is all that matters.
                pass
        return Applied(admin, index, state.region)

    def _commit_merge(self, peer: Peer, command: CommitMerge) -> None:
        """Brings the source's replica on this store up to date, and takes its records."""
        source = self._ctx.peers[command.source.region_id]
        self._catch_up_source(source, command)
        source.state.cut_to_region()
        state, region = peer.state, peer.state.region
        state.mvcc.absorb(source.state.mvcc)
        left, right = sorted([region, command.source], key=lambda each: each.start_key)
        version = max(region.epoch.version, command.source.epoch.version) + 1
        state.region = region.with_range(left.start_key, right.end_key, version)
        self._ctx.merged_into[source.region.region_id] = state.region
        destroy(self._ctx, source, "merged")

    def _catch_up_source(self, source: Peer, command: CommitMerge) -> None:
        """Applies what the source's replica has not, from its own log and from the command."""
        applied = source.state.applied
        if applied >= command.commit:
            return
        self._ctx.probe.mark("merge.catch_up")
        first = command.entries[0].index if command.entries else command.commit + 1
        own = [entry for entry in source.raft.log.since(applied + 1) if entry.index < first]
        missing = [entry for entry in command.entries if entry.index > applied]
        source.apply_queue = []
        self.catch_up(source, [*own, *missing])


def _write_batches(batch: Batch) -> list[Piece]:
    """Returns what a round has collected in the pieces in which it goes to RocksDB.

    A piece ends before the entry that comes after more than ``WRITE_BATCH_MAX_KEYS`` keys; its
    commands are answered when it is written.
    """
    pieces: list[Piece] = []
    piece: Piece = []
    written = 0
    for peer, entries in batch:
        together: list[Entry] = []
        commands = keys = 0
        for entry in entries:
            if written + keys > WRITE_BATCH_MAX_KEYS:
                if together:
                    piece.append((peer, together, commands, keys))
                pieces.append(piece)
                piece, together = [], []
                written = commands = keys = 0
            together.append(entry)
            payload: list[RaftCommand] = entry.payload
            commands += len(payload)
            for command in payload:
                keys += command.batch.keys  # type: ignore[union-attr]
        piece.append((peer, together, commands, keys))
        written += keys
    pieces.append(piece)
    return pieces


def _is_current(command: RaftCommand, state: AppliedState) -> bool:
    """Returns whether a command may be applied to the region as it is."""
    if state.in_flashback:
        return False
    return command.region is state.region or _is_of_version(command, state)


def _is_of_version(command: RaftCommand, state: AppliedState) -> bool:
    """Returns whether a command was proposed for the version of the region that is applied."""
    return command.region.epoch.version == state.region.epoch.version


def _is_out_of_date(proposal: AdminProposal, region: Region) -> bool:
    admin, proposed = proposal.admin, proposal.region.epoch
    if isinstance(admin, TransferLeaderCommand):
        return admin.checks_epoch and proposed != region.epoch
    return (admin.checks_version and proposed.version != region.epoch.version) or (
        admin.checks_conf_ver and proposed.conf_ver != region.epoch.conf_ver
    )


def _remove_replaced(peer: Peer, command: RaftCommand) -> None:
    """Removes the locks that a command has replaced: a split behind it must not see them."""
    locks = peer.locks
    if locks.refers_to(command.term, command.region.epoch.version):
        locks.remove(command.replaced_locks)
