"""Store pollers and the raft log that they share: rounds, group commit, and what it lets wait.

A round of a poller handles all messages that wait (a bulk service), and ends with a write of the
log if any of them has to be durable. How many messages share a round is a fixed point: the longer
a round takes, the more have come until the next one begins.

Source: Denning, Buzen 1978 (utilisation law); Kleinrock, Queueing Systems 1 (Erlang C for the
chance that all pollers are busy, M/D/1 with bulk service for the group commit).
"""

from dataclasses import dataclass
from math import exp
from typing import Final

from sim.estimate.fixed_point import fixed_point
from sim.queueing.formulas import erlang_c, gathering_server

MOST_USED: Final = 0.985
"""Stations are not looked at above this utilisation: there is no balance near 1."""

_CLOSE: Final = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class PollerLoad:
    """What one store's pollers are asked for; times in any one unit, rates in its inverse."""

    pollers: int
    messages: float
    """Arriving per unit of time."""
    message: float
    """CPU time of a message."""
    logging: float
    """Share of the messages with something to write."""
    write: float
    """One append + fsync."""
    write_scv: float = 0.0
    """Its variance over its squared mean."""
    hand_over: float = 0.0
    """From a write to the next, if somebody waits for it."""
    workers: bool = False
    """Whether write workers wait for the log instead of the pollers."""
    pause: float = 0.0
    """For which a write worker waits for more messages."""
    commands: float = 1.0
    """Share of the messages that are commands; the others follow from them, or are heartbeats."""
    together: float = 1.0
    """Commands that arrive together."""
    followers: int = 0
    """Of a region."""
    hop: float = 0.0
    """For which a round waits, on average, until its thread is awake."""
    heartbeats: float = 0.0
    """Share of the messages that are ticks, heartbeats and their answers; they come one at a
    time."""
    results: float = 0.0
    """Share of the messages that say that something has been applied."""
    results_together: float = 1.0
    """That come of one write to RocksDB."""


@dataclass(frozen=True, slots=True)
class PollerFigures:
    """What follows."""

    rounds: float = 0.0
    """Per unit of time."""
    batch: float = 1.0
    """Messages of a round."""
    round: float = 0.0
    """How long it takes, its write included if the poller waits for it."""
    busy: float = 0.0
    """Pollers in a round."""
    wait: float = 0.0
    """Of a message until a poller takes it."""
    woken: float = 1.0
    """Share of the rounds that begin on an idle poller, whose thread has to be woken."""
    writers: float = 0.0
    """Rounds that have something to write, per unit of time."""
    fsyncs: float = 0.0
    """Writes of the log, per unit of time."""
    log_wait: float = 0.0
    """From the end of a round's CPU until its entries are durable."""


def solve_pollers(load: PollerLoad, near: float = 1.0) -> PollerFigures:
    """Returns the fixed point; what exceeds the pollers' CPU is not looked at.

    Args:
        load: what is asked for.
        near: a guess at the messages of a round.
    """
    figures = PollerFigures()

    def next_batch(batch: float) -> float:
        nonlocal figures
        figures, more = _round(load, batch)
        return more

    fixed_point(next_batch, near, close=_CLOSE, least=1.0)
    return figures


def _round(load: PollerLoad, batch: float) -> tuple[PollerFigures, float]:
    """Returns what follows from rounds of ``batch`` messages, and how many come for the next."""
    pollers, burst = load.pollers, _burst(load, batch)
    messages = min(load.messages, MOST_USED * pollers / load.message)
    rounds = messages / batch
    writers = rounds * (
        1 - (1 - load.logging) ** max(1.0, batch / burst)
    )  # A burst is of one kind.
    took, fsyncs, log_wait = batch * load.message + load.hop, 0.0, 0.0
    if not load.workers:
        fsyncs, log_wait = _group_commit(load, writers)
        took += log_wait * writers / rounds
    busy = min(float(pollers), rounds * took)
    all_busy = erlang_c(pollers, rounds * took)
    # A burst starts a round on each idle poller, as far as it has messages; it is spread a little,
    # so while nobody is busy its messages are taken one by one. What finds all pollers busy is
    # taken together by the next that is free, unless nothing has come.
    quiet = (1 - busy / pollers) ** pollers
    idle = max(1.0, (pollers - busy) / max(1 - all_busy, 1e-9))
    taken_at_once = quiet + (1 - quiet) * (1 - (1 - 1 / burst) ** idle)
    next_free = took / pollers
    if not load.workers:  # Most often all wait for one write of the log, which may be a long one.
        logs = log_wait * writers / rounds / took
        in_flight = load.write * (1 + load.write_scv) / 2
        next_free = (1 - logs) * next_free + logs * max(next_free, in_flight)
    some_wait = 1 - exp(-messages / burst * next_free)
    begun_idle = messages * (1 - all_busy) * taken_at_once
    begun = begun_idle + all_busy * some_wait / next_free
    if load.workers:  # Rounds that begin at the same time end so, and go together.
        abreast = max(1.0, burst * taken_at_once)
        write = _with_hand_over(load, writers / abreast)
        used, fsyncs = gathering_server(writers / abreast, write, load.pause)
        log_wait = used * write / 2 + load.pause + write
    wait = all_busy * next_free
    woken = begun_idle / begun
    figures = PollerFigures(rounds, batch, took, busy, wait, woken, writers, fsyncs, log_wait)
    return figures, messages / begun


def _burst(load: PollerLoad, batch: float) -> float:
    """Returns how many messages arrive together (geometric).

    What a round sends to a store leaves at once: its commands become appends to each follower, its
    appends become answers. Apply pollers tell of all that they have written together.
    """
    proposed = batch * load.commands / load.together
    arrivals = proposed + 2 * load.followers * (1 - exp(-proposed)) + batch * load.heartbeats
    arrivals += batch * load.results / load.results_together
    return max(1.0, batch / arrivals) if arrivals else 1.0


def _group_commit(load: PollerLoad, writers: float) -> tuple[float, float]:
    """Returns (writes of the log per unit of time, how long a poller waits for its own).

    One write is in flight at a time; who comes meanwhile goes with the next one. A poller that
    waits meets the others only, so no more than those go together.
    """
    others = load.pollers - 1
    if not others:
        return writers, load.write
    share = others / load.pollers
    write = _with_hand_over(load, writers * share)
    _, fsyncs = gathering_server(writers * share, write)
    fsyncs = max(fsyncs / share, writers / others)
    used = min(1.0, fsyncs * write)
    # Who comes at random meets a long write more often than a short one, and waits for half of it;
    # who comes back at once waits for all of a write.
    left = (1 - used) * (1 + load.write_scv) / 2 + used
    return fsyncs, write * (1 + left * used * others / (load.pollers - used))


def _with_hand_over(load: PollerLoad, writers: float) -> float:
    """Returns how long a write takes with what passes before it, if it follows another at once.

    All but the first of a busy period do, which has exp(writers x write) of them.
    """
    return load.write + load.hand_over * (1 - exp(-writers * (load.write + load.hand_over)))
