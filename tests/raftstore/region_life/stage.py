"""A small cluster on which regions move, and a diary of what a probe has seen.

Ticks are 50 ms, so that an election takes half a second to a second; everything else is as in
``tests.scenes``: an append and its fsync 1 ms, the network 100 us each way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sim.protocol.records import Lock
from sim.raftstore.peer import Peer
from sim.server.control import Control
from sim.storage.probe import Probe
from sim.units import NS_PER_MS
from tests.scenes import IN_MEMORY, Scene, constant_scenario

TICK_NS = 50 * NS_PER_MS


class Diary(Probe):
    """Writes down what happens, in words."""

    def __init__(self) -> None:
        self.marks: list[str] = []
        self.dropped: list[tuple[str, list[bytes]]] = []
        self.proposed: list[tuple[str, list[bytes]]] = []

    def mark(self, name: str) -> None:
        self.marks.append(name)

    def table_dropped(
        self, peer: Peer, locks: Sequence[tuple[bytes, Lock, bool]], cause: str
    ) -> None:
        self.dropped.append((cause, [key for key, _, _ in locks]))

    def locks_proposed(self, peer: Peer, locks: Sequence[tuple[bytes, Lock]], cause: str) -> None:
        self.proposed.append((cause, [key for key, _ in locks]))


class Stage(Scene):
    """A scene with fast ticks, orders by the millisecond, and a diary."""

    def __init__(
        self,
        start_keys: Sequence[bytes] = (b"",),
        *,
        cluster: dict[str, Any] | None = None,
        tikv: dict[str, Any] | None = None,
    ) -> None:
        settings = IN_MEMORY | {"raft_base_tick_interval_ns": TICK_NS} | (tikv or {})
        super().__init__(constant_scenario(tikv=settings, cluster=cluster), start_keys)
        self.diary = Diary()
        self.cluster.probe.add(self.diary)

    @property
    def control(self) -> Control:
        """What can be done to the cluster."""
        return Control(self.cluster)

    def order(self, at_ms: float, act: Callable[[], object]) -> None:
        """Does something at ``at_ms``."""
        self.env.at(int(at_ms * NS_PER_MS), lambda _: act(), None)

    def memory(self, region_id: int, store: int) -> list[bytes]:
        """Returns the keys locked in the memory of one replica."""
        return sorted(self.cluster.peers_of(region_id)[store].locks.map)

    def lock_cf(self, region_id: int, store: int) -> list[bytes]:
        """Returns the keys in the lock CF of one replica."""
        return sorted(self.cluster.peers_of(region_id)[store].state.mvcc.locks)

    def lead(self, region_id: int) -> int:
        """Returns the store that leads a region, 0 if none does."""
        leader = self.cluster.leader_of(region_id)
        return leader.store if leader else 0
