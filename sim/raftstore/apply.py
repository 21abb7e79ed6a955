"""The apply pool: loops that make committed entries visible.

Law: one round takes the peers that have something to apply, pays CPU for every command and key,
writes them to RocksDB together, and only then calls back whoever waits. Entries of one peer are
applied in log order: a peer is owned by one poller at a time. An entry that was proposed for a
version of the region which is over by now is skipped.

Source: tikv/tikv components/raftstore/src/store/fsm/apply.rs.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from sim.protocol.write_batch import ADMIN, MIGRATION
from sim.raftstore.peer import IDLE, OWNED, QUEUED
from sim.raftstore.proposal import AdminProposal, Migration
from sim.storage.request import KvRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.distributions import Sampler
    from sim.engine import Cores, LeanEnv
    from sim.protocol.raft.log import Entry
    from sim.raftstore.apply_watch import ApplyWatch
    from sim.raftstore.kv_engine import KvEngine
    from sim.raftstore.peer import AppliedState, Peer


class ApplyCosts:
    """CPU of applying, in ns, before the draw that varies it."""

    __slots__ = ("command_ns", "key_ns")

    def __init__(self, *, command_ns: int, key_ns: int) -> None:
        self.command_ns = command_ns
        self.key_ns = key_ns


class ApplyPool:
    """The peers that wait for an apply poller, and the pollers that wait for peers."""

    __slots__ = (
        "_batch",
        "_cores",
        "_costs",
        "_draw",
        "_env",
        "_idle",
        "_kv",
        "_queue",
        "_safe_ts",
        "_units",
        "_watch",
        "busy_ns",
        "rounds",
        "threads",
    )

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        cores: Cores,
        kv: KvEngine,
        *,
        threads: int,
        max_batch: int,
        costs: ApplyCosts,
        draw: Sampler,
        watch: ApplyWatch,
        safe_ts: Callable[[], int],
    ) -> None:
        self._env = env
        self._cores = cores
        self._kv = kv
        self._batch = max_batch
        self._costs = costs
        self._draw = draw
        self._units: list[float] = []
        self._watch = watch
        self._safe_ts = safe_ts
        self._queue: deque[Peer] = deque()
        self._idle = threads
        self.threads = threads
        self.busy_ns = 0
        self.rounds = 0

    def schedule(self, peer: Peer, entries: list[Entry]) -> None:
        """Queues committed entries of a peer."""
        peer.apply_queue.extend(entries)
        if peer.apply_turn is IDLE:
            peer.apply_turn = QUEUED
            self._queue.append(peer)
            if self._idle:
                self._idle -= 1
                self._begin()

    def _enqueue(self, peer: Peer) -> None:
        """Queues a peer whose hold has been released."""
        peer.apply_turn = IDLE
        self.schedule(peer, [])

    def _begin(self) -> None:
        queue = self._queue
        holds = self._watch.holds
        batch: list[tuple[Peer, list[Entry]]] = []
        commands = keys = 0
        while queue and len(batch) < self._batch:
            peer = queue.popleft()
            peer.apply_turn = OWNED
            if holds.active and holds.stops(
                "before_apply", peer.store, peer.region.region_id, self._enqueue, peer
            ):
                continue
            entries = peer.apply_queue
            peer.apply_queue = []
            for entry in entries:
                payload: list[KvRequest] = entry.payload  # type: ignore[assignment]
                commands += len(payload)
                for command in payload:
                    keys += command.batch.keys  # type: ignore[union-attr]
            batch.append((peer, entries))
        cores = self._cores
        mean = commands * self._costs.command_ns + keys * self._costs.key_ns
        units = self._units
        if not units:
            units.extend(self._draw.unit_block())
        held = int(int(mean * units.pop()) * cores.slowness())
        cores.running += 1
        cores.busy_ns += held
        self.busy_ns += held
        self.rounds += 1
        self._env.at(self._env.now_ns + held, self._end, batch)

    def _end(self, batch: list[tuple[Peer, list[Entry]]]) -> None:
        self._cores.running -= 1
        safe_ts = self._safe_ts()
        finished: list[KvRequest] = []
        cause = ADMIN
        for peer, entries in batch:
            if not peer.gone:
                cause = self._apply(peer, entries, finished, cause)
            state = peer.state
            garbage = state.mvcc.garbage
            if garbage and garbage[0][1].commit_ts < safe_ts:
                state.mvcc.collect_garbage(safe_ts)
            peer.raft.note_applied(state.applied)
            if peer.merge is not None:
                self._watch.on_progress(peer)
        self._kv.end_of_round(cause)
        if finished:
            self._finish(finished)
        self._release(batch)

    def _apply(  # noqa: C901 - one pass over entries, most often one
        self, peer: Peer, entries: list[Entry], finished: list[KvRequest], cause: int
    ) -> int:
        """Applies entries on one replica; returns the cause of the last command.

        ``cause`` is that of the last command before.
        """
        probe, to_kv = self._watch.probe, self._kv.apply
        state = peer.state
        for entry in entries:
            state.applied = entry.index
            state.applied_term = entry.term
            payload: list[Any] = entry.payload  # type: ignore[assignment]
            if payload and payload[0].__class__ is KvRequest and _is_current(payload[0], state):
                to_records = state.mvcc.apply
                for command in payload:
                    batch = command.batch
                    cause = batch.cause
                    to_kv(batch)
                    to_records(batch)
                    if command.peer is peer:
                        command.committed_ns = entry.committed_ns
                        finished.append(command)
                        if command.marked:
                            _remove_marked(peer, command)
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
        """Applies an entry that holds no commands, or none of now; returns what its cause is."""
        payload: list[Any] = entry.payload  # type: ignore[assignment]
        state = peer.state
        if not payload:
            self._watch.on_noop(peer)
        elif payload[0].__class__ is AdminProposal:
            self._watch.on_admin(peer, payload[0], entry)
        elif not _is_current(payload[0], state):
            self._skip(peer, payload)
        elif self._watch.on_migrated(peer, entry):
            for migration in payload:
                self._kv.apply(migration.batch)
                state.mvcc.apply(migration.batch)
            return MIGRATION
        # Else it is written in words that this store's version does not know.
        return ADMIN

    def _skip(self, peer: Peer, payload: list[KvRequest]) -> None:
        self._watch.probe.mark("apply.stale_epoch")
        for command in payload:
            if command.peer is peer and command.__class__ is KvRequest:
                self._watch.on_stale(command)

    def forget(self) -> None:
        """Drops what waits to be applied: the process has died."""
        for peer in self._queue:
            peer.apply_queue = []
            peer.apply_turn = IDLE
        self._queue.clear()

    def catch_up(self, peer: Peer, entries: list[Entry]) -> None:
        """Applies entries at once: a merge's target brings its source up to date."""
        finished: list[KvRequest] = []
        self._apply(peer, entries, finished, ADMIN)
        if finished:
            self._finish(finished)

    def _finish(self, commands: list[KvRequest]) -> None:
        """Calls back those who wait for their commands' being applied here."""
        now = self._env.now_ns
        for command in commands:
            command.applied_ns = now
            self._watch.on_applied(command)

    def _release(self, batch: list[tuple[Peer, list[Entry]]]) -> None:
        queue = self._queue
        for peer, _ in batch:
            if peer.apply_queue:
                peer.apply_turn = QUEUED
                queue.append(peer)
            else:
                peer.apply_turn = IDLE
        if queue:
            self._begin()
        else:
            self._idle += 1


def _is_current(command: KvRequest | Migration, state: AppliedState) -> bool:
    """Returns whether a command was proposed for the version of the region that is applied."""
    if command.region is state.region:
        return True
    return command.region.epoch.version == state.region.epoch.version


def _remove_marked(peer: Peer, command: KvRequest) -> None:
    """Drops the locks that a command has replaced, before a split or merge behind it sees them."""
    locks = peer.locks
    if locks.refers_to(command.term, command.region.epoch.version):
        locks.remove(command.marked)
