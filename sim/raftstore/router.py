"""The mailboxes of a store's peers, and the queue of those that have mail.

Invariant: a peer with mail is queued once, however many messages it has; an idle poller begins at
once, else the peer waits for the next one that is free.

Source: tikv/tikv components/batch-system/src/{mailbox.rs, router.rs, batch.rs (fetch_fsm)}.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from sim.engine import LeanEnv, Process
from sim.raftstore.msg import VISIT
from sim.raftstore.peer import IDLE, QUEUED, Peer, Persisted
from sim.transport.messages import RaftMessage


class Router:
    """Brings mail to the peers of one store."""

    def __init__(self, env: LeanEnv) -> None:
        self._env = env
        self.queue: deque[Peer] = deque()
        """Peers with mail, which no poller has taken yet."""
        self.idle: list[Process] = []
        """Pollers that wait for work."""

    def deliver(self, peer: Peer, message: object) -> None:
        """Puts a message into a peer's mailbox and sees to it that a poller comes."""
        peer.mailbox.append(message)
        if peer.turn is IDLE:
            self._enqueue(peer)

    def deliver_all(
        self,
        peers: Mapping[int, Peer],
        messages: Sequence[RaftMessage],
        without_peer: Callable[[RaftMessage], None],
    ) -> None:
        """Delivers what another store has sent; ``without_peer`` takes what has no peer here.

        The loop repeats ``deliver``, since two messages in three come this way.
        """
        for message in messages:
            peer = peers.get(message.region_id)
            if peer is None:
                without_peer(message)
                continue
            peer.mailbox.append(message)
            if peer.turn is IDLE:
                self._enqueue(peer)

    def deliver_at(self, time_ns: int, peer: Peer, message: object) -> None:
        """Delivers a message at ``time_ns``, if the peer is still there: a peer's own tick."""
        self._env.at(time_ns, self._deliver_if_here, (peer, message))

    def notify_persisted(self, peer: Peer, notice: Persisted) -> None:
        """Tells a peer that a write worker has made a ready durable."""
        peer.notices += (notice,)
        if peer.turn is IDLE:
            self._enqueue(peer)

    def visit(self, peer: Peer) -> None:
        """Makes a poller come although there is nothing to be read."""
        self.deliver(peer, VISIT)

    def go_on(self, peer: Peer) -> None:
        """Makes a poller come to a peer whose handler was stopped."""
        peer.turn = IDLE
        self.visit(peer)

    def withdraw(self, peer: Peer) -> None:
        """Takes a peer that is gone out of the queue."""
        if peer.turn is QUEUED:
            self.queue.remove(peer)
            peer.turn = IDLE

    def clear(self) -> None:
        """Drops all mail: the process has died."""
        for peer in self.queue:
            peer.mailbox = []
            peer.turn = IDLE
        self.queue.clear()

    def _enqueue(self, peer: Peer) -> None:
        peer.turn = QUEUED
        self.queue.append(peer)
        if self.idle:
            self.idle.pop().wake()

    def _deliver_if_here(self, mail: tuple[Peer, object]) -> None:
        peer, message = mail
        if not peer.gone:
            self.deliver(peer, message)
