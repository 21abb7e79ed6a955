"""Write workers: threads that persist readies, so that pollers need not wait (async IO).

Law: a worker writes one batch at a time; what comes meanwhile makes the next one. A batch below
the size hint waits a moment for company. A follower's answer leaves from here as soon as its
entries are durable; the peer itself learns of it by mail.

Source: tikv/tikv components/raftstore/src/store/async_io/write.rs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.protocol.raft_ready import EventfulReady
from sim.raftstore.peer import Persisted
from sim.transport.transport import Outbox
from sim.units import KIB

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.engine import LeanEnv
    from sim.protocol.raft import Ready
    from sim.raftstore.log_engine import LogEngine
    from sim.raftstore.peer import Peer
    from sim.transport.transport import Transport

BATCH_SIZE_HINT_BYTES: Final = 8 * KIB
"""``raftstore.raft-write-batch-size-hint``."""

Task = tuple["Peer", "Ready"]


class WriteWorkers:
    """``store-io-pool-size`` workers; a region always goes to the same one."""

    __slots__ = ("_workers",)

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        count: int,
        *,
        log: LogEngine,
        transport: Transport,
        notify: Callable[[Peer, Persisted], None],
        visit: Callable[[Peer], None],
        wait_ns: int,
    ) -> None:
        self._workers = [
            _WriteWorker(env, log, transport, notify, visit, wait_ns) for _ in range(count)
        ]

    def take(self, readies: list[Task]) -> None:
        """Takes the readies of one poller round; answers without entries leave at once."""
        workers = self._workers
        for peer, ready in readies:
            if ready.last_index or ready.response is not None or ready.__class__ is EventfulReady:
                if ready.last_index:
                    peer.unpersisted += 1
                workers[peer.region.region_id % len(workers)].take(peer, ready)


class _WriteWorker:
    __slots__ = (
        "_armed",
        "_env",
        "_log",
        "_notify",
        "_outbox",
        "_tasks",
        "_transport",
        "_visit",
        "_wait_ns",
        "_writing",
    )

    def __init__(
        self,
        env: LeanEnv,
        log: LogEngine,
        transport: Transport,
        notify: Callable[[Peer, Persisted], None],
        visit: Callable[[Peer], None],
        wait_ns: int,
    ) -> None:
        self._env = env
        self._log = log
        self._transport = transport
        self._notify = notify
        self._visit = visit
        self._wait_ns = wait_ns
        self._tasks: list[Task] = []
        self._outbox = Outbox()
        self._armed = False
        self._writing = False

    def take(self, peer: Peer, ready: Ready) -> None:
        self._tasks.append((peer, ready))
        if not self._armed and not self._writing:
            self._wait_or_write()

    def _wait_or_write(self) -> None:
        size = 0
        for _, ready in self._tasks:
            for entry in ready.entries:
                size += entry.size_bytes
        if size < BATCH_SIZE_HINT_BYTES and self._wait_ns:
            self._armed = True
            self._env.at(self._env.now_ns + self._wait_ns, self._write, None)
        else:
            self._write(None)

    def _write(self, _: None) -> None:
        self._armed = False
        self._writing = True
        tasks, self._tasks = self._tasks, []
        entries = [entry for _, ready in tasks for entry in ready.entries]
        states = sum(ready.hard_state is not None for _, ready in tasks)
        if entries or states:
            self._log.write(entries, self._durable, tasks, hard_states=states)
        else:
            self._durable(tasks)

    def _durable(self, tasks: list[Task]) -> None:
        self._writing = False
        for peer, ready in tasks:
            if peer.gone:
                continue
            if ready.__class__ is EventfulReady:
                self._settle_events(peer, ready)
            if ready.response is not None and peer.raft.leader not in (0, peer.store):
                self._outbox.add_response(peer.raft.leader, ready.response)
            if ready.last_index:
                self._notify(peer, Persisted(ready.last_index, ready.entries[-1].term))
        self._outbox.flush(self._transport)
        if self._tasks and not self._armed:
            self._wait_or_write()

    def _settle_events(self, peer: Peer, ready: Ready) -> None:
        if ready.hard_state is not None:
            peer.raft.on_hard_state_persisted(ready.hard_state)
            self._visit(peer)  # It may be the vote that makes it leader.
        for store, message in ready.messages:
            self._outbox.add_message(store, message)
