"""What can be done to a cluster from outside: by PD, by an operator, by a fault.

An order is given and not followed up: whether anything comes of it can be observed through the
probe. Orders to a region go to its present leader, as PD's do.

Source: tikv/pd server/schedule/operator; tikv/tikv components/test_raftstore.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from sim.hardware.network import Link
from sim.protocol.region import RegionId
from sim.raftstore.msg import (
    AskChangePeer,
    AskFlashback,
    AskMerge,
    AskSplit,
    Campaign,
    StartTransfer,
)
from sim.raftstore.peer import Peer
from sim.scenario.versions import parse_version
from sim.server.cluster import Cluster, ConnectionListener
from sim.server.store import Store
from sim.transport.messages import DiskUsage
from sim.transport.nodes import PD_NAME, store_name, tidb_name
from sim.transport.transport import KEEPALIVE_NS

PIPELINED: Final = "pessimistic-txn.pipelined"
IN_MEMORY: Final = "pessimistic-txn.in-memory"
PEER_LIMIT: Final = "pessimistic-txn.in-memory-peer-size-limit"
INSTANCE_LIMIT: Final = "pessimistic-txn.in-memory-instance-size-limit"

ONLINE_KEYS: Final = (PIPELINED, IN_MEMORY, PEER_LIMIT, INSTANCE_LIMIT)
"""Configuration that can be changed while a store runs; limits in bytes."""


class Control:
    """Orders to one cluster; it keeps nothing, so there may be several."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def transfer_leader(self, region_id: int, to_store: int) -> None:
        """Advises a region's leader to hand over."""
        self._cluster.probe.transfer_ordered(region_id, to_store)
        self._order(region_id, StartTransfer(to_store))

    def split_region(self, region_id: int, split_key: bytes, *, new_region_id: int = 0) -> None:
        """Orders a split; what lies below ``split_key`` becomes the new region."""
        new_id = RegionId(new_region_id) if new_region_id else self._cluster.pd.new_region_id()
        self._order(region_id, AskSplit([split_key], [new_id]))

    def merge_region(self, source_id: int, target_id: int) -> None:
        """Orders a merge, if the two are neighbours on the same stores and every replica is there.

        Source: tikv/pd server/handler.go (AddMergeRegionOperator), pkg/schedule/filter/healthy.go.
        """
        self._cluster.create_replicas(target_id)
        target = self._cluster.leader_of(target_id)
        source = self._cluster.leader_of(source_id)
        if source is None or target is None or not _may_merge(source, target):
            return
        self._order(source_id, AskMerge(target.region))

    def change_peer(self, region_id: int, *, add: int = 0, remove: int = 0) -> None:
        """Orders a replica to be added or removed."""
        self._order(region_id, AskChangePeer(add, remove))

    def flashback(self, region_id: int, *, begins: bool) -> None:
        """Orders a flashback of a region to begin, or to end."""
        self._order(region_id, AskFlashback(begins))

    def campaign(self, region_id: int, store: int) -> None:
        """Lets a replica stand for election."""
        peer = self._cluster.peers_of(region_id).get(store)
        if peer is not None:
            self._cluster.stores[store].ctx.router.deliver(peer, Campaign())

    def crash_store(self, store_id: int) -> None:
        """Kills a store's process."""
        store = self._cluster.stores[store_id]
        if not store.up:
            return
        self._cluster.create_all_replicas()
        self._cluster.probe.store_crashed(store_id)
        store.crash()
        for listener in self._cluster.listeners.values():
            listener.store_crashed(store_id)
        for other in self._cluster.stores.values():
            if other is not store and not self._link(other.store_id, store_id).cut:
                self._leader_unreachable(other, store_id)

    def restart_store(self, store_id: int) -> None:
        """Starts a store's process again."""
        store = self._cluster.stores[store_id]
        if store.up:
            return
        store.restart()
        store.scheduler.lock_paths.process_started()
        self._cluster.apply_cluster_version()
        for listener in self._cluster.listeners.values():
            listener.store_started(store_id)

    def partition(self, groups: Sequence[Iterable[str]]) -> None:
        """Cuts every link between nodes of different groups; who is in no group keeps its links."""
        self._cluster.create_all_replicas()
        for src, dst in self._apart(groups):
            self._cut(src, dst)

    def isolate(self, names: Iterable[str]) -> None:
        """Cuts these nodes off from all others."""
        self.partition(self.isolation(names))

    def isolation(self, names: Iterable[str]) -> list[list[str]]:
        """Returns the groups of a partition that cuts these nodes off from all others."""
        inside = list(names)
        return [inside, [name for name in self._everyone() if name not in inside]]

    def heal(self, still: Iterable[Sequence[Iterable[str]]] = ()) -> None:
        """Mends every link, but for those that the partitions that are ``still`` there cut."""
        kept = {ends for groups in still for ends in self._apart(groups)}
        links = self._cluster.network.links().items()
        healed = [ends for ends, link in links if link.cut and ends not in kept]
        for key in healed:
            self._cluster.network.links()[key].cut = False
        for src, dst in healed:
            if src.startswith("tidb-") and dst.startswith("store-"):
                self._listener(src).link_healed(_store_id(dst))

    def slow_disk(self, store_id: int, factor: float) -> None:
        """Makes every latency of a store's disks ``factor`` times what it would be; 1: as usual."""
        store = self._cluster.stores[store_id]
        machine = store.machine
        machine.raft_disk.slowdown = machine.kv_disk.slowdown = factor

    def stress_cpu(self, store_id: int, workers: int) -> None:
        """Keeps as many hardware threads of a store busy with something else; 0: none."""
        self._cluster.stores[store_id].machine.cores.stressed = workers

    def fill_disk(self, store_id: int, usage: DiskUsage = DiskUsage.ALREADY_FULL) -> None:
        """Lets a store's disk be almost or already full; it says so with every raft message."""
        store = self._cluster.stores[store_id]
        store.ctx.disk_usage = store.ctx.transport.disk_usage = usage
        for peer in store.peers.values():
            store.raftstore.proposals.refresh(peer)

    def free_disk(self, store_id: int) -> None:
        """Lets a store's disk have room again."""
        store = self._cluster.stores[store_id]
        if store.ctx.disk_usage is not DiskUsage.NORMAL:
            self.fill_disk(store_id, DiskUsage.NORMAL)

    def upgrade_store(self, store_id: int, version: str) -> None:
        """Lets a store run another version from now on; restart it first, as one would.

        PD refuses a store that is older than the cluster until an operator has lowered the
        cluster's version: that has been done.
        """
        number = parse_version(version)
        store = self._cluster.stores[store_id]
        store.ctx.version = number
        store.scheduler.lock_paths.process_started()
        self._cluster.pd.store_versions[store_id] = number
        self._cluster.apply_cluster_version()

    def set_config(self, key: str, value: object, *, store: int | None = None) -> None:
        """Changes a store's configuration online, or every store's.

        Raises:
            KeyError: if the key cannot be changed online.
        """
        if key not in ONLINE_KEYS:
            raise KeyError(key)
        stores = self._cluster.stores
        for each in [stores[store]] if store is not None else stores.values():
            _set_online(each, key, value)

    def _order(self, region_id: int, mail: object) -> None:
        leader = self._cluster.leader_of(region_id)
        if leader is not None:
            self._cluster.stores[leader.store].ctx.router.deliver(leader, mail)

    def _everyone(self) -> list[str]:
        nodes = [tidb_name(node) for node in self._cluster.listeners]
        return [*map(store_name, self._cluster.stores), *nodes, PD_NAME]

    def _apart(self, groups: Sequence[Iterable[str]]) -> list[tuple[str, str]]:
        """Returns the senders and receivers of which no two are in one group."""
        group_of = {name: number for number, names in enumerate(groups) for name in names}
        names = [name for name in self._everyone() if name in group_of]
        return [(src, dst) for src in names for dst in names if group_of[src] != group_of[dst]]

    def _link(self, src: int, dst: int) -> Link:
        return self._cluster.network.link(store_name(src), store_name(dst))

    def _cut(self, src: str, dst: str) -> None:
        if not (src.startswith("tidb-") and dst.startswith("tidb-")) and PD_NAME not in {src, dst}:
            link = self._cluster.network.link(src, dst)
            was_cut, link.cut = link.cut, True
            if not was_cut and src.startswith("tidb-"):
                self._listener(src).link_cut(_store_id(dst))
            elif not was_cut and dst.startswith("store-"):
                env = self._cluster.env
                env.at(env.now_ns + KEEPALIVE_NS, self._notice, (src, dst))
        elif PD_NAME in {src, dst} and src != PD_NAME:
            self._cluster.network.link(src, dst).cut = True

    def _notice(self, between: tuple[str, str]) -> None:
        """A store finds out that it cannot reach another."""
        src, dst = between
        if self._cluster.network.link(src, dst).cut:
            self._leader_unreachable(self._cluster.stores[_store_id(src)], _store_id(dst))

    def _listener(self, node: str) -> ConnectionListener:
        return self._cluster.listeners[int(node.removeprefix("tidb-"))]

    @staticmethod
    def _leader_unreachable(store: Store, of: int) -> None:
        """Wakes the replicas whose leader can no longer be reached."""
        for peer in store.peers.values():
            if peer.raft.leader == of:
                store.ctx.ticks.wake_up(peer)


def _store_id(node: str) -> int:
    return int(node.removeprefix("store-"))


def _may_merge(source: Peer, target: Peer) -> bool:
    left, right = sorted([source.region, target.region], key=lambda region: region.start_key)
    adjacent = left.end_key == right.start_key and left.end_key
    same_stores = sorted(left.stores) == sorted(right.stores)
    return bool(adjacent) and same_stores and not (_is_pending(source) or _is_pending(target))


def _is_pending(leader: Peer) -> bool:
    """Returns whether some replica waits for a snapshot, or has not been heard of by its leader.

    A target's newcomer would begin behind the merge, with a snapshot of both ranges, beside its
    store's replica of the source, which nobody takes over any more and whose locks stay for ever.

    Source: tikv/tikv components/raftstore/src/store/peer.rs (collect_pending_peers).
    """
    raft = leader.raft
    return any(held < max(1, raft.log.first_index - 1) for held in raft.matched.values())


def _set_online(store: Store, key: str, value: object) -> None:
    paths, ctx = store.scheduler.lock_paths, store.ctx
    if key == PIPELINED:
        paths.switch_pipelined(on=bool(value))
    elif key == IN_MEMORY:
        paths.switch_in_memory(on=bool(value))
    elif key == INSTANCE_LIMIT:
        ctx.instance.limit_bytes = int(value)  # type: ignore[call-overload]
    else:
        ctx.peer_limit_bytes = int(value)  # type: ignore[call-overload]
        for peer in store.peers.values():
            peer.locks.limit_bytes = ctx.peer_limit_bytes
