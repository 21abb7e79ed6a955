"""Commands that look: locks, tables, versions, regions, logs, waiters, counters.

Looking changes nothing and takes no time. Lines are ordered by key, region and store, so the same
state is always the same text.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from sim.fact_names import COUNTERS
from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.laboratory import Command, Laboratory
from sim.laboratory.stores import (
    follower_line,
    knows_better,
    leader_line,
    leader_of_key,
    locks_in,
    log_line,
    region_line,
    replicas,
    show_region,
    table_line,
    version_lines,
    waiter_lines,
)
from sim.laboratory.values import key_of, show_key, show_timestamp
from sim.laboratory.words import Words
from sim.protocol.marks import MARKS
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster


def _chosen(lab: Laboratory, words: Words) -> list[Peer]:
    """Returns the replicas that ``region=`` and ``store=`` name, all without them."""
    return replicas(lab.cluster, words.number("region"), words.number("store"))


def locks(lab: Laboratory, words: Words) -> str:
    """Shows the locks of each key, in memory and in the lock CF, and on which stores they are."""
    chosen = _chosen(lab, words)
    only = {key_of(word) for word in words.rest()}
    found: dict[tuple[bytes, bool, str], list[int]] = {}
    for peer in chosen:
        for key, in_lock_cf, text in locks_in(peer):
            if not only or key in only:
                found.setdefault((key, in_lock_cf, text), []).append(peer.store)
    lines = [
        f"{show_key(key)} {'cf' if in_lock_cf else 'memory'}@"
        f"{','.join(map(str, sorted(stores)))}: {text}"
        for (key, in_lock_cf, text), stores in sorted(found.items())
    ]
    return "\n".join(lines) or "no locks"


def tables(lab: Laboratory, words: Words) -> str:
    """Shows the lock table of each replica: status, term, version, locks and bytes."""
    only_leaders = words.flag("leaders")
    chosen = _chosen(lab, words)
    lines = [table_line(peer) for peer in chosen if peer.is_leader or not only_leaders]
    return "\n".join(lines) or "nothing"


def memory(lab: Laboratory, _: Words) -> str:
    """Shows the bytes of all lock tables of each store, and the limit."""
    tables = {number: store.ctx.instance for number, store in lab.cluster.stores.items()}
    return "\n".join(
        f"store {number}: {table.used_bytes} B of {table.limit_bytes} B"
        for number, table in sorted(tables.items())
    )


def writes(lab: Laboratory, words: Words) -> str:
    """Shows the versions of keys, newest first, as the leader or one store has them."""
    store = words.number("store")
    keys = words.keys()
    return "\n".join(
        line for key in keys for line in version_lines(_replica_with(lab.cluster, key, store), key)
    )


def _replica_with(cluster: Cluster, key: bytes, store: int) -> Peer:
    leading = leader_of_key(cluster, key)
    if leading is not None and not store:
        return leading
    here = [peer for peer in replicas(cluster, store=store) if peer.region.contains(key)]
    if not here:
        raise ScriptProblem(f"store {store} has no replica of {show_key(key)}'s region")
    return here[0]


def regions(lab: Laboratory, words: Words) -> str:
    """Shows the regions, as their leaders know them, or as PD does."""
    if words.flag("pd"):
        routes = lab.cluster.pd.routes.routes
        return "\n".join(show_region(region, leader) for region, leader in routes)
    of_one_store = words.has("store")
    chosen = _chosen(lab, words)
    known: dict[int, Peer] = {}
    for peer in chosen:
        region_id = peer.region.region_id
        if knows_better(peer, known.get(region_id)):
            known[region_id] = peer
    ordered = sorted(known.values(), key=lambda peer: peer.region.start_key)
    return "\n".join(map(follower_line if of_one_store else region_line, ordered))


def leader(lab: Laboratory, words: Words) -> str:
    """Shows who leads a region."""
    region_id = words.number_at("region", "the region")
    if not replicas(lab.cluster, region_id):
        raise ScriptProblem(f"no region {region_id}; regions shows those that there are")
    return leader_line(lab.cluster, region_id)


def log(lab: Laboratory, words: Words) -> str:
    """Shows the raft state of each replica."""
    chosen = _chosen(lab, words)
    return "\n".join(map(log_line, chosen)) or "nothing"


def waiters(lab: Laboratory, words: Words) -> str:
    """Shows who waits for which key, in the order in which they will be woken."""
    only = words.number("store")
    return "\n".join(waiter_lines(lab.cluster, only)) or "nobody waits"


def counters(lab: Laboratory, words: Words) -> str:
    """Shows the counters that are not zero, all or those whose names begin with a word."""
    wanted = tuple(words.rest()) or ("",)
    found = lab.model.recorder.counters()
    lines = [
        f"{counter.metric}[{counter.class_}] = {counter.value}"
        for counter in found
        if counter.value and counter.metric.startswith(wanted)
    ]
    if lines:
        return "\n".join(lines)
    _refuse_misspelt(wanted, sorted(COUNTERS), "counter")
    return "all zero"


def _refuse_misspelt(wanted: Sequence[str], names: Sequence[str], what: str) -> None:
    """Refuses a prefix that no name has and that is nearly one; any other stands for nothing yet.

    Raises:
        ScriptProblem: as said.
    """
    for prefix in wanted:
        close = get_close_matches(prefix, names, n=1, cutoff=0.8)
        if close and not any(name.startswith(prefix) for name in names):
            raise ScriptProblem(f"no {what} {prefix}; did you mean {close[0]}?")


def marks(lab: Laboratory, words: Words) -> str:
    """Shows which branches of lock migration and fallback were taken, and how often."""
    wanted = tuple(words.rest()) or ("",)
    _refuse_misspelt(wanted, list(MARKS), "mark")
    taken = lab.model.watcher.marks
    lines = [f"{name}: {taken[name]}" for name in sorted(taken) if name.startswith(wanted)]
    return "\n".join(lines) or "none"


def violations(lab: Laboratory, _: Words) -> str:
    """Shows what the checkers have seen that must not be."""
    return "\n".join(lab.model.checkers.report.lines()) or "none"


def dropped(lab: Laboratory, _: Words) -> str:
    """Shows the locks that tables have lost with their leaders, and why."""
    lines = [
        f"{show_key(key)} start_ts={show_timestamp(lock.start_ts)}"
        f"{' deleted' if was_deleted else ''}: {cause}, store {peer.store}"
        for peer, (key, lock, was_deleted), cause in lab.model.watcher.dropped
    ]
    return "\n".join(lines) or "none"


def max_ts(lab: Laboratory, words: Words) -> str:
    """Shows the largest timestamp that each store has served a read at."""
    only = words.number("store")
    return "\n".join(
        f"store {number}: max_ts {show_timestamp(store.ctx.concurrency.max_ts)}"
        for number, store in sorted(lab.cluster.stores.items())
        if only in {0, number}
    )


COMMANDS: Final = (
    Command("locks [KEY…] [store=STORE] [region=REGION]", locks),
    Command("tables [leaders] [store=STORE] [region=REGION]", tables),
    Command("memory", memory),
    Command("writes KEY… [store=STORE]", writes),
    Command("regions [pd] [store=STORE] [region=REGION]", regions),
    Command("leader REGION", leader),
    Command("log [store=STORE] [region=REGION]", log),
    Command("waiters [store=STORE]", waiters),
    Command("counters [PREFIX…]", counters),
    Command("marks [PREFIX…]", marks),
    Command("dropped", dropped),
    Command("violations", violations),
    Command("max-ts [store=STORE]", max_ts),
)
