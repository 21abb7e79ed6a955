"""What the pollers of a store share: the peers that have mail, the parts, and how to batch.

Law: a peer with mail is queued once, however many messages it has; a poller that is idle begins at
once, else the peer waits for one to come by.

Source: tikv/tikv components/batch-system/src/batch.rs (BatchSystem, Router).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sim.cluster.peer import IDLE, QUEUED
from sim.cluster.store_poller import StorePoller
from sim.protocol.raft import LEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sim.cluster.apply_poller import ApplyPool
    from sim.cluster.log_engine import LogEngine
    from sim.cluster.peer import Peer, Persisted
    from sim.cluster.request import KvRequest
    from sim.cluster.transport import RaftMessage, Transport
    from sim.cluster.write_worker import WriteWorkers
    from sim.distributions import Sampler
    from sim.engine import Cores, LeanEnv
    from sim.protocol.raft_log import Entry

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
        "units",
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
        self.units: list[float] = []
        """Draws that the pollers take by themselves: one a visit."""
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

    def deliver_all(self, peers: Mapping[int, Peer], messages: Sequence[RaftMessage]) -> None:
        """Puts what another store has sent into the mailboxes."""
        for message in messages:
            peer = peers[message.region_id]
            peer.mailbox.append(message)
            if peer.turn is IDLE:
                self._wake(peer)

    def _wake(self, peer: Peer) -> None:
        peer.turn = QUEUED
        self.queue.append(peer)
        if self.idle:
            self.idle.pop().begin()

    def tell_later(self, peer: Peer) -> None:
        """Notes that a leader's next heartbeat may have a commit index to tell."""
        self.untold[peer.region.region_id % HEARTBEAT_PHASES][peer] = None

    def commit(self, peer: Peer, entries: list[Entry]) -> None:
        """Hands committed entries to the apply pool."""
        if peer.raft.role is LEADER:  # Followers hold the same entries, and learn of it later.
            now_ns = self.env.now_ns
            for entry in entries:
                entry.committed_ns = now_ns
            self.tell_later(peer)
        self.apply.schedule(peer, entries)
