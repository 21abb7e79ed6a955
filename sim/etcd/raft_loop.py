"""A member's raft loop: the store's poller, with a Go process's CPU and etcd's way to tell commits.

One turn: take what has come, step it (node goroutine) ► hand committed entries to the apply
goroutine ► hand appends to the streams ► append to the WAL + fdatasync ► send answers. What comes
meanwhile waits for the next turn: that is where batches come from.

Law: a commit is told to the followers at once, with the turn's appends or by messages of its own,
and a follower answers every append, empty ones too (TiKV does neither).

Source: etcd-io/etcd release-3.4 etcdserver/raft.go (raftNode.start), raft/raft.go (bcastAppend).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.etcd.allocations import kept, of_round
from sim.protocol.raft import LEADER, NOTHING_READY, Append
from sim.protocol.raft.ready import EventfulReady
from sim.raftstore.peer import OWNED
from sim.raftstore.store_poller import StorePoller
from sim.raftstore.store_pool import StorePool
from sim.storage.request import KvRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.etcd.costs import Priced
    from sim.etcd.go_process import GoProcess
    from sim.protocol.raft import Ready
    from sim.raftstore.peer import Peer
    from sim.raftstore.store_poller import Task


class MemberPool(StorePool):
    """The raft loops of one member; etcd has one."""

    __slots__ = ("costs", "process")

    process: GoProcess
    costs: Priced

    def runs_in(self, process: GoProcess, costs: Priced) -> None:
        """Says whose threads the loops use."""
        self.process = process
        self.costs = costs
        self.idle = [MemberLoop(self) for _ in range(self.threads)]


class MemberLoop(StorePoller):
    """One loop."""

    __slots__ = ("_call",)

    _pool: MemberPool

    def _collect(self, _: None) -> None:
        pool = self._pool
        pool.cores.running += 1  # Until ``_handled``.
        fresh: list[tuple[Peer, Ready]] = []
        entries = payload = 0
        while pool.queue:
            peer = pool.queue.popleft()
            peer.turn = OWNED
            peer.stirred = True
            self._batch.append(peer)
            mail, peer.mailbox = peer.mailbox, []
            pool.messages += len(mail)
            commands = self._step(peer, mail)
            if commands:
                for command in commands:
                    pool.door.on_proposed(command, pool.env.now_ns)
                self._propose(peer, commands)
            ready = peer.raft.ready()
            if ready is not NOTHING_READY:
                fresh.append((peer, ready))
                entries += len(ready.entries)
                payload += sum(entry.size_bytes for entry in ready.entries)
                if ready.__class__ is EventfulReady:
                    pool.door.ready(peer, ready)
        self._readies += fresh
        pool.process.allocate(of_round(entries, payload), kept(entries, payload))
        pool.process.submit(pool.costs.round_ns(entries, payload), self._handled, fresh)

    def _step(self, peer: Peer, mail: list[object]) -> list[KvRequest]:
        commands = super()._step(peer, mail)
        if any(message.__class__ is Append for message in mail):
            peer.raft.answer_append()
        return commands

    def _handled(self, fresh: list[tuple[Peer, Ready]]) -> None:
        for peer, ready in fresh:
            if ready.committed and not ready.appends and peer.raft.role is LEADER:
                self._outbox.add_appends(peer.raft.empty_appends())
                peer.commit_told = peer.raft.log.committed
        super()._handled(fresh)

    def _write(self, tasks: list[Task], then: Callable[[list[Task]], None]) -> None:
        """Waits in the system call for its end; see ``GoProcess``."""
        if then == self._durable and _are_written(tasks):
            self._call = self._pool.process.enter_call()
        super()._write(tasks, then)

    def _durable(self, tasks: list[Task]) -> None:
        """Goes on after the fdatasync: a thread has to get a core again for that."""
        if _are_written(tasks):
            self._pool.process.leave_call(
                self._call, self._pool.costs.sync_ns(), super()._durable, tasks
            )
        else:
            super()._durable(tasks)


def _are_written(tasks: list[Task]) -> bool:
    """Returns whether anything of a round goes into the log."""
    return any(ready.entries or ready.hard_state for _, ready in tasks)
