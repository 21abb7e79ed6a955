"""All stores, PD and the network between them; regions come to life when first touched.

A scenario may have thousands of regions of which a run touches some: the map of key ranges is
computed at once, the replicas of a region are made when its first request arrives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.failpoints import Holds
from sim.hardware.network import Network
from sim.pd.placement import IN_MEMORY_SINCE, Placement, parse_version
from sim.pd.tso import TimestampOracle
from sim.probe import Probes
from sim.protocol.deadlock import DetectTable
from sim.protocol.encoding import lock_format
from sim.protocol.mvcc import Mvcc
from sim.protocol.raft import RaftPeer
from sim.protocol.raft_log import RaftLog
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.peer import AppliedState, Peer, make_peer
from sim.server.control import Control
from sim.server.store import Store, StoreLinks
from sim.storage.block_cache import CACHE_SHARE, miss_probabilities
from sim.storage.lock_manager import Detector
from sim.transport.message_filter import MessageFilters
from sim.transport.nodes import CLIENT_NAME, PD_NAME, store_name, tidb_name, zones_of
from sim.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.engine import LeanEnv
    from sim.hardware.network import Link
    from sim.protocol.region import Region, RegionMap, Route
    from sim.record.recorder import Recorder
    from sim.scenario.resolved import Scenario
    from sim.storage.block_cache import Extent
    from sim.streams import Streams

__all__ = ["CLIENT_NAME", "PD_NAME", "Cluster", "store_name", "tidb_name", "zones_of"]

_HEARTBEAT_BYTES: Final = 256
"""A region heartbeat to PD: region, leader, statistics (kvproto pdpb field sizes)."""

_ASK_PD_AGAIN_NS: Final = 100 * NS_PER_MS
"""A store that is cut off from PD asks for its timestamp again after this. ASSUMED."""


class Cluster:
    """Stores, PD, network and regions of one scenario."""

    __slots__ = (
        "_dormant",
        "_lock_format",
        "_scenario",
        "_timeouts",
        "bootstrap",
        "control",
        "detector",
        "env",
        "filters",
        "holds",
        "keep_rows",
        "ledger",
        "network",
        "pd",
        "probe",
        "stores",
        "tso",
    )

    def __init__(
        self,
        env: LeanEnv,
        scenario: Scenario,
        regions: RegionMap,
        streams: Streams,
        recorder: Recorder,
        extents: Sequence[Extent] = (),
    ) -> None:
        """Args: ``extents`` are the tables read at random, in the share that one store leads."""
        self.env = env
        self._scenario = scenario
        versions = map(parse_version, scenario.cluster.store_versions)
        self.bootstrap = regions
        """Routes as they are when a run begins; nobody changes them."""
        self.pd = Placement(regions.copy(), dict(enumerate(versions, 1)))
        self._dormant: dict[int, Route] = {
            route.region.region_id: route for route in regions.routes
        }
        self._timeouts = streams.stream("election-timeouts")
        self.probe = Probes()
        self.holds = Holds()
        self.filters = MessageFilters()
        self.keep_rows = False
        """Whether versions without payload are kept as well; a study's rows were never loaded."""
        self.tso = TimestampOracle()
        self.ledger = DiskBytes(recorder)
        self._lock_format = lock_format(scenario.tikv.behaviour)
        self.network = Network(scenario.hardware.network, streams, zones_of(scenario))
        table = DetectTable(scenario.tikv.wait_for_lock_timeout_ns)
        self.detector = Detector(regions.routes[0].leader_store, table, self.network)
        self.stores: dict[int, Store] = {}
        misses = miss_probabilities(extents, CACHE_SHARE * scenario.hardware.store_memory_bytes)
        for store_id in range(1, scenario.cluster.stores + 1):
            links = StoreLinks(
                raft=self._raft_links(store_id), replies=self._reply_links(store_id), misses=misses
            )
            store = Store(self, store_id, scenario, streams, recorder, links)
            self.stores[store_id] = store
            env.process(store.ticker.run())
            env.process(store.background_work())
        self.control = Control(self)
        self.heed_version()

    def locate(self, key: bytes) -> Route:
        """Returns where PD believes the region of ``key`` to be."""
        return self.pd.routes.locate(key)

    def leader_of(self, region_id: int) -> Peer | None:
        """Returns the replica that leads a region, in the latest term if several believe to."""
        leaders = [peer for peer in self.peers_of(region_id).values() if peer.is_leader]
        return max(leaders, key=lambda peer: peer.raft.term, default=None)

    def peers_of(self, region_id: int) -> dict[int, Peer]:
        """Returns the live replicas of a region by store."""
        self.awaken(region_id)
        return {
            store_id: store.peers[region_id]
            for store_id, store in self.stores.items()
            if region_id in store.peers
        }

    def up_stores(self) -> list[int]:
        """Returns the stores whose process runs."""
        return [store_id for store_id, store in self.stores.items() if store.up]

    def awaken(self, region_id: int) -> bool:
        """Makes the replicas of a region that nobody has touched yet; returns whether it did."""
        route = self._dormant.pop(region_id, None)
        if route is None:
            return False
        for store_id in route.region.stores:
            self._create_peer(route, store_id)
        return True

    def awaken_all(self) -> None:
        """Makes the replicas of all regions: before something happens to a whole store."""
        for region_id in list(self._dormant):
            self.awaken(region_id)

    def make_raft(self, region: Region, store_id: int, leader: int) -> RaftPeer:
        """Returns the Raft state of a new replica; its log begins as a bootstrapped region's.

        With a ``leader`` the first election is over, and the leader's empty entry forgotten.
        """
        term = 6 if leader else 5
        settings = self._raft_settings()
        raft = RaftPeer(region.region_id, store_id, region.stores, leader, term=term, **settings)
        raft.log = RaftLog(first_term=term)
        return raft

    def make_records(self) -> Mvcc:
        """Returns the records of a new replica: none."""
        return Mvcc(self._lock_format, keep_rows=self.keep_rows)

    def empty_raft(self, region: Region, store_id: int) -> RaftPeer:
        """Returns the Raft state of a replica that waits for its first snapshot."""
        return RaftPeer.uninitialized(region.region_id, store_id, **self._raft_settings())

    def report(self, peer: Peer) -> None:
        """Sends a leader's heartbeat to PD."""
        link = self.network.link(store_name(peer.store), PD_NAME)
        if not link.cut:
            arrival_ns = link.send(self.env.now_ns, _HEARTBEAT_BYTES)
            what = (peer.region, peer.store, peer.raft.term)
            self.env.at(arrival_ns, self._reported, what)

    def sync_max_ts(self, peer: Peer) -> None:
        """Fetches a timestamp from PD, so that a new leader knows what may have been read."""
        there = self.network.link(store_name(peer.store), PD_NAME)
        answered_ns = there.round_trip(self.env.now_ns, _HEARTBEAT_BYTES)
        self.env.at(answered_ns, self._synced, (peer, peer.raft.term))

    def move_detector(self, store_id: int) -> None:
        """Lets the deadlock detector follow the leader of the first region; it begins empty."""
        if self.detector.store != store_id:
            timeout_ns = self._scenario.tikv.wait_for_lock_timeout_ns
            self.detector.store = store_id
            self.detector.table = DetectTable(timeout_ns)

    def heed_version(self) -> None:
        """Lets every store know what the cluster's version allows."""
        is_open = self.pd.cluster_version() >= IN_MEMORY_SINCE
        is_open = is_open or self._scenario.tikv.force_in_memory
        for store in self.stores.values():
            store.writes.mode.open_gate(is_open=is_open)

    def _reported(self, what: tuple[Region, int, int]) -> None:
        self.pd.heartbeat(*what)
        self.probe.leader_reported(what[0], what[1])

    def _synced(self, what: tuple[Peer, int]) -> None:
        peer, term = what
        there = self.network.link(store_name(peer.store), PD_NAME)
        if peer.gone or peer.raft.term != term:
            return
        if there.cut:
            self.env.at(self.env.now_ns + _ASK_PD_AGAIN_NS, self._synced, what)
            return
        scheduler = self.stores[peer.store].scheduler
        scheduler.max_ts = max(scheduler.max_ts, self.tso.next(self.env.now_ns))
        peer.max_ts_synced = True

    def _create_peer(self, route: Route, store_id: int) -> None:
        region, leader = route
        store = self.stores[store_id]
        raft = self.make_raft(region, store_id, leader)
        state = AppliedState(region, self.make_records(), raft.log.last_index, raft.term)
        limit = store.peer_limit_bytes
        peer = make_peer(region, store_id, state, raft, store.instance, peer_limit_bytes=limit)
        if peer.is_leader:
            # Whoever led a region until now had a lease.
            tikv = self._scenario.tikv
            peer.lease_until_ns = self.env.now_ns + tikv.raft_store_max_leader_lease_ns
        store.adopt(peer)

    def _raft_settings(self) -> dict[str, Any]:
        tikv = self._scenario.tikv
        return {
            "max_inflight": tikv.raft_max_inflight_msgs,
            "election_ticks": tikv.raft_election_timeout_ticks,
            "heartbeat_ticks": tikv.raft_heartbeat_ticks,
            "draw_timeout": self._draw_timeout,
        }

    def _draw_timeout(self) -> int:
        """Returns a randomized election timeout in ticks, in [n, 2 n)."""
        ticks = self._scenario.tikv.raft_election_timeout_ticks
        return self._timeouts.randint(ticks, 2 * ticks - 1)

    def _raft_links(self, store_id: int) -> dict[int, Link]:
        here = store_name(store_id)
        return {
            other: self.network.link(here, store_name(other))
            for other in range(1, self._scenario.cluster.stores + 1)
            if other != store_id
        }

    def _reply_links(self, store_id: int) -> list[Link]:
        nodes = range(self._scenario.cluster.tidb_nodes)
        return [self.network.link(store_name(store_id), tidb_name(node)) for node in nodes]
