"""Whether the averages of a unit mean anything: what became of its load after the warm-up.

Overload is looked for in the backlog, transactions begun and not ended. If the system keeps up, the
backlog comes and goes around some level, and what it grows by from its first to its last moment is
little beside how it moves in between; if it does not, the backlog is a walk with a drift. So the
mean growth per batch of windows is held against its own scatter (a t test). The null hypothesis
there is a walk without drift, a system exactly at its capacity: a stable one, whose steps cancel,
raises fewer alarms than the test's level. That and a growth that is large beside the backlog itself
make a unit overloaded.

A closed loop cannot pile up work. A unit is not settled if its latency or throughput still drifts
(a slope by least squares, its error widened for residuals that hang together) by a share that
matters, and no warm-up before the middle makes it stop.

Source: Law, Simulation Modeling and Analysis, 5th ed., 9.3 and 9.4 (transient and steady state,
terminating simulations); Loynes 1962 (a queue is stable below capacity, a walk with drift above).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from scipy.special import stdtr

from analysis.statistics.intervals import Array
from analysis.statistics.warmup import FEWEST_WINDOWS

BUSY: Final = 0.9
"""Busy share of a station from which a little more load costs a lot of latency."""
OVERLOAD_LEVEL: Final = 0.01
DRIFT_LEVEL: Final = 0.005
WALK_DEVIATIONS: Final = 4.5
"""Growth of a backlog in standard deviations of a walk without drift: once in 300,000 times."""
MATERIAL_GROWTH: Final = 1 / 3
"""Growth of the backlog over the time measured that counts, as a share of its mean: a backlog that
grows steadily from nothing grows by 2/3 of its mean in the second half alone."""
MATERIAL_DRIFT: Final = 0.2
"""Drift over the time measured that counts, as a share of the mean: half of it is the error that
either end would have."""
MOST_BATCHES: Final = 20
_MOST_CORRELATION: Final = 0.9
FEWEST_BEFORE: Final = 20
"""Commits before the first event without which there is nothing to compare with."""
FEWEST_WINDOWS_BEFORE: Final = 3
"""Likewise windows: fewer say nothing of how regularly they come."""


class Verdict(StrEnum):
    """Whether a unit could carry its load."""

    STABLE = "stable"
    NOT_JUDGED = "not judged"
    """Too short, or a course of events: neither shows a steady state. Nothing stopped or fell in it
    as far as is known."""
    NEAR_SATURATION = "near saturation"
    DEGRADED = "degraded"
    """Throughput fell, or transactions took far longer, for a while or to the end."""
    OVERLOADED = "overloaded"
    UNSETTLED = "not settled"
    OUTAGE = "outage"
    """Work stopped: transactions did not come back, or none was committed at the end."""

    @property
    def refused(self) -> bool:
        """Whether a latency of such a unit depends on how long it was watched."""
        return self in {Verdict.OVERLOADED, Verdict.UNSETTLED}

    @property
    def censored(self) -> bool:
        """Whether latencies count what had not ended when the run did."""
        return self in {Verdict.DEGRADED, Verdict.OUTAGE}

    @property
    def carried(self) -> bool:
        """Whether such a unit may count as one that carried its load."""
        return not self.refused and self is not Verdict.OUTAGE


class Judgement(NamedTuple):
    """A verdict and its grounds, in words for a reader."""

    verdict: Verdict
    reason: str = ""
    others_went_on: bool = False
    """Of an outage: whether some transactions never came back, but not all."""


@dataclass(frozen=True, slots=True)
class UnitCourse:
    """What is looked at, by window from the very beginning; shapes (windows,).

    Attributes:
        begun: transactions begun; nothing but zeros if none were counted.
        ended: transactions committed or given up.
        committed: transactions committed.
        total_s: how long those took that were committed, together.
        longest_s: the longest of them.
        latency: mean lock latency, any unit.
        window_s: length of a window.
        cut: windows of warm-up; what happens within them is in no average.
        before: windows to compare with; something was first done to the cluster in the next.
    """

    begun: Array
    ended: Array
    committed: Array
    total_s: Array
    longest_s: Array
    latency: Array
    window_s: float
    cut: int
    before: slice

    @property
    def comparable(self) -> bool:
        """Whether there is enough before something was done to compare with."""
        usual = self.committed[self.before]
        return len(usual) >= FEWEST_WINDOWS_BEFORE and usual.sum() >= FEWEST_BEFORE


def judge(course: UnitCourse, busy: Mapping[str, float], *, settled: bool) -> Judgement:
    """Returns the verdict of a unit.

    Args:
        course: of the whole unit.
        busy: busy share after the warm-up of each station that little is left of when it is busy.
        settled: whether a warm-up was found after which the unit is settled; if not, or if somebody
            has said how long it is, its drift is looked at.
    """
    measured = len(course.latency) - course.cut
    too_few = measured < FEWEST_WINDOWS
    otherwise = Judgement(Verdict.STABLE)
    if too_few:
        windows = f"only {measured} window{'s' * (measured != 1)} after the warm-up"
        said = f"{windows}, {FEWEST_WINDOWS} are needed; lengthen run.measure"
        otherwise = Judgement(Verdict.NOT_JUDGED, said)
    return (
        overloaded(course)
        or (None if settled or too_few else _unsettled(course))
        or near_saturation(busy)
        or otherwise
    )


def near_saturation(busy: Mapping[str, float]) -> Judgement | None:
    """Returns the busiest station if it has little time left."""
    station = max(busy, key=lambda name: busy[name], default=None)
    if station is None or busy[station] < BUSY:
        return None
    return Judgement(Verdict.NEAR_SATURATION, f"{station} {100 * busy[station]:.0f} % busy")


def overloaded(course: UnitCourse) -> Judgement | None:
    """Returns the verdict of a unit whose work piles up after the warm-up; None: it does not."""
    start = course.cut
    backlog = np.cumsum(course.begun - course.ended)
    if len(backlog) - start < FEWEST_WINDOWS:
        if not _outgrows_chance(course, backlog):
            return None
    elif growth_chance(backlog) > OVERLOAD_LEVEL or drift(backlog[start:]).share < MATERIAL_GROWTH:
        return None
    left, begun = int(backlog[-1]), int(course.begun.sum())
    share = f"{100 * left / begun:.0f} %"
    said = f"transactions pile up: at the end {left:,} of {begun:,} ({share}) have not ended"
    return Judgement(Verdict.OVERLOADED, said)


def _outgrows_chance(course: UnitCourse, backlog: Array) -> bool:
    """Returns whether too few windows to know their scatter still show that work piles up.

    A backlog that is as likely to grow as to shrink with each transaction would not have grown so
    far. The first window is left out: in it a closed loop's clients may begin.
    """
    start = course.cut
    if len(backlog) - start < 2:
        return False
    grown = float(backlog[-1] - backlog[start])
    steps = float(course.begun[start + 1 :].sum() + course.ended[start + 1 :].sum())
    mean = float(backlog[start:].mean())
    return grown > WALK_DEVIATIONS * np.sqrt(steps) and grown >= MATERIAL_GROWTH * mean


def _unsettled(course: UnitCourse) -> Judgement | None:
    for name, series in (("lock latency", course.latency), ("throughput", course.committed)):
        found = drift(series[course.cut :])
        if found.chance <= DRIFT_LEVEL and abs(found.share) >= MATERIAL_DRIFT:
            way = "rises" if found.share > 0 else "falls"
            return Judgement(
                Verdict.UNSETTLED,
                f"{name} still {way} by {100 * abs(found.share):.0f} % over the time measured",
            )
    return None


def growth_chance(backlog: Array) -> float:
    """Returns how likely a backlog without drift would grow this much (one-sided).

    Args:
        backlog: at the end of each window, from an empty system; shape (windows,).
    """
    levels = np.concatenate([[0.0], backlog])
    batches = min(len(backlog), MOST_BATCHES)
    ends = np.linspace(0, len(backlog), batches + 1).round().astype(np.int64)
    growth = np.diff(levels[ends])
    error = growth.std(ddof=1) / np.sqrt(batches)
    if error == 0.0:
        return 0.0 if growth[0] > 0 else 1.0
    return float(stdtr(batches - 1, -growth.mean() / error))


class Drift(NamedTuple):
    """A trend over a whole series."""

    share: float
    """Change from its beginning to its end, over the size of its mean."""
    chance: float
    """How likely a series without a trend would look like this (two-sided)."""


def drift(series: Array) -> Drift:
    """Returns the linear trend of a stationary series with scatter that hangs together.

    Means of at most ``MOST_BATCHES`` batches are taken, so that what hangs together is mostly
    within a batch; what is left is taken for an autoregression of the first order, which widens the
    slope's error and leaves fewer degrees of freedom.

    Args:
        series: shape (windows,), at least ``FEWEST_WINDOWS``.
    """
    batches = min(len(series), MOST_BATCHES)
    size = len(series) // batches
    means = series[len(series) - size * batches :].reshape(batches, size).mean(axis=1)
    time = np.arange(batches) - (batches - 1) / 2
    middle = float(means.mean())
    slope = float(time @ means / (time @ time))
    share = slope * batches / abs(middle) if middle else 0.0
    rest = means - middle - slope * time
    squares = float(rest @ rest)
    if squares <= 1e-18 * batches * middle**2:
        return Drift(share, 0.0 if abs(share) > 1e-9 else 1.0)
    correlation = float(rest[1:] @ rest[:-1]) / squares
    correlation += (1 + 4 * max(correlation, 0.0)) / batches  # what a short series hides of it
    correlation = min(max(correlation, 0.0), _MOST_CORRELATION)
    widening = (1 + correlation) / (1 - correlation)
    error = np.sqrt(squares / (batches - 2) / (time @ time) * widening)
    freedom = max(batches / widening - 2, 1.0)
    return Drift(share, float(2 * stdtr(freedom, -abs(slope) / error)))
