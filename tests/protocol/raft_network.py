"""Replicas and the messages between them, without time: a test says what happens next.

A driver keeps to what ``Ready`` asks for: a leader's appends leave at once, a follower's answer
when what it speaks of is durable. Every step checks what Raft promises.
"""

from __future__ import annotations

from collections import deque

from sim.protocol.raft import Append, AppendResponse, RaftPeer
from sim.protocol.raft_log import Entry

Wire = tuple[int, int]
"""(sender, receiver)."""


class Replica:
    """A peer, its disk, and what it has applied."""

    def __init__(self, raft: RaftPeer) -> None:
        self.raft = raft
        self.writes: deque[tuple[list[Entry], AppendResponse | None]] = deque()
        self.durable: dict[int, Entry] = {}
        self.applied: list[Entry] = []


class RaftNetwork:
    """All replicas of one region; the first store leads."""

    def __init__(self, stores: int = 3, *, term: int = 6, max_inflight: int = 256) -> None:
        voters = tuple(range(1, stores + 1))
        self.replicas = {
            store: Replica(RaftPeer(7, store, voters, 1, term=term, max_inflight=max_inflight))
            for store in voters
        }
        self.wires: dict[Wire, list[Append | AppendResponse]] = {}
        self.leader = self.replicas[1].raft
        self.proposed = 0

    def propose(self) -> None:
        """The leader proposes the next number."""
        self.proposed += 1
        self.leader.propose(self.proposed, 100)
        self.visit(1)

    def deliver(self, wire: Wire, position: int = 0, *, visit: bool = True) -> None:
        """Brings one message that is on a wire to its receiver."""
        message = self.wires[wire].pop(position)
        receiver = self.replicas[wire[1]].raft
        if isinstance(message, Append):
            receiver.step_append(message)
        else:
            receiver.step_append_response(message)
        if visit:
            self.visit(wire[1])

    def persist(self, store: int) -> None:
        """The oldest write of a store becomes durable."""
        replica = self.replicas[store]
        entries, response = replica.writes.popleft()
        for entry in entries:
            replica.durable[entry.index] = entry
        if entries:
            replica.raft.on_persisted(entries[-1].index, entries[-1].term)
        if response is not None:
            self._send(store, replica.raft.leader, response)
        self.visit(store)

    def visit(self, store: int) -> None:
        """Does what the replica asks for, and checks it."""
        replica = self.replicas[store]
        ready = replica.raft.ready()
        for target, append in ready.appends:
            self._send(store, target, append)
        if ready.entries or ready.response is not None:
            replica.writes.append((list(ready.entries), ready.response))
        for entry in ready.committed:
            assert replica.durable.get(entry.index) is entry, f"{entry.index} is not durable"
            holders = [r for r in self.replicas.values() if r.durable.get(entry.index) is entry]
            assert 2 * len(holders) > len(self.replicas), f"{entry.index} lacks a majority"
        replica.applied += ready.committed
        if ready.committed:
            replica.raft.note_applied(ready.committed[-1].index)
        self.check()

    def heartbeats(self) -> None:
        """The leader tells everybody the commit index."""
        for store in self.replicas:
            if store != self.leader.store:
                self._send(self.leader.store, store, self.leader.heartbeat(store))

    def settle(self) -> None:
        """Everything that can happen without the leader's doing happens, in order."""
        while wires := [wire for wire, messages in self.wires.items() if messages]:
            for wire in wires:
                self.deliver(wire)
            self.persist_all()

    def persist_all(self) -> None:
        """All writes of all stores become durable."""
        for store, replica in self.replicas.items():
            while replica.writes:
                self.persist(store)

    def check(self) -> None:
        """Log matching, and state machine safety (Raft 5.3, figure 3)."""
        rafts = [replica.raft for replica in self.replicas.values()]
        for raft in rafts:
            log = raft.log
            assert log.applying <= min(log.committed, log.persisted), str(raft)
            assert max(log.committed, log.persisted) <= log.last_index, str(raft)
            assert log.persisted <= log.writing <= log.last_index, str(raft)
        applied = sorted((r.applied for r in self.replicas.values()), key=len)
        longest = applied[-1]
        for shorter in applied:
            assert shorter == longest[: len(shorter)], "replicas applied different entries"
        terms = [{e.index: e.term for e in raft.log.entries} for raft in rafts]
        for one in terms:
            for other in terms:
                agree = [i for i in one if other.get(i) == one[i]]
                upto = max(agree, default=0)
                assert all(other[i] == one[i] for i in one if i <= upto and i in other)

    def _send(self, sender: int, receiver: int, message: Append | AppendResponse) -> None:
        self.wires.setdefault((sender, receiver), []).append(message)
