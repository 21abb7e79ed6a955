"""Replicas and the messages between them, without time: a test says what happens next.

A driver keeps to what ``Ready`` asks for: a leader's appends leave at once, everything else when
what it speaks of is durable. Stores may crash, be cut off, and be told to change the voters. After
every step ``RaftChecks`` looks at what Raft promises.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from sim.protocol.raft import (
    LEADER,
    NOTHING_READY,
    HardState,
    RaftMessage,
    RaftPeer,
    Ready,
    Snapshot,
)
from sim.protocol.raft.log import Entry
from tests.protocol.raft_checks import RaftChecks

Wire = tuple[int, int]
"""(sender, receiver)."""


class Voters(NamedTuple):
    """What an entry that changes the voters says."""

    stores: tuple[int, ...]


class Disk:
    """What a store finds again after a crash."""

    def __init__(self, raft: RaftPeer) -> None:
        self.state = HardState(raft.term, raft.vote)
        self.entries: dict[int, Entry] = {}
        self.snapshot_index = 0

    def write(self, state: HardState | None, entries: list[Entry]) -> None:
        """Writes as the raft engine does: an entry replaces all that lies behind it."""
        if state is not None:
            self.state = state
        for entry in entries:
            for index in [index for index in self.entries if index >= entry.index]:
                del self.entries[index]
            self.entries[entry.index] = entry


class Replica:
    """A peer, its disk, and what it has applied."""

    def __init__(self, raft: RaftPeer) -> None:
        self.raft = raft
        self.disk = Disk(raft)
        self.writes: deque[Ready] = deque()
        self.to_apply: deque[Entry] = deque()
        self.applied: list[Entry] = []
        self.up = True

    def crash(self) -> None:
        """Loses what was not durable; what remains must be what is on the disk."""
        disk = self.disk
        self.raft = self.raft.crashed()
        assert HardState(self.raft.term, self.raft.vote) == disk.state, "remembers what was lost"
        for entry in self.raft.log.entries:
            assert disk.entries[entry.index] is entry, "remembers what was lost"
        self.writes.clear()
        self.to_apply.clear()
        self.up = False


class RaftNetwork:
    """All replicas of one region; ``leader`` leads at first (0: nobody)."""

    def __init__(
        self,
        stores: int = 3,
        *,
        term: int = 6,
        leader: int = 1,
        peer: type[RaftPeer] = RaftPeer,
        lazy_apply: bool = False,
        **settings: Any,
    ) -> None:
        voters = tuple(range(1, stores + 1))
        self._peer = peer
        self._settings = settings
        self._lazy_apply = lazy_apply
        self.replicas = {
            store: Replica(peer(7, store, voters, leader, term=term, **settings))
            for store in voters
        }
        self.wires: dict[Wire, list[RaftMessage]] = {}
        self.cut_off: set[int] = set()
        self.proposed = 0
        self.checks = RaftChecks()
        self.read_states: list[int] = []

    @property
    def leader(self) -> RaftPeer:
        """The leader of the latest term among the stores that are up."""
        leaders = [r.raft for r in self.replicas.values() if r.up and r.raft.role is LEADER]
        return max(leaders, key=lambda raft: raft.term)

    def has_leader(self) -> bool:
        """Returns whether some store that is up leads."""
        return any(r.up and r.raft.role is LEADER for r in self.replicas.values())

    def propose(self, store: int = 0) -> None:
        """The leader, or a certain one, proposes the next number."""
        raft = self.replicas[store].raft if store else self.leader
        self.proposed += 1
        raft.propose(self.proposed, 100)
        self.visit(raft.store)

    def change_voters(self, *stores: int, by: int = 0) -> None:
        """The leader, or a certain one, proposes other voters."""
        raft = self.replicas[by].raft if by else self.leader
        raft.propose_conf_change(Voters(stores), 100)
        self.visit(raft.store)

    def read(self, store: int, context: int) -> bool:
        """A store is asked for a read index."""
        raft = self.replicas[store].raft
        asked = raft.read_index(context)
        if asked:
            self.checks.read_asked(raft, context)
        self.visit(store)
        return asked

    def tick(self, store: int, count: int = 1) -> None:
        """Time passes on one store."""
        for _ in range(count):
            self.replicas[store].raft.tick()
            self.visit(store)

    def crash(self, store: int) -> None:
        """A store stops; ``restart`` lets it begin again."""
        self.replicas[store].crash()

    def restart(self, store: int) -> None:
        """A store that had stopped comes back, and hands out what it had not applied."""
        self.replicas[store].up = True
        self.visit(store)

    def deliver(self, wire: Wire, position: int = 0, *, visit: bool = True) -> None:
        """Brings one message that is on a wire to its receiver, if it is up and reachable."""
        message = self.wires[wire].pop(position)
        receiver = self._receiver(wire[1])
        if self.cut_off.intersection(wire) or not receiver.up:
            return
        receiver.raft.step(message)
        if visit:
            self.visit(wire[1])

    def persist(self, store: int) -> None:
        """The oldest write of a store becomes durable; then what it held back leaves."""
        replica = self.replicas[store]
        ready = replica.writes.popleft()
        raft = replica.raft
        replica.disk.write(ready.hard_state, ready.entries)
        if ready.hard_state is not None:
            raft.on_hard_state_persisted(ready.hard_state)
        if ready.entries:
            raft.on_persisted(ready.last_index, ready.entries[-1].term)
        if ready.snapshot is not None:
            self._install(replica, ready.snapshot)
        if ready.response is not None and raft.leader not in {0, store}:
            self._send(store, raft.leader, ready.response)
        for target, message in ready.messages:
            self._send(store, target, message)
        self.visit(store)

    def visit(self, store: int) -> None:
        """Does what the replica asks for, and checks it."""
        replica = self.replicas[store]
        ready = replica.raft.ready()
        for target, append in ready.appends:
            self._send(store, target, append)
        if ready is not NOTHING_READY:
            replica.writes.append(ready)
        for target in ready.needs_snapshot:
            self._send(store, target, replica.raft.make_snapshot(tuple(replica.applied)))
        for context in ready.read_states:
            self.checks.read_confirmed(replica.raft, context)
            self.read_states.append(context)
        for entry in ready.committed:
            assert replica.disk.entries[entry.index] is entry, f"{entry.index} is not durable"
        replica.to_apply += ready.committed
        self.checks.look_at(replica, self.replicas)
        while replica.to_apply and not self._lazy_apply:
            self.apply(store)

    def apply(self, store: int) -> None:
        """A store applies one entry that is committed."""
        replica = self.replicas[store]
        entry = replica.to_apply.popleft()
        replica.applied.append(entry)
        self.checks.applied(entry)
        if isinstance(entry.payload, Voters):
            replica.raft.set_voters(entry.payload.stores)
        replica.raft.note_applied(entry.index)
        if isinstance(entry.payload, Voters):
            self.visit(store)

    def heartbeats(self) -> None:
        """The leader tells everybody the commit index."""
        for store, append in self.leader.empty_appends():
            self._send(self.leader.store, store, append)

    def settle(self) -> None:
        """Everything that can happen without anybody's doing happens, in order."""
        self.persist_all()
        while wires := [wire for wire, messages in self.wires.items() if messages]:
            for wire in wires:
                self.deliver(wire)
            self.persist_all()

    def persist_all(self) -> None:
        """All writes of all stores become durable, and all that is committed is applied."""
        for store, replica in self.replicas.items():
            while replica.writes:
                self.persist(store)
            while replica.to_apply:
                self.apply(store)

    def _receiver(self, store: int) -> Replica:
        """Returns a replica; a message to a store without one creates it."""
        if store not in self.replicas:
            raft = self._peer.uninitialized(7, store, **self._settings)
            self.replicas[store] = Replica(raft)
        return self.replicas[store]

    def _install(self, replica: Replica, snapshot: Snapshot) -> None:
        if replica.raft.install_snapshot(snapshot):
            replica.to_apply.clear()
            replica.applied = list(snapshot.payload)
            replica.disk.snapshot_index = snapshot.index
            replica.disk.entries.clear()

    def _send(self, sender: int, receiver: int, message: RaftMessage) -> None:
        self.checks.sent(message, receiver)
        self.wires.setdefault((sender, receiver), []).append(message)
