"""Pollers that write the log themselves, as a continuous-time Markov chain.

A poller is idle, handles mail, waits for the next write of the log, or waits for the one that is in
flight. A poller that has handled its mail takes what has come meanwhile, in the same round; only
then does it write. So mail that finds all pollers taken lengthens a round, or begins one when a
write ends, and then it is taken all at once. Mail for a peer that is in a round waits for that
round's poller, which begins another one with it.

Handling takes an exponential time, a write a Coxian one of two phases, which meets its mean and its
variance; mail arrives in bursts of geometric size at the points of a Poisson process.

Source: Marie 1980 (the Coxian law with two phases); Stewart, Introduction to the Numerical Solution
of Markov Chains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

MOST_POLLERS: Final = 6
"""More are looked at as so many: the chain has 162 states then; two more change rates by 1 %."""

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_LEAST_SCV: Final = 0.5
"""A Coxian law of two phases varies no less."""

_MORE, _ALL, _TAKE, _WRITE, _REST, _LONG, _END, _LONG_END = range(8)
"""Kinds of steps: a burst for which there are idle pollers, one that has more messages; mail that
is taken in the same round, a round's end with something to write and without; a write that enters
its second phase, that ends in the first, and in the second."""


class _State(NamedTuple):
    """How many pollers do what."""

    idle: int
    handling: int
    next_write: int
    """Who waits for it."""
    in_write: int
    phase: int
    """Of the write; 0: there is none."""
    mail: bool = False
    """Whether some waits for a poller, which it does only while none is idle."""


class _Step(NamedTuple):
    """From one state to another."""

    to: _State
    kind: int
    times: int = 1
    """Of the rate of its kind: so many pollers may take it."""
    further: int = 0
    """Messages that the burst must have besides the first."""
    met: int = 0
    """Pollers of the write that find mail for their peers."""
    unmet: int = 0
    """Pollers of the write that do not."""
    begun: int = 0
    """Rounds that begin with it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What pollers and log are asked for; times in any one unit, rates in its inverse."""

    pollers: int
    bursts: float
    """Arriving per unit of time, but those for peers that are in a round."""
    burst: float
    """Messages of one."""
    taking: float
    """How long a poller handles what it has taken at once."""
    writing: float
    """Share of the rounds with something to write."""
    write: float
    """One append + fsync."""
    write_scv: float
    """Its variance over its squared mean."""
    met: float = 0.0
    """Chance that there is mail for a poller's peers when its write ends."""


class LongRun(NamedTuple):
    """What the chain does in the long run; rates per unit of time."""

    woken: float
    """Rounds that begin on an idle poller."""
    released: float
    """Rounds that begin when a write has ended, with what has waited."""
    lengthened: float
    """How often a round takes more."""
    writes: float
    """Of the log."""
    followed: float
    """Share of them that are followed by another at once."""
    busy: float
    """Pollers in a round, on average."""
    in_log: float
    """Pollers that wait for a write."""
    wait: float
    """Of a message until a poller takes it."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """The states of so many pollers and the steps between them, as arrays.

    The first four are of the states, the others of the steps; the names are theirs.
    """

    handling: IntArray
    idle: IntArray
    in_log: IntArray
    """Pollers that wait for a write."""
    phase: IntArray
    source: IntArray
    target: IntArray
    kind: IntArray
    times: IntArray
    further: IntArray
    met: IntArray
    unmet: IntArray
    begun: IntArray
    is_followed: npt.NDArray[np.bool_]
    """Whether somebody waits for the next write, too."""


def long_run(asked: Asked) -> LongRun:
    """Returns the long run of the chain."""
    chain = _chain(asked.pollers)
    rate = _rates(asked, chain)
    count = len(chain.idle)
    flow = np.bincount(chain.source * count + chain.target, rate, count * count)
    equations = flow.reshape(count, count).T
    equations[np.diag_indices(count)] -= np.bincount(chain.source, rate, count)
    equations[-1] = 1.0  # Instead of one that follows from the others.
    chance = np.linalg.solve(equations, np.eye(count)[-1])
    often = chance[chain.source] * rate
    begun, ends = often * chain.begun, chain.kind >= _END
    writes = float(often[ends].sum())
    followed = float(often[ends & chain.is_followed].sum())
    return LongRun(
        woken=float(begun[chain.kind <= _ALL].sum()),
        released=float(begun[ends].sum()),
        lengthened=float(often[chain.kind == _TAKE].sum()),
        writes=writes,
        followed=followed / writes if writes else 0.0,
        busy=float(asked.pollers - chance @ chain.idle),
        in_log=float(chance @ chain.in_log),
        wait=float(chance @ _waits(asked, chain)),
    )


def _rates(asked: Asked, chain: _Chain) -> FloatArray:
    """Returns the rates of the transitions."""
    scv = max(asked.write_scv, _LEAST_SCV)
    another, long = 1 - 1 / asked.burst, 1 / (2 * scv)
    by_kind = np.empty(_LONG_END + 1)
    by_kind[_MORE], by_kind[_ALL] = asked.bursts / asked.burst, asked.bursts
    by_kind[_TAKE] = 1 / asked.taking
    by_kind[_WRITE] = asked.writing / asked.taking
    by_kind[_REST] = (1 - asked.writing) / asked.taking
    by_kind[_END], by_kind[_LONG] = np.array([1 - long, long]) * 2 / asked.write
    by_kind[_LONG_END] = 1 / (asked.write * scv)
    rate: FloatArray = by_kind[chain.kind] * chain.times * another**chain.further
    rate *= asked.met**chain.met * (1 - asked.met) ** chain.unmet
    return rate


def _waits(asked: Asked, chain: _Chain) -> FloatArray:
    """Returns how long a message of a burst waits, by the state that it finds.

    Those for which there is no idle poller wait until one has handled its mail, or a write ends.
    """
    left = np.array([np.inf, asked.write, asked.write * max(asked.write_scv, _LEAST_SCV)])
    soon = (chain.handling + chain.idle) / asked.taking + 1 / left[chain.phase]
    waits: FloatArray = (1 - 1 / asked.burst) ** chain.idle / soon
    return waits


@cache
def _chain(pollers: int) -> _Chain:
    """Returns the states of so many pollers, and the transitions between them."""
    states = list(_states(pollers))
    place = {state: index for index, state in enumerate(states)}
    steps = [(place[state], place[step.to], step) for state in states for step in _steps(state)]
    return _Chain(
        handling=np.array([state.handling for state in states]),
        idle=np.array([state.idle for state in states]),
        in_log=np.array([state.next_write + state.in_write for state in states]),
        phase=np.array([state.phase for state in states]),
        source=np.array([source for source, _, _ in steps]),
        target=np.array([target for _, target, _ in steps]),
        kind=np.array([step.kind for _, _, step in steps]),
        times=np.array([step.times for _, _, step in steps]),
        further=np.array([step.further for _, _, step in steps]),
        met=np.array([step.met for _, _, step in steps]),
        unmet=np.array([step.unmet for _, _, step in steps]),
        begun=np.array([step.begun for _, _, step in steps]),
        is_followed=np.array([states[source].next_write > 0 for source, _, _ in steps]),
    )


def _states(pollers: int) -> Iterator[_State]:
    for handling in range(pollers + 1):
        for in_write in range(pollers - handling + 1):
            rest = pollers - handling - in_write
            for next_write in range(rest + 1 if in_write else 1):
                for phase in (1, 2) if in_write else (0,):
                    state = _State(rest - next_write, handling, next_write, in_write, phase)
                    yield state
                    if not state.idle:
                        yield state._replace(mail=True)


def _steps(state: _State) -> Iterator[_Step]:
    """Yields what can happen next."""
    yield from _arrivals(state)
    idle, handling, next_write, in_write, phase, mail = state
    if handling and mail:
        yield _Step(state._replace(mail=False), _TAKE, times=handling)
    elif handling:
        done = state._replace(handling=handling - 1)
        yield _Step(done._replace(idle=idle + 1), _REST, times=handling)
        if in_write:
            yield _Step(done._replace(next_write=next_write + 1), _WRITE, times=handling)
        else:
            yield _Step(done._replace(in_write=1, phase=1), _WRITE, times=handling)
    if in_write:
        yield from _ends(state)
        if phase == 1:
            yield _Step(state._replace(phase=2), _LONG)


def _ends(state: _State) -> Iterator[_Step]:
    """Yields how a write can end."""
    idle, handling, next_write, in_write, phase, mail = state
    for met in range(in_write + 1):
        begun = max(met, int(mail))  # The first takes all that waits, and the others find none.
        ended = _State(
            idle + in_write - begun, handling + begun, 0, next_write, 1 if next_write else 0
        )
        yield _Step(
            ended,
            _END if phase == 1 else _LONG_END,
            times=comb(in_write, met),
            met=met,
            unmet=in_write - met,
            begun=begun,
        )


def _arrivals(state: _State) -> Iterator[_Step]:
    """Yields what a burst can do: each message begins a round while there is an idle poller."""
    idle, handling = state.idle, state.handling
    for begun in range(1, idle + 1):
        to = state._replace(idle=idle - begun, handling=handling + begun)
        yield _Step(to, _MORE, further=begun - 1, begun=begun)
    if idle:
        to = state._replace(idle=0, handling=handling + idle, mail=True)
        yield _Step(to, _ALL, further=idle, begun=idle)
    elif not state.mail:
        yield _Step(state._replace(mail=True), _ALL)
