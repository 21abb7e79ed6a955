"""A region under random faults: loss, reordering, crashes, cut-off stores, transfers, new voters.

One seed draws everything. ``disturb`` lets faults go on while ``RaftChecks`` watches; ``calm`` ends
them and expects a leader under whom every replica applies the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sim.protocol.raft import LEADER, RaftPeer
from sim.streams import Streams
from tests.protocol.raft_network import RaftNetwork, Wire

Choice = TypeVar("Choice")

ELECTION_TICKS = 4
MOST_STORES = 5


class Swarm:
    """One network and what happens to it."""

    def __init__(self, seed: int, peer: type[RaftPeer] = RaftPeer) -> None:
        self._draw = Streams(seed, 0).stream("raft")
        stores = self._one_of([1, 3, 3, 3, 5])
        self.network = RaftNetwork(
            stores,
            leader=self._one_of([0, 1]),
            peer=peer,
            lazy_apply=self._one_of([True, False]),
            max_inflight=self._one_of([1, 2, 256]),
            election_ticks=ELECTION_TICKS,
            heartbeat_ticks=self._one_of([1, 2]),
            draw_timeout=lambda: self._draw.randint(ELECTION_TICKS, 2 * ELECTION_TICKS - 1),
        )
        self._reads = 0
        self._loss = self._one_of([0, 0, 5, 20])
        self._disorder = self._one_of([0, 0, 30])
        self._actions = self._weighted_actions()

    def disturb(self, steps: int) -> None:
        """Lets ``steps`` things happen."""
        for _ in range(steps):
            self._one_of(self._actions)()

    def calm(self) -> None:
        """Ends the faults; then there must be a leader, and all voters must agree."""
        network = self.network
        network.cut_off.clear()
        for store, replica in network.replicas.items():
            if not replica.up:
                network.restart(store)
        for _ in range(12 * ELECTION_TICKS):
            for store in sorted(network.replicas):
                network.tick(store)
            network.settle()
        assert network.has_leader(), self.describe()
        network.propose()
        network.settle()
        network.leader.broadcast_heartbeat()
        network.visit(network.leader.store)
        network.settle()
        leader = network.leader
        expected = network.replicas[leader.store].applied
        assert expected[-1].payload == network.proposed, self.describe()
        for voter in leader.voters:
            assert network.replicas[voter].applied == expected, self.describe()

    def describe(self) -> str:
        """Returns the state of every replica, one a line."""
        replicas = self.network.replicas.values()
        return "\n".join(f"{r.raft}{'' if r.up else ' (down)'}" for r in replicas)

    def _weighted_actions(self) -> list[Callable[[], None]]:
        """Returns what may happen, the more often the likelier; some kinds never in this seed."""
        always = 60 * [self._deliver] + 40 * [self._persist] + 10 * [self._apply]
        always += self._one_of([2, 5]) * [self._tick] + self._one_of([1, 5]) * [self._propose]
        faults = [
            [self._crash, self._restart, self._restart, self._restart],
            [self._isolate, self._heal, self._heal],
            [self._transfer],
            [self._change_voters],
            [self._read, self._read, self._read],
            [self._campaign],
        ]
        chosen: list[Callable[[], None]] = []
        for actions in faults:
            chosen += self._one_of([0, 1, 3]) * actions
        return always + chosen

    def _deliver(self) -> None:
        """Brings one message, or all that are on one wire."""
        wires = self.network.wires
        used = [wire for wire, messages in wires.items() if messages]
        if not used:
            return
        wire: Wire = self._one_of(used)
        for _ in range(self._one_of([1, 1, len(wires[wire])])):
            last = len(wires[wire]) - 1
            position = self._draw.randint(0, last) if self._happens(self._disorder) else 0
            if self._happens(self._loss):
                wires[wire].pop(position)
            else:
                self.network.deliver(wire, position)

    def _persist(self) -> None:
        """Makes one write durable, or all of one store."""
        store = self._up()
        writes = self.network.replicas[store].writes if store else []
        if writes:
            for _ in range(self._one_of([1, len(writes)])):
                self.network.persist(store)

    def _apply(self) -> None:
        store = self._up()
        if store and self.network.replicas[store].to_apply:
            self.network.apply(store)

    def _tick(self) -> None:
        store = self._up()
        if store:
            self.network.tick(store)

    def _propose(self) -> None:
        leaders = self._leaders()
        if leaders:
            self.network.propose(self._one_of(leaders).store)

    def _crash(self) -> None:
        store = self._up()
        if store:
            self.network.crash(store)

    def _restart(self) -> None:
        down = [store for store, r in self.network.replicas.items() if not r.up]
        if down:
            self.network.restart(self._one_of(down))

    def _isolate(self) -> None:
        self.network.cut_off.add(self._one_of(sorted(self.network.replicas)))

    def _heal(self) -> None:
        cut_off = self.network.cut_off
        if cut_off:
            cut_off.remove(self._one_of(sorted(cut_off)))

    def _transfer(self) -> None:
        leaders = self._leaders()
        if leaders:
            leader = self._one_of(leaders)
            leader.transfer_leader(self._one_of(leader.voters))
            self.network.visit(leader.store)

    def _change_voters(self) -> None:
        """Adds or removes one voter; no leader removes itself."""
        leaders = [raft for raft in self._leaders() if raft.may_change_voters()]
        if not leaders:
            return
        leader = self._one_of(leaders)
        store = self._draw.randint(1, MOST_STORES)
        if store == leader.store:
            return
        kept = tuple(voter for voter in leader.voters if voter != store)
        stores = kept if store in leader.voters else (*leader.voters, store)
        self.network.change_voters(*stores, by=leader.store)

    def _read(self) -> None:
        store = self._up()
        if store:
            self._reads += 1
            self.network.read(store, self._reads)

    def _campaign(self) -> None:
        store = self._up()
        if store:
            self.network.replicas[store].raft.campaign()
            self.network.visit(store)

    def _leaders(self) -> list[RaftPeer]:
        replicas = self.network.replicas.values()
        return [r.raft for r in replicas if r.up and r.raft.role is LEADER]

    def _happens(self, percent: int) -> bool:
        return self._draw.randint(1, 100) <= percent

    def _up(self) -> int:
        up = [store for store, replica in self.network.replicas.items() if replica.up]
        return self._one_of(up) if up else 0

    def _one_of(self, choices: Sequence[Choice]) -> Choice:
        return choices[self._draw.randint(0, len(choices) - 1)]
