"""Raft as text: a network of replicas, told step by step what happens.

Commands, one a line; ``settle`` and ``tick`` print the messages that arrive, all print the
replicas they touch. A write becomes durable by ``persist`` and ``settle`` only. Store n campaigns
after 9 + n ticks without a leader; leases and check-quorum take 10.

=================================  ==============================================================
cluster stores= [leader=]          begins anew; leader=0: nobody leads, all in term 6
propose [store=] [count=]          the leader proposes
tick STORE [count=]                time passes on one store
campaign STORE                     a store asks to lead
transfer STORE                     the leader hands over
voters STORE...                    the leader proposes these voters
read STORE context=                asks for a read index
deliver FROM TO [count=]           messages arrive, the oldest first
lose FROM TO                       what is on a wire is lost
persist STORE                      a store's writes become durable
settle                             everything becomes durable, arrives, and is applied
isolate STORE / heal               a store loses, and everybody gets back, the connections
crash STORE / restart STORE        a store stops, and begins again with what was durable
status                             prints all replicas
=================================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.datadriven import Command
from tests.protocol.raft_network import RaftNetwork, Wire


class TracedNetwork(RaftNetwork):
    """A network that notes what arrives."""

    trace: list[str]

    def deliver(self, wire: Wire, position: int = 0, *, visit: bool = True) -> None:
        message = self.wires[wire][position]
        up = wire[1] not in self.replicas or self.replicas[wire[1]].up
        lost = "" if up and not self.cut_off.intersection(wire) else " (lost)"
        self.trace.append(f"  {wire[0]}->{wire[1]} {message}{lost}")
        super().deliver(wire, position, visit=visit)


class ScriptedRaft:
    """Runs raft commands, one after the other, and prints the state they leave."""

    def __init__(self) -> None:
        self.network = TracedNetwork()

    def execute(self, command: Command) -> str:
        """Runs one line of a file."""
        run: Callable[[Command], list[int]] = getattr(self, f"do_{command.name}")
        self.network.trace = []
        touched = run(command)
        states = [self._state(store) for store in touched if store in self.network.replicas]
        return "\n".join([*self.network.trace, *states])

    def do_cluster(self, command: Command) -> list[int]:
        self.network = TracedNetwork(command.number("stores", 3), leader=command.number("leader"))
        self.network.trace = []
        for store, replica in self.network.replicas.items():
            replica.raft.draw_timeout = partial(int, 9 + store)
        return sorted(self.network.replicas)

    def do_propose(self, command: Command) -> list[int]:
        store = command.number("store") or self.network.leader.store
        for _ in range(command.number("count", 1)):
            self.network.propose(store)
        return [store]

    def do_tick(self, command: Command) -> list[int]:
        store = int(command.words[0])
        self.network.tick(store, command.number("count", 1))
        return [store]

    def do_campaign(self, command: Command) -> list[int]:
        store = int(command.words[0])
        self.network.replicas[store].raft.campaign()
        self.network.visit(store)
        return [store]

    def do_transfer(self, command: Command) -> list[int]:
        leader = self.network.leader
        leader.transfer_leader(int(command.words[0]))
        self.network.visit(leader.store)
        return [leader.store]

    def do_voters(self, command: Command) -> list[int]:
        self.network.change_voters(*map(int, command.words))
        return [self.network.leader.store]

    def do_read(self, command: Command) -> list[int]:
        asked = self.network.read(int(command.words[0]), command.number("context"))
        self.network.trace.append("asked" if asked else "refused")
        return []

    def do_deliver(self, command: Command) -> list[int]:
        sender, receiver = map(int, command.words)
        for _ in range(command.number("count", 1)):
            self.network.deliver((sender, receiver))
        return [receiver]

    def do_lose(self, command: Command) -> list[int]:
        sender, receiver = map(int, command.words)
        lost = self.network.wires.pop((sender, receiver), [])
        self.network.trace += [f"  {sender}->{receiver} {message} (lost)" for message in lost]
        return []

    def do_persist(self, command: Command) -> list[int]:
        store = int(command.words[0])
        while self.network.replicas[store].writes:
            self.network.persist(store)
        return [store]

    def do_settle(self, command: Command) -> list[int]:
        before = len(self.network.read_states)
        self.network.settle()
        read = self.network.read_states[before:]
        self.network.trace += [f"read {context} answered" for context in read]
        return sorted(self.network.replicas)

    def do_isolate(self, command: Command) -> list[int]:
        self.network.cut_off.add(int(command.words[0]))
        return []

    def do_heal(self, command: Command) -> list[int]:
        self.network.cut_off.clear()
        return []

    def do_crash(self, command: Command) -> list[int]:
        store = int(command.words[0])
        self.network.crash(store)
        return [store]

    def do_restart(self, command: Command) -> list[int]:
        store = int(command.words[0])
        self.network.restart(store)
        return [store]

    def do_status(self, command: Command) -> list[int]:
        return sorted(self.network.replicas)

    def _state(self, store: int) -> str:
        replica = self.network.replicas[store]
        down = "" if replica.up else " (down)"
        state = str(replica.raft).removeprefix(f"region {replica.raft.region_id} on ")
        return f"{state}{down}"
