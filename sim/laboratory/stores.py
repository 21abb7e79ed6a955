"""What the laboratory reads in a cluster's stores. That changes nothing and takes no time."""

from collections.abc import Callable, Iterator

from sim.engine import LeanEnv
from sim.laboratory.answers import show_lock, show_write
from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.values import show_key, show_timestamp
from sim.protocol.ablations import Ablations
from sim.protocol.mvcc import LOCK_ONLY, PUT, Lock, Write
from sim.protocol.percolator import visible_version
from sim.protocol.region import Region, RegionMap
from sim.protocol.region_errors import KeyNotInRegion
from sim.raftstore.peer import Peer
from sim.record.recorder import Recorder
from sim.scenario import Scenario
from sim.server.cluster import Cluster
from sim.storage.request import KvRequest
from sim.streams import Streams
from sim.transport.nodes import store_name

Execute = Callable[[KvRequest, Peer, int, Ablations], object]


def make_cluster(
    env: LeanEnv, scenario: Scenario, regions: RegionMap, streams: Streams, recorder: Recorder
) -> Cluster:
    """Returns a cluster whose replicas all exist, whose rows are kept and whose keys are checked.

    Nothing is collected as garbage: a script may read at any timestamp.
    """
    cluster = Cluster(env, scenario, regions, streams, recorder)
    cluster.tso.running[0] = 0
    cluster.replicas.keep_rows = True
    for store in cluster.stores.values():
        store.scheduler.execute_command = _checked(store.scheduler.execute_command)
    cluster.create_all_replicas()
    return cluster


def _checked(execute: Execute) -> Execute:
    def execute_checked(
        request: KvRequest, peer: Peer, max_ts: int, ablations: Ablations
    ) -> object:
        return key_outside(request) or execute(request, peer, max_ts, ablations)

    return execute_checked


def key_outside(request: KvRequest) -> KeyNotInRegion | None:
    """Returns an error if the region that a request was sent to does not hold one of its keys.

    The model's clients cut their requests by region, so its stores do not look; a script may send
    any key anywhere.

    Source: tikv/tikv components/raftstore/src/store/region_snapshot.rs (check_key_in_range).
    """
    keys = request.keys or tuple(mutation.key for mutation in request.mutations)
    outside = next((key for key in keys if not request.region.contains(key)), None)
    return None if outside is None else KeyNotInRegion(outside, request.region)


def advance_tso(cluster: Cluster, ts: int) -> None:
    """Lets PD hand out nothing as old as ``ts``."""
    cluster.tso._last = max(cluster.tso._last, ts)


def replicas(cluster: Cluster, region_id: int = 0, store: int = 0) -> list[Peer]:
    """Returns the replicas of a region, on a store, in that order; 0: of all."""
    found = (
        peer
        for peer in cluster.peers()
        if region_id in {0, peer.region.region_id} and store in {0, peer.store}
    )
    return sorted(found, key=lambda peer: (peer.region.region_id, peer.store))


def replica_on(cluster: Cluster, store: int, region_id: int) -> Peer | None:
    """Returns a store's replica of a region, None if it has none."""
    return cluster.stores[store].peers.get(region_id)


def checked_store(cluster: Cluster, store: int) -> int:
    """Returns ``store``.

    Raises:
        ScriptProblem: if there is no such store.
    """
    if store not in cluster.stores:
        raise ScriptProblem(f"no store {store}; there are stores 1 to {len(cluster.stores)}")
    return store


def leaders(cluster: Cluster) -> dict[int, Peer]:
    """Returns who leads each region, by its id; of two who believe it, the later term's."""
    found: dict[int, Peer] = {}
    for peer in replicas(cluster):
        other = found.get(peer.region.region_id)
        if peer.is_leader and (other is None or other.raft.term < peer.raft.term):
            found[peer.region.region_id] = peer
    return found


def leader_of_key(cluster: Cluster, key: bytes) -> Peer | None:
    """Returns who leads the region of ``key``, None if no replica does."""
    holding = [peer for peer in leaders(cluster).values() if peer.region.contains(key)]
    return max(holding, key=lambda peer: peer.region.epoch.version, default=None)


def is_idle(peer: Peer) -> bool:
    """Returns whether a leader is not changing its region already."""
    return not (peer.proposed_admin or peer.merge or peer.state.merging)


def is_at_rest(cluster: Cluster) -> bool:
    """Returns whether no region is changing, standing for election, or held up."""
    known = leaders(cluster)
    return (
        all_applied(cluster)
        and not cluster.failpoints.is_stopping
        and all(
            peer.region.region_id in known and is_idle(peer) and peer.raft.lead_transferee == 0
            for peer in replicas(cluster)
        )
    )


def cut_off(cluster: Cluster, region_id: int, to_store: int = 0) -> str:
    """Returns why an order does not reach a region's leader, or does not get on from there."""
    leader = leaders(cluster).get(region_id)
    if leader is None:
        return ""
    here = leader.store
    if cluster.stores[here].ctx.pd.is_cut:
        return f"PD cannot reach store {here}"
    links = cluster.network
    if (
        to_store
        and to_store != here
        and (
            links.link(store_name(here), store_name(to_store)).cut
            or links.link(store_name(to_store), store_name(here)).cut
        )
    ):
        return f"store {here} cannot reach store {to_store}"
    return ""


def all_applied(cluster: Cluster) -> bool:
    """Returns whether all replicas have applied everything in their leaders' logs."""
    return all(
        peer.state.applied >= leader.raft.log.last_index
        for region_id, leader in leaders(cluster).items()
        for peer in replicas(cluster, region_id)
    )


def value_line(request: KvRequest, key: bytes) -> str:
    """Returns what the replica that served a read shows at the read's timestamp.

    The model's reads say only which lock is in the way; the version below is looked up here. It
    cannot have changed since: a later commit at an earlier timestamp would have been in the way.
    """
    assert request.peer is not None, "a read that was served was served by a replica"
    mvcc = request.peer.state.mvcc
    lock = mvcc.locks.get(key)
    seen: Lock | Write | None = visible_version(mvcc, key, request.start_ts)
    if lock is not None and lock.start_ts in request.access and lock.kind != LOCK_ONLY:
        seen = lock if lock.kind == PUT else None
    return f"{show_key(key)} not found" if seen is None else f"{show_key(key)} = {seen.value}"


def value_lines(request: KvRequest, first: bytes, last: bytes) -> list[str]:
    """Returns the rows that a range read found."""
    assert request.peer is not None, "a read that was served was served by a replica"
    mvcc = request.peer.state.mvcc
    keys = sorted(key for key in {*mvcc.writes, *mvcc.locks} if first <= key <= last)
    return [line for key in keys if "not found" not in (line := value_line(request, key))]


def locks_in(peer: Peer) -> Iterator[tuple[bytes, bool, str]]:
    """Yields each lock that a replica has: key, whether it is in the lock CF, text."""
    for key, lock in peer.locks.map.items():
        deleted = " deleted" if peer.locks.is_deleted(key) else ""
        yield key, False, show_lock(lock) + deleted
    for key, lock in peer.state.mvcc.locks.items():
        yield key, True, show_lock(lock)


def version_lines(peer: Peer, key: bytes) -> Iterator[str]:
    """Yields the versions of a key, newest first."""
    write = peer.state.mvcc.writes.get(key)
    if write is None:
        yield f"{show_key(key)}: nothing"
    while write is not None:
        yield f"{show_key(key)}: {show_write(write)}"
        write = write.prev


def table_line(peer: Peer) -> str:
    """Returns the state of a replica's lock table."""
    table = peer.locks
    deleted = sum(table.is_deleted(key) for key in table.map)
    count = f"{len(table.map)} lock{'' if len(table.map) == 1 else 's'}"
    count += f" ({deleted} deleted)" if deleted else ""
    return (
        f"region {peer.region.region_id} store {peer.store}: {table.status.value} "
        f"term {table.term} version {table.version}, {count}, {table.memory_size} B"
    )


def log_line(peer: Peer) -> str:
    """Returns the Raft state of a replica."""
    raft = peer.raft
    return (
        f"region {peer.region.region_id} store {peer.store}: {raft.role.name.lower()} "
        f"term {raft.term} last {raft.log.last_index} persisted {raft.log.persisted} "
        f"committed {raft.log.committed} applied {peer.state.applied}"
    )


def knows_better(peer: Peer, other: Peer | None) -> bool:
    """Returns whether of two replicas of a region the first knows the newer state of it."""

    def rank(of: Peer) -> tuple[bool, int, tuple[int, int]]:
        return of.is_leader, of.raft.term, of.region.epoch

    return other is None or rank(peer) > rank(other)


def region_line(peer: Peer) -> str:
    """Returns a region as a replica knows it, with the term if that one leads."""
    if peer.is_leader:
        return f"{show_region(peer.region, peer.store)} term {peer.raft.term}"
    return show_region(peer.region, 0)


def follower_line(peer: Peer) -> str:
    """Returns a region as a replica knows it, with the leader that it has heard from."""
    return region_line(peer) if peer.is_leader else show_region(peer.region, peer.raft.leader)


def show_region(region: Region, leader: int) -> str:
    """Returns a region and its leader, 0: none."""
    start = show_key(region.start_key) if region.start_key else "-inf"
    end = show_key(region.end_key) if region.end_key else "+inf"
    epoch = f"{region.epoch.conf_ver}:{region.epoch.version}"
    stores = ",".join(map(str, sorted(region.stores)))
    return (
        f"region {region.region_id} [{start}, {end}) epoch {epoch} "
        f"stores {stores} leader {leader or 'none'}"
    )


def leader_line(cluster: Cluster, region_id: int) -> str:
    """Returns who leads a region."""
    peer = leaders(cluster).get(region_id)
    if peer is None:
        return f"region {region_id} has no leader"
    return f"region {region_id} leader {peer.store} term {peer.raft.term}"


def waiter_lines(cluster: Cluster, only: int) -> Iterator[str]:
    """Yields who waits for which key on a store, or on each, in the order of waking."""
    for number, store in sorted(cluster.stores.items()):
        if only in {0, number}:
            queues = store.scheduler.waits.queues
            for key in queues.awaited_keys():
                waiting = (show_timestamp(entry.start_ts) for entry in queues.waiters(key))
                yield f"store {number} {show_key(key)}: {' '.join(waiting)}"
