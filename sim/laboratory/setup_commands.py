"""Commands that make and change the surroundings: the cluster, its regions, time, waiting."""

from __future__ import annotations

from sim.laboratory.laboratory import Laboratory
from sim.laboratory.problems import ScriptProblem
from sim.laboratory.routing import route_to
from sim.laboratory.setup import (
    FAST_TICKS,
    ClusterWords,
    make_route,
    region_map,
    scenario_of,
    tikv_keys,
)
from sim.laboratory.values import duration_ns, key_of, key_range, show_duration
from sim.laboratory.words import Words, whole_number
from sim.protocol.records import PESSIMISTIC, Lock
from sim.protocol.region import Route
from sim.raftstore.peer import Peer
from sim.units import NS_PER_MS


def cluster(lab: Laboratory, words: Words) -> str:
    """Begins with a new cluster; everything before is forgotten."""
    said = ClusterWords(
        stores=words.number("stores", 3),
        replicas=words.number("replicas"),
        split=words.keys_option("split") or (),
        leaders=words.numbers("leaders"),
        versions=tuple(v for v in words.text("versions", "").split(",") if v),
    )
    ticks = words.text("ticks", "real")
    if ticks not in {"fast", "real"}:
        raise ScriptProblem(f"no ticks {ticks}; write ticks=fast, as TiKV's tests, or ticks=real")
    if ticks == "fast":
        said.tikv.update(tikv_keys(FAST_TICKS))
    ablations = words.text("ablate", "ablations", "")
    if ablations:
        said.tikv["ablations"] = ablations.split(",")
    said.tikv.update(tikv_keys(words.other_options()))
    words.done()
    scenario_of(said)
    if said.split or said.leaders:
        region_map(said)
    lab.restart(said)
    return ""


def region(lab: Laboratory, words: Words) -> str:
    """Adds a region to a cluster that nothing has been done to yet."""
    if lab.begun:
        raise ScriptProblem("regions come directly after cluster; split-region makes more later")
    region_id = whole_number("region", words.next("the region's id"))
    bounds = words.peek()
    start, end = key_range(words.next("its range")) if bounds.startswith("[") else (b"", b"")
    start = key_of(words.text("start", start.decode("latin-1")))
    end = key_of(words.text("end", end.decode("latin-1")))
    stores = words.numbers("stores")
    leader = words.number("leader", stores[0] if stores else 1)
    conf_ver, _, version = words.text("epoch", "1:1").partition(":")
    words.done()
    epoch = (whole_number("conf_ver", conf_ver), whole_number("version", version))
    lab.said.regions.append(
        make_route(lab.said, region_id, (start, end), leader=leader, stores=stores, epoch=epoch)
    )
    return ""


def context(lab: Laboratory, words: Words) -> str:
    """Remembers a region and its leader as they are now, for requests sent later."""
    name = words.next("the context's name")
    key = words.next_or("")
    keys = [key_of(key)] if key else []
    if not keys and not words.has("region"):
        raise ScriptProblem(f"which region? write context {name} region=1, or context {name} k1")
    route = route_to(lab, words, keys)
    words.done()
    lab.contexts[name] = route
    return ""


def insert_in_memory(lab: Laboratory, words: Words) -> str:
    """Puts locks straight into a leader's table, as TiKV's tests do."""
    name = words.text("txn", "")
    txn = lab.txn(name) if name else None
    start_ts = lab.time(words.text("start-ts", str(txn.start_ts) if txn else "10"))
    later = str(txn.for_update_ts) if txn else "20"
    for_update_ts = lab.time(words.text("for-update-ts", later))
    least_ts = lab.time(words.text("min-commit-ts", str(for_update_ts + 1) if txn else "30"))
    ttl_ms = words.duration_ns("ttl", "3000") // NS_PER_MS
    primary = words.keys_option("primary")
    keys = words.keys()
    route = route_to(lab, words, keys)
    words.done()
    peer = _peer_at(lab, route)
    first = primary[0] if primary else (txn.primary if txn and txn.primary else keys[0])
    locks = []
    for key in keys:
        sizes = peer.state.mvcc.lock_format.pessimistic(len(key), len(first))
        locks.append(
            (key, Lock(PESSIMISTIC, first, start_ts, ttl_ms, for_update_ts, least_ts, sizes))
        )
    if txn is not None:
        txn.primary = txn.primary or first
        txn.keys.update(dict.fromkeys(keys))
    return "" if peer.locks.insert(locks) else "full"


def lose(lab: Laboratory, words: Words) -> str:
    """Takes locks out of a leader's table, as if they had been lost with a leader."""
    keys = words.keys()
    route = route_to(lab, words, keys)
    words.done()
    _peer_at(lab, route).locks.remove(keys)
    return ""


def _peer_at(lab: Laboratory, route: Route) -> Peer:
    region_id, store = route.region.region_id, route.leader_store
    peer = lab.cluster.stores[store].peers.get(region_id)
    if peer is None:
        raise ScriptProblem(f"store {store} has no replica of region {region_id}")
    return peer


def advance(lab: Laboratory, words: Words) -> str:
    """Lets time pass: for a while, or until something has happened."""
    from sim.laboratory.conditions import condition

    if words.peek().lower() == "until":
        words.skip("until")
        patience_ns = words.duration_ns("within", "10s")
        happened = condition(lab, words)
        words.done()
        if lab.run_until(happened, patience_ns):
            return ""
        return f"not within {show_duration(patience_ns)}"
    text = words.text("by", "for", "") or words.next("a duration")
    words.done()
    lab.run_for(duration_ns(text))
    return ""


def wait(lab: Laboratory, words: Words) -> str:
    """Waits for commands that were put aside, and prints their answers."""
    patience_ns = words.duration_ns("within", "10s")
    names = words.rest()
    words.done()
    if not names or names == ["all"]:
        names = list(lab.jobs)
    lines = [f"{name}: {lab.wait(lab.job(name), patience_ns)}" for name in names]
    for name in names:
        if lab.jobs[name].done():
            del lab.jobs[name]
    return "\n".join(lines)


def requests(lab: Laboratory, words: Words) -> str:
    """Says what has become of the commands that were put aside, without waiting."""
    names = words.rest() or list(lab.jobs)
    words.done()
    lines = []
    for name in names:
        job = lab.job(name)
        lines.append(f"{name}: {job.text() if job.done() else 'waiting'}")
    return "\n".join(lines) or "none"


def time(lab: Laboratory, words: Words) -> str:
    """Prints the simulated time."""
    words.done()
    return show_duration(lab.cluster.env.now_ns)


def echo(lab: Laboratory, words: Words) -> str:
    """Prints its words."""
    del lab
    return " ".join(words.rest())
