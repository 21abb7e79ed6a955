"""Pollers that wait for a shared log: a small Markov chain, solved exactly.

Law: messages come in bursts; a poller that is free takes one at once, and goes on as long as there
are more. Then, if anything of its round has to be durable, it joins the next write of the log: one
write is in flight at a time, and everybody who has gathered meanwhile goes with the next. Until
its write is done a poller takes nothing.

The state is (messages not yet handled, pollers in the write in flight, pollers that wait for the
next write, stage of the write). Message work is exponential, a write is Erlang. Levels (messages)
are left downwards one at a time, and above as many as there are pollers they are all alike, so the
way down from any of them is one matrix, found by iteration (Neuts, Structured Stochastic Matrices
of M/G/1 Type, 1989).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

_ITERATIONS: Final = 300
_CLOSE: Final = 1e-6
_BALANCED: Final = 1e-3

_Matrix = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class PollerLoad:
    """What the pollers of one store are asked for; times in any one unit, rates in its inverse."""

    pollers: int
    messages: float
    """Arriving per unit of time."""
    burst: float
    """Messages that arrive together, on average (geometric)."""
    message: float
    """CPU time of a message."""
    durable: float
    """Probability that a round has something to write."""
    write: float
    """Time of a write; 0: nobody waits for one."""
    write_stages: int
    ends_early: float = 0.0
    """Probability that a poller which has handled a message ends its round although others are left
    to be handled: they are in the batches of other pollers."""


@dataclass(frozen=True, slots=True)
class PollerFigures:
    """The stationary figures of the chain."""

    handling: float
    """Pollers that handle messages, on average."""
    in_write: float
    """Pollers that wait for the log, on average."""
    writing: float
    """Share of the time with a write in flight."""
    rounds: float
    """Rounds per unit of time."""
    waiting: float
    """Messages that no poller has taken, on average."""
    way_down: _Matrix | None = field(default=None, compare=False, repr=False)
    """Where the iteration ended; a good beginning for a similar load."""


def solve_pollers(load: PollerLoad, similar: PollerFigures | None = None) -> PollerFigures:
    """Returns the stationary figures.

    Args:
        load: what is asked for; less CPU than there are pollers, else there is no balance.
        similar: the figures of a similar load, to begin with.
    """
    work = load.messages * load.message
    assert work < load.pollers, "more work than pollers"
    begin = None if similar is None else similar.way_down
    for early in (load.ends_early, load.ends_early / 2, load.ends_early / 4):
        found = _Chain(replace(load, ends_early=early)).solve(begin)
        # Work is done as it comes, or else pollers that leave early leave too little for it.
        if found.waiting >= 0 and abs(found.handling - work) < _BALANCED * work:
            return found
    return _Chain(replace(load, ends_early=0.0)).solve(begin)


class _Chain:
    """The chain of one load."""

    def __init__(self, load: PollerLoad) -> None:
        self._load = load
        stages = load.write_stages if load.write else 0
        self._phases = [(0, 0, 0)]
        for in_flight in range(1, load.pollers + 1) if stages else ():
            for waiting in range(load.pollers - in_flight + 1):
                self._phases += [(in_flight, waiting, stage) for stage in range(stages)]
        self._at = {phase: number for number, phase in enumerate(self._phases)}
        self._free = np.array([load.pollers - g - w for g, w, _ in self._phases])
        self._unit = np.eye(len(self._phases))
        self._writes = self._write_transitions()

    def _write_transitions(self) -> _Matrix:
        """Rates between phases as writes go on: the same at each level."""
        size = len(self._phases)
        rates = np.zeros((size, size))
        load = self._load
        for number, (in_flight, waiting, stage) in enumerate(self._phases):
            if not in_flight:
                continue
            if stage + 1 < load.write_stages:
                after = (in_flight, waiting, stage + 1)
            else:
                after = (waiting, 0, 0)
            rates[number, self._at[after]] += load.write_stages / load.write
        return rates

    def _down(self, level: int) -> _Matrix:
        """Rates to one message less: its poller goes on, or ends its round."""
        load = self._load
        size = len(self._phases)
        rates = np.zeros((size, size))
        for number, (in_flight, waiting, stage) in enumerate(self._phases):
            free = self._free[number]
            rate = min(level, free) / load.message
            writes = load.durable * self._ends(level, free) if load.write else 0.0
            rates[number, number] += rate * (1 - writes)
            if rate and writes:
                after = (in_flight, waiting + 1, stage) if in_flight else (1, 0, 0)
                rates[number, self._at[after]] += rate * writes
        return rates

    def _ends(self, level: int, free: int) -> float:
        """Returns the probability that a message is the last one of its poller's round."""
        if level <= free:
            return 1.0
        return self._load.ends_early if free > 1 else 0.0

    def solve(self, begin: _Matrix | None) -> PollerFigures:
        load = self._load
        self._single = 1 / load.burst
        self._bursts = load.messages * self._single
        alike = load.pollers + 1
        if begin is None or begin.shape != self._unit.shape:
            begin = self._unit
        above, resolvent, back = self._alike(self._down(alike), begin)
        way_down = back
        levels = [(above, resolvent)]
        """From level ``pollers`` + 1 downwards: phase in which the level is reached again after a
        burst; mean time in each phase before it is left downwards."""
        for level in range(load.pollers, 0, -1):
            above = self._again(above, back)
            down = self._down(level)
            resolvent = _inverse(self._kept(down, above))
            back = resolvent @ down
            levels.insert(0, (above, resolvent))
        idle = self._kept(self._down(0), self._again(above, back))
        return replace(self._forward(_stationary(-idle), levels), way_down=way_down)

    def _again(self, above: _Matrix, back: _Matrix) -> _Matrix:
        """Returns the phase in which a level is reached again, from that of the level above."""
        return (self._single * self._unit + (1 - self._single) * above) @ back

    def _kept(self, down: _Matrix, above: _Matrix) -> _Matrix:
        """Returns the rates at which a level is left for good, with what returns taken off."""
        leave = self._writes.sum(1) + down.sum(1) + self._bursts
        return np.diag(leave) - self._writes - self._bursts * above

    def _alike(self, down: _Matrix, back: _Matrix) -> tuple[_Matrix, _Matrix, _Matrix]:
        """Returns what holds at every level with more messages than pollers."""
        unit, single = self._unit, self._single
        above = resolvent = unit
        for _ in range(_ITERATIONS):
            above = single * back @ _inverse(unit - (1 - single) * back)
            resolvent = _inverse(self._kept(down, above))
            before, back = back, resolvent @ down
            if np.abs(back - before).max() < _CLOSE:
                break
        return above, resolvent, back

    def _forward(self, lowest: _Matrix, levels: list[tuple[_Matrix, _Matrix]]) -> PollerFigures:
        """Returns the figures from the share of each level, the lowest first.

        ``mass`` holds what is below a level, less what has been left behind on the way up. From
        the first of the equal levels on it grows by one matrix, so their sums are geometric.
        """
        single, unit = self._single, self._unit
        shares = [lowest]
        mass = lowest
        for above, resolvent in levels[:-1]:
            shares.append(mass @ self._step(above, resolvent))
            mass = shares[-1] + (1 - single) * mass
        step = self._step(*levels[-1])
        rest = _inverse(unit - step - (1 - single) * unit)
        equal = mass @ rest @ step
        """Shares of all equal levels together, by phase."""
        further = mass @ (step + (1 - single) * unit) @ rest @ rest @ step
        """Likewise, each weighted by how far it lies above the first of them."""
        return self._figures(np.array(shares), equal, further)

    def _step(self, above: _Matrix, resolvent: _Matrix) -> _Matrix:
        """Returns what leads from what is below a level to the time at it."""
        single = self._single
        entering = single * self._unit + (1 - single) * above
        return self._bursts * entering @ resolvent

    def _figures(self, shares: _Matrix, equal: _Matrix, further: _Matrix) -> PollerFigures:
        load = self._load
        level = np.arange(len(shares))[:, None]
        busy = np.minimum(level, self._free)
        total = float(shares.sum() + equal.sum())
        handling = float((shares * busy).sum() + equal @ self._free) / total
        waiting = (
            float(
                (shares * (level - busy)).sum()
                + equal @ (load.pollers + 1 - self._free)
                + further.sum()
            )
            / total
        )
        early = load.ends_early * (self._free > 1)
        ends = (shares * busy * np.where(level <= self._free, 1.0, early)).sum()
        rounds = float(ends + equal @ (self._free * early)) / load.message / total
        by_phase = (shares.sum(0) + equal) / total
        in_write = float(by_phase @ (load.pollers - self._free))
        writing = 1 - float(by_phase[0]) if load.write else 0.0
        return PollerFigures(handling, in_write, writing, rounds, waiting)


def _inverse(matrix: _Matrix) -> _Matrix:
    """Names the type that numpy's own stubs leave open."""
    inverse: _Matrix = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    return inverse


def _stationary(rates: _Matrix) -> _Matrix:
    """Returns the stationary shares of a chain with these rates (rows sum to 0)."""
    size = len(rates)
    equations = np.vstack([rates.T, np.ones(size)])
    wanted = np.zeros(size + 1)
    wanted[-1] = 1.0
    shares: _Matrix = np.asarray(np.linalg.lstsq(equations, wanted, rcond=None)[0], np.float64)
    return shares
