"""Whether a unit's work stopped or suffered, however quiet the latencies of what ended are.

Transactions that have not ended, and are far older than the longest of those that have, may never
come back. Throughput may have fallen (``fall``), or latency risen (``slowdown``), after the first
thing that was done to the cluster. What piles up only since then is a fall as well, and seen
sooner: that none is found may be for want of a long enough time before it, while a backlog needs
none.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import stdtr

from analysis.statistics.amounts import seconds
from analysis.statistics.fall import Fall
from analysis.statistics.intervals import Array
from analysis.statistics.saturation import (
    OVERLOAD_LEVEL,
    Judgement,
    UnitCourse,
    Verdict,
    overloaded,
)
from analysis.statistics.slowdown import Slowdown, Stragglers, outlasts
from analysis.statistics.unfinished import Unfinished, unfinished_words
from analysis.statistics.warmup import FEWEST_WINDOWS

_THE_END: Final = 5
"""Part of the time measured, so that many to the whole, in which others went on."""


def outage(
    committed: Array,
    unfinished: Unfinished,
    fall: Fall | None,
    cut: int,
    slowdown: Slowdown | Stragglers | None = None,
) -> Judgement | None:
    """Returns the verdict of a unit in which work stopped or suffered; None: it did not.

    Args:
        committed: transactions by window from the beginning; shape (windows,).
        unfinished: at the end of the run.
        fall: from ``fall_of_throughput``.
        cut: windows of warm-up.
        slowdown: from ``slowdown_since`` or ``stragglers_since``.
    """
    measured = committed[cut:]
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


def piled_up_since(
    course: UnitCourse, before: slice, cut: int, window_s: float
) -> Judgement | None:
    """Returns the verdict of a unit that carried its load until something was done to the cluster.

    None: nothing piles up, or no faster since then (Welch's t test), or that is not known.

    Args:
        course: of the whole unit.
        before: windows to compare with; something was first done in the next.
        cut: windows of warm-up.
        window_s: length of a window.
    """
    growth = course.begun - course.ended
    usual, after = growth[before], growth[before.stop :]
    if min(len(usual), len(after)) < FEWEST_WINDOWS or overloaded(course, cut) is None:
        return None
    error = np.sqrt(usual.var(ddof=1) / len(usual) + after.var(ddof=1) / len(after))
    faster = float(after.mean() - usual.mean())
    freedom = min(len(usual), len(after)) - 1
    if faster <= 0 or (error and stdtr(freedom, -faster / error) > OVERLOAD_LEVEL):
        return None
    left = int(growth.sum())
    since = f"transactions have piled up since {before.stop * window_s:.2f} s"
    return Judgement(Verdict.DEGRADED, f"{since}: at the end {left:,} had not ended")
