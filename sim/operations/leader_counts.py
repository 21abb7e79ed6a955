"""How many regions each store leads, from one change to the next.

Law: two counters a store, ``leaders_gained`` and ``leaders_lost``; their difference since the
beginning is what the store leads. Before anything happens, every region is led by the store that it
was placed on. A store that dies leads nothing; a region that is merged away has no leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.storage.probe import Probe
from sim.transport.nodes import store_name

if TYPE_CHECKING:
    from sim.protocol.region import Region, RegionMap
    from sim.raftstore.peer import Peer
    from sim.record.recorder import Recorder

GAINED: Final = "leaders_gained"
LOST: Final = "leaders_lost"


class LeaderCounts(Probe):
    """Feeds ``leaders_gained`` and ``leaders_lost``, a class a store."""

    def __init__(self, routes: RegionMap, recorder: Recorder) -> None:
        self._recorder = recorder
        self._leads: dict[int, int] = {}
        self._starts: dict[int, bytes] = {}
        self._versions: dict[int, int] = {}
        for route in routes.routes:
            self._starts[route.region.region_id] = route.region.start_key
            self._gain(route.region.region_id, route.leader_store)

    def role_changed(self, peer: Peer) -> None:
        """Enters a leader in the books, or strikes it out."""
        region_id = peer.region.region_id
        if peer.is_leader:
            self._starts[region_id] = peer.region.start_key
            if self._leads.get(region_id) != peer.store:
                self._lose(region_id)
                self._gain(region_id, peer.store)
        elif self._leads.get(region_id) == peer.store:
            self._lose(region_id)

    def region_changed(self, peer: Peer, what: str) -> None:
        """Strikes out the leader of a region that another has taken over."""
        if what not in {"split", "CommitMerge"}:
            return
        region = peer.region
        if region.epoch.version <= self._versions.get(region.region_id, 0):
            return  # A replica that is late tells of what others have gone beyond.
        self._versions[region.region_id] = region.epoch.version
        self._starts[region.region_id] = region.start_key
        if what == "CommitMerge":
            for other in [each for each in self._leads if self._is_inside(each, region)]:
                self._lose(other)

    def store_crashed(self, store_id: int) -> None:
        """Strikes out all leaders of a store that has died."""
        for region_id in [each for each, store in self._leads.items() if store == store_id]:
            self._lose(region_id)

    def _is_inside(self, region_id: int, region: Region) -> bool:
        """Whether a region begins within another."""
        start = self._starts[region_id]
        before_end = not region.end_key or start < region.end_key
        return region_id != region.region_id and region.start_key <= start and before_end

    def _gain(self, region_id: int, store: int) -> None:
        self._leads[region_id] = store
        self._recorder.counter(GAINED, store_name(store)).value += 1

    def _lose(self, region_id: int) -> None:
        store = self._leads.pop(region_id, None)
        if store is not None:
            self._recorder.counter(LOST, store_name(store)).value += 1
