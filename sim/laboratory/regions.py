"""Commands that change regions: leaders, splits, merges, replicas.

PD answers such a command at once and the cluster carries it out in its own time. Without ``as`` the
script waits until it has happened; with it, the script goes on.

Source: tikv/pd server/schedule/operator; kvproto ``pdpb.proto`` (RegionHeartbeatResponse).
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.jobs import ClusterChange
from sim.laboratory.laboratory import Command, Laboratory
from sim.laboratory.stores import (
    checked_store,
    cut_off,
    is_idle,
    leader_line,
    leader_of_key,
    leaders,
    region_line,
    replica_on,
    replicas,
)
from sim.laboratory.values import key_of, show_key
from sim.laboratory.words import Words, whole_number
from sim.protocol.lock_table import LocksStatus
from sim.raftstore.peer import Peer
from sim.server.control import Control


def _region_id(lab: Laboratory, words: Words, option: str = "region") -> int:
    """Returns the region that comes next, after checking that there is one."""
    region_id = words.number_at(option, "the region")
    known = sorted({peer.region.region_id for peer in replicas(lab.cluster)})
    if region_id not in known:
        raise ScriptProblem(f"no region {region_id}; there are {', '.join(map(str, known))}")
    return region_id


def _store(lab: Laboratory, words: Words, before: str) -> int:
    """Returns the store that comes next; a word such as ``to`` may stand before it."""
    if words.has(before):
        return checked_store(lab.cluster, words.number(before))
    words.skip(before)
    return checked_store(lab.cluster, words.number_at("store", "the store"))


def _order(  # noqa: PLR0913 - an order and its end, named
    lab: Laboratory,
    words: Words,
    region_id: int,
    order: Callable[[], object],
    happened: Callable[[], bool],
    describe: Callable[[], str] | None = None,
    *,
    to_store: int = 0,
    repeats: bool = True,
) -> str:
    """Gives an order and waits until it is carried out, unless that is put aside.

    It is repeated until the region's leader has taken it up, unless ``repeats`` is false.
    """

    def repeat() -> None:
        leader = leaders(lab.cluster).get(region_id)
        if leader is not None and is_idle(leader):
            order()

    job = ClusterChange(
        happened,
        describe or (lambda: leader_line(lab.cluster, region_id)),
        repeat if repeats else None,
        lambda: cut_off(lab.cluster, region_id, to_store),
    )
    order()
    return lab.finish_within(job, words, "10s")


def change_leader(
    lab: Laboratory, words: Words, *, before: str, order: Callable[[Control, int, int], None]
) -> str:
    """Asks a leader to hand over to a store, or a store's replica to stand for election."""
    region_id = _region_id(lab, words)
    store = _store(lab, words, before)

    def happened() -> bool:
        leader = leaders(lab.cluster).get(region_id)
        return leader is not None and leader.store == store

    def give() -> None:
        order(lab.control, region_id, store)

    return _order(lab, words, region_id, give, happened, to_store=store, repeats=False)


def split_region(lab: Laboratory, words: Words) -> str:
    """Splits a region at a key; the right part keeps its id."""
    new_id = words.number("new")
    named = words.has("region")
    region_id = _region_id(lab, words) if named else 0
    at = words.text("at", "key", "")
    first = at or words.next("the key to split at")
    if not named and not at and words.peek():
        region_id = whole_number("the region", first)
        words.skip("at")
        first = words.next("the key to split at")
    key = key_of(first)
    leader = leader_of_key(lab.cluster, key)
    if leader is None:
        raise ScriptProblem(f"the region of {show_key(key)} has no leader now")
    if leader.region.start_key == key:
        raise ScriptProblem(f"{show_key(key)} begins {leader.region}; split behind its first key")
    here = leader.region.region_id
    if region_id not in {0, here}:
        raise ScriptProblem(
            f"{show_key(key)} lies in region {here}, not in {region_id}; write split-region "
            f"{show_key(key)}"
        )
    region_id = here
    return _order(
        lab,
        words,
        region_id,
        lambda: lab.control.split_region(region_id, key, new_region_id=new_id),
        lambda: all(side is not None for side in _sides(lab, key)),
        lambda: "\n".join(region_line(side) for side in _sides(lab, key) if side is not None),
    )


def _sides(lab: Laboratory, key: bytes) -> tuple[Peer | None, Peer | None]:
    """Returns who leads the regions that end and begin at ``key``."""
    known = leaders(lab.cluster).values()
    left = next((peer for peer in known if peer.region.end_key == key), None)
    right = next((peer for peer in known if peer.region.start_key == key), None)
    return left, right


def merge_region(lab: Laboratory, words: Words) -> str:
    """Merges a region into its neighbour."""
    source = _region_id(lab, words, "source")
    words.skip("into", "to")
    target = _region_id(lab, words, "into" if words.has("into") else "target")
    if source == target:
        raise ScriptProblem(f"region {source} cannot be merged into itself; name its neighbour")

    def describe() -> str:
        known = leaders(lab.cluster)
        return "\n".join(region_line(known[each]) for each in (source, target) if each in known)

    return _order(
        lab,
        words,
        source,
        lambda: lab.control.merge_region(source, target),
        lambda: not replicas(lab.cluster, source),
        describe,
    )


def change_peer(lab: Laboratory, words: Words, *, adds: bool) -> str:
    """Adds a replica to a region, or removes one."""
    region_id = _region_id(lab, words)
    store = _store(lab, words, "on" if adds else "from")

    def order() -> None:
        lab.control.change_peer(region_id, **{"add" if adds else "remove": store})

    def happened() -> bool:
        leader = leaders(lab.cluster).get(region_id)
        here = replica_on(lab.cluster, store, region_id)
        if leader is None or (store in leader.region.stores) != adds:
            return False
        if adds:
            return here is not None and here.state.applied >= leader.state.applied
        return here is None

    def describe() -> str:
        leader = leaders(lab.cluster).get(region_id)
        return leader_line(lab.cluster, region_id) if leader is None else region_line(leader)

    return _order(lab, words, region_id, order, happened, describe)


def flashback(lab: Laboratory, words: Words, *, begins: bool) -> str:
    """Closes a region for a flashback, which drops its locks in memory, or opens it again."""
    region_id = _region_id(lab, words)

    def happened() -> bool:
        leader = leaders(lab.cluster).get(region_id)
        if leader is None:
            return False
        return (leader.locks.status is LocksStatus.IS_IN_FLASHBACK) == begins

    def order() -> None:
        lab.control.flashback(region_id, begins=begins)

    return _order(lab, words, region_id, order, happened, repeats=False)


COMMANDS: Final = (
    Command(
        "transfer-leader REGION STORE",
        partial(change_leader, before="to", order=Control.transfer_leader),
    ),
    Command("campaign REGION STORE", partial(change_leader, before="on", order=Control.campaign)),
    Command("split-region [REGION] KEY [new=REGION]", split_region),
    Command("merge-region SOURCE TARGET", merge_region),
    Command("add-peer REGION STORE", partial(change_peer, adds=True)),
    Command("remove-peer REGION STORE", partial(change_peer, adds=False)),
    Command("prepare-flashback REGION", partial(flashback, begins=True)),
    Command("finish-flashback REGION", partial(flashback, begins=False)),
)
