"""Where a request goes: to who leads the keys' region now, unless the script says otherwise.

The laboratory looks into the stores to find the leader, so a request meets an old region or a wrong
store only if the script wants it to: ``store=``, ``region=``, ``epoch=``, ``context=``. A leader
that has just been elected would say StaleCommand; a client asks again, the laboratory waits first.
"""

from collections.abc import Sequence
from typing import Final

from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.laboratory import Laboratory, Txn
from sim.laboratory.stores import checked_store, leader_of_key, leaders, replica_on
from sim.laboratory.values import show_key
from sim.laboratory.words import Words, suggestion
from sim.protocol.region import Region, RegionEpoch, Route
from sim.storage.message_sizes import read_bytes
from sim.storage.request import Kind, KvRequest

_PATIENCE_NS: Final = 20_000_000
"""How long a request waits for a new leader's first commit; an append takes 2 ms."""


def new_request(
    lab: Laboratory, words: Words, kind: Kind, txn: Txn, keys: Sequence[bytes]
) -> KvRequest:
    """Returns a request on ``keys`` to where its command's words say."""
    route = route_to(lab, words, keys)
    _wait_for_first_commit(lab, route)
    request = lab.model.node.new_request(kind, route, txn.start_ts)
    request.keys = tuple(keys)
    request.request_bytes = read_bytes(keys)
    return request


def _wait_for_first_commit(lab: Laboratory, route: Route) -> None:
    """Lets a new leader commit its first entry, if it can."""
    peer = replica_on(lab.cluster, route.leader_store, route.region.region_id)
    if peer is not None:
        lab.run_until(lambda: not peer.is_leader or peer.raft.knows_commits, _PATIENCE_NS)


def route_to(lab: Laboratory, words: Words, keys: Sequence[bytes]) -> Route:
    """Returns where a request on ``keys`` goes, by the words of its command.

    Raises:
        ScriptProblem: if the keys lie in several regions and none is named.
    """
    context = words.text("context", "")
    if context:
        if context not in lab.contexts:
            hint = suggestion(context, list(lab.contexts), f"context {context} region=1")
            raise ScriptProblem(f"no context {context}; {hint}")
        region, store = lab.contexts[context]
    elif words.has("region"):
        region, store = _route_of_region(lab, words.number("region"))
    else:
        words.text("region", "")
        region, store = _route_of_keys(lab, keys)
    store = checked_store(lab.cluster, words.number("store", store))
    return Route(_with_epoch(region, words.text("epoch", "")), store)


def _route_of_region(lab: Laboratory, region_id: int) -> Route:
    leader = leaders(lab.cluster).get(region_id)
    if leader is not None:
        return Route(leader.region, leader.store)
    known = lab.cluster.pd.routes.by_id(region_id)
    if known is None:
        raise ScriptProblem(f"no region {region_id}; regions shows those that there are")
    return Route(known.region, known.leader_store or known.region.stores[0])


def _route_of_keys(lab: Laboratory, keys: Sequence[bytes]) -> Route:
    if not keys:
        raise ScriptProblem("no key says which region is meant; write region=1")
    leader = leader_of_key(lab.cluster, keys[0])
    if leader is None:
        region, store = lab.cluster.pd.routes.locate(keys[0])
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
        raise ScriptProblem(
            f"{text!r} is not an epoch; write epoch=CONF_VER:VERSION, as in epoch=1:2"
        )
    epoch = RegionEpoch(int(conf_ver), int(version))
    return Region(region.region_id, region.start_key, region.end_key, region.stores, epoch)
