"""Transactions that had not ended when a run did, and whether latencies can do without them.

A latency is of what has ended. Where clients wait in a long queue, those that came through at once
are all that a short run knows: it says how long it was watched. The time that all transactions
spent in the system is known, however (the area under their number), and so is that of those that
ended; what lies between the two is what waited on.

Source: Little, A Proof for the Queuing Formula L = lambda W, Operations Research 9, 1961.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from analysis.statistics.amounts import number_of, seconds
from analysis.statistics.saturation import Judgement, UnitCourse, Verdict
from analysis.statistics.warmup import FEWEST_WINDOWS

OVERDUE: Final = 2.0
"""A transaction that has not ended is overdue if it is so many times older than the longest that
has ended. Of some thousand exponential times the longest is exceeded twofold once in 10^7."""
MATERIAL_MISSING: Final = 1 / 3
"""Time spent by what has not ended that counts, as a share of that of what has: the mean latency
would be so much longer with it."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Transactions that had not ended when the run did, and the longest of those that had."""

    count: int
    oldest_s: float
    overdue: int
    """How many are more than ``OVERDUE`` times as old as the longest that ended."""
    longest_s: float
    ages_s: float
    """Sum of their ages."""

    @property
    def as_bad_as_the_worst(self) -> bool:
        """Whether one is more than half as old as the longest that ended: the worst is not over."""
        return self.count > 0 and self.oldest_s > self.longest_s / OVERDUE


def missing(
    course: UnitCourse, cut: int, ended_s: float, unfinished: Unfinished, window_s: float
) -> Judgement | None:
    """Returns the verdict of a unit whose latencies leave out the longest waits; None: they do not.

    Args:
        course: of the whole unit.
        cut: windows of warm-up.
        ended_s: time that the transactions took together that ended after the cut.
        unfinished: at the end of the run.
        window_s: length of a window.
    """
    measured = len(course.begun) - cut
    if measured < FEWEST_WINDOWS or not unfinished.count:
        return None
    backlog = np.cumsum(course.begun - course.ended)[cut:]
    # What began before the cut is in both.
    untold_s = min(float(backlog.sum()) * window_s - ended_s, unfinished.ages_s)
    if untold_s <= MATERIAL_MISSING * ended_s:
        return None
    words = unfinished_words(unfinished.count, unfinished.oldest_s)
    said = f"{words}; latencies of the others depend on how long the run is"
    return Judgement(Verdict.UNSETTLED, said)


def unfinished_words(count: float, oldest_s: float) -> str:
    """Returns ``196 transactions had not ended, the oldest after 4.96 s``."""
    return f"{number_of(count, 'transaction')} had not ended, the oldest after {seconds(oldest_s)}"
