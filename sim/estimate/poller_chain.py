"""Pollers that wait for a shared log: a small Markov chain, solved exactly.

Law: messages come in bursts; a poller that is free takes one at once, and goes on as long as there
are more. Then, if anything of its round has to be durable, it joins the next write of the log: one
write is in flight at a time, and everybody who has gathered meanwhile goes with the next. Until
its write is done a poller takes nothing.

The state is (messages not yet handled, pollers in the write in flight, pollers that wait for the
next write, stage of the write). Message work is exponential, a write is Erlang. Levels (messages)
are left downwards one at a time, so they are eliminated from the top (Neuts, Structured Stochastic
Matrices of M/G/1 Type, 1989); the top level stands for all above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

_MOST_LEVELS: Final = 96
_ENOUGH: Final = 1e-4
"""Share of time at the top level below which there are enough levels."""

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
    full: float
    """Share of the time at the top level; near 0 unless saturated."""

    def wait(self, messages: float) -> float:
        """Returns how long a message waits for a poller (Little's law)."""
        return self.waiting / messages if messages else 0.0


def solve_pollers(load: PollerLoad) -> PollerFigures:
    """Returns the stationary figures; with too much load those of a bounded queue."""
    levels = max(16, 2 * load.pollers + int(8 * load.burst))
    while True:
        chain = _Chain(load, levels)
        found = chain.solve()
        if found.full < _ENOUGH or levels >= _MOST_LEVELS:
            return found
        levels *= 2


class _Chain:
    """The chain with a number of levels."""

    def __init__(self, load: PollerLoad, levels: int) -> None:
        self._load = load
        self._levels = levels
        stages = load.write_stages if load.write else 0
        self._phases = [(0, 0, 0)]
        for in_flight in range(1, load.pollers + 1) if stages else ():
            for waiting in range(load.pollers - in_flight + 1):
                self._phases += [(in_flight, waiting, stage) for stage in range(stages)]
        self._at = {phase: number for number, phase in enumerate(self._phases)}
        self._free = np.array([load.pollers - g - w for g, w, _ in self._phases])
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

    def _busy(self, level: int) -> Any:
        """Pollers that handle messages, by phase."""
        return np.minimum(level, self._free)

    def _down(self, level: int) -> _Matrix:
        """Rates to one message less: its poller goes on, or ends its round."""
        load = self._load
        size = len(self._phases)
        rates = np.zeros((size, size))
        for number, (in_flight, waiting, stage) in enumerate(self._phases):
            free = self._free[number]
            rate = min(level, free) / load.message
            if level > free or not load.write:
                rates[number, number] += rate
                continue
            after = (in_flight, waiting + 1, stage) if in_flight else (1, 0, 0)
            rates[number, number] += rate * (1 - load.durable)
            if rate:
                rates[number, self._at[after]] += rate * load.durable
        return rates

    def solve(self) -> PollerFigures:
        load, top = self._load, self._levels
        single = 1 / load.burst
        bursts = load.messages * single
        size = len(self._phases)
        unit = np.eye(size)
        back: list[_Matrix] = [unit] * (top + 2)
        """back[m]: phase in which level m - 1 is reached from level m."""
        above: list[_Matrix] = [unit * 0] * (top + 2)
        """above[m]: phase in which m is reached again, a burst having come."""
        resolvent: list[_Matrix] = [unit] * (top + 1)
        above[top] = unit
        for level in range(top, -1, -1):
            if level < top:
                step = back[level + 1]
                last = 1.0 if level + 1 == top else single
                above[level] = last * step + (1 - last) * above[level + 1] @ step
            down = self._down(level)
            leave = self._writes.sum(1) + down.sum(1) + bursts
            kept = np.diag(leave) - self._writes - bursts * above[level]
            if level:
                resolvent[level] = np.linalg.inv(kept)
                back[level] = resolvent[level] @ down
        shares = [_stationary(-kept)]
        mass = np.zeros(size)
        for level in range(1, top + 1):
            mass = shares[-1] + (1 - single) * mass
            last = 1.0 if level == top else single
            entering = last * mass + ((1 - last) * mass @ above[level] if last < 1 else 0)
            shares.append(bursts * entering @ resolvent[level])
        return self._figures(np.array(shares) / np.sum(shares))

    def _figures(self, shares: _Matrix) -> PollerFigures:
        load = self._load
        handling = waiting = rounds = 0.0
        for level, by_phase in enumerate(shares):
            busy = self._busy(level)
            handling += float(by_phase @ busy)
            waiting += float(by_phase @ (level - busy))
            rounds += float(by_phase @ np.where(level <= self._free, busy, 0)) / load.message
        by_phase = shares.sum(0)
        in_write = float(by_phase @ (load.pollers - self._free))
        writing = 1 - float(by_phase[0]) if load.write else 0.0
        return PollerFigures(handling, in_write, writing, rounds, waiting, float(shares[-1].sum()))


def _stationary(rates: _Matrix) -> _Matrix:
    """Returns the stationary shares of a chain with these rates (rows sum to 0)."""
    size = len(rates)
    equations = np.vstack([rates.T, np.ones(size)])
    wanted = np.zeros(size + 1)
    wanted[-1] = 1.0
    shares: _Matrix = np.linalg.lstsq(equations, wanted, rcond=None)[0]
    return shares
