"""All stores, PD and the network between them; regions come to life when first touched.

A scenario may have thousands of regions of which a run touches some: the map of key ranges is
computed at once, the replicas of a region are made when its first request is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.cluster.block_cache import CACHE_SHARE, miss_probabilities
from sim.cluster.disk_bytes import DiskBytes
from sim.cluster.lock_manager import Detector
from sim.cluster.pd import TimestampOracle
from sim.cluster.peer import Peer, RegionState, make_peer
from sim.cluster.store import Store, StoreLinks
from sim.hardware.network import Network
from sim.protocol.deadlock import DetectTable
from sim.protocol.encoding import lock_format
from sim.protocol.mvcc import Mvcc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.cluster.block_cache import Extent
    from sim.engine import LeanEnv
    from sim.hardware.network import Link
    from sim.protocol.region import Region, RegionMap
    from sim.record.recorder import Recorder
    from sim.scenario.resolved import Scenario
    from sim.streams import Streams


def store_name(store_id: int) -> str:
    """Returns a store's name in the network."""
    return f"store-{store_id}"


def tidb_name(node: int) -> str:
    """Returns a TiDB node's name in the network."""
    return f"tidb-{node}"


PD_NAME = "pd"
CLIENT_NAME = "client"


def zones_of(scenario: Scenario) -> dict[str, str]:
    """Returns the zone of every node: stores and TiDB nodes go round the zones in turn."""
    zones = scenario.cluster.zones
    nodes = {store_name(s + 1): f"zone-{s % zones}" for s in range(scenario.cluster.stores)}
    for node in range(scenario.cluster.tidb_nodes):
        nodes[tidb_name(node)] = f"zone-{node % zones}"
        nodes[f"{CLIENT_NAME}-{node}"] = f"zone-{node % zones}"
    nodes[PD_NAME] = "zone-0"
    return nodes


class Cluster:
    """Stores, PD, network and regions of one scenario."""

    __slots__ = (
        "_lock_format",
        "_scenario",
        "env",
        "ledger",
        "network",
        "regions",
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
        misses = miss_probabilities(extents, CACHE_SHARE * scenario.hardware.store_memory_bytes)
        self.env = env
        self._scenario = scenario
        self.regions = regions
        self.tso = TimestampOracle()
        self.ledger = DiskBytes(recorder)
        self._lock_format = lock_format(scenario.tikv.behaviour)
        self.network = Network(scenario.hardware.network, streams, zones_of(scenario))
        self.stores: dict[int, Store] = {}
        detector = self._make_detector()
        for store_id in range(1, scenario.cluster.stores + 1):
            links = StoreLinks(
                raft=self._raft_links(store_id),
                replies=[
                    self.network.link(store_name(store_id), tidb_name(node))
                    for node in range(scenario.cluster.tidb_nodes)
                ],
                stores=self.stores,
                detector=detector,
                safe_ts=self.tso.safe_ts,
                misses=misses,
            )
            store = Store(env, store_id, scenario, streams, recorder, self.ledger, links)
            self.stores[store_id] = store
            tikv = scenario.tikv
            interval_ns = tikv.raft_base_tick_interval_ns * tikv.raft_heartbeat_ticks
            env.process(store.heartbeats(interval_ns))
            env.process(store.background_work())

    def locate(self, key: bytes) -> Region:
        """Returns the region of ``key``, whose replicas exist from now on."""
        region = self.regions.locate(key)
        if region.region_id not in self.stores[region.leader_store].peers:
            self._create_peers(region)
        return region

    def leader(self, region: Region) -> Peer:
        """Returns the peer that leads ``region``."""
        return self.stores[region.leader_store].peers[region.region_id]

    def _create_peers(self, region: Region) -> None:
        tikv = self._scenario.tikv
        state = RegionState(Mvcc(self._lock_format), 5)
        for store_id in region.stores:
            store = self.stores[store_id]
            store.peers[region.region_id] = make_peer(
                region,
                store_id,
                state,
                store.instance,
                peer_limit_bytes=tikv.in_memory_peer_size_limit_bytes,
                max_inflight=tikv.raft_max_inflight_msgs,
            )

    def _raft_links(self, store_id: int) -> dict[int, Link]:
        here = store_name(store_id)
        return {
            other: self.network.link(here, store_name(other))
            for other in range(1, self._scenario.cluster.stores + 1)
            if other != store_id
        }

    def _make_detector(self) -> Detector:
        """Puts the detector on the leader of the first region."""
        home = self.regions.regions[0].leader_store
        others = [s for s in range(1, self._scenario.cluster.stores + 1) if s != home]
        return Detector(
            home,
            DetectTable(self._scenario.tikv.wait_for_lock_timeout_ns),
            {s: self.network.link(store_name(s), store_name(home)) for s in others},
            {s: self.network.link(store_name(home), store_name(s)) for s in others},
        )
