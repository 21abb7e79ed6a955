"""All stores, PD and the network between them; a region's replicas are made when first touched.

A scenario may have thousands of regions of which a run touches some: the map of key ranges is
computed at once, the replicas of a region are created when its first request arrives.
"""

from collections.abc import Iterator
from typing import Protocol

from sim.distributions import LognormalMean, Sampler
from sim.engine import FifoServers, LeanEnv, RunQueues, smt_slowness
from sim.hardware.disk import Disk
from sim.hardware.machine_cpu import MachineCpu
from sim.hardware.network import Link, Network
from sim.pd.client import PdClient
from sim.pd.placement import Placement
from sim.pd.tso import TimestampOracle
from sim.protocol.concurrency_manager import ConcurrencyManager
from sim.protocol.region import Region, RegionMap, Route
from sim.raftstore.bootstrap import ReplicaFactory
from sim.raftstore.context import StoreContext
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.failpoints import FailPoints
from sim.raftstore.peer import AppliedState, Peer
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.scenario.schema.hardware import Hardware
from sim.scenario.versions import IN_MEMORY_SINCE, Version, parse_version
from sim.server.store import Store
from sim.server.unheard_commits import UnheardCommits
from sim.storage.block_cache import RowMisses
from sim.storage.deadlock_detector import Detector
from sim.storage.probe import Probes
from sim.streams import Stream, Streams
from sim.transport.filters import MessageFilters
from sim.transport.nodes import CLIENT_NAME, PD_NAME, store_name, tidb_name, zones_of
from sim.transport.transport import Transport


class ConnectionListener(Protocol):
    """A node with connections to the stores."""

    def store_crashed(self, store: int) -> None:
        """The store's process has died."""

    def store_started(self, store: int) -> None:
        """The store's process takes connections again."""

    def link_cut(self, store: int) -> None:
        """Nothing gets through to the store."""

    def link_healed(self, store: int) -> None:
        """Messages get through again."""


class Cluster:
    """Stores, PD, network and regions of one scenario."""

    def __init__(
        self,
        env: LeanEnv,
        scenario: Scenario,
        regions: RegionMap,
        streams: Streams,
        recorder: Recorder,
        misses: RowMisses | None = None,
    ) -> None:
        """Args: ``misses`` says how likely a table's row is not in its leader's caches."""
        self.env = env
        self._scenario = scenario
        self.bootstrap = regions
        """Routes as they are when a run begins; nobody changes them."""
        self.pd = Placement(regions.copy(), _store_versions(scenario))
        self.tso = TimestampOracle()
        self._untouched: dict[int, Route] = {
            route.region.region_id: route for route in regions.routes
        }
        """Regions whose replicas nobody has needed yet."""
        self._unheard = UnheardCommits(env, self._untouched, scenario.tikv, streams, self._hear)
        self.replicas = ReplicaFactory(scenario.tikv, streams.stream("election-timeouts"))
        self.probe = Probes()
        self.failpoints = FailPoints()
        self.filters = MessageFilters()
        self.ledger = DiskBytes(recorder)
        hardware, draws = scenario.hardware, streams.stream(f"{CLIENT_NAME}/cpu")
        self.client_machine = _client_machine(hardware, draws)
        self.network = Network(scenario.hardware.network, streams, zones_of(scenario))
        self.detector = Detector(
            regions.routes[0].leader_store,
            scenario.tikv.wait_for_lock_timeout_ns,
            self.network,
            self.probe,
        )
        self.listeners: dict[int, ConnectionListener] = {}
        """By TiDB node: who hears what becomes of its connections."""
        self._tombstones: dict[int, dict[int, Region]] = {}
        self.stores = self._make_stores(streams, recorder, misses or {})
        self._connect_stores()
        self.apply_cluster_version()

    def _make_stores(
        self, streams: Streams, recorder: Recorder, misses: RowMisses
    ) -> dict[int, Store]:
        scenario = self._scenario
        return {
            store_id: Store(
                self._context(store_id),
                scenario,
                streams,
                recorder,
                self.probe,
                ledger=self.ledger,
                tso=self.tso,
                detector=self.detector,
                replies=self._reply_links(store_id),
                misses=misses,
            )
            for store_id in range(1, scenario.cluster.stores + 1)
        }

    def _connect_stores(self) -> None:
        for store_id, store in self.stores.items():
            for other_id, other in self.stores.items():
                if other_id != store_id:
                    store.ctx.transport.connect(
                        other_id, other.raftstore.receive, other.machine.cores
                    )

    def locate(self, key: bytes) -> Route:
        """Returns where PD believes the region of ``key`` to be."""
        return self.pd.routes.locate(key)

    def leader_of(self, region_id: int) -> Peer | None:
        """Returns the replica that leads a region, in the latest term if several believe to."""
        leaders = [peer for peer in self.peers_of(region_id).values() if peer.is_leader]
        return max(leaders, key=lambda peer: peer.raft.term, default=None)

    def peers_of(self, region_id: int) -> dict[int, Peer]:
        """Returns the live replicas of a region by store."""
        self.create_replicas(region_id)
        return {
            store_id: store.peers[region_id]
            for store_id, store in self.stores.items()
            if region_id in store.peers
        }

    def peers(self) -> Iterator[Peer]:
        """Yields all live replicas that there are, store by store; it makes none."""
        for store in self.stores.values():
            yield from store.peers.values()

    def peers_by_region(self) -> dict[int, list[Peer]]:
        """Returns the same by region."""
        regions: dict[int, list[Peer]] = {}
        for peer in self.peers():
            regions.setdefault(peer.region.region_id, []).append(peer)
        return regions

    def disks(self) -> list[Disk]:
        """Returns the disks of all stores; one that serves for both stands there twice."""
        machines = [store.machine for store in self.stores.values()]
        return [disk for each in machines for disk in (each.raft_disk, each.kv_disk)]

    def up_stores(self) -> list[int]:
        """Returns the stores whose process runs."""
        return [store_id for store_id, store in self.stores.items() if store.up]

    def create_replicas(self, region_id: int) -> bool:
        """Makes the replicas of a region that nobody has touched yet; returns whether it did."""
        route = self._untouched.pop(region_id, None)
        if route is None:
            return False
        self._unheard.touched(route.region, self._make_replicas(route))
        return True

    def _hear(self, region_id: int) -> None:
        """Makes the replicas of an untouched region, whose followers hear of a last commit."""
        route = self._untouched.pop(region_id)
        peers = self._make_replicas(route)
        self._unheard.heard(route.region, peers)
        for peer in peers:
            if peer.apply_queue:
                self.stores[peer.store].raftstore.apply.schedule(peer, [])

    def create_all_replicas(self) -> None:
        """Makes the replicas of all regions: before something happens to a whole store."""
        for region_id, route in list(self._untouched.items()):
            del self._untouched[region_id]
            self._unheard.made(route.region, self._make_replicas(route))

    def apply_cluster_version(self) -> None:
        """Opens the feature gates that the cluster's version opens; none is closed."""
        allowed = self.pd.cluster_version() >= IN_MEMORY_SINCE
        if allowed or self._scenario.tikv.force_in_memory:
            for store in self.stores.values():
                store.scheduler.lock_paths.open_gate()

    def _context(self, store_id: int) -> StoreContext:
        link = self.network.link(store_name(store_id), PD_NAME)
        return StoreContext(
            self.env,
            store_id,
            tikv=self._scenario.tikv,
            version=self.pd.store_versions[store_id],
            probe=self.probe,
            failpoints=self.failpoints,
            transport=Transport(
                self.env,
                store_id,
                self._raft_links(store_id),
                self.filters,
            ),
            pd=PdClient(self.env, link, self.pd, self.tso, self._leader_reported),
            replicas=self.replicas,
            concurrency=ConcurrencyManager(),
            create_replicas=self.create_replicas,
            tombstones=self._tombstones,
        )

    def _leader_reported(self, region: Region, leader_store: int) -> None:
        self.probe.leader_reported(region, leader_store)

    def _make_replicas(self, route: Route) -> list[Peer]:
        return [self._make_replica(route, store_id) for store_id in route.region.stores]

    def _make_replica(self, route: Route, store_id: int) -> Peer:
        region, leader = route
        ctx = self.stores[store_id].ctx
        raft = self.replicas.raft(region, store_id, leader)
        state = AppliedState(region, self.replicas.records(), raft.log.last_index, raft.term)
        peer = ctx.make_peer(state, raft)
        if peer.is_leader:  # Its lease has been renewed until now.
            peer.lease.renew(self.env.now_ns, ctx.tikv.raft_store_max_leader_lease_ns)
        ctx.add(peer)
        return peer

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


def hardware_threads(hardware: Hardware, count: int) -> FifoServers:
    """Returns those of a machine that is no store's."""
    slowness = smt_slowness(count, hardware.threads_per_core, hardware.cpu.smt_gain)
    return FifoServers(count, slowness)


def _client_machine(hardware: Hardware, stream: Stream) -> MachineCpu:
    threads, cpu = hardware.client_cores, hardware.cpu
    return MachineCpu(
        hardware_threads(hardware, threads),
        RunQueues(threads, cpu.thread_run_ns, stream),
        Sampler(LognormalMean(1_000_000, cpu.cv), stream),
    )


def _store_versions(scenario: Scenario) -> dict[int, Version]:
    """Returns which version of TiKV each store runs at first."""
    return dict(enumerate(map(parse_version, scenario.cluster.store_versions), 1))
