"""Where a request goes: to who leads the keys' region now, unless the script says otherwise.

Law: the laboratory looks into the stores to find the leader, so a request meets an old region or a
wrong store only if the script wants it to: ``store=``, ``region=``, ``epoch=``, ``context=``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.laboratory.laboratory import Laboratory
from sim.laboratory.problems import ScriptProblem
from sim.laboratory.values import show_key
from sim.laboratory.words import Words, suggestion
from sim.protocol.region import Region, RegionEpoch, Route
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster


def peers(cluster: Cluster) -> Iterator[Peer]:
    """Yields every replica, by region and store."""
    found = [peer for store in cluster.stores.values() for peer in store.peers.values()]
    yield from sorted(found, key=lambda peer: (peer.region.region_id, peer.store))


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
    for peer in peers(cluster):
        other = found.get(peer.region.region_id)
        if peer.is_leader and (other is None or other.raft.term < peer.raft.term):
            found[peer.region.region_id] = peer
    return found


def region_of_key(lab: Laboratory, key: bytes) -> Peer | None:
    """Returns who leads the region of ``key``, None if nobody does."""
    holding = [peer for peer in leaders(lab.cluster).values() if peer.region.contains(key)]
    return max(holding, key=lambda peer: peer.region.epoch.version, default=None)


def route_to(lab: Laboratory, words: Words, keys: Sequence[bytes]) -> Route:
    """Returns where a request on ``keys`` goes, by the words of its command.

    Raises:
        ScriptProblem: if the keys lie in several regions and none is named.
    """
    context = words.text("context", "")
    if context:
        if context not in lab.contexts:
            known = list(lab.contexts)
            mend = suggestion(context, known, f"context {context} region=1")
            raise ScriptProblem(f"no context {context}; {mend}")
        region, store = lab.contexts[context]
    elif words.has("region"):
        region, store = _region_by_id(lab, words.number("region"))
    else:
        words.text("region", "")
        region, store = _route_of_keys(lab, keys)
    store = words.number("store", store)
    if store not in lab.cluster.stores:
        raise ScriptProblem(f"no store {store}; there are stores 1 to {len(lab.cluster.stores)}")
    return Route(_with_epoch(region, words.text("epoch", "")), store)


def _region_by_id(lab: Laboratory, region_id: int) -> Route:
    leader = leaders(lab.cluster).get(region_id)
    if leader is not None:
        return Route(leader.region, leader.store)
    known = lab.routes.by_id(region_id)
    if known is None:
        raise ScriptProblem(f"no region {region_id}; regions shows those that there are")
    return Route(known.region, known.leader_store or known.region.stores[0])


def _route_of_keys(lab: Laboratory, keys: Sequence[bytes]) -> Route:
    if not keys:
        raise ScriptProblem("no key says which region is meant; write region=1")
    leader = region_of_key(lab, keys[0])
    if leader is None:
        region, store = lab.routes.locate(keys[0])
        store = store or region.stores[0]
    else:
        region, store = leader.region, leader.store
    for key in keys:
        if not region.contains(key):
            raise ScriptProblem(
                f"{show_key(keys[0])} and {show_key(key)} lie in different regions; write a "
                f"command for each, or region={region.region_id} to send both there"
            )
    return Route(region, store)


def _with_epoch(region: Region, text: str) -> Region:
    if not text:
        return region
    conf_ver, colon, version = text.partition(":")
    if not (colon and conf_ver.isdecimal() and version.isdecimal()):
        raise ScriptProblem(f"{text!r} is no epoch; write epoch=CONF_VER:VERSION, as in epoch=1:2")
    epoch = RegionEpoch(int(conf_ver), int(version))
    return Region(region.region_id, region.start_key, region.end_key, region.stores, epoch)
