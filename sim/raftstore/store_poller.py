"""The raftstore's pollers: loops that propose, persist, send and commit for the peers of a store.

One round of a poller::

    collect peers with mail ► handle their mail (CPU) ► more mail came? handle it too
        ► send the leaders' appends ► append + fsync ► send the followers' answers ► begin again

Law: with ``store-io-pool-size = 0`` the poller itself waits for the fsync; with write workers it
goes on, and "persisted" comes back as mail. How many entries share an fsync is nobody's decision:
it is what has gathered while the poller was busy.

A command counts as proposed when its peer's visit ends, before anything is persisted or sent.

Source: tikv/tikv components/batch-system/src/batch.rs (Poller::poll),
components/raftstore/src/store/fsm/store.rs (RaftPoller), fsm/peer.rs (BatchRaftCmdRequestBuilder,
on_loop_finished).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.protocol.raft import NOTHING_READY, Append, AppendResponse
from sim.protocol.raft.ready import EventfulReady
from sim.raftstore.peer import IDLE, OWNED, QUEUED
from sim.storage.request import KvRequest
from sim.transport.transport import Outbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.failpoints import Holds
    from sim.protocol.raft import Ready
    from sim.protocol.raft.log import Entry
    from sim.raftstore.peer import Peer
    from sim.raftstore.store_pool import StorePool

    Task = tuple[Peer, Ready]


_NO_COMMANDS: Final[list[KvRequest]] = []
"""What most mail brings; never filled."""


class StorePoller:
    """One poller thread."""

    __slots__ = ("_batch", "_began_ns", "_outbox", "_pool", "_readies")

    def __init__(self, pool: StorePool) -> None:
        self._pool = pool
        self._batch: list[Peer] = []
        self._readies: list[tuple[Peer, Ready]] = []
        self._outbox = Outbox()
        self._began_ns = 0

    def begin(self) -> None:
        """Starts a round: there is at least one peer with mail."""
        self._began_ns = self._pool.env.now_ns
        self._batch = []
        self._readies = []
        self._pool.rounds += 1
        self._collect(None)

    def _collect(self, _: None) -> None:  # noqa: C901 - one pass over the peers that have mail
        pool = self._pool
        queue, batch, units = pool.queue, self._batch, pool.units
        cores = pool.cores
        slowness = cores.slowness()
        cores.running += 1
        now = pool.env.now_ns
        most = pool.batching.max_batch
        service = 0
        fresh: list[tuple[Peer, Ready]] = []
        while queue and len(batch) < most:
            peer = queue.popleft()
            peer.turn = OWNED
            peer.stirred = True
            batch.append(peer)
            mail = peer.mailbox
            peer.mailbox = []
            messages = len(mail)
            if peer.notices:
                self._note_persisted(peer)
            pool.messages += messages
            if not units:
                units.extend(pool.draw.unit_block())
            service += int(pool.message_ns * messages * units.pop())
            commands = self._step(peer, mail)
            if commands:
                done_ns = now + int(service * slowness)
                on_proposed = pool.door.on_proposed
                for command in commands:
                    on_proposed(command, done_ns)
                self._propose(peer, commands)
            elif peer.held:
                self._propose(peer, commands)
            ready = peer.raft.ready()
            if ready is not NOTHING_READY:
                fresh.append((peer, ready))
                if ready.__class__ is EventfulReady:
                    pool.door.ready(peer, ready)
        held = int(service * slowness)
        cores.busy_ns += held
        self._readies += fresh
        pool.env.at(now + held, self._handled, fresh)

    def _step(self, peer: Peer, mail: list[object]) -> list[KvRequest]:
        """Hands Raft its messages; returns the commands, which are to be proposed."""
        raft = peer.raft
        commands = _NO_COMMANDS
        for message in mail:
            kind = message.__class__
            if kind is Append:
                raft.step_append(message)  # type: ignore[arg-type]
            elif kind is AppendResponse:
                raft.step_append_response(message)  # type: ignore[arg-type]
            elif kind is KvRequest:
                if not commands:
                    commands = []
                commands.append(message)  # type: ignore[arg-type]
            else:
                self._pool.door.handle(peer, message)
        if commands and (peer.unusual or not _all_current(peer, commands)):
            return self._pool.door.admit(peer, commands)
        return commands

    @staticmethod
    def _note_persisted(peer: Peer) -> None:
        """Takes the write workers' notices; like ``on_persisted`` after an own fsync, at no cost.

        What it costs is part of a message's CPU: that was fitted with pollers that write.
        """
        for notice in peer.notices:
            peer.raft.on_persisted(notice.index, notice.term)
        peer.unpersisted -= len(peer.notices)
        peer.notices = []

    def _propose(self, peer: Peer, commands: list[KvRequest]) -> None:
        """Proposes what has come, unless the batch builder holds it back.

        The command is answered all the same: that it will be proposed is as good as certain
        (``will_likely_propose``).
        """
        batching = self._pool.batching
        if self._pool.workers is not None:
            log = peer.raft.log
            peer.held += commands
            held_back = peer.unpersisted >= batching.max_unpersisted
            if held_back and log.committed < log.last_index:
                return
            commands, peer.held = peer.held, []
        self._pool.append(peer, commands)

    def _handled(self, fresh: list[tuple[Peer, Ready]]) -> None:
        pool = self._pool
        pool.cores.running -= 1
        outbox = self._outbox
        for peer, ready in fresh:
            if peer.gone:
                continue
            if ready.committed:
                pool.commit(peer, ready.committed)
            if ready.appends:
                outbox.add_appends(ready.appends)
                peer.commit_told = ready.appends[-1][1].commit
        if pool.queue and len(self._batch) < pool.batching.max_batch:
            self._collect(None)
            return
        outbox.flush(pool.transport)
        self._persist()

    def _persist(self) -> None:
        """Writes the entries of the round, or has a write worker do it."""
        pool = self._pool
        holds = pool.door.holds
        if holds.active:
            self._readies = [
                task for task in self._readies if not stopped_before_append(holds, task, self._late)
            ]
        if pool.workers is not None:
            pool.workers.take(self._readies)
            self._release()
        else:
            self._write(self._readies, self._durable)

    def _write(self, tasks: list[Task], then: Callable[[list[Task]], None]) -> None:
        """Writes what the readies hold; calls ``then`` at once if that is nothing."""
        entries: list[Entry] = []
        states = 0
        for _, ready in tasks:
            if ready.entries:
                entries += ready.entries
            if ready.hard_state is not None:
                states += 1
        if entries or states:
            self._pool.log.write(entries, then, tasks, hard_states=states)
        else:
            then(tasks)

    def _late(self, task: Task) -> None:
        """Goes on with a ready whose hold has been released; it is in nobody's round any more."""
        if self._pool.workers is not None:
            self._pool.workers.take([task])
        else:
            self._write([task], self._settle)

    def _durable(self, tasks: list[Task]) -> None:
        self._settle(tasks)
        self._release()

    def _settle(self, tasks: list[Task]) -> None:
        """Tells Raft what is durable, and sends what had to wait for it."""
        pool = self._pool
        for peer, ready in tasks:
            if peer.gone:
                continue
            raft = peer.raft
            if ready.__class__ is EventfulReady:
                self._settle_events(peer, ready)
            if ready.last_index:
                raft.on_persisted(ready.last_index, ready.entries[-1].term)
                log = raft.log
                if log.committed > log.applying:
                    pool.commit(peer, raft.take_committed())
            if ready.response is not None and raft.leader not in (0, peer.store):
                self._outbox.add_response(raft.leader, ready.response)
        self._outbox.flush(pool.transport)

    def _settle_events(self, peer: Peer, ready: Ready) -> None:
        if ready.hard_state is not None:
            peer.raft.on_hard_state_persisted(ready.hard_state)
            self._pool.visit(peer)  # It may be the vote that makes it leader.
        for store, message in ready.messages:
            self._outbox.add_message(store, message)

    def _release(self) -> None:
        pool = self._pool
        queue = pool.queue
        for peer in self._batch:
            if (peer.mailbox or peer.notices) and not peer.gone:
                peer.turn = QUEUED
                queue.append(peer)
            else:
                peer.turn = IDLE
        pool.busy_ns += pool.env.now_ns - self._began_ns
        if queue:
            self.begin()
        else:
            pool.idle.append(self)


def _all_current(peer: Peer, commands: list[KvRequest]) -> bool:
    """Returns whether all commands are of the peer's present term and version."""
    term, region = peer.raft.term, peer.region
    for command in commands:
        if command.term != term:
            return False
        other = command.region  # Nearly always the same object.
        if other is not region and other.epoch.version != region.epoch.version:
            return False
    return True


def stopped_before_append(holds: Holds, task: Task, resume: Callable[[Task], None]) -> bool:
    """Returns whether a ready with entries is held up before they are written."""
    peer, ready = task
    region_id = peer.region.region_id
    return bool(ready.entries) and holds.stops("before_append", peer.store, region_id, resume, task)
