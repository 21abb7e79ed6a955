"""The loads that a capacity search tries, and which of them it tries next.

Loads are rungs of one ladder, a tolerance apart and the same for every case, replication and
``between``: what one search has run, another one finds done. A search is finished when it has met
the objectives on one rung and not on the next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from analysis.statistics.crossing import MOST_SLACK, NO_SLACK, falling
from analysis.study.sections import Capacity

MOST_FAILURES: Final = 2
"""A replication that fails so often is left out."""
_NARROW: Final = 4
"""Rungs within which a straight line is a good guess."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Loads in ascending order, and how a scenario file writes them."""

    loads: tuple[float, ...]
    texts: tuple[int | str, ...]

    def __len__(self) -> int:
        """Returns the number of rungs."""
        return len(self.loads)


def ladder_of(capacity: Capacity) -> Ladder:
    """Returns both ends of the search, and the powers of 1 + tolerance between them.

    Powers that lie less than half a step from an end are left out.
    """
    step = math.log1p(capacity.tolerance)
    first = math.floor(math.log(capacity.low) / step + 0.5) + 1
    last = math.ceil(math.log(capacity.high) / step - 0.5)
    wanted = [capacity.low, *(math.exp(step * power) for power in range(first, last))]
    texts = {}
    for load in (*wanted, capacity.high):
        text = capacity.load_value(load)
        texts[capacity.load_of({capacity.load: text})] = text
    least = capacity.load_of({capacity.load: capacity.load_value(capacity.low)})
    most = capacity.load_of({capacity.load: capacity.load_value(capacity.high)})
    loads = sorted(load for load in texts if least <= load <= most)
    return Ladder(tuple(loads), tuple(texts[load] for load in loads))


@dataclass(frozen=True, slots=True)
class Trail:
    """What one replication of one case has shown: slack of the tightest objective, by rung."""

    slack: Mapping[int, float]
    unsettled: frozenset[int] = field(default_factory=frozenset)
    """Rungs that count as not met only because the run did not settle."""
    failed: frozenset[int] = field(default_factory=frozenset)

    @property
    def given_up(self) -> bool:
        """Whether it fails too often to be waited for."""
        return len(self.failed) >= MOST_FAILURES

    def bracket(self, rungs: int) -> tuple[int, int]:
        """Returns the highest rung that is met, and the lowest that is not; -1 and ``rungs``: none.

        What a rung shows is taken together with its neighbours, so that it falls.
        """
        known = sorted(self.slack)
        fitted = falling(np.array([self.slack[rung] for rung in known]))
        met = int(np.sum(fitted >= 0.0))
        return (known[met - 1] if met else -1, known[met] if met < len(known) else rungs)


def pilot_rungs(trail: Trail, rungs: int) -> list[int]:
    """Returns which rungs the first replication tries next, two at a time; none: it is done.

    One is where a straight line would cross, the other halves what is left. While one of the ends
    tells nothing (not tried, or overloaded), what is left is cut in three.
    """
    low, high = trail.bracket(rungs)
    inside = _untried(trail, low, high)
    if len(inside) <= 2:
        return inside or _doubted(trail, high, rungs)
    guess = _straight(trail, low, high)
    if guess is None:
        return [inside[len(inside) // 3], inside[2 * len(inside) // 3]]
    near = min(inside, key=lambda rung: abs(rung - guess))
    return sorted({near, inside[len(inside) // 2]})


def next_rung(trail: Trail, rungs: int, start: float, fall: float) -> list[int]:
    """Returns which rung a further replication tries next; none: it is done.

    Args:
        trail: what it has shown so far.
        rungs: length of the ladder.
        start: where the first replication crossed, in rungs.
        fall: how much slack the first replication lost from one rung to the next there.
    """
    low, high = trail.bracket(rungs)
    inside = _untried(trail, low, high)
    if not inside:
        return _doubted(trail, high, rungs)
    if not trail.slack:
        guess = start
    elif low >= 0 and high < rungs:
        straight = _straight(trail, low, high)
        guess = (low + high) / 2 if straight is None or high - low > _NARROW else straight
    elif low >= 0:
        guess = low + _stride(trail, trail.slack[low], fall)
    else:
        guess = high - _stride(trail, trail.slack[high], fall)
    return [min(inside, key=lambda rung: abs(rung - guess))]


def _untried(trail: Trail, low: int, high: int) -> list[int]:
    tried = {*trail.slack, *trail.failed}
    return [rung for rung in range(low + 1, high) if rung not in tried]


def _doubted(trail: Trail, high: int, rungs: int) -> list[int]:
    """Returns the rung above one that only did not settle: chance or the beginning of overload?"""
    above = high + 1
    doubted = high in trail.unsettled and above < rungs
    return [above] if doubted and above not in {*trail.slack, *trail.failed} else []


def _straight(trail: Trail, low: int, high: int) -> float | None:
    """Returns where a line between two rungs crosses zero; None if one of them tells nothing."""
    above, below = trail.slack.get(low, MOST_SLACK), trail.slack.get(high, NO_SLACK)
    if above >= MOST_SLACK or below <= NO_SLACK or above <= below:
        return None
    return low + (high - low) * max(above, 0.0) / (above - below)


def _stride(trail: Trail, slack: float, fall: float) -> float:
    """Returns how many rungs away the crossing should be; twice as far with each miss."""
    most = 2.0 ** len(trail.slack)
    return min(max(abs(slack) / fall, 1.0), most) if fall > 0 else 1.0
