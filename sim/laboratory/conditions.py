"""What ``advance until`` can wait for."""

from __future__ import annotations

from collections.abc import Callable

from sim.laboratory.laboratory import Laboratory
from sim.laboratory.problems import ScriptProblem
from sim.laboratory.routing import leaders, peers
from sim.laboratory.words import Words, suggestion, whole_number
from sim.protocol.lock_table import LocksStatus

KINDS = {
    "leader": "leader REGION [STORE]: the region has a leader, that one if a store is named",
    "status": "status REGION STATUS [store=STORE]: the leader's table has that status",
    "held": "held POINT [COUNT]: so many are stopped there",
    "quiet": "quiet: no request is under way, and every replica has applied what is committed",
    "applied": "applied REGION [store=STORE]: the replica has applied what its leader has",
}
"""By first word; any other word is the name of something put aside with ``as``."""


def condition(lab: Laboratory, words: Words) -> Callable[[], bool]:
    """Returns what the next words describe.

    Raises:
        ScriptProblem: if they describe nothing.
    """
    word = words.next("what to wait for")
    match word.lower():
        case "leader":
            return _leader(lab, words)
        case "status":
            return _status(lab, words)
        case "held":
            return _held(lab, words)
        case "quiet":
            return lambda: is_quiet(lab)
        case "applied":
            return _applied(lab, words)
        case _:
            names = [word, *words.rest()]
            unknown = next((name for name in names if name not in lab.jobs), None)
            if unknown is not None:
                mend = suggestion(unknown, [*lab.jobs, *KINDS], "… as " + unknown)
                raise ScriptProblem(f"nothing is called {unknown}; {mend}")
            jobs = [lab.jobs[name] for name in names]
            return lambda: all(job.done() for job in jobs)


def _leader(lab: Laboratory, words: Words) -> Callable[[], bool]:
    region_id = words.number_at("region", "the region")
    store = words.number("store", whole_number("store", words.next_or("0")))

    def happened() -> bool:
        peer = leaders(lab.cluster).get(region_id)
        return peer is not None and store in {0, peer.store}

    return happened


def _status(lab: Laboratory, words: Words) -> Callable[[], bool]:
    store = words.number("store")
    region_id = words.number_at("region", "the region")
    text = words.next("the status")
    by_name = {status.value.lower(): status for status in LocksStatus}
    status = by_name.get(text.lower())
    if status is None:
        names = [each.value for each in LocksStatus]
        raise ScriptProblem(f"no status {text}; {suggestion(text, names, ' or '.join(names))}")

    def happened() -> bool:
        if store:
            peer = lab.cluster.stores[store].peers.get(region_id)
        else:
            peer = leaders(lab.cluster).get(region_id)
        return peer is not None and peer.locks.status is status

    return happened


def _held(lab: Laboratory, words: Words) -> Callable[[], bool]:
    from sim.laboratory.faults import point_of

    point = point_of(words.next("the point"))
    count = whole_number("the count", words.next_or("1"))
    return lambda: lab.cluster.holds.waiting(point) >= count


def _applied(lab: Laboratory, words: Words) -> Callable[[], bool]:
    store = words.number("store")
    region_id = words.number_at("region", "the region")
    leader = leaders(lab.cluster).get(region_id)
    if leader is None:
        raise ScriptProblem(f"region {region_id} has no leader now")
    goal = leader.state.applied
    wanted = [
        peer
        for peer in peers(lab.cluster)
        if peer.region.region_id == region_id and store in {0, peer.store}
    ]
    return lambda: all(peer.state.applied >= goal for peer in wanted)


def is_quiet(lab: Laboratory) -> bool:
    """Returns whether every request is answered and all replicas have applied the same."""
    if not all(job.done() for job in lab.jobs.values()):
        return False
    for region_id, leader in leaders(lab.cluster).items():
        last = leader.raft.log.last_index
        for peer in peers(lab.cluster):
            if peer.region.region_id == region_id and peer.state.applied < last:
                return False
    return True
