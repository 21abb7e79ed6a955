"""Commands that look: locks, tables, versions, regions, logs, waiters, counters.

Law: looking changes nothing and takes no time. Lines are ordered by key, region and store, so the
same state is always the same text.
"""

from __future__ import annotations

from collections.abc import Iterator

from sim.laboratory.answers import show_lock, show_write
from sim.laboratory.laboratory import Laboratory
from sim.laboratory.problems import ScriptProblem
from sim.laboratory.routing import leaders, peers, region_of_key
from sim.laboratory.values import key_of, show_key, show_timestamp
from sim.laboratory.words import Words, suggestion
from sim.protocol.marks import MARKS
from sim.protocol.records import Write
from sim.protocol.region import Region
from sim.raftstore.peer import Peer


def _chosen(lab: Laboratory, words: Words) -> list[Peer]:
    """Returns the replicas that ``region=`` and ``store=`` name, all without them."""
    region_id, store = words.number("region"), words.number("store")
    return [
        peer
        for peer in peers(lab.cluster)
        if region_id in {0, peer.region.region_id} and store in {0, peer.store}
    ]


def locks(lab: Laboratory, words: Words) -> str:
    """Shows the locks of each key, in memory and in the lock CF, and on which stores they are."""
    chosen = _chosen(lab, words)
    only = {key_of(word) for word in words.rest()}
    words.done()
    found: dict[tuple[bytes, int, str], list[int]] = {}
    for peer in chosen:
        for key, place, text in _locks_of(peer):
            if not only or key in only:
                found.setdefault((key, place, text), []).append(peer.store)
    lines = [
        f"{show_key(key)} {'cf' if place else 'memory'}@{_stores(stores)}: {text}"
        for (key, place, text), stores in sorted(found.items())
    ]
    return "\n".join(lines) or "no locks"


def _locks_of(peer: Peer) -> Iterator[tuple[bytes, int, str]]:
    for key, lock in peer.locks.map.items():
        deleted = " deleted" if peer.locks.is_deleted(key) else ""
        yield key, 0, show_lock(lock) + deleted
    for key, lock in peer.state.mvcc.locks.items():
        yield key, 1, show_lock(lock)


def _stores(stores: list[int]) -> str:
    return ",".join(map(str, sorted(stores)))


def tables(lab: Laboratory, words: Words) -> str:
    """Shows the lock table of each replica: status, term, version, locks and bytes."""
    only_leaders = words.flag("leaders")
    chosen = _chosen(lab, words)
    words.done()
    lines = [_table(peer) for peer in chosen if peer.is_leader or not only_leaders]
    return "\n".join(lines) or "nothing"


def _table(peer: Peer) -> str:
    table = peer.locks
    deleted = sum(table.is_deleted(key) for key in table.map)
    count = f"{len(table.map)} lock{'' if len(table.map) == 1 else 's'}"
    count += f" ({deleted} deleted)" if deleted else ""
    return (
        f"region {peer.region.region_id} store {peer.store}: {table.status.value} "
        f"term {table.term} version {table.version}, {count}, {table.memory_size} B"
    )


def memory(lab: Laboratory, words: Words) -> str:
    """Shows the bytes of all lock tables of each store, and the limit."""
    words.done()
    return "\n".join(
        f"store {number}: {store.instance.used_bytes} B of {store.instance.limit_bytes} B"
        for number, store in sorted(lab.cluster.stores.items())
    )


def writes(lab: Laboratory, words: Words) -> str:
    """Shows the versions of keys, newest first, as the leader or one store has them."""
    store = words.number("store")
    keys = words.keys()
    words.done()
    return "\n".join(line for key in keys for line in _versions(lab, key, store))


def _versions(lab: Laboratory, key: bytes, store: int) -> Iterator[str]:
    peer = region_of_key(lab, key)
    if store or peer is None:
        here = [p for p in peers(lab.cluster) if p.region.contains(key) and store in {0, p.store}]
        if not here:
            raise ScriptProblem(f"store {store} has no replica of {show_key(key)}'s region")
        peer = here[0]
    write: Write | None = peer.state.mvcc.writes.get(key)
    if write is None:
        yield f"{show_key(key)}: nothing"
    while write is not None:
        yield f"{show_key(key)}: {show_write(write)}"
        write = write.prev


def regions(lab: Laboratory, words: Words) -> str:
    """Shows the regions, as their leaders know them, or as PD does."""
    if words.flag("pd"):
        words.done()
        return "\n".join(_show_region(region, leader) for region, leader in lab.routes.routes)
    of_one_store = words.has("store")
    chosen = _chosen(lab, words)
    words.done()
    known: dict[int, Peer] = {}
    for peer in chosen:
        other = known.get(peer.region.region_id)
        if other is None or _rank(peer) > _rank(other):
            known[peer.region.region_id] = peer
    ordered = sorted(known.values(), key=lambda peer: peer.region.start_key)
    line = _followers_line if of_one_store else region_line
    return "\n".join(line(peer) for peer in ordered)


def _rank(peer: Peer) -> tuple[bool, int, tuple[int, int]]:
    return peer.is_leader, peer.raft.term, peer.region.epoch


def region_line(peer: Peer) -> str:
    """Returns a region as one of its replicas knows it."""
    term = f" term {peer.raft.term}" if peer.is_leader else ""
    return _show_region(peer.region, peer.store if peer.is_leader else 0) + term


def _followers_line(peer: Peer) -> str:
    """Returns a region as one replica knows it, with the leader that it hears from."""
    return region_line(peer) if peer.is_leader else _show_region(peer.region, peer.raft.leader)


def _show_region(region: Region, leader: int) -> str:
    start = show_key(region.start_key) if region.start_key else "-inf"
    end = show_key(region.end_key) if region.end_key else "+inf"
    epoch = f"{region.epoch.conf_ver}:{region.epoch.version}"
    return (
        f"region {region.region_id} [{start}, {end}) epoch {epoch} "
        f"stores {_stores(list(region.stores))} leader {leader or 'none'}"
    )


def leader(lab: Laboratory, words: Words) -> str:
    """Shows who leads a region."""
    region_id = words.number_at("region", "the region")
    words.done()
    if not any(peer.region.region_id == region_id for peer in peers(lab.cluster)):
        raise ScriptProblem(f"no region {region_id}; regions shows those that there are")
    return leader_line(lab, region_id)


def leader_line(lab: Laboratory, region_id: int) -> str:
    """Returns who leads a region."""
    peer = leaders(lab.cluster).get(region_id)
    if peer is None:
        return f"region {region_id} has no leader"
    return f"region {region_id} leader {peer.store} term {peer.raft.term}"


def log(lab: Laboratory, words: Words) -> str:
    """Shows the raft state of each replica."""
    chosen = _chosen(lab, words)
    words.done()
    return "\n".join(_log_line(peer) for peer in chosen) or "nothing"


def _log_line(peer: Peer) -> str:
    raft = peer.raft
    return (
        f"region {peer.region.region_id} store {peer.store}: {raft.role.name.lower()} "
        f"term {raft.term} last {raft.log.last_index} persisted {raft.log.persisted} "
        f"committed {raft.log.committed} applied {peer.state.applied}"
    )


def waiters(lab: Laboratory, words: Words) -> str:
    """Shows who waits for which key, in the order in which they will be woken."""
    only = words.number("store")
    words.done()
    lines = []
    for number, store in sorted(lab.cluster.stores.items()):
        if only in {0, number}:
            queues = store.scheduler.waits.queues
            lines += [
                f"store {number} {show_key(key)}: "
                + " ".join(show_timestamp(entry.start_ts) for entry in queues.waiters(key))
                for key in queues.awaited_keys()
            ]
    return "\n".join(lines) or "nobody waits"


def counters(lab: Laboratory, words: Words) -> str:
    """Shows the counters that are not zero, all or those whose names begin with a word."""
    wanted = tuple(words.rest()) or ("",)
    words.done()
    _ = lab.cluster
    found = lab.recorder.counters()
    lines = [
        f"{counter.metric}[{counter.class_}] = {counter.value}"
        for counter in found
        if counter.value and counter.metric.startswith(wanted)
    ]
    if not lines and wanted != ("",):
        names = sorted({counter.metric for counter in found})
        known = [name for name in names if name.startswith(wanted)]
        if not known:
            raise ScriptProblem(
                f"no counter {wanted[0]}; {suggestion(wanted[0], names, 'counters')}"
            )
    return "\n".join(lines) or "all zero"


def marks(lab: Laboratory, words: Words) -> str:
    """Shows which branches of lock migration and fallback were taken, and how often."""
    wanted = tuple(words.rest()) or ("",)
    words.done()
    unknown = next((each for each in wanted if not any(m.startswith(each) for m in MARKS)), None)
    if unknown is not None:
        raise ScriptProblem(f"no mark {unknown}; {suggestion(unknown, list(MARKS), 'marks')}")
    taken = lab.watcher.marks
    lines = [f"{name}: {taken[name]}" for name in sorted(taken) if name.startswith(wanted)]
    return "\n".join(lines) or "none"


def dropped(lab: Laboratory, words: Words) -> str:
    """Shows the locks that tables have lost with their leaders, and why."""
    words.done()
    lines = [
        f"{show_key(key)} start_ts={show_timestamp(start_ts)}{deleted}: {cause}, store {store}"
        for key, start_ts, cause, store, deleted in lab.watcher.dropped
    ]
    return "\n".join(lines) or "none"


def max_ts(lab: Laboratory, words: Words) -> str:
    """Shows the largest timestamp that each store has served a read at."""
    only = words.number("store")
    words.done()
    return "\n".join(
        f"store {number}: max_ts {show_timestamp(store.scheduler.max_ts)}"
        for number, store in sorted(lab.cluster.stores.items())
        if only in {0, number}
    )
