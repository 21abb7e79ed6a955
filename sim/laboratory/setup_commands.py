"""Commands that set the scene: a cluster, its regions, remembered routes, locks put in by hand."""

from typing import Final

from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.laboratory import Command, Laboratory
from sim.laboratory.routing import route_to
from sim.laboratory.setup import (
    FAST_TICKS,
    ClusterSetup,
    make_route,
    region_map,
    scenario_of,
    tikv_keys,
)
from sim.laboratory.stores import replica_on
from sim.laboratory.values import key_of, key_range
from sim.laboratory.words import Words, whole_number
from sim.protocol.records import PESSIMISTIC, Lock
from sim.protocol.region import Route
from sim.raftstore.peer import Peer
from sim.units import NS_PER_MS


def cluster(lab: Laboratory, words: Words) -> None:
    """Begins with a new cluster; everything before is forgotten."""
    setup = ClusterSetup(
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
        setup.tikv.update(tikv_keys(FAST_TICKS))
    ablations = words.text("ablate", "ablations", "")
    if ablations:
        setup.tikv["ablations"] = ablations.split(",")
    setup.tikv.update(tikv_keys(words.other_options()))
    scenario_of(setup)
    if setup.split or setup.leaders:
        region_map(setup)
    lab.begin_with(setup)


def region(lab: Laboratory, words: Words) -> None:
    """Adds a region to a cluster that nothing has been done to yet."""
    if lab.is_built:
        raise ScriptProblem("regions come directly after cluster; split-region makes more later")
    region_id = whole_number("region", words.next("the region's id"))
    bounds = words.peek()
    start, end = key_range(words.next("its range")) if bounds.startswith("[") else (b"", b"")
    start = key_of(words.text("start", start.decode("latin-1")))
    end = key_of(words.text("end", end.decode("latin-1")))
    stores = words.numbers("stores")
    leader = words.number("leader", stores[0] if stores else 1)
    conf_ver, _, version = words.text("epoch", "1:1").partition(":")
    epoch = (whole_number("conf_ver", conf_ver), whole_number("version", version))
    lab.setup.regions.append(
        make_route(lab.setup, region_id, (start, end), leader=leader, stores=stores, epoch=epoch)
    )


def context(lab: Laboratory, words: Words) -> None:
    """Remembers a region and its leader as they are now, for requests sent later."""
    name = words.next("the context's name")
    key = words.next_or("")
    keys = [key_of(key)] if key else []
    if not keys and not words.has("region"):
        raise ScriptProblem(f"which region? write context {name} region=1, or context {name} k1")
    route = route_to(lab, words, keys)
    lab.contexts[name] = route


def insert_in_memory(lab: Laboratory, words: Words) -> str | None:
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
    peer = _peer_at(lab, route)
    first = primary[0] if primary else (txn.primary if txn and txn.primary else keys[0])
    if txn is not None:
        txn.primary = txn.primary or first
        txn.keys.update(dict.fromkeys(keys))
    locks = []
    for key in keys:
        sizes = peer.state.mvcc.lock_format.pessimistic(len(key), len(first))
        lock = Lock(PESSIMISTIC, first, start_ts, ttl_ms, for_update_ts, least_ts, sizes)
        locks.append((key, lock))
    return None if peer.locks.insert(locks) else "full"


def lose(lab: Laboratory, words: Words) -> None:
    """Takes locks out of a leader's table, as if they had been lost with a leader."""
    keys = words.keys()
    route = route_to(lab, words, keys)
    _peer_at(lab, route).locks.remove(keys)


def _peer_at(lab: Laboratory, route: Route) -> Peer:
    region_id, store = route.region.region_id, route.leader_store
    peer = replica_on(lab.cluster, store, region_id)
    if peer is None:
        raise ScriptProblem(f"store {store} has no replica of region {region_id}")
    return peer


COMMANDS: Final = (
    Command(
        "cluster [stores=3] [replicas=N] [split=KEY,…] [leaders=STORE,…] [behaviour=v8.5] "
        "[ticks=fast] [ablate=NAME,…] [versions=6.0.0,…] [TIKV.KEY=VALUE]…",
        cluster,
    ),
    Command(
        "region ID [START, END) [leader=STORE] [stores=STORE,…] [epoch=CONF_VER:VERSION]", region
    ),
    Command("context NAME region=REGION | context NAME KEY", context),
    Command(
        "mem KEY… [txn=TXN] [start_ts=10] [for_update_ts=20] [ttl=3000] [min_commit_ts=30] "
        "[primary=KEY]",
        insert_in_memory,
    ),
    Command("lose KEY…", lose),
)
