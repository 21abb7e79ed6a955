"""How often leaders moved and regions split and merged, whoever wanted it.

Law: a change counts once, with the first replica that shows it. A leader has moved when another
store leads than before; a region's first leader has not moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.storage.probe import Probe

if TYPE_CHECKING:
    from sim.protocol.region import RegionMap
    from sim.raftstore.peer import Peer
    from sim.record.recorder import Recorder


class RegionCounts(Probe):
    """Feeds the counters ``leader_transfers``, ``splits`` and ``merges``."""

    def __init__(self, routes: RegionMap, recorder: Recorder) -> None:
        self._leaders: dict[int, int] = {
            route.region.region_id: route.leader_store for route in routes.routes
        }
        self._versions: dict[int, int] = {}
        self._transfers = recorder.counter("leader_transfers")
        self._splits = recorder.counter("splits")
        self._merges = recorder.counter("merges")

    def role_changed(self, peer: Peer) -> None:
        """Counts a leader on another store than the last one."""
        if peer.is_leader:
            before = self._leaders.get(peer.region.region_id, peer.store)
            self._leaders[peer.region.region_id] = peer.store
            self._transfers.value += before != peer.store

    def region_changed(self, peer: Peer, what: str) -> None:
        """Counts a split or a committed merge."""
        if what not in {"split", "CommitMerge"}:
            return
        region = peer.region
        if region.epoch.version <= self._versions.get(region.region_id, 0):
            return
        self._versions[region.region_id] = region.epoch.version
        counter = self._splits if what == "split" else self._merges
        counter.value += 1
