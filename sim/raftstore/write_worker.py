"""Write workers: threads that persist readies, so that pollers need not wait (async IO).

Invariant: a worker writes one batch at a time; what comes meanwhile makes the next one. A batch
below the size hint waits a moment for more. A follower's answer leaves from here as soon as its
entries are durable; the peer itself learns of it by a notice.

Source: tikv/tikv components/raftstore/src/store/async_io/write.rs.
"""

from __future__ import annotations

from typing import Final

from sim.engine import UNTIL_WOKEN, Process, Story
from sim.protocol.raft import Ready
from sim.protocol.raft.log import Entry
from sim.protocol.raft.ready import EventfulReady
from sim.raftstore.context import StoreContext
from sim.raftstore.log_engine import LogEngine
from sim.raftstore.peer import Peer, Persisted
from sim.raftstore.router import Router
from sim.transport.transport import Outbox
from sim.units import KIB

BATCH_SIZE_HINT_BYTES: Final = 8 * KIB
"""``raftstore.raft-write-batch-size-hint``."""

Task = tuple[Peer, Ready]
"""A ready to be persisted, and whose it is."""


def write(log: LogEngine, tasks: list[Task], process: Process) -> bool:
    """Joins the log's next write group, which wakes ``process``; False: nothing to write."""
    entries: list[Entry] = []
    states = 0
    for _, ready in tasks:
        if ready.entries:
            entries += ready.entries
        if ready.__class__ is EventfulReady and ready.hard_state is not None:
            states += 1
    if entries or states:
        log.write(entries, process.wake, None, hard_states=states)
        return True
    return False


def send_answers(router: Router, peer: Peer, ready: Ready, outbox: Outbox) -> None:
    """Sends what had to wait until a ready is durable."""
    raft = peer.raft
    if ready.__class__ is EventfulReady:
        if ready.hard_state is not None:
            raft.on_hard_state_persisted(ready.hard_state)
            router.visit(peer)  # It may be the vote that makes it leader.
        for store, message in ready.messages:
            outbox.add_message(store, message)
    response, leader = ready.response, raft.leader
    if response is not None and leader and leader != peer.store:
        outbox.add_response(leader, response)


class WriteWorkers:
    """``store-io-pool-size`` workers; a region always goes to the same one."""

    def __init__(self, ctx: StoreContext, log: LogEngine) -> None:
        self._workers = [_WriteWorker(ctx, log) for _ in range(ctx.tikv.store_io_pool_size)]

    def take(self, readies: list[Task]) -> None:
        """Takes the readies of one poller round; answers without entries leave at once."""
        workers = self._workers
        for peer, ready in readies:
            if ready.last_index or ready.response is not None or ready.__class__ is EventfulReady:
                if ready.last_index:
                    peer.unpersisted += 1
                workers[peer.region.region_id % len(workers)].take(peer, ready)


class _WriteWorker:
    def __init__(self, ctx: StoreContext, log: LogEngine) -> None:
        self._ctx = ctx
        self._log = log
        self._tasks: list[Task] = []
        self._outbox = Outbox()
        self._idle = False
        self._process = ctx.env.process(self._run())

    def take(self, peer: Peer, ready: Ready) -> None:
        self._tasks.append((peer, ready))
        if self._idle:
            self._process.wake()

    def _run(self) -> Story:
        wait_ns = self._ctx.tikv.raft_write_wait_duration_ns
        while True:
            if not self._tasks:
                self._idle = True
                yield UNTIL_WOKEN
                self._idle = False
            if wait_ns and self._size_bytes() < BATCH_SIZE_HINT_BYTES:
                yield wait_ns
            tasks, self._tasks = self._tasks, []
            if write(self._log, tasks, self._process):
                yield UNTIL_WOKEN
            self._persisted(tasks)

    def _size_bytes(self) -> int:
        return sum(entry.size_bytes for _, ready in self._tasks for entry in ready.entries)

    def _persisted(self, tasks: list[Task]) -> None:
        """Sends the answers, and lets the peers know."""
        router = self._ctx.router
        for peer, ready in tasks:
            if peer.gone:
                continue
            send_answers(router, peer, ready, self._outbox)
            if ready.last_index:
                router.notify_persisted(peer, Persisted(ready.last_index, ready.entries[-1].term))
        self._outbox.flush(self._ctx.transport)
