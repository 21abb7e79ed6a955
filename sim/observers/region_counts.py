"""How often leaders moved, regions split and merged, and how many regions each store leads.

A change counts once, with the first replica that shows it, whoever wanted it.
"""

from typing import Final

from sim.protocol.region import Region, RegionMap
from sim.raftstore.peer import Peer
from sim.record.recorder import Recorder
from sim.storage.probe import Probe
from sim.transport.nodes import store_name

GAINED: Final = "leaders_gained"
LOST: Final = "leaders_lost"


class _NewestVersions:
    """The newest version of each region that has been seen to split or merge."""

    def __init__(self) -> None:
        self._newest: dict[int, int] = {}

    def is_news(self, region: Region, what: str) -> bool:
        """Returns whether a change is a split or a merge that no other replica has shown."""
        if what not in {"split", "CommitMerge"}:
            return False
        if region.epoch.version <= self._newest.get(region.region_id, 0):
            return False
        self._newest[region.region_id] = region.epoch.version
        return True


class RegionCounts(Probe):
    """Feeds the counters ``leader_transfers``, ``splits`` and ``merges``.

    A leader has moved when another store leads than before; a region's first leader has not moved.
    """

    def __init__(self, routes: RegionMap, recorder: Recorder) -> None:
        self._leaders: dict[int, int] = {
            route.region.region_id: route.leader_store for route in routes.routes
        }
        self._versions = _NewestVersions()
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
        if self._versions.is_news(peer.region, what):
            counter = self._splits if what == "split" else self._merges
            counter.value += 1


class LeaderCounts(Probe):
    """Feeds ``leaders_gained`` and ``leaders_lost``, a class a store.

    Their difference since the beginning is what a store leads. At first every region is led by the
    store that it was placed on. A store that dies leads nothing; a region that was merged into
    another has no leader.
    """

    def __init__(self, routes: RegionMap, recorder: Recorder) -> None:
        self._recorder = recorder
        self._leads: dict[int, int] = {}
        self._starts: dict[int, bytes] = {}
        self._versions = _NewestVersions()
        for route in routes.routes:
            self._starts[route.region.region_id] = route.region.start_key
            self._gain(route.region.region_id, route.leader_store)

    def role_changed(self, peer: Peer) -> None:
        """Counts a leader that was elected, or has stepped down."""
        region_id = peer.region.region_id
        if peer.is_leader:
            self._starts[region_id] = peer.region.start_key
            if self._leads.get(region_id) != peer.store:
                self._lose(region_id)
                self._gain(region_id, peer.store)
        elif self._leads.get(region_id) == peer.store:
            self._lose(region_id)

    def region_changed(self, peer: Peer, what: str) -> None:
        """Counts the leader of a region that another has taken over as lost."""
        region = peer.region
        if not self._versions.is_news(region, what):
            return
        self._starts[region.region_id] = region.start_key
        if what == "CommitMerge":
            for other in [each for each in self._leads if self._is_inside(each, region)]:
                self._lose(other)

    def store_crashed(self, store_id: int) -> None:
        """Counts all leaders of a store that has died as lost."""
        for region_id in [each for each, store in self._leads.items() if store == store_id]:
            self._lose(region_id)

    def _is_inside(self, region_id: int, region: Region) -> bool:
        """Returns whether a region begins within another."""
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
