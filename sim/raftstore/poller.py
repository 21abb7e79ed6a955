"""The raftstore's pollers: loops that propose, persist, send and commit for the peers of a store.

One round of a poller::

    collect peers with mail ► handle their mail (CPU) ► more mail came? handle it too
        ► send the leaders' appends ► append + fsync ► send the followers' answers ► begin again

Invariant: with ``store-io-pool-size = 0`` the poller itself waits for the fsync; with write workers
it goes on, and "persisted" comes back as mail. Nobody decides how many entries share an fsync: it
is what has arrived while the poller was busy.

A command counts as proposed when its peer's visit ends, before anything is persisted or sent.

Source: tikv/tikv components/batch-system/src/batch.rs (Poller::poll),
components/raftstore/src/store/fsm/store.rs (RaftPoller), fsm/peer.rs (handle_msgs,
BatchRaftCmdRequestBuilder, on_loop_finished), peer.rs (handle_raft_committed_entries).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import floor
from typing import Any

from sim.distributions import Sampler
from sim.engine import UNTIL_WOKEN, Cores, Story
from sim.protocol.raft import LEADER, NOTHING_READY, Append, AppendResponse
from sim.protocol.raft.log import Entry
from sim.protocol.raft.ready import EventfulReady
from sim.raftstore.apply import ApplyPool
from sim.raftstore.context import StoreContext
from sim.raftstore.log_engine import LogEngine, record_ns
from sim.raftstore.msg import ORDERS
from sim.raftstore.peer import IDLE, OWNED, QUEUED, STOPPED, Peer, RaftCommand
from sim.raftstore.peer_fsm import PeerFsm
from sim.raftstore.propose import Proposals
from sim.raftstore.write_worker import (
    Task,
    WriteWorkers,
    send_answers,
    write,
)
from sim.scenario.schema.hardware import CpuCosts
from sim.transport.transport import Outbox


class StorePool:
    """The store pollers of one store."""

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        ctx: StoreContext,
        cores: Cores,
        *,
        costs: CpuCosts,
        draw: Sampler,
        log: LogEngine,
        apply: ApplyPool,
        proposals: Proposals,
        fsm: PeerFsm,
    ) -> None:
        tikv = ctx.tikv
        self._ctx = ctx
        self._cores = cores
        self._max_batch = tikv.store_max_batch_size
        self._max_unpersisted = tikv.cmd_batch_concurrent_ready_max_count
        self._lease_ns = tikv.raft_store_max_leader_lease_ns
        self._visit_ns = costs.store_visit_ns
        self._message_ns = costs.store_message_ns
        self._byte_ns = costs.log_byte_ns
        self._record_ns = record_ns(tikv, costs)
        self._draw = draw
        self._log = log
        self._apply = apply
        self._proposals = proposals
        self._fsm = fsm
        self._workers: WriteWorkers | None = None
        if tikv.store_io_pool_size:
            self._workers = WriteWorkers(ctx, log)
        self.threads = tikv.store_pool_size
        self._taking = 0
        """Pollers that handle mail now: they take one peer after the other, each its share."""
        self._busy_ns = 0
        """When pollers were done with the mail of a round, less when they began."""
        self.messages = 0
        for _ in range(self.threads):
            ctx.env.process(self._run())

    def busy_until(self, now_ns: int) -> int:
        """Returns for how long pollers have handled mail until now, in sum.

        What they wait for the log is not in it, nor in TiKV's CPU of the raft store.
        """
        return self._busy_ns + self._taking * now_ns

    def commit(self, peer: Peer, entries: list[Entry]) -> None:
        """Hands committed entries to the apply pool; a leader's lease begins when it proposed."""
        raft = peer.raft
        if raft.role is LEADER:  # Followers hold the same entries, and learn of it later.
            now_ns = self._ctx.env.now_ns
            for entry in entries:
                entry.committed_ns = now_ns
            proposed_ns = entries[-1].proposed_ns
            if proposed_ns and not raft.lead_transferee and peer.may_hold_lease:
                peer.lease.renew(proposed_ns, self._lease_ns)
            if peer.proposed_admin and peer.is_merging:
                peer.lease.expire()  # Before the followers hear of it, and the target can act.
            if 0 < peer.urgent_index <= entries[-1].index:
                self._broadcast_commit(peer)
        self._apply.schedule(peer, entries)

    def _run(self) -> Story:
        """One store poller."""
        env, router, cores = self._ctx.env, self._ctx.router, self._cores
        outbox = Outbox()
        process = env.this_process
        while True:
            woken_ns = 0
            while not router.queue:
                router.idle.append(process)
                yield UNTIL_WOKEN
                woken_ns = cores.wake()
            batch: list[Peer] = []
            readies: list[Task] = []
            self._taking += 1
            self._busy_ns -= env.now_ns + woken_ns
            while router.queue and len(batch) < self._max_batch:
                slowness = cores.slowness()
                fresh, service_ns = self._handle_mail(batch, slowness, woken_ns)
                held_ns = cores.hold(service_ns, slowness)
                share = cores.occupy(held_ns, woken_ns)
                readies += fresh
                yield held_ns + woken_ns
                woken_ns = 0
                cores.leave(share)
                self._hand_out(fresh, outbox)
            self._taking -= 1
            self._busy_ns += env.now_ns
            outbox.flush(self._ctx.transport)
            readies = self._not_held_up(batch, readies, outbox)
            if self._workers is not None:
                self._workers.take(readies)
            else:
                if write(self._log, readies, process):
                    yield UNTIL_WOKEN
                self._persisted(readies, outbox)
            self._release(batch)

    def _handle_mail(
        self, batch: list[Peer], slowness: float, woken_ns: int
    ) -> tuple[list[Task], int]:
        """Handles the mail of all peers that have some, as far as the batch has room.

        The thread begins to run after ``woken_ns``.
        Returns what Raft has ready of them, and the CPU of it in ns, before it is slowed down.
        """
        ctx = self._ctx
        queue, now_ns = ctx.router.queue, ctx.env.now_ns
        service_ns = 0
        fresh: list[Task] = []
        fair = len(batch) - (-len(queue) // self._taking)
        share = fair if fair < self._max_batch else self._max_batch
        while queue and len(batch) < share:
            peer = queue.popleft()
            peer.turn = OWNED
            peer.stirred = True
            batch.append(peer)
            mail, peer.mailbox = peer.mailbox, []
            if peer.notices:
                _note_persisted(peer)
            messages = len(mail)
            self.messages += messages
            service_ns += self._draw.scaled(self._visit_ns + self._message_ns * messages)
            self._step(peer, mail, now_ns + woken_ns + floor(service_ns * slowness))
            if peer.turn is STOPPED:
                batch.pop()
                continue
            ready = peer.raft.ready()
            if ready is not NOTHING_READY:
                fresh.append((peer, ready))
                if ready.entries:
                    service_ns += self._appending_ns(ready.entries)
                if ready.__class__ is EventfulReady:
                    self._fsm.handle_ready(peer, ready)
        return fresh, service_ns

    def _appending_ns(self, entries: list[Entry]) -> int:
        """Returns the CPU of appending a ready's entries, with the state that goes with them.

        Their deletion, when the log is cut, is charged to a thread that no poller waits for.
        """
        count, byte_ns = len(entries), self._byte_ns
        self._cores.background_ns += self._record_ns * count
        service_ns = self._record_ns * (count + 1)
        for entry in entries:
            service_ns += floor(entry.size_bytes * byte_ns)
        return service_ns

    def _step(self, peer: Peer, mail: list[Any], done_ns: int) -> None:
        """Hands Raft its messages and proposes the commands, which is done at ``done_ns``.

        Commands are gathered, but go before an admin command that may be proposed.
        """
        raft = peer.raft
        commands: list[RaftCommand] = []
        for message in mail:
            kind = message.__class__
            if kind is Append:
                raft.step_append(message)
            elif kind is AppendResponse:
                raft.step_append_response(message)
            elif isinstance(message, RaftCommand):
                commands.append(message)
            else:
                if commands and kind in ORDERS:
                    self._propose(peer, commands, done_ns)
                    commands = []
                self._fsm.handle(peer, message)
                if peer.turn is STOPPED:
                    rest = mail[mail.index(message) + 1 :]
                    peer.mailbox = [*commands, *rest, *peer.mailbox]
                    return
        if commands or peer.held:
            self._propose(peer, commands, done_ns)

    def _propose(self, peer: Peer, commands: list[RaftCommand], done_ns: int) -> None:
        """Proposes what may be proposed, unless the batch builder holds it back.

        The sender is answered all the same: that it will be proposed is as good as certain
        (``will_likely_propose``).
        """
        if commands and (peer.needs_check or not self._proposals.are_ordinary(peer, commands)):
            commands = self._proposals.admit(peer, commands)
        on_proposed = self._ctx.callbacks.on_proposed
        for command in commands:
            on_proposed(command, done_ns)
        if not commands and not peer.held:
            return
        if self._workers is not None:
            log = peer.raft.log
            commands = [*peer.held, *commands]
            held_back = peer.unpersisted >= self._max_unpersisted
            if held_back and log.committed < log.last_index:
                peer.held = tuple(commands)
                return
            peer.held = ()
        self._proposals.append(peer, commands)

    def _hand_out(self, fresh: list[Task], outbox: Outbox) -> None:
        """Hands committed entries to the apply pool, and the leaders' appends to the outbox."""
        for peer, ready in fresh:
            if peer.gone:
                continue
            if ready.committed:
                self.commit(peer, ready.committed)
            if ready.appends:
                outbox.add_appends(ready.appends)
                peer.commit_told = ready.appends[-1][1].commit

    def _not_held_up(self, batch: list[Peer], readies: list[Task], outbox: Outbox) -> list[Task]:
        """Returns the readies that no failpoint stops; the others go on by themselves.

        An answer without entries is about those of an earlier ready, and must not overtake it. A
        poller that writes by itself would be held up: the peer leaves its batch and takes no mail.
        """
        failpoints = self._ctx.failpoints
        if not failpoints.active:
            return readies

        def resume(task: Task) -> None:
            if self._workers is not None:
                self._workers.take([task])
            else:
                self._ctx.env.process(self._write_alone(task, outbox))

        going_on = []
        for peer, ready in readies:
            held_up = bool(ready.entries or ready.response is not None) and failpoints.stops(
                "before_append", peer, resume, (peer, ready)
            )
            if not held_up:
                going_on.append((peer, ready))
            elif self._workers is None:
                peer.turn = STOPPED
                batch.remove(peer)
        return going_on

    def _write_alone(self, task: Task, outbox: Outbox) -> Story:
        """Persists a ready that belongs to no round any more, behind those that came before it.

        One without entries is a record of the log as well, so that it waits its turn.
        """
        peer, ready = task
        self._log.write(ready.entries, self._ctx.env.this_process.wake, None, hard_states=1)
        yield UNTIL_WOKEN
        self._persisted([task], outbox)
        if not peer.gone:
            self._ctx.router.go_on(peer)

    def _persisted(self, readies: Iterable[Task], outbox: Outbox) -> None:
        """Tells Raft what is durable, and sends what had to wait for it."""
        for peer, ready in readies:
            if peer.gone:
                continue
            send_answers(self._ctx.router, peer, ready, outbox)
            if ready.last_index:
                raft = peer.raft
                raft.on_persisted(ready.last_index, ready.entries[-1].term)
                log = raft.log
                if log.committed > log.applying:
                    self.commit(peer, raft.take_committed())
        outbox.flush(self._ctx.transport)

    def _broadcast_commit(self, peer: Peer) -> None:
        """Tells the followers at once that something urgent is committed.

        Other commits wait for the next append or heartbeat.

        Source: tikv/tikv components/raftstore/src/store/peer.rs (is_request_urgent,
        last_urgent_proposal_idx).
        """
        peer.urgent_index = 0
        appends = peer.raft.empty_appends()
        for store, append in appends:
            self._ctx.transport.send_message(store, append)
        if len(appends) == len(peer.raft.progress):
            peer.commit_told = peer.raft.log.committed

    def _release(self, batch: list[Peer]) -> None:
        queue = self._ctx.router.queue
        for peer in batch:
            if (peer.mailbox or peer.notices) and not peer.gone:
                peer.turn = QUEUED
                queue.append(peer)
            else:
                peer.turn = IDLE


def _note_persisted(peer: Peer) -> None:
    """Takes the write workers' notices; like ``on_persisted`` after an own fsync, at no cost.

    What it costs is part of a message's CPU: that was fitted with pollers that write.
    """
    for notice in peer.notices:
        peer.raft.on_persisted(notice.index, notice.term)
    peer.unpersisted -= len(peer.notices)
    peer.notices = ()
