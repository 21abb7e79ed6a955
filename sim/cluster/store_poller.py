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

from typing import TYPE_CHECKING

from sim.cluster.peer import IDLE, OWNED, QUEUED
from sim.cluster.request import KvRequest
from sim.cluster.transport import Outbox
from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES
from sim.protocol.raft import NOTHING_READY, Append, AppendResponse

if TYPE_CHECKING:
    from sim.cluster.peer import Peer
    from sim.cluster.store_pool import StorePool
    from sim.protocol.raft import Ready
    from sim.protocol.raft_log import Entry


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

    def _collect(self, _: None) -> None:
        pool = self._pool
        queue, batch = pool.queue, self._batch
        cores = pool.cores
        slowness = cores.slowness()
        cores.running += 1
        now = pool.env.now_ns
        most = pool.batching.max_batch
        service = 0
        fresh: list[tuple[Peer, Ready]] = []
        units = pool.units
        while queue and len(batch) < most:
            peer = queue.popleft()
            peer.turn = OWNED
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
                for command in commands:
                    pool.on_proposed(command, done_ns)
                self._propose(peer, commands)
            elif peer.held:
                self._propose(peer, commands)
            ready = peer.raft.ready()
            if ready is not NOTHING_READY:
                fresh.append((peer, ready))
        held = int(service * slowness)
        cores.busy_ns += held
        self._readies += fresh
        pool.env.at(now + held, self._handled, fresh)

    @staticmethod
    def _step(peer: Peer, mail: list[object]) -> list[KvRequest]:
        """Hands Raft its messages; returns the commands, which are to be proposed."""
        raft = peer.raft
        commands: list[KvRequest] = []
        for message in mail:
            kind = message.__class__
            if kind is KvRequest:
                commands.append(message)  # type: ignore[arg-type]
            elif kind is Append:
                raft.step_append(message)  # type: ignore[arg-type]
            else:
                assert kind is AppendResponse, f"no peer understands {message!r}"
                raft.step_append_response(message)  # type: ignore[arg-type]
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
        if batching.merge_commands:
            self._append_entry(peer, commands)
        else:
            for command in commands:
                self._append_entry(peer, [command])

    @staticmethod
    def _append_entry(peer: Peer, commands: list[KvRequest]) -> None:
        size = ENTRY_OVERHEAD_BYTES
        for command in commands:
            size += command.batch.raft_bytes  # type: ignore[union-attr]
        peer.raft.propose(commands, size)

    def _handled(self, fresh: list[tuple[Peer, Ready]]) -> None:
        pool = self._pool
        pool.cores.running -= 1
        outbox = self._outbox
        for peer, ready in fresh:
            if ready.committed:
                pool.commit(peer, ready.committed)
            for store, message in ready.appends:
                outbox.add_append(store, message)
                peer.commit_told = message.commit
        if pool.queue and len(self._batch) < pool.batching.max_batch:
            self._collect(None)
            return
        outbox.flush(pool.transport)
        self._persist()

    def _persist(self) -> None:
        """Writes the entries of the round, or has a write worker do it."""
        pool = self._pool
        entries: list[Entry] = []
        for _, ready in self._readies:
            if ready.entries:
                entries += ready.entries
        if pool.workers is not None:
            pool.workers.take(self._readies)
            self._release()
        elif entries:
            pool.log.write(entries, self._durable, None)
        else:
            self._durable(None)

    def _durable(self, _: None) -> None:
        pool = self._pool
        for peer, ready in self._readies:
            raft = peer.raft
            if ready.last_index:
                raft.on_persisted(ready.last_index, ready.entries[-1].term)
                log = raft.log
                if log.committed > log.applying:
                    pool.commit(peer, raft.take_committed())
            if ready.response is not None:
                self._outbox.add_response(raft.leader, ready.response)
        self._outbox.flush(pool.transport)
        self._release()

    def _release(self) -> None:
        pool = self._pool
        queue = pool.queue
        for peer in self._batch:
            if peer.mailbox or peer.notices:
                peer.turn = QUEUED
                queue.append(peer)
            else:
                peer.turn = IDLE
        pool.busy_ns += pool.env.now_ns - self._began_ns
        if queue:
            self.begin()
        else:
            pool.idle.append(self)
