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
    FEWEST_BEFORE,
    FEWEST_WINDOWS_BEFORE,
    MATERIAL_FALL,
    MATERIAL_STOP_S,
    MOST_BINS,
    Fall,
    comparable,
    when,
)
from analysis.statistics.intervals import Array

MATERIAL_SLOWNESS: Final = 3.0
"""Mean latency that counts as slower, over that before."""
FAR_LONGER: Final = 2.0
"""Latency of a straggler, over the longest before; no less than a stop that counts, either."""
FEWEST_STRAGGLERS: Final = 20
"""Stragglers that count whatever became of the mean."""
FEWEST_COSTLY: Final = 5
"""Stragglers that count if the mean of all is ``MATERIAL_SLOWNESS`` times that before."""


class Stays(NamedTuple):
    """How long the transactions took that were committed in each window; shapes (windows,)."""

    total_s: Array
    longest_s: Array


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


def slowdown_since(
    committed: Array, stays: Stays, before: slice, cut: int, window_s: float
) -> Slowdown | None:
    """Returns the stretch in which transactions lost most by taking far longer; None: they did not.

    Most of its windows are slow, so a few long waits for a lock are no slowdown. Transactions that
    waited for something to end commit all at once, and were slow for as long as they waited, if not
    only the longest of a window did.

    Args:
        committed: transactions by window from the beginning; shape (windows,).
        stays: of those.
        before: windows to compare with; something was first done in the next.
        cut: windows of warm-up.
        window_s: length of a window.
    """
    first = max(before.stop, cut)
    ended, spent_s = committed[first:], stays.total_s[first:]
    if not len(ended) or not comparable(committed[before]):
        return None
    before_s = float(stays.total_s[before].sum() / committed[before].sum())
    excess_s = spent_s - MATERIAL_SLOWNESS * before_s * ended
    lost_s = np.concatenate([[0.0], np.cumsum(excess_s)])
    high = int((lost_s - np.minimum.accumulate(lost_s)).argmax())
    low = int(lost_s[: high + 1].argmin())
    slow = ended[low:high].sum()
    if slow < FEWEST_BEFORE or np.median(excess_s[low:high]) <= 0:
        return None
    least = max(min(MATERIAL_STOP_S / window_s, MATERIAL_FALL * len(ended)), FEWEST_WINDOWS_BEFORE)
    during_s = float(spent_s[low:high].sum() / slow)
    longest_s = stays.longest_s[first + low : first + high]
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


def straggles_from_s(stays: Stays, before: slice) -> float:
    """Returns the latency from which on a transaction took far longer than any before."""
    return max(MATERIAL_STOP_S, FAR_LONGER * float(stays.longest_s[before].max(initial=0.0)))


def stragglers_since(
    committed: Array, stays: Stays, far: Array, before: slice, cut: int, window_s: float
) -> Stragglers | None:
    """Returns the transactions that took far longer than any before; None: there are too few.

    None did before, so of all stretches of the course the one is taken in which least by chance so
    many did: were they as likely before, all would fall behind the event with a probability of its
    share of the transactions, to the power of their number.

    Args:
        committed: transactions by window from the beginning; shape (windows,).
        stays: of those.
        far: how many of those took longer than ``straggles_from_s``; shape (windows,).
        before: windows to compare with; something was first done in the next.
        cut: windows of warm-up.
        window_s: length of a window.
    """
    first = max(before.stop, cut)
    usual, late = committed[before], np.flatnonzero(far[first:]) + first
    count, of = int(far[first:].sum()), float(committed[first:].sum())
    if not comparable(usual) or not count:
        return None
    slower = stays.total_s[first:].sum() * usual.sum() / (stays.total_s[before].sum() * of)
    if count < (FEWEST_COSTLY if slower >= MATERIAL_SLOWNESS else FEWEST_STRAGGLERS):
        return None
    if _clearest(committed[first:], far[first:], float(usual.sum())) < -log_ndtr(-DEVIATIONS):
        return None
    return Stragglers(
        slow=count,
        of=int(of),
        from_s=before.stop * window_s,
        until_s=(int(late[-1]) + 1) * window_s,
        longest_s=float(stays.longest_s[first:].max()),
        before_s=float(stays.longest_s[before].max()),
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
