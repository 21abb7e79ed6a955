"""One store: its cores, pools, engines and peers, joined.

Nothing is decided here; this is the place where the stations of a TiKV process are connected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.distributions import LognormalMean, Sampler
from sim.engine import Cores, ThreadPool
from sim.hardware.disk import Disk
from sim.protocol.ablations import Ablations
from sim.protocol.latches import Latches
from sim.protocol.lock_table import InstanceMemory
from sim.raftstore.apply import ApplyPool
from sim.raftstore.kv_engine import KvEngine
from sim.raftstore.msg import ReadIndex
from sim.raftstore.peer_fsm import RegionLife
from sim.raftstore.serving import Serving
from sim.raftstore.store_pool import StorePool
from sim.raftstore.ticker import Ticker
from sim.server.store_parts import (
    make_apply_pool,
    make_lock_manager,
    make_log,
    make_raft_pool,
    make_scheduler,
    make_write_path,
)
from sim.storage.block_cache import BlockCache
from sim.storage.scheduler import Scheduler
from sim.storage.store_stats import StoreStats
from sim.transport.transport import Transport
from sim.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from simpy import Event

    from sim.hardware.network import Link
    from sim.pd.placement import Version
    from sim.protocol.region import Region
    from sim.raftstore.peer import Peer
    from sim.record.recorder import Recorder
    from sim.scenario.resolved import Scenario
    from sim.server.cluster import Cluster
    from sim.storage.lock_manager import LockManager
    from sim.streams import Streams
    from sim.transport.transport import RaftMessage

_SETTLE_NS = 10 * NS_PER_MS
"""How long background work is averaged. ASSUMED: many requests, and far shorter than a load
change."""

_EARLY_MAIL = 16
"""Messages kept for a region that a split is about to bring here (TiKV: pending votes)."""


class StoreLinks:
    """What a store needs of the rest of the cluster."""

    __slots__ = ("misses", "raft", "replies")

    def __init__(
        self, *, raft: dict[int, Link], replies: list[Link], misses: Mapping[bytes, float]
    ) -> None:
        self.raft = raft
        self.replies = replies
        self.misses = misses


class Store:
    """One TiKV process on its own machine."""

    __slots__ = (
        "_cluster",
        "_env",
        "admission",
        "apply",
        "awaken",
        "cores",
        "departed",
        "disk_full",
        "early_mail",
        "holds",
        "instance",
        "kv_disk",
        "latches",
        "log",
        "make_lock_manager",
        "merged_into",
        "peer_limit_bytes",
        "peers",
        "pool",
        "probe",
        "raft_disk",
        "raft_pool",
        "read_pool",
        "region_life",
        "resting",
        "scheduler",
        "serving",
        "store_id",
        "ticker",
        "transport",
        "up",
        "version",
        "writes",
    )

    # What an etcd member makes of other classes.
    scheduler_class = Scheduler
    raft_pool_class = StorePool
    apply_class = ApplyPool
    engine_class = KvEngine
    transport_class = Transport

    make_lock_manager: Callable[[], LockManager]

    def __init__(
        self,
        cluster: Cluster,
        store_id: int,
        scenario: Scenario,
        streams: Streams,
        recorder: Recorder,
        links: StoreLinks,
    ) -> None:
        env, tikv = cluster.env, scenario.tikv
        name = f"store-{store_id}"
        self._cluster = cluster
        self._env = env
        self.awaken = cluster.awaken
        self.holds = cluster.holds
        self.probe = cluster.probe
        self.store_id = store_id
        self.up = True
        """Whether the process runs."""
        self.disk_full = False
        self.version: Version = cluster.pd.store_versions[store_id]
        self.peers: dict[int, Peer] = {}
        self.departed: list[Peer] = []
        """Replicas that have left; commands under way may still come back to them."""
        self.resting: list[Peer] = []
        """Replicas on the disk of a process that does not run."""
        self.early_mail: dict[int, list[RaftMessage]] = {}
        """By region: what came for a replica that is not here yet."""
        self.merged_into: dict[int, int] = {}
        """Tombstones: regions that are no more, and what they became part of."""
        self.peer_limit_bytes = tikv.in_memory_peer_size_limit_bytes
        self.instance = InstanceMemory(tikv.in_memory_instance_size_limit_bytes)
        self.latches = Latches(tikv.scheduler_concurrency)
        self._make_machine(scenario, streams, name)
        self._make_parts(scenario, streams, StoreStats(recorder, store_id), links)

    def _make_parts(
        self, scenario: Scenario, streams: Streams, stats: StoreStats, links: StoreLinks
    ) -> None:
        cluster, env, tikv, store_id = self._cluster, self._env, scenario.tikv, self.store_id
        name = f"store-{store_id}"
        unit = LognormalMean(1_000_000, scenario.hardware.cpu.cv)
        draws = [Sampler(unit, streams.stream(f"{name}/cpu-{pool}")) for pool in range(3)]
        self.transport = self.transport_class(
            env, store_id, links.raft, cluster.stores, cluster.filters
        )
        self.region_life = RegionLife(cluster, self, tikv)
        self.admission = self.region_life.admission
        self.serving = Serving(self, Ablations.of(tikv.ablations))
        cache = BlockCache(self.kv_disk, streams.stream(f"{name}/block-cache"), links.misses)
        self.scheduler = make_scheduler(cluster, self, scenario, cache, draws[2], links.replies)
        self.writes = self.scheduler.writes = make_write_path(cluster, self, scenario, stats)
        self.log = make_log(cluster, self, scenario, stats)
        self.apply = make_apply_pool(cluster, self, scenario, draws[0])
        self.raft_pool = make_raft_pool(cluster, self, scenario, draws[1])
        self.ticker = Ticker(env, tikv, self.raft_pool)
        self.make_lock_manager = lambda: make_lock_manager(cluster, self, scenario)
        self.scheduler.waits = self.make_lock_manager()

    @property
    def now_ns(self) -> int:
        """The simulated time."""
        return self._env.now_ns

    def _make_machine(self, scenario: Scenario, streams: Streams, name: str, /) -> None:
        hardware, env = scenario.hardware, self._env
        self.cores = Cores(hardware.store_cores, hardware.threads_per_core, hardware.cpu.smt_gain)
        fetches = streams.stream(f"{name}/fetches")
        self.raft_disk = Disk(hardware.raft_disk, streams.stream(f"{name}/raft-disk"), fetches)
        self.kv_disk = self.raft_disk
        if hardware.kv_disk is not None:
            self.kv_disk = Disk(hardware.kv_disk, streams.stream(f"{name}/kv-disk"), fetches)
        workers = scenario.tikv.scheduler_worker_pool_size
        self.pool = ThreadPool(env, self.cores, workers, f"{name}/scheduler")
        readers = hardware.read_pool_threads
        self.read_pool = ThreadPool(env, self.cores, readers, f"{name}/read-pool")

    def background_work(self) -> Generator[Event, None, None]:
        """Lets the node's cores feel the CPU work that no pool runs, for ever."""
        while True:
            yield self._env.timeout(_SETTLE_NS)
            self.cores.settle(_SETTLE_NS)

    def adopt(self, peer: Peer) -> None:
        """Takes a replica in."""
        self.peers[peer.region.region_id] = peer
        self.ticker.add(peer)

    def wake(self, peer: Peer) -> None:
        """Lets a replica's ticks count for a while."""
        self.ticker.wake(peer)

    def take_raft_messages(self, messages: Sequence[RaftMessage]) -> None:
        """Takes what another store has sent: each message into its peer's mailbox."""
        if self.up:
            self.raft_pool.deliver_all(self.peers, messages, self._take_for_nobody)

    def _take_for_nobody(self, message: RaftMessage) -> None:
        """Takes a message for a replica that is not here, or not yet."""
        peer = self.region_life.replicas.first_contact(message)
        if peer is not None:
            self.raft_pool.deliver(peer, message)
        else:
            early = self.early_mail.setdefault(message.region_id, [])
            early.append(message)
            del early[:-_EARLY_MAIL]

    def replay(self, peer: Peer) -> None:
        """Gives a new replica what came for it too early."""
        for message in self.early_mail.pop(peer.region.region_id, []):
            self.raft_pool.deliver(peer, message)

    def deliver_later(self, what: tuple[Peer, object]) -> None:
        """Puts mail into a peer's mailbox, if the peer is still there."""
        peer, mail = what
        if not peer.gone:
            self.raft_pool.deliver(peer, mail)

    def ask_quorum(self, peer: Peer) -> None:
        """Has the replicas asked whether ``peer`` still leads."""
        self.raft_pool.deliver(peer, ReadIndex())

    def regions_over(self, region: Region) -> tuple[Region, ...]:
        """Returns the regions on this store that have keys of ``region``, by key."""
        here = [peer.region for peer in self.peers.values() if peer.region.overlaps(region)]
        return tuple(sorted(here, key=lambda each: each.start_key))

    def destroy(self, peer: Peer, cause: str) -> None:
        """Removes a replica whose region has left this store."""
        peer.gone = True
        self.departed.append(peer)
        self.peers.pop(peer.region.region_id, None)
        self.raft_pool.withdraw(peer)
        self.ticker.remove(peer)
        self.region_life.let_go(peer, cause)
