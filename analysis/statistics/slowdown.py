"""Whether transactions took far longer after something was done to the cluster, and when.

An open loop commits as much as before however long each transaction takes, so a fall of throughput
(``fall``) does not show it. Most transactions may be slow for a while (a slowdown), or some may
wait for very long among others that are as quick as ever (stragglers).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from analysis.statistics.amounts import seconds
from analysis.statistics.fall import (
    DEVIATIONS,
    MATERIAL_FALL,
    MATERIAL_STOP_S,
    MOST_BINS,
    Fall,
    when,
)
from analysis.statistics.intervals import Array
from analysis.statistics.saturation import FEWEST_BEFORE, FEWEST_WINDOWS_BEFORE, UnitCourse

MATERIAL_SLOWNESS: Final = 3.0
"""Mean latency that counts as slower, over that before."""
FAR_LONGER: Final = 2.0
"""Latency of a straggler, over the longest before; no less than a stop that counts, either."""
FEWEST_STRAGGLERS: Final = 20
"""Stragglers that count whatever became of the mean."""
FEWEST_COSTLY: Final = 5
"""Stragglers that count if the mean of all is ``MATERIAL_SLOWNESS`` times that before."""


class Slowdown(NamedTuple):
    """The stretch in which transactions took far longer than before, on average over it."""

    from_s: float
    until_s: float
    before_s: float
    """Mean latency of transactions."""
    during_s: float
    came_back: bool
    """Whether it was over before the run was."""

    @property
    def words(self) -> str:
        """What a reader sees of it."""
        rose = f"latency rose from {seconds(self.before_s)} to {seconds(self.during_s)}"
        return f"{rose} {when(self.from_s, self.until_s, came_back=self.came_back)}"


class Stragglers(NamedTuple):
    """Transactions that took far longer than any before, if not all that were committed then."""

    slow: int
    of: int
    """Transactions committed since something was done."""
    from_s: float
    """When that was."""
    until_s: float
    """When the last of them ended."""
    longest_s: float
    before_s: float
    """The longest before."""

    @property
    def words(self) -> str:
        """What a reader sees of it."""
        who = f"{self.slow:,} of {self.of:,} transactions committed since {self.from_s:.2f} s"
        longest = f"up to {seconds(self.longest_s)} instead of {seconds(self.before_s)}"
        return (
            f"{who} took far longer than any before, {longest}, the last until {self.until_s:.2f} s"
        )


def outlasts(slow: Slowdown | Stragglers, fall: Fall) -> bool:
    """Whether it went on long after a fall of throughput, which it may have begun with."""
    return slow.until_s - fall.until_s > fall.until_s - fall.from_s


def slowdown_since(course: UnitCourse) -> Slowdown | None:
    """Returns the stretch in which transactions lost most by taking far longer; None: they did not.

    Most of its windows are slow, so a few long waits for a lock are no slowdown. Transactions that
    waited for something to end commit all at once, and were slow for as long as they waited, if not
    only the longest of a window did.
    """
    before, window_s = course.before, course.window_s
    first = max(before.stop, course.cut)
    ended, spent_s = course.committed[first:], course.total_s[first:]
    if not len(ended) or not course.comparable:
        return None
    before_s = float(course.total_s[before].sum() / course.committed[before].sum())
    excess_s = spent_s - MATERIAL_SLOWNESS * before_s * ended
    lost_s = np.concatenate([[0.0], np.cumsum(excess_s)])
    high = int((lost_s - np.minimum.accumulate(lost_s)).argmax())
    low = int(lost_s[: high + 1].argmin())
    slow = ended[low:high].sum()
    if slow < FEWEST_BEFORE or np.median(excess_s[low:high]) <= 0:
        return None
    least = max(min(MATERIAL_STOP_S / window_s, MATERIAL_FALL * len(ended)), FEWEST_WINDOWS_BEFORE)
    during_s = float(spent_s[low:high].sum() / slow)
    longest_s = course.longest_s[first + low : first + high]
    rest_s = float((spent_s[low:high] - longest_s).sum())
    # Whether all but the longest took so long that a stop of that length would count.
    waited = rest_s >= MATERIAL_STOP_S * (slow - len(longest_s))
    if high - low < least and not waited:
        return None
    from_s = (first + low) * window_s
    if high - low < least or during_s > (high - low) * window_s:
        began_s = from_s + np.arange(len(longest_s)) * window_s - longest_s
        from_s = max(before.stop * window_s, float(began_s.min()))
    if ended[high:].sum() < FEWEST_BEFORE:
        high = len(ended)  # what is left is too little to tell
    return Slowdown(
        from_s=float(from_s),
        until_s=(first + high) * window_s,
        before_s=before_s,
        during_s=during_s,
        came_back=high < len(ended),
    )


def straggles_from_s(course: UnitCourse) -> float:
    """Returns the latency from which on a transaction took far longer than any before."""
    longest_s = float(course.longest_s[course.before].max(initial=0.0))
    return max(MATERIAL_STOP_S, FAR_LONGER * longest_s)


def stragglers_since(course: UnitCourse, far: Array) -> Stragglers | None:
    """Returns the transactions that took far longer than any before; None: there are too few.

    None did before, so of all stretches of the course the one is taken in which least by chance so
    many did: were they as likely before, all would fall behind the event with a probability of its
    share of the transactions, to the power of their number.

    Args:
        course: of the whole unit.
        far: how many of the committed took longer than ``straggles_from_s``; shape (windows,).
    """
    committed, before, window_s = course.committed, course.before, course.window_s
    first = max(before.stop, course.cut)
    usual, late = committed[before], np.flatnonzero(far[first:]) + first
    count, of = int(far[first:].sum()), float(committed[first:].sum())
    if not course.comparable or not count:
        return None
    slower = course.total_s[first:].sum() * usual.sum() / (course.total_s[before].sum() * of)
    if count < (FEWEST_COSTLY if slower >= MATERIAL_SLOWNESS else FEWEST_STRAGGLERS):
        return None
    if _clearest(committed[first:], far[first:], float(usual.sum())) < -log_ndtr(-DEVIATIONS):
        return None
    return Stragglers(
        slow=count,
        of=int(of),
        from_s=before.stop * window_s,
        until_s=(int(late[-1]) + 1) * window_s,
        longest_s=float(course.longest_s[first:].max()),
        before_s=float(course.longest_s[before].max()),
    )


def _clearest(committed: Array, far: Array, before: float) -> float:
    """Returns the least probability of a stretch, as its negative logarithm.

    Args:
        committed: transactions by window after something was done.
        far: how many of those took far longer.
        before: transactions before it.
    """
    size = -(-len(committed) // MOST_BINS)
    ends = np.append(np.arange(0, len(committed), size), len(committed))
    many, slow = (np.concatenate([[0.0], np.cumsum(each)])[ends] for each in (committed, far))
    of, among = many[None, :] - many[:, None], slow[None, :] - slow[:, None]
    odds = np.divide(before, of, out=np.zeros_like(of), where=of > 0)
    return float((among * np.log1p(odds)).max())
