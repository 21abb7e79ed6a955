"""Whether a unit's work stopped or suffered, however quiet the latencies of what ended are.

Transactions that have not ended, and are far older than the longest of those that have, may never
come back. Throughput may have fallen (``fall``), or latency risen (``slowdown``), after the first
thing that was done to the cluster. What piles up only since then is a fall as well, and seen
sooner: that none is found may be for want of a long enough time before it, while a backlog needs
none.

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
from scipy.special import stdtr

from analysis.statistics.amounts import number_of, seconds
from analysis.statistics.fall import Fall
from analysis.statistics.saturation import (
    OVERLOAD_LEVEL,
    Judgement,
    UnitCourse,
    Verdict,
    overloaded,
)
from analysis.statistics.slowdown import Slowdown, Stragglers, outlasts
from analysis.statistics.warmup import FEWEST_WINDOWS

_THE_END: Final = 5
"""Part of the time measured, so that many to the whole, in which others went on."""

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


def missing(course: UnitCourse, ended_s: float, unfinished: Unfinished) -> Judgement | None:
    """Returns the verdict of a unit whose latencies leave out the longest waits; None: they do not.

    Args:
        course: of the whole unit.
        ended_s: time that the transactions took together that ended after the cut.
        unfinished: at the end of the run.
    """
    measured = len(course.begun) - course.cut
    if measured < FEWEST_WINDOWS or not unfinished.count:
        return None
    backlog = np.cumsum(course.begun - course.ended)[course.cut :]
    # What began before the cut is in both.
    untold_s = min(float(backlog.sum()) * course.window_s - ended_s, unfinished.ages_s)
    if untold_s <= MATERIAL_MISSING * ended_s:
        return None
    words = unfinished_words(unfinished.count, unfinished.oldest_s)
    said = f"{words}; latencies of the others depend on how long the run is"
    return Judgement(Verdict.UNSETTLED, said)


def unfinished_words(count: float, oldest_s: float) -> str:
    """Returns ``196 transactions had not ended, the oldest after 4.96 s``."""
    return f"{number_of(count, 'transaction')} had not ended, the oldest after {seconds(oldest_s)}"


def outage(
    course: UnitCourse,
    unfinished: Unfinished,
    fall: Fall | None,
    slowdown: Slowdown | Stragglers | None = None,
) -> Judgement | None:
    """Returns the verdict of a unit in which work stopped or suffered; None: it did not.

    Args:
        course: of the whole unit.
        unfinished: at the end of the run.
        fall: from ``fall_of_throughput``.
        slowdown: from ``slowdown_since`` or ``stragglers_since``.
    """
    measured = course.committed[course.cut :]
    nothing = len(measured) >= FEWEST_WINDOWS and unfinished.count > 0 and not measured.any()
    stopped = fall is not None and fall.stopped
    said = [fall.words] if fall is not None else []
    if slowdown is not None and (fall is None or outlasts(slowdown, fall)):
        said.append(slowdown.words)
    if nothing:
        said.append("no transaction was committed in the time measured")
    lasts = unfinished.overdue or (fall is not None and not fall.came_back)
    if unfinished.count and (lasts or (said and unfinished.as_bad_as_the_worst)):
        ended = "" if nothing else f"; the longest that ended took {seconds(unfinished.longest_s)}"
        said.append(f"{unfinished_words(unfinished.count, unfinished.oldest_s)}{ended}")
    if unfinished.overdue or nothing or stopped:
        the_end = len(measured) * (_THE_END - 1) // _THE_END
        others_went_on = not stopped and bool(measured[the_end:].any())
        if others_went_on:
            said.append("others went on to the end")
        return Judgement(Verdict.OUTAGE, "; ".join(said), others_went_on)
    return Judgement(Verdict.DEGRADED, "; ".join(said)) if said else None


def piled_up_since(course: UnitCourse) -> Judgement | None:
    """Returns the verdict of a unit that carried its load until something was done to the cluster.

    None: nothing piles up, or no faster since then (Welch's t test), or that is not known.
    """
    growth, before = course.begun - course.ended, course.before
    usual, after = growth[before], growth[before.stop :]
    if min(len(usual), len(after)) < FEWEST_WINDOWS or overloaded(course) is None:
        return None
    error = np.sqrt(usual.var(ddof=1) / len(usual) + after.var(ddof=1) / len(after))
    faster = float(after.mean() - usual.mean())
    freedom = min(len(usual), len(after)) - 1
    if faster <= 0 or (error and stdtr(freedom, -faster / error) > OVERLOAD_LEVEL):
        return None
    left = int(growth.sum())
    since = f"transactions have piled up since {before.stop * course.window_s:.2f} s"
    return Judgement(Verdict.DEGRADED, f"{since}: at the end {left:,} had not ended")
