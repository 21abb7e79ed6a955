"""Store pollers and the raft log that they share: rounds, group commit, and what it lets wait.

A round of a poller handles all messages that wait (a bulk service), and ends with a write of the
log if any of them has to be durable. How many messages share a round is a fixed point: the longer
a round takes, the more have come until the next one begins.

Pollers that write themselves are a Markov chain (``poller_chain``). Those that leave it to write
workers never wait for the log.

Source: Denning, Buzen 1978 (utilisation law); Kleinrock, Queueing Systems 1 (Erlang C for the
chance that all pollers are busy, M/D/1 with bulk service for the workers' group commit).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import Final

from sim.estimate.fixed_point import fixed_point
from sim.estimate.poller_chain import MOST_POLLERS, Asked, long_run
from sim.estimate.station_load import MOST_USED
from sim.queueing.formulas import erlang_c, gathering_server

_CLOSE: Final = 1e-4
_STEPS: Final = 100


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
    """From a write to the next, if somebody waits for it, and to those whom others led."""
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
    met: float = 0.0
    """Share of the messages whose peer is in a round, if pollers write themselves."""


@dataclass(frozen=True, slots=True)
class PollerFigures:
    """What follows."""

    rounds: float = 0.0
    """Per unit of time."""
    batch: float = 1.0
    """Messages of a round."""
    taken: float = 1.0
    """Messages taken at once; a round goes on while there are more."""
    round: float = 0.0
    """How long it takes, its write included if the poller waits for it."""
    busy: float = 0.0
    """Pollers in a round."""
    wait: float = 0.0
    """Of a message until a poller takes it."""
    left: float = 0.0
    """Of a round that somebody finds under way."""
    woken: float = 1.0
    """Share of the rounds that begin on an idle poller, whose thread has to be woken."""
    writers: float = 0.0
    """Rounds that have something to write, per unit of time."""
    fsyncs: float = 0.0
    """Writes of the log, per unit of time."""
    followed: float = 0.5
    """Share of them that are followed by another at once, if pollers write themselves."""
    log_wait: float = 0.0
    """From the end of a round's CPU until its entries are durable."""

    def is_near(self, other: PollerFigures, close: float) -> bool:
        """Whether rounds are as long, and take as many messages, but for a share."""
        return (
            abs(other.batch - self.batch) <= close * self.batch
            and abs(other.round - self.round) <= close * self.round
        )


def solve_pollers(load: PollerLoad, near: PollerFigures | None = None) -> PollerFigures:
    """Returns the fixed point; what exceeds the pollers' CPU is not looked at.

    Args:
        load: what is asked for.
        near: a guess; pollers that write themselves come one step nearer from there, because
            what they are asked for changes, too, before they are asked again.
    """
    if load.workers:
        return _solve_handing_over(load, near or PollerFigures())
    if near is not None:
        return _writing(load, near)
    figures = PollerFigures()
    for _ in range(_STEPS):
        before, figures = figures, _writing(load, figures)
        if figures.is_near(before, _CLOSE):
            break
    return figures


def _solve_handing_over(load: PollerLoad, near: PollerFigures) -> PollerFigures:
    """Returns the figures of pollers whose write workers wait for the log."""
    figures = near

    def next_batch(batch: float) -> float:
        nonlocal figures
        figures, more = _round(load, batch)
        return more

    fixed_point(next_batch, near.batch, close=_CLOSE, least=1.0)
    return figures


def _writing(all_of: PollerLoad, near: PollerFigures) -> PollerFigures:
    """Returns what follows from the figures of pollers that write themselves."""
    pollers = min(all_of.pollers, MOST_POLLERS)
    # If not all are looked at, those work as much faster: they have the same time to spare.
    faster = all_of.pollers / pollers
    load = replace(all_of, pollers=pollers, message=all_of.message / faster)
    messages = min(load.messages, MOST_USED * pollers / load.message)
    asked = _asked(load, messages, replace(near, busy=near.busy / faster))
    found = long_run(asked)
    rounds = found.woken + found.released
    writers, took = rounds * asked.writing, found.busy / rounds
    handling = took - found.in_log / rounds
    varies = handling**2 + asked.writing * load.write_scv * load.write**2
    return PollerFigures(
        rounds=rounds,
        batch=messages / rounds,
        taken=messages / (rounds + found.lengthened),
        round=took,
        busy=found.busy * faster,
        wait=found.wait,
        left=(took + varies / took) / 2,
        woken=found.woken / rounds,
        writers=writers,
        fsyncs=found.writes,
        followed=found.followed,
        log_wait=found.in_log / writers if writers else 0.0,
    )


def _asked(load: PollerLoad, messages: float, near: PollerFigures) -> Asked:
    """Returns what pollers are asked for, as far as it follows from how they take it."""
    bursts = _bursts(load, near.batch)
    # A burst is spread a little: while nobody is busy its messages are taken one by one.
    quiet = max(0.0, 1 - near.busy / load.pollers) ** load.pollers
    burst = 1 + (max(1.0, near.batch / bursts.all) - 1) * (1 - quiet)
    writing = _writing_share(load, near, bursts)
    met = load.met * near.batch / writing if writing else 0.0
    return Asked(
        pollers=load.pollers,
        bursts=messages * (1 - load.met) / burst,
        burst=burst,
        taking=near.taken * (load.message + load.hop / near.batch),
        writing=writing,
        write=load.write
        + load.hand_over * (near.followed + _led_by_others(near.writers, near.fsyncs)),
        write_scv=load.write_scv,
        met=1 - exp(-met),
    )


def _led_by_others(writers: float, fsyncs: float) -> float:
    """Returns the share of writers that another one's write is made with: they are woken after."""
    return max(0.0, 1 - fsyncs / writers) if writers else 0.0


def _writing_share(load: PollerLoad, near: PollerFigures, bursts: _Bursts) -> float:
    """Returns the share of rounds with something to write.

    An idle poller begins with one message, all others take what has waited.
    """
    idle = max(1.0, load.pollers - near.busy)
    logged = bursts.logged * _begun(near.batch * load.logging, bursts.logged, idle)
    others = bursts.others * _begun(near.batch * (1 - load.logging), bursts.others, idle)
    none_of_one = others / (logged + others)
    takes = near.batch / near.taken - near.woken
    taken = max(1.0, (near.batch - near.woken) / max(takes, 1e-9))
    none_of_taken = (bursts.others / bursts.all) ** max(1.0, taken * bursts.all / near.batch)
    goes_on = 1 - near.taken / near.batch
    none_of_more = (1 - goes_on) / (1 - goes_on * none_of_taken)
    begun = near.woken * none_of_one + (1 - near.woken) * none_of_taken
    return float(1 - begun * none_of_more)


def _begun(messages: float, bursts: float, idle: float) -> float:
    """Returns how many rounds a burst begins while so many pollers are idle; of geometric size."""
    if not bursts:
        return 0.0
    another = 1 - bursts / messages
    return float(1 - another**idle) / (1 - another)


def _round(load: PollerLoad, batch: float) -> tuple[PollerFigures, float]:
    """Returns what follows from rounds of ``batch`` messages, and how many come for the next.

    Write workers wait for the log.
    """
    pollers, bursts = load.pollers, _bursts(load, batch)
    burst = max(1.0, batch / bursts.all)
    messages = min(load.messages, MOST_USED * pollers / load.message)
    rounds = messages / batch
    writers = rounds * (1 - (bursts.others / bursts.all) ** max(1.0, bursts.all))
    took = batch * load.message + load.hop
    busy = min(float(pollers), rounds * took)
    all_busy = erlang_c(pollers, rounds * took)
    # A burst starts a round on each idle poller, as far as it has messages; it is spread a little,
    # so while nobody is busy its messages are taken one by one. What finds all pollers busy is
    # taken together by the next that is free, unless nothing has come.
    quiet = (1 - busy / pollers) ** pollers
    idle = max(1.0, (pollers - busy) / max(1 - all_busy, 1e-9))
    taken_at_once = quiet + (1 - quiet) * (1 - (1 - 1 / burst) ** idle)
    next_free = took / pollers
    some_wait = 1 - exp(-messages / burst * next_free)
    begun_idle = messages * (1 - all_busy) * taken_at_once
    begun = begun_idle + all_busy * some_wait / next_free
    # Rounds that begin at the same time end so, and go together.
    abreast = max(1.0, burst * taken_at_once)
    write = _with_hand_over(load, writers / abreast)
    used, fsyncs = gathering_server(writers / abreast, write, load.pause)
    told = load.hand_over * _led_by_others(writers, fsyncs)
    figures = PollerFigures(
        rounds=rounds,
        batch=batch,
        taken=batch,
        round=took,
        busy=busy,
        wait=all_busy * next_free,
        left=took / 2,
        woken=begun_idle / begun,
        writers=writers,
        fsyncs=fsyncs,
        log_wait=used * write / 2 + load.pause + write + told,
    )
    return figures, messages / begun


@dataclass(frozen=True, slots=True)
class _Bursts:
    """How many times messages arrive together during a round, of which all or none are logged."""

    logged: float
    others: float

    @property
    def all(self) -> float:
        return self.logged + self.others


def _bursts(load: PollerLoad, batch: float) -> _Bursts:
    """Returns what arrives while a round's worth of messages do.

    What a round sends to a store leaves at once: its commands become appends to each follower, its
    appends become answers. Apply pollers tell of all that they have written together.
    """
    proposed = batch * load.commands / load.together
    to_each = load.followers * (1 - exp(-proposed))
    results = batch * load.results / load.results_together
    logged, others = proposed + to_each, to_each + batch * load.heartbeats + results
    # A message that belongs to none of them comes alone.
    logged = min(logged, batch * load.logging) or batch * load.logging
    others = min(others, batch * (1 - load.logging)) or batch * (1 - load.logging)
    return _Bursts(logged, others)


def _with_hand_over(load: PollerLoad, writers: float) -> float:
    """Returns how long a write takes with what passes before it, if it follows another at once.

    All but the first of a busy period do, which has exp(writers x write) of them.
    """
    return load.write + load.hand_over * (1 - exp(-writers * (load.write + load.hand_over)))
