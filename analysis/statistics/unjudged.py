"""What is said of a unit that no verdict fits: what was looked for, or why it could not be."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from analysis.statistics.amounts import seconds
from analysis.statistics.fall import DEVIATIONS, MATERIAL_FALL
from analysis.statistics.saturation import (
    FEWEST_BEFORE,
    FEWEST_WINDOWS_BEFORE,
    Judgement,
    UnitCourse,
    Verdict,
)
from analysis.statistics.slowdown import MATERIAL_SLOWNESS, straggles_from_s
from analysis.statistics.warmup import FEWEST_WINDOWS
from sim.units import NS_PER_S

_DIP: Final = 0.5
"""Share of the mean throughput below which a window stands out."""
NOTHING_BEGAN: Final = (
    "no transaction began in the time measured; lengthen run.measure or raise workload.rate"
)


class Done(NamedTuple):
    """What was first done to the cluster."""

    at_ns: int
    kind: str
    """Its name, such as ``partition``."""


def not_judged(course: UnitCourse, fixed_ns: int, done: Done) -> Judgement:
    """Returns that no fall was found, or why none could be: that is no word for the cluster.

    Args:
        course: of the whole unit.
        fixed_ns: when something happens at a fixed time, first.
        done: at that time or before it.
    """
    usual, after = course.committed[course.before], course.committed[course.before.stop :]
    it = "it" if done.at_ns >= fixed_ns else f"{done.kind} at {done.at_ns / NS_PER_S:.2f} s"
    if not course.comparable:
        held = _too_little(it)
    elif len(after) < FEWEST_WINDOWS:
        held = f"too little time after {it} to find a fall of throughput; lengthen run.measure"
    elif (lost := 1 - after.mean() / usual.mean()) >= MATERIAL_FALL:
        held = (
            f"throughput {100 * lost:.0f} % lower from then on, which may be chance after so few "
            "commits"
        )
    else:
        held = _held(course)
    return Judgement(
        Verdict.NOT_JUDGED,
        f"averages are over what happens at fixed times, from {fixed_ns / NS_PER_S:g} s: {held}",
    )


def _too_little(it: str) -> str:
    return (
        f"too little before {it} to compare with, {FEWEST_WINDOWS_BEFORE} windows after the "
        f"warm-up and {FEWEST_BEFORE} commits are needed; let it happen later"
    )


def _held(course: UnitCourse) -> str:
    """Returns that throughput and latency held, with what means and the longest say against it."""
    held = f"throughput did not fall by {100 * MATERIAL_FALL:.0f} %"
    before, since = course.before, slice(course.before.stop, None)
    usual_s, after_s = (
        float(course.total_s[part].sum() / course.committed[part].sum()) for part in (before, since)
    )
    if after_s >= MATERIAL_SLOWNESS * usual_s > 0:
        rose = f"mean latency rose from {seconds(usual_s)} to {seconds(after_s)}"
        held += f", but {rose}, by so few transactions that it may be chance"
    else:
        held += (
            f", nor did transactions take {MATERIAL_SLOWNESS:g} times as long on average, as far "
            "as can be told"
        )
    longest_s = float(course.longest_s[since].max(initial=0.0))
    if longest_s <= straggles_from_s(course):
        return held
    before_s = float(course.longest_s[before].max())
    return f"{held}; the longest took {seconds(longest_s)}, before {seconds(before_s)} at most"


def unsteady(course: UnitCourse, done: Done) -> Judgement | None:
    """Returns that throughput dips after what nothing precedes; None: it does not, or much does.

    What is done again and again from the beginning may stop work each time for less than counts as
    a stop, and clients that wait for each other may commit in bursts without it: which of them it
    is cannot be told.

    Args:
        course: of the whole unit.
        done: to the cluster, first.
    """
    measured = course.committed[course.cut :]
    if course.comparable or len(measured) < FEWEST_WINDOWS:
        return None
    mean = float(measured.mean())
    least = min(_DIP * mean, mean - DEVIATIONS * float(np.sqrt(mean)))
    dips = int((measured < least).sum())
    if not dips:
        return None
    said = (
        f"in {dips} of {len(measured)} windows less than half as much was committed as on average, "
        f"and whether {done.kind} did it cannot be told: "
    )
    it = f"the first, at {done.at_ns / NS_PER_S:.2f} s,"
    return Judgement(Verdict.NOT_JUDGED, said + _too_little(it))
