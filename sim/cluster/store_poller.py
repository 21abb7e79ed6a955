"""The raftstore's pollers: loops that propose, persist, send and commit for the peers of a store.

One round of a poller::

    collect peers with mail ► handle their mail (CPU) ► more mail came? handle it too
        ► send the leaders' appends ► append + fsync ► send the followers' answers ► begin again

Law: with ``store-io-pool-size = 0`` the poller itself waits for the fsync; with write workers it
goes on, and "persisted" comes back as mail. How many entries share an fsync is nobody's decision:
it is what has gathered while the poller was busy.

A command counts as proposed when its peer's visit ends, before anything is persisted or sent.

Source: tikv/tikv components/batch-system/src/batch.rs (Poller::poll), raftstore/src/store/fsm/
store.rs (RaftPoller), fsm/peer.rs (BatchRaftCmdRequestBuilder, on_loop_finished).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sim.cluster.peer import Turn
from sim.cluster.request import KvRequest
from sim.cluster.transport import Outbox
from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES
from sim.protocol.raft import NOTHING_READY, Append, AppendResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.apply_poller import ApplyPool
    from sim.cluster.log_engine import LogEngine
    from sim.cluster.peer import Peer
    from sim.cluster.transport import Transport
    from sim.cluster.write_worker import WriteWorkers
    from sim.distributions import Sampler
    from sim.engine import Cores, LeanEnv
    from sim.protocol.raft import Ready
    from sim.protocol.raft_log import Entry


class Persisted:
    """Mail from a write worker: the ready that ended at ``index``, of ``term``, is durable."""

    __slots__ = ("index", "term")

    def __init__(self, index: int, term: int) -> None:
        self.index = index
        self.term = term


HEARTBEAT_PHASES = 64
"""Groups in which the regions of a store send their heartbeats, one after the other: each region's
ticks began when it did."""


class Batching:
    """How pollers batch.

    Attributes:
        max_batch: peers in one round (``raftstore.store-max-batch-size``).
        merge_commands: whether the commands of one visit share an entry (``raftstore.cmd-batch``).
        max_unpersisted: readies of a peer that may be unpersisted before its next proposal is
            held back (``raftstore.cmd-batch-concurrent-ready-max-count``).
    """

    __slots__ = ("max_batch", "max_unpersisted", "merge_commands")

    def __init__(self, *, max_batch: int, merge_commands: bool, max_unpersisted: int) -> None:
        self.max_batch = max_batch
        self.merge_commands = merge_commands
        self.max_unpersisted = max_unpersisted


class StorePool:
    """The peers of one store that have mail, and the pollers that wait for them."""

    __slots__ = (
        "apply",
        "batching",
        "busy_ns",
        "cores",
        "draw",
        "env",
        "idle",
        "log",
        "message_ns",
        "messages",
        "on_proposed",
        "queue",
        "rounds",
        "threads",
        "transport",
        "untold",
        "workers",
    )

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        cores: Cores,
        *,
        threads: int,
        batching: Batching,
        message_ns: int,
        draw: Sampler,
        log: LogEngine,
        apply: ApplyPool,
        transport: Transport,
        workers: WriteWorkers | None,
        on_proposed: Callable[[KvRequest, int], None],
    ) -> None:
        self.env = env
        self.cores = cores
        self.threads = threads
        self.batching = batching
        self.message_ns = message_ns
        self.draw = draw
        self.log = log
        self.apply = apply
        self.transport = transport
        self.workers = workers
        self.on_proposed = on_proposed
        self.queue: deque[Peer] = deque()
        self.idle = [StorePoller(self) for _ in range(threads)]
        self.untold: list[dict[Peer, None]] = [{} for _ in range(HEARTBEAT_PHASES)]
        """By phase: leaders whose followers may not know the commit index yet."""
        self.busy_ns = 0
        """Time that pollers spent in rounds, fsync included, summed over the pollers."""
        self.messages = 0
        self.rounds = 0

    def deliver(self, peer: Peer, message: object) -> None:
        """Puts a message into a peer's mailbox and sees to it that a poller comes."""
        peer.mailbox.append(message)
        if peer.turn is Turn.IDLE:
            peer.turn = Turn.QUEUED
            self.queue.append(peer)
            if self.idle:
                self.idle.pop().begin()

    def tell_later(self, peer: Peer) -> None:
        """Notes that a leader's next heartbeat may have a commit index to tell."""
        self.untold[peer.region.region_id % HEARTBEAT_PHASES][peer] = None

    def commit(self, peer: Peer, entries: list[Entry]) -> None:
        """Hands committed entries to the apply pool."""
        now = self.env.now_ns
        if peer.is_leader:  # Followers hold the same entries, and learn of it later.
            for entry in entries:
                entry.committed_ns = now
        self.apply.schedule(peer, entries)


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
        while queue and len(batch) < most:
            peer = queue.popleft()
            peer.turn = Turn.OWNED
            batch.append(peer)
            mail, peer.mailbox = peer.mailbox, []
            pool.messages += len(mail)
            service += pool.draw.scaled(pool.message_ns * len(mail))
            self._handle(peer, mail, now + int(service * slowness))
            ready = peer.raft.ready()
            if ready is not NOTHING_READY:
                fresh.append((peer, ready))
        held = int(service * slowness)
        cores.busy_ns += held
        self._readies += fresh
        pool.env.at(now + held, self._handled, fresh)

    def _handle(self, peer: Peer, mail: list[object], done_ns: int) -> None:
        raft = peer.raft
        commands: list[KvRequest] = []
        for message in mail:
            kind = message.__class__
            if kind is KvRequest:
                commands.append(message)  # type: ignore[arg-type]
            elif kind is Append:
                raft.step_append(message)  # type: ignore[arg-type]
            elif kind is AppendResponse:
                raft.step_append_response(message)  # type: ignore[arg-type]
            else:
                assert isinstance(message, Persisted), f"no peer understands {message!r}"
                raft.on_persisted(message.index, message.term)
                peer.unpersisted -= 1
        if commands:
            on_proposed = self._pool.on_proposed
            for command in commands:
                on_proposed(command, done_ns)
        if commands or peer.held:
            self._propose(peer, commands)

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
        for peer, ready in fresh:
            if ready.committed:
                pool.commit(peer, ready.committed)
                if peer.is_leader:
                    pool.tell_later(peer)
            for store, message in ready.appends:
                self._outbox.add_append(store, message)
                peer.commit_told = message.commit
        if pool.queue and len(self._batch) < pool.batching.max_batch:
            self._collect(None)
            return
        self._outbox.flush(pool.transport)
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
                    committed = raft.take_committed()
                    pool.commit(peer, committed)
                    if peer.is_leader:
                        pool.tell_later(peer)
            if ready.response is not None:
                self._outbox.add_response(raft.leader, ready.response)
        self._outbox.flush(pool.transport)
        self._release()

    def _release(self) -> None:
        pool = self._pool
        queue = pool.queue
        for peer in self._batch:
            if peer.mailbox:
                peer.turn = Turn.QUEUED
                queue.append(peer)
            else:
                peer.turn = Turn.IDLE
        pool.busy_ns += pool.env.now_ns - self._began_ns
        if queue:
            self.begin()
        else:
            pool.idle.append(self)
