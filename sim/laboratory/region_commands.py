"""Commands that change regions: leaders, splits, merges, replicas.

Law: PD answers such a command at once and the cluster carries it out in its own time. Without
``as`` the script waits until it has happened; with it, for whatever it says next.

Source: tikv/pd server/schedule/operator; kvproto ``pdpb.proto`` (RegionHeartbeatResponse).
"""

from __future__ import annotations

from collections.abc import Callable

from sim.laboratory.jobs import Awaited
from sim.laboratory.laboratory import Laboratory
from sim.laboratory.problems import ScriptProblem
from sim.laboratory.routing import checked_store, leaders, peers, region_of_key
from sim.laboratory.shows import leader_line, region_line
from sim.laboratory.values import key_of, show_key
from sim.laboratory.words import Words, whole_number
from sim.protocol.lock_table import LocksStatus
from sim.raftstore.peer import Peer


def _region_id(lab: Laboratory, words: Words, option: str = "region") -> int:
    """Returns the region that comes next, after checking that there is one."""
    region_id = words.number_at(option, "the region")
    known = sorted({peer.region.region_id for peer in peers(lab.cluster)})
    if region_id not in known:
        raise ScriptProblem(f"no region {region_id}; there are {', '.join(map(str, known))}")
    return region_id


def _store(lab: Laboratory, words: Words, *options: str) -> int:
    """Returns the store that comes next; a word such as ``to`` may stand before it."""
    for option in options[1:]:
        if words.has(option):
            return checked_store(lab.cluster, words.number(option))
        words.skip(option)
    return checked_store(lab.cluster, words.number_at(options[0], "the store"))


def _do(
    lab: Laboratory,
    words: Words,
    act: Callable[[], object],
    happened: Callable[[], bool],
    tell: Callable[[], str],
    region_id: int = 0,
) -> str:
    """Starts something and waits for it, unless it is put aside.

    With a ``region_id`` the order is repeated as long as that region's leader has not taken it up.
    """
    patience_ns = words.duration_ns("within", "10s")
    words.done()

    def order() -> None:
        if _is_idle(lab, region_id):
            act()

    act()
    job = Awaited(happened, tell, order if region_id else None)
    return lab.finish(job, words.as_name, patience_ns)


def _is_idle(lab: Laboratory, region_id: int) -> bool:
    """Returns whether a region has a leader that is not changing the region already."""
    peer = leaders(lab.cluster).get(region_id)
    return peer is not None and not (peer.in_flight or peer.merge or peer.state.merging)


def transfer_leader(lab: Laboratory, words: Words) -> str:
    """Asks the leader of a region to hand leadership over."""
    region_id = _region_id(lab, words)
    store = _store(lab, words, "store", "to")
    return _do(
        lab,
        words,
        lambda: lab.cluster.control.transfer_leader(region_id, store),
        lambda: _leads(lab, region_id, store),
        lambda: leader_line(lab, region_id),
    )


def campaign(lab: Laboratory, words: Words) -> str:
    """Lets a replica stand for election now."""
    region_id = _region_id(lab, words)
    store = _store(lab, words, "store", "on")
    return _do(
        lab,
        words,
        lambda: lab.cluster.control.campaign(region_id, store),
        lambda: _leads(lab, region_id, store),
        lambda: leader_line(lab, region_id),
    )


def _leads(lab: Laboratory, region_id: int, store: int) -> bool:
    peer = leaders(lab.cluster).get(region_id)
    return peer is not None and peer.store == store


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
    leader = region_of_key(lab, key)
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
    return _do(
        lab,
        words,
        lambda: lab.cluster.control.split_region(region_id, key, new_region_id=new_id),
        lambda: all(side is not None for side in _sides(lab, key)),
        lambda: "\n".join(region_line(side) for side in _sides(lab, key) if side is not None),
        region_id,
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

    def tell() -> str:
        known = leaders(lab.cluster)
        return "\n".join(region_line(known[each]) for each in (source, target) if each in known)

    return _do(
        lab,
        words,
        lambda: lab.cluster.control.merge_region(source, target),
        lambda: not any(peer.region.region_id == source for peer in peers(lab.cluster)),
        tell,
        source,
    )


def add_peer(lab: Laboratory, words: Words) -> str:
    """Adds a replica to a region."""
    region_id = _region_id(lab, words)
    store = _store(lab, words, "store", "on")
    return _change_peer(lab, words, region_id, add=store)


def remove_peer(lab: Laboratory, words: Words) -> str:
    """Removes a replica from a region."""
    region_id = _region_id(lab, words)
    store = _store(lab, words, "store", "from")
    return _change_peer(lab, words, region_id, remove=store)


def _change_peer(
    lab: Laboratory, words: Words, region_id: int, *, add: int = 0, remove: int = 0
) -> str:
    def happened() -> bool:
        peer = leaders(lab.cluster).get(region_id)
        if peer is None:
            return False
        here = lab.cluster.stores[add or remove].peers.get(region_id)
        if add:
            applied = peer.state.applied
            return add in peer.region.stores and here is not None and here.state.applied >= applied
        return remove not in peer.region.stores and here is None

    def tell() -> str:
        peer = leaders(lab.cluster).get(region_id)
        return leader_line(lab, region_id) if peer is None else region_line(peer)

    return _do(
        lab,
        words,
        lambda: lab.cluster.control.change_peer(region_id, add=add, remove=remove),
        happened,
        tell,
        region_id,
    )


def prepare_flashback(lab: Laboratory, words: Words) -> str:
    """Closes a region for a flashback."""
    return _flashback(lab, words, begins=True)


def finish_flashback(lab: Laboratory, words: Words) -> str:
    """Opens a region again after a flashback."""
    return _flashback(lab, words, begins=False)


def _flashback(lab: Laboratory, words: Words, *, begins: bool) -> str:
    region_id = _region_id(lab, words)

    def happened() -> bool:
        peer = leaders(lab.cluster).get(region_id)
        closed = peer is not None and peer.locks.status is LocksStatus.IS_IN_FLASHBACK
        return peer is not None and closed == begins

    return _do(
        lab,
        words,
        lambda: lab.cluster.control.flashback(region_id, begins=begins),
        happened,
        lambda: leader_line(lab, region_id),
    )
