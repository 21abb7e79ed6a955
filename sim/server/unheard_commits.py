"""Commits from before a run of which a region's followers have not heard when it begins.

A follower learns that an entry is committed from the region's next append or heartbeat
(``skip_bcast_commit``). Where a region is written to every few seconds, its followers therefore
apply a transaction's commit when the next one comes, or up to two seconds later. Without commits
from before the run they would have too little to apply until every region was written to, or sent
a heartbeat: for two seconds in a cluster of thousands of regions.

The transactions that touch a region are taken as a Poisson process, whose rate a table's regions
share: so many were touched for the first time in all the time that they had been untouched. Before
the run it was the same, so at its first heartbeat, or when it is touched before that, a region has
a commit that its followers have not heard of with probability 1 - exp(-rate * t), t being the time
from the heartbeat before to the beginning. What it wrote is taken from a region of the same table.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sim.engine import LeanEnv, Story
from sim.protocol.raft.log import Entry
from sim.protocol.region import Region, Route
from sim.protocol.write_batch import COMMIT, WriteBatch
from sim.raftstore.peer import Peer, RaftCommand
from sim.scenario.schema.tikv import Tikv
from sim.storage.block_cache import PREFIX_LEN
from sim.streams import Streams

_ASKED: Final = 32
"""Leaders of a table that are asked what their last commit wrote: it takes some time to come."""

_PHASES: Final = 128
"""Groups of regions that are sent their first heartbeat one after the other."""


@dataclass(slots=True)
class _Table:
    """The regions that begin in one table."""

    untouched: int = 0
    touched: int = 0
    exposed_ns: int = 0
    """How long regions had been untouched that are so no more."""
    leaders: deque[Peer] = field(default_factory=lambda: deque(maxlen=_ASKED))
    """Of the regions touched last."""
    commit: WriteBatch | None = None
    """One of their last commits; None: there has been none."""

    def rate(self, now_ns: int) -> float:
        """Returns how often a region is touched, per nanosecond."""
        exposed_ns = self.exposed_ns + self.untouched * now_ns
        return self.touched / exposed_ns if exposed_ns else 0.0

    def look_for_commit(self) -> WriteBatch | None:
        """Returns a late commit of the table."""
        for leader in self.leaders:
            for entry in reversed(leader.raft.log.entries):
                for command in entry.payload:
                    if isinstance(command, RaftCommand) and _is_commit(command):
                        self.commit = command.batch
                        return self.commit
        return self.commit


class UnheardCommits:
    """Leaves last commits from before a run with followers, and lets them hear of those."""

    def __init__(
        self,
        env: LeanEnv,
        untouched: Mapping[int, Route],
        tikv: Tikv,
        streams: Streams,
        hear: Callable[[int], None],
    ) -> None:
        """Begins with the first phase of heartbeats.

        Args:
            env: the clock.
            untouched: routes of the regions that nobody has touched, by region id.
            tikv: says how often heartbeats are sent.
            streams: one says when each region was touched before.
            hear: makes an untouched region's replicas, leaves its commit, and applies it.
        """
        self._env = env
        self._untouched = untouched
        self._heartbeat_ns = tikv.raft_heartbeat_ticks * tikv.raft_base_tick_interval_ns
        self._hear = hear
        self._last = max(untouched)
        draws = streams.stream("unheard-commits")
        self._draws = draws.block_of("exponential", self._last + 1)
        self._tables: dict[bytes, _Table] = {}
        for route in untouched.values():
            self._tables.setdefault(_table_prefix(route.region), _Table()).untouched += 1
        env.process(self._first_heartbeats())

    def touched(self, region: Region, peers: Sequence[Peer]) -> None:
        """Leaves a commit with a region's followers, who apply it with what they hear of next.

        Args:
            region: touched for the first time.
            peers: its replicas, which have just been made.
        """
        self.made(region, peers)
        table = self._table_of(region)
        table.touched += 1
        table.leaders.extend(peer for peer in peers if peer.is_leader)

    def made(self, region: Region, peers: Sequence[Peer]) -> None:
        """Leaves a commit as ``touched`` does where no transaction touches the region."""
        table = self._table_of(region)
        early = self._env.now_ns < self._first_heartbeat_ns(region.region_id)
        if early and self._is_unheard(region):
            self._leave(region, peers, table.commit)
        self._is_untouched_no_more(table)

    def heard(self, region: Region, peers: Sequence[Peer]) -> None:
        """Leaves a commit with the followers of a region to which a heartbeat is sent."""
        table = self._table_of(region)
        self._leave(region, peers, table.commit)
        self._is_untouched_no_more(table)

    def _first_heartbeats(self) -> Story:
        step_ns = self._heartbeat_ns // _PHASES
        for phase in range(_PHASES):
            yield step_ns
            for region_id in range(phase, self._last + 1, _PHASES):
                route = self._untouched.get(region_id)
                if route is not None and self._is_unheard(route.region):
                    self._hear(region_id)

    def _first_heartbeat_ns(self, region_id: int) -> int:
        return (region_id % _PHASES + 1) * (self._heartbeat_ns // _PHASES)

    def _is_unheard(self, region: Region) -> bool:
        """Returns whether a region was touched after the last heartbeat before the run."""
        table = self._table_of(region)
        since_ns = self._heartbeat_ns - self._first_heartbeat_ns(region.region_id)
        often = table.rate(self._env.now_ns) * since_ns
        return bool(self._draws[region.region_id] < often) and table.look_for_commit() is not None

    def _table_of(self, region: Region) -> _Table:
        return self._tables[_table_prefix(region)]

    def _is_untouched_no_more(self, table: _Table) -> None:
        table.untouched -= 1
        table.exposed_ns += self._env.now_ns

    @staticmethod
    def _leave(region: Region, peers: Iterable[Peer], example: WriteBatch | None) -> None:
        assert example is not None, "it was looked for"
        followers = [peer for peer in peers if not peer.is_leader]
        if not followers:  # A region of one replica.
            return
        applied = followers[0].state
        command = RaftCommand(region)
        command.batch = _as_large_as(example)
        entry = Entry(applied.applied_term, applied.applied, [command], 0)
        entry.is_applied = True  # By the leader.
        for peer in followers:
            peer.apply_queue.append(entry)


def _table_prefix(region: Region) -> bytes:
    return region.start_key[:PREFIX_LEN]


def _is_commit(command: RaftCommand) -> bool:
    return command.batch is not None and command.batch.cause == COMMIT


def _as_large_as(example: WriteBatch) -> WriteBatch:
    """Returns a commit of the same size that changes no record: those were never loaded."""
    batch = WriteBatch(COMMIT)
    batch.keys = example.keys
    batch.wal_bytes = example.wal_bytes
    batch.lock_tombstone_bytes = example.lock_tombstone_bytes
    batch.write_cf_bytes = example.write_cf_bytes
    batch.default_cf_bytes = example.default_cf_bytes
    return batch
