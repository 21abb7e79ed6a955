"""One etcd member: a Go process whose goroutines drive one Raft replica, its log and bolt.

One turn of the raft loop::

    take what has come and step it ► hand committed entries to the apply goroutine
        ► hand a leader's appends to the streams ► append to the WAL + fdatasync ► send the rest

What comes meanwhile waits for the next turn: that is where batches come from. Differences from
TiKV: the followers hear of a commit at once, with the turn's appends or by messages of its own, and
a follower answers every append, empty ones too.

A put is answered by the member that it came to, when that has applied it. Who does not lead passes
it on; while nobody leads it waits. A leader that is handing over drops it.

Source: etcd-io/etcd release-3.4 etcdserver/raft.go (raftNode.start), etcdserver/server.go
(applyAll), raft/node.go (run: no proposals without a leader), raft/raft.go (bcastAppend,
stepLeader, stepFollower).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from sim.distributions import LognormalMean, Sampler
from sim.engine.environment import LeanEnv
from sim.etcd.allocations import MEMBER_LIVE_BYTES, kept, of_round
from sim.etcd.backend import Backend
from sim.etcd.costs import Priced
from sim.etcd.go_heap import Heap
from sim.etcd.goroutine import RECEIVE, Body, Goroutines, SystemCall
from sim.etcd.machines import EtcdMachine
from sim.etcd.put import PUT_CAUSE, Put
from sim.etcd.put_server import PutServer
from sim.etcd.streams import ForwardedPut, Message, RaftStreams
from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES
from sim.protocol.raft import LEADER, Append, RaftPeer, Ready
from sim.protocol.raft.log import Entry
from sim.protocol.write_batch import CAUSE_NAMES
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.log_engine import LogEngine, LogFormat
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.streams import Streams

DROPPED: Final = "dropped"
"""Why a put fails whose leader is handing over (ErrProposalDropped)."""


class Surroundings(Protocol):
    """What a member needs of its cluster."""

    env: LeanEnv
    recorder: Recorder
    ledger: DiskBytes

    def send(self, src: int, to: int, messages: list[Message], size_bytes: int) -> None:
        """Sends messages to another member in one piece."""

    def answer(self, member: int, put: Put) -> None:
        """Sends an answer to a put's client."""

    def role_changed(self, member: Member) -> None:
        """Notes that a member has won or lost leadership, or stands for election."""

    def applied(self, member: Member, entry: Entry) -> None:
        """Notes that a member has applied an entry."""


@dataclass(frozen=True, slots=True)
class MoveLeader:
    """An order to the leader: hand over."""

    to: int


_LOOK: Final = object()
"""Has the raft loop look at what Raft has ready, without a message."""


class Member:
    """One member; its disk, its log and its records outlive its process."""

    def __init__(
        self,
        surroundings: Surroundings,
        raft: RaftPeer,
        machine: EtcdMachine,
        scenario: Scenario,
        streams: Streams,
    ) -> None:
        env = self._env = surroundings.env
        recorder, ledger = surroundings.recorder, surroundings.ledger
        self._surroundings = surroundings
        self.raft = raft
        self.store = raft.store
        self.disk = machine.disk
        self.process = machine.process(Heap(MEMBER_LIVE_BYTES))
        unit = LognormalMean(1_000_000, scenario.hardware.etcd.cv)
        draw = Sampler(unit, streams.stream(f"store-{self.store}/cpu-process"))
        self._costs = Priced(scenario.hardware.etcd, draw)
        entry_bytes = [recorder.counter("raft_entry_bytes", cause) for cause in CAUSE_NAMES]
        self.log = LogEngine(env, self.disk, LogFormat.of(scenario), ledger, entry_bytes)
        self.backend = Backend(env, self.disk, ledger, self._costs)
        self._proposals = recorder.counter("proposals", CAUSE_NAMES[PUT_CAUSE])
        self.messages = 0
        self.rounds = 0
        self.busy_ns = 0
        """Time that the raft loop spent in turns, fdatasync included."""
        self.up = False
        self.start()

    def start(self) -> None:
        """Starts the process with what is on its disk."""
        self.up = True
        program = self._program = Goroutines(self._env, self.process)
        self.backend.open()
        program.go(self.backend.commit_regularly())
        self._applying = program.go(self._apply_loop())
        self._loop = program.go(self._raft_loop())
        self.streams = RaftStreams(
            program,
            self._costs,
            [voter for voter in self.raft.voters if voter != self.store],
            send=partial(self._surroundings.send, self.store),
            deliver=self._loop.deliver,
        )
        self.puts = PutServer(
            program,
            self._costs,
            propose=self._loop.deliver,
            answer=partial(self._surroundings.answer, self.store),
        )
        self._apply(self.raft.take_committed())

    def crash(self) -> None:
        """Kills the process; what was durable of its replica waits for ``start``."""
        self.up = False
        self._program.kill()
        self.raft = self.raft.crashed()

    def put_arrived(self, put: Put) -> None:
        """Takes a put from a client, if the process runs."""
        if self.up:
            self.puts.arrived(put)

    def tick(self) -> None:
        """Lets one tick of Raft's time pass."""
        self.raft.tick()
        if self.raft.is_eventful:
            self._loop.deliver(_LOOK)

    def move_leader(self, to: int) -> None:
        """Orders this leader to hand over."""
        self._loop.deliver(MoveLeader(to))

    def _raft_loop(self) -> Body:
        raft, costs = self.raft, self._costs
        waiting: list[Put] = []
        while True:
            mail = yield RECEIVE
            began_ns = self._env.now_ns
            waiting += self._step(mail)
            forwarded: list[tuple[int, Message]] = []
            if raft.leader:
                forwarded = self._propose(waiting)
                waiting = []
            ready = raft.ready()
            raft.take_truncated()  # The members that they came to do not answer them.
            if ready.role_changed:
                self._surroundings.role_changed(self)
            count = len(ready.entries)
            size_bytes = sum(entry.size_bytes for entry in ready.entries)
            self.process.allocate(of_round(count, size_bytes), kept(count, size_bytes))
            yield costs.round_ns(count, size_bytes)

            self._apply(ready.committed)
            self.streams.send(self._appends(ready))
            if count or ready.hard_state is not None:
                yield SystemCall(partial(self._save, ready), costs.sync_ns)
            self.streams.send(forwarded + self._saved(ready))
            self.rounds += 1
            self.busy_ns += self._env.now_ns - began_ns

    def _step(self, mail: list[Any]) -> list[Put]:
        """Hands Raft what has come; returns the puts to be proposed."""
        raft = self.raft
        self.messages += len(mail)
        puts = []
        for message in mail:
            match message:
                case Put():
                    puts.append(message)
                case ForwardedPut():
                    puts.append(message.put)
                case MoveLeader():
                    if raft.role is LEADER:
                        raft.transfer_leader(message.to)
                case _ if message is _LOOK:
                    pass
                case _:
                    raft.step(message)
        if any(message.__class__ is Append for message in mail):
            raft.answer_append()
        return puts

    def _propose(self, puts: list[Put]) -> list[tuple[int, Message]]:
        """Puts each into an entry of its own; returns those that go to the leader instead."""
        raft = self.raft
        if raft.role is not LEADER:
            return [(raft.leader, ForwardedPut(put)) for put in puts]
        for put in puts:
            if raft.lead_transferee:
                self.puts.answer(put, DROPPED)
            else:
                raft.propose([put], ENTRY_OVERHEAD_BYTES + put.raft_bytes)
                self._proposals.value += 1
        return []

    def _apply(self, entries: list[Entry]) -> None:
        if entries:
            self._applying.deliver(entries)

    def _appends(self, ready: Ready) -> list[tuple[int, Message]]:
        """Returns what a leader sends before it saves: appends, and what is committed."""
        if ready.committed and not ready.appends and self.raft.role is LEADER:
            return list(self.raft.empty_appends())
        return list(ready.appends)

    def _save(self, ready: Ready, then: Any) -> None:
        self.log.write(ready.entries, then, None, hard_states=int(ready.hard_state is not None))

    def _saved(self, ready: Ready) -> list[tuple[int, Message]]:
        """Tells Raft what is durable; returns what had to wait for it."""
        raft = self.raft
        if ready.hard_state is not None:
            raft.on_hard_state_persisted(ready.hard_state)
            self._loop.deliver(_LOOK)  # It may be the vote that makes it leader.
        if ready.last_index:
            raft.on_persisted(ready.last_index, ready.entries[-1].term)
            self._apply(raft.take_committed())
        messages: list[tuple[int, Message]] = list(ready.messages)
        if ready.response is not None and raft.leader not in {0, self.store}:
            messages.append((raft.leader, ready.response))
        return messages

    def _apply_loop(self) -> Body:
        raft, backend = self.raft, self.backend
        while True:
            committed = yield RECEIVE
            yield backend.batch_tx
            entries: list[Entry] = [entry for each in committed for entry in each]
            size_bytes = sum(entry.size_bytes for entry in entries)
            yield self._costs.apply_ns(len(entries), size_bytes)
            puts: list[Put] = []
            for entry in entries:
                puts += entry.payload
                self._surroundings.applied(self, entry)
            for put in puts:
                backend.apply(put)
            raft.note_applied(entries[-1].index)
            backend.batch_tx.unlock()
            for put in puts:
                self.puts.answer(put)
