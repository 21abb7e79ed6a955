"""An etcd cluster: members, the network between them, Raft's time, and what can be done to them.

The first member leads at the start. Members are called ``store-1`` and so on, as a scenario calls
them, and the node of their clients ``tidb-0``.
"""

from collections.abc import Generator, Iterable, Sequence
from itertools import permutations
from typing import Any, Final, Protocol

from simpy import Event

from sim.checks.raft_safety import RaftSafety
from sim.engine.environment import LeanEnv
from sim.etcd.machines import Machines
from sim.etcd.member import Member
from sim.etcd.put import Put
from sim.etcd.shared_cores import Program
from sim.etcd.streams import Message
from sim.hardware.network import Network
from sim.protocol.raft import LEADER, RaftPeer
from sim.protocol.raft.log import Entry, RaftLog
from sim.raftstore.disk_bytes import DiskBytes
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.streams import Stream, Streams

CLIENT: Final = "tidb-0"

_GROUP: Final = 1
_FIRST_LEADER: Final = 1
_TERM: Final = 6

_ANSWER_BYTES: Final = 60
"""A PutResponse: header with cluster, member, revision and term (etcd rpc.proto)."""


def member_name(member: int) -> str:
    """Returns a member's name in the network."""
    return f"store-{member}"


class Client(Protocol):
    """Whoever has connections to the members."""

    def answered(self, put: Put) -> None:
        """Takes an answer that has arrived."""

    def member_crashed(self, member: int) -> None:
        """A member's process has died."""

    def member_started(self, member: int) -> None:
        """A member's process takes connections again."""


class EtcdCluster:
    """The members of one Raft group."""

    def __init__(
        self,
        env: LeanEnv,
        scenario: Scenario,
        streams: Streams,
        recorder: Recorder,
        safety: RaftSafety | None,
    ) -> None:
        """Args: ``safety`` is shown what the members apply, if it is given."""
        self.env = env
        timeouts = streams.stream("election-timeouts")
        self.recorder = recorder
        self._safety = safety
        self.client: Client | None = None
        self.ledger = DiskBytes(recorder)
        hardware, names = scenario.hardware, range(1, scenario.cluster.stores + 1)
        zones = {member_name(name): f"zone-{(name - 1) % scenario.cluster.zones}" for name in names}
        zones[CLIENT] = "zone-0"
        self._zones = zones
        self.network = Network(hardware.network, streams, zones)
        self.machines = Machines(env, hardware, streams)
        self._relay: Program | None = None
        """A process that forwards messages between zones, on a machine that all share."""
        self._relay_ns = hardware.etcd.relay_ns
        if hardware.shared and self._relay_ns:
            self._relay = Program(self.machines.of("", 0).cores, 1)
        self.members = {
            name: Member(
                self,
                _make_raft(name, scenario, timeouts),
                self.machines.of(member_name(name), hardware.store_cores),
                scenario,
                streams,
            )
            for name in names
        }
        self._led_by = self._last_leader = _FIRST_LEADER
        self._count_leader("leaders_gained", _FIRST_LEADER)
        self._transfers = recorder.counter("leader_transfers")
        for member in self.members.values():
            env.process(self._tick(member, scenario.tikv.raft_base_tick_interval_ns))

    def leader(self) -> Member | None:
        """Returns who leads, in the latest term if several believe to."""
        leaders = [each for each in self.up() if each.raft.role is LEADER]
        return max(leaders, key=lambda each: each.raft.term, default=None)

    def leader_store(self) -> int:
        """Returns the number of the member that leads, 0 if none does."""
        leader = self.leader()
        return 0 if leader is None else leader.store

    def up(self) -> list[Member]:
        """Returns the members whose process runs."""
        return [member for member in self.members.values() if member.up]

    def transfer_leader(self, to: int) -> None:
        """Orders the leader to hand over."""
        leader = self.leader()
        if leader is not None:
            leader.move_leader(to)

    def crash(self, member: int) -> None:
        """Kills a member's process."""
        if self.members[member].up:
            self.members[member].crash()
            if self._led_by == member:
                self._count_leader("leaders_lost", member)
                self._led_by = 0
            if self.client is not None:
                self.client.member_crashed(member)

    def restart(self, member: int) -> None:
        """Starts a member's process again."""
        if not self.members[member].up:
            self.members[member].start()
            if self.client is not None:
                self.client.member_started(member)

    def slow_disk(self, member: int, factor: float) -> None:
        """Makes every latency of a member's disk ``factor`` times what it would be; 1: as usual."""
        self.members[member].disk.slowdown = factor

    def partition(self, groups: Sequence[Iterable[str]]) -> None:
        """Cuts every link between nodes of different groups; who is in no group keeps its links."""
        group_of = {name: number for number, names in enumerate(groups) for name in names}
        for src, dst in permutations([name for name in group_of if name in self._zones], 2):
            if group_of[src] != group_of[dst]:
                self.network.link(src, dst).cut = True

    def isolate(self, member: int) -> None:
        """Cuts a member off from all others and from the clients."""
        name = member_name(member)
        self.partition([[name], [each for each in self._zones if each != name]])

    def heal(self) -> None:
        """Mends every link."""
        for link in self.network.links().values():
            link.cut = False

    def send(self, src: int, to: int, messages: list[Message], size_bytes: int) -> None:
        """Sends messages from one member to another in one piece."""
        what = (src, to, messages, size_bytes)
        if (
            self._relay is not None
            and self._zones[member_name(src)] != self._zones[member_name(to)]
        ):
            self._relay.submit(self._relay_ns, self._send, what)
        else:
            self._send(what)

    def answer(self, member: int, put: Put) -> None:
        """Sends an answer to a put's client."""
        link = self.network.link(member_name(member), CLIENT)
        if self.client is not None and not link.cut:
            self.env.at(
                link.send_ordered(self.env.now_ns, _ANSWER_BYTES), self.client.answered, put
            )

    def role_changed(self, member: Member) -> None:
        """Counts leaders, and shows the change to the checker."""
        if self._safety is not None:
            self._safety.role_changed(member)
        leads = member.raft.role is LEADER
        if leads != (self._led_by == member.store):
            if self._led_by:
                self._count_leader("leaders_lost", self._led_by)
            self._led_by = member.store if leads else 0
            if leads:
                self._count_leader("leaders_gained", member.store)
                self._transfers.value += member.store != self._last_leader
                self._last_leader = member.store

    def applied(self, member: Member, entry: Entry) -> None:
        """Shows the checker what a member has applied."""
        if self._safety is not None:
            self._safety.applied(member, entry)

    def _count_leader(self, metric: str, member: int) -> None:
        self.recorder.counter(metric, member_name(member)).value += 1

    def _send(self, what: tuple[int, int, list[Message], int]) -> None:
        src, to, messages, size_bytes = what
        link = self.network.link(member_name(src), member_name(to))
        if not link.cut:
            arrival_ns = link.send_ordered(self.env.now_ns, size_bytes)
            self.env.at(arrival_ns, self._arrived, (src, to, messages))

    def _arrived(self, what: tuple[int, int, list[Message]]) -> None:
        src, to, messages = what
        if self.members[to].up:
            self.members[to].streams.arrived(src, messages)

    def _tick(self, member: Member, interval_ns: int) -> Generator[Event, Any, None]:
        """Ticks for ever. If members ticked together, equal timeouts would split the vote."""
        yield self.env.timeout(member.store * interval_ns // (len(self.members) + 1))
        while True:
            if member.up:
                member.tick()
            yield self.env.timeout(interval_ns)


def _make_raft(member: int, scenario: Scenario, timeouts: Stream) -> RaftPeer:
    """Returns a member's replica; the first election is over."""
    tikv = scenario.tikv
    ticks = tikv.raft_election_timeout_ticks
    raft = RaftPeer(
        _GROUP,
        member,
        tuple(range(1, scenario.cluster.stores + 1)),
        _FIRST_LEADER,
        term=_TERM,
        max_inflight=tikv.raft_max_inflight_msgs,
        election_ticks=ticks,
        heartbeat_ticks=tikv.raft_heartbeat_ticks,
        draw_timeout=lambda: timeouts.randint(ticks, 2 * ticks - 1),
    )
    raft.log = RaftLog(first_term=_TERM)
    return raft
