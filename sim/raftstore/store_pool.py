"""What the pollers of a store share: the peers that have mail, the parts, and how to batch.

Law: a peer with mail is queued once, however many messages it has; a poller that is idle begins at
once, else the peer waits for one to come by.

Source: tikv/tikv components/batch-system/src/batch.rs (BatchSystem, Router).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES
from sim.protocol.raft import LEADER
from sim.raftstore.msg import Tick
from sim.raftstore.peer import IDLE, QUEUED
from sim.raftstore.store_poller import StorePoller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sim.distributions import Sampler
    from sim.engine import Cores, LeanEnv
    from sim.failpoints import Holds
    from sim.protocol.raft import Ready
    from sim.protocol.raft.log import Entry
    from sim.raftstore.apply import ApplyPool
    from sim.raftstore.log_engine import LogEngine
    from sim.raftstore.peer import Peer, Persisted
    from sim.raftstore.write_worker import WriteWorkers
    from sim.storage.request import KvRequest
    from sim.transport.transport import RaftMessage, Transport


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


class Door:
    """What the pollers hand on: what is proposed, what needs a closer look, other mail."""

    __slots__ = ("admit", "handle", "holds", "on_proposed", "ready")

    def __init__(
        self,
        *,
        on_proposed: Callable[[KvRequest, int], None],
        admit: Callable[[Peer, list[KvRequest]], list[KvRequest]],
        handle: Callable[[Peer, object], None],
        ready: Callable[[Peer, Ready], None],
        holds: Holds,
    ) -> None:
        self.on_proposed = on_proposed
        self.admit = admit
        """Sorts out the commands that a peer may propose."""
        self.handle = handle
        """Takes mail that is neither a request, nor an append or its answer."""
        self.ready = ready
        """Does what an eventful ready asks for besides writing and sending."""
        self.holds = holds


class StorePool:
    """The peers of one store that have mail, and the pollers that wait for them."""

    __slots__ = (
        "apply",
        "batching",
        "busy_ns",
        "cores",
        "door",
        "draw",
        "env",
        "idle",
        "lease_ns",
        "log",
        "message_ns",
        "messages",
        "queue",
        "rounds",
        "threads",
        "transport",
        "units",
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
        door: Door,
        lease_ns: int,
    ) -> None:
        self.env = env
        self.cores = cores
        self.threads = threads
        self.batching = batching
        self.message_ns = message_ns
        self.draw = draw
        self.units: list[float] = []
        """Draws that the pollers take by themselves: one a visit."""
        self.log = log
        self.apply = apply
        self.transport = transport
        self.workers = workers
        self.door = door
        self.lease_ns = lease_ns
        """How long a leader may serve after it has proposed something that was committed."""
        self.queue: deque[Peer] = deque()
        self.idle = [StorePoller(self) for _ in range(threads)]
        self.busy_ns = 0
        """Time that pollers spent in rounds, fsync included, summed over the pollers."""
        self.messages = 0
        self.rounds = 0

    def notify_persisted(self, peer: Peer, notice: Persisted) -> None:
        """Tells a peer that a write worker has made a ready durable."""
        peer.notices.append(notice)
        if peer.turn is IDLE:
            self._wake(peer)

    def deliver(self, peer: Peer, message: object) -> None:
        """Puts a message into a peer's mailbox and sees to it that a poller comes."""
        peer.mailbox.append(message)
        if peer.turn is IDLE:
            self._wake(peer)

    def _tell_all(self, peer: Peer) -> None:
        """Tells the followers at once that something urgent is committed.

        Other commits wait for the next append or heartbeat.

        Source: tikv/tikv components/raftstore/src/store/peer.rs (is_request_urgent,
        last_urgent_proposal_idx).
        """
        peer.urgent_index = 0
        tellings = peer.raft.empty_appends()
        for store, append in tellings:
            self.transport.send_message(store, append)
        if len(tellings) == len(peer.raft.progress):
            peer.commit_told = peer.raft.log.committed

    def visit(self, peer: Peer) -> None:
        """Lets a poller come although there is no mail: something has been proposed by itself."""
        self.deliver(peer, Tick())

    def propose_held(self, peer: Peer) -> None:
        """Proposes at once what the batch builder holds back."""
        held, peer.held = peer.held, []
        if held:
            self.append(peer, held)

    def append(self, peer: Peer, commands: list[KvRequest]) -> None:
        """Puts commands into the leader's log, in one entry if they may share it."""
        if self.batching.merge_commands:
            self._append_entry(peer, commands)
        else:
            for command in commands:
                self._append_entry(peer, [command])

    def _append_entry(self, peer: Peer, commands: list[KvRequest]) -> None:
        size = ENTRY_OVERHEAD_BYTES
        for command in commands:
            size += command.batch.raft_bytes  # type: ignore[union-attr]
        peer.raft.propose(commands, size).proposed_ns = self.env.now_ns

    def withdraw(self, peer: Peer) -> None:
        """Takes a peer that is gone out of the queue."""
        if peer.turn is QUEUED:
            self.queue.remove(peer)
            peer.turn = IDLE

    def forget(self) -> None:
        """Drops all mail: the process has died."""
        for peer in self.queue:
            peer.mailbox = []
            peer.turn = IDLE
        self.queue.clear()

    def deliver_all(
        self,
        peers: Mapping[int, Peer],
        messages: Sequence[RaftMessage],
        for_nobody: Callable[[RaftMessage], None],
    ) -> None:
        """Puts what another store has sent into the mailboxes of peers that are here.

        The loop says again what ``deliver`` does: it is the way of two messages in three.
        """
        for message in messages:
            peer = peers.get(message.region_id)
            if peer is None:
                for_nobody(message)
                continue
            peer.mailbox.append(message)
            if peer.turn is IDLE:
                self._wake(peer)

    def _wake(self, peer: Peer) -> None:
        peer.turn = QUEUED
        self.queue.append(peer)
        if self.idle:
            self.idle.pop().begin()

    def commit(self, peer: Peer, entries: list[Entry]) -> None:
        """Hands committed entries to the apply pool."""
        raft = peer.raft
        if raft.role is LEADER:  # Followers hold the same entries, and learn of it later.
            now_ns = self.env.now_ns
            for entry in entries:
                entry.committed_ns = now_ns
            proposed_ns = entries[-1].proposed_ns
            if proposed_ns and not raft.lead_transferee and peer.may_hold_lease:
                until_ns = proposed_ns + self.lease_ns
                if until_ns > peer.lease_until_ns:
                    peer.lease_until_ns = until_ns
            if 0 < peer.urgent_index <= entries[-1].index:
                self._tell_all(peer)
        self.apply.schedule(peer, entries)
