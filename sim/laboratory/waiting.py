"""Commands that let time pass: for a while, until an answer, until something has happened."""

from collections.abc import Callable
from typing import Final

from sim.laboratory.faults import point_of
from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.jobs import ClusterChange, Job
from sim.laboratory.laboratory import Command, Laboratory
from sim.laboratory.stores import (
    all_applied,
    is_at_rest,
    leaders,
    replica_on,
    replicas,
)
from sim.laboratory.values import duration_ns, show_duration
from sim.laboratory.words import Words, suggestion, whole_number
from sim.protocol.lock_table import LocksStatus
from sim.units import NS_PER_S

CONDITIONS: Final = {
    "leader": "leader REGION [STORE]: the region has a leader, that one if a store is named",
    "status": "status REGION STATUS [store=STORE]: the leader's table has that status",
    "held": "held POINT [COUNT]: so many are stopped there",
    "quiet": "quiet: nothing is under way any more, and replicas have applied what is committed",
    "applied": "applied REGION [store=STORE]: the replica has applied what its leader has",
}
"""What ``advance until`` waits for, by first word; any other was put aside with ``as``."""

_REST_NS: Final = NS_PER_S
"""How long nothing happens in a cluster until ``quiet`` gives its open orders up."""


def advance(lab: Laboratory, words: Words) -> str:
    """Lets time pass: for a while, or until something has happened."""
    if words.peek().lower() == "until":
        words.skip("until")
        patience_ns = words.duration_ns("within", "10s")
        until_quiet = words.peek().lower() == "quiet"
        happened = _condition(lab, words)
        if not lab.run_until(happened, patience_ns):
            return f"not within {show_duration(patience_ns)}"
        return _given_up(lab) if until_quiet else ""
    text = words.text("by", "for", "") or words.next("a duration")
    lab.run_for(duration_ns(text))
    return ""


def _condition(lab: Laboratory, words: Words) -> Callable[[], bool]:
    word = words.next("what to wait for")
    match word.lower():
        case "leader":
            return _leader(lab, words)
        case "status":
            return _status(lab, words)
        case "held":
            point = point_of(words.next("the point"))
            count = whole_number("the count", words.next_or("1"))
            return lambda: lab.cluster.failpoints.waiting(point) >= count
        case "quiet":
            return _quiet(lab)
        case "applied":
            return _applied(lab, words)
        case _:
            names = [word, *words.rest()]
            unknown = next((name for name in names if name not in lab.jobs), None)
            if unknown is not None:
                hint = suggestion(unknown, [*lab.jobs, *CONDITIONS], "… as " + unknown)
                raise ScriptProblem(f"nothing is called {unknown}; {hint}")
            return lambda: _all_done(lab, names)


def _quiet(lab: Laboratory) -> Callable[[], bool]:
    """Returns the condition that nothing is under way.

    An order that is still open counts for nothing once the cluster has been at rest for a while:
    its leader has refused it, or a message was lost.
    """
    at_rest_since = lab.env.now_ns

    def happened() -> bool:
        nonlocal at_rest_since
        under_way = [job for job in lab.jobs.values() if not lab.is_over(job)]
        if not under_way and all_applied(lab.cluster):
            return True
        orders_only = all(isinstance(job, ClusterChange) for job in under_way)
        if not orders_only or not is_at_rest(lab.cluster):
            at_rest_since = lab.env.now_ns
        return lab.env.now_ns - at_rest_since >= _REST_NS

    return happened


def _given_up(lab: Laboratory) -> str:
    """Forgets the orders that have come to nothing; returns which they are."""
    names = [name for name, job in lab.jobs.items() if not lab.is_over(job)]
    return "\n".join(f"{name}: came to nothing{lab.jobs.pop(name).so_far()}" for name in names)


def _all_done(lab: Laboratory, names: list[str]) -> bool:
    return all(lab.jobs[name].done() for name in names)


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
        cluster = lab.cluster
        peer = replica_on(cluster, store, region_id) if store else leaders(cluster).get(region_id)
        return peer is not None and peer.locks.status is status

    return happened


def _applied(lab: Laboratory, words: Words) -> Callable[[], bool]:
    store = words.number("store")
    region_id = words.number_at("region", "the region")
    leader = leaders(lab.cluster).get(region_id)
    if leader is None:
        raise ScriptProblem(f"region {region_id} has no leader now")
    goal = leader.state.applied
    wanted = replicas(lab.cluster, region_id, store)
    return lambda: all(peer.state.applied >= goal for peer in wanted)


def wait(lab: Laboratory, words: Words) -> str:
    """Waits for commands that were put aside, and prints their answers."""
    asked = words.has("within")
    patience_ns = words.duration_ns("within", "10s")
    names = words.rest()
    if not names or names == ["all"]:
        names = list(lab.jobs)
    lines = []
    for name in names:
        job = lab.job(name)
        if asked:
            job.until_ns = 0
        lines.append(f"{name}: {lab.wait(job, patience_ns)}")
    for name in names:
        if lab.is_over(lab.jobs[name]):
            del lab.jobs[name]
    return "\n".join(lines)


def requests(lab: Laboratory, words: Words) -> str:
    """Says what has become of the commands that were put aside, without waiting."""
    names = words.rest() or list(lab.jobs)
    jobs = [(name, lab.job(name)) for name in names]
    return "\n".join(f"{name}: {_state(lab, job)}" for name, job in jobs) or "none"


def _state(lab: Laboratory, job: Job) -> str:
    if job.done():
        return job.text()
    if lab.is_over(job):
        return f"no answer within {show_duration(job.within_ns)}{job.so_far()}"
    return "waiting"


def time(lab: Laboratory, _: Words) -> str:
    """Prints the simulated time."""
    return show_duration(lab.env.now_ns)


def echo(_: Laboratory, words: Words) -> str:
    """Prints its words."""
    return " ".join(words.rest())


COMMANDS: Final = (
    Command("wait [NAME…] [within=10s]", wait),
    Command("requests [NAME…]", requests),
    Command("advance TIME | advance until CONDITION [within=10s]", advance),
    Command("time", time),
    Command("echo WORD…", echo),
)
