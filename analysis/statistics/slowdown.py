"""Whether transactions took far longer after something was done to the cluster, and when.

An open loop commits as much as before however long each transaction takes, so a fall of throughput
(``fall``) does not show it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from analysis.statistics.amounts import seconds
from analysis.statistics.fall import (
    FEWEST_BEFORE,
    FEWEST_WINDOWS_BEFORE,
    MATERIAL_FALL,
    MATERIAL_STOP_S,
    Fall,
    comparable,
    when,
)
from analysis.statistics.intervals import Array

MATERIAL_SLOWNESS: Final = 3.0
"""Mean latency that counts as slower, over that before."""


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

    def outlasts(self, fall: Fall) -> bool:
        """Whether it went on long after a fall of throughput, which it may have begun with."""
        return self.until_s - fall.until_s > fall.until_s - fall.from_s


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
    from_s = (first + low) * window_s
    if high - low < least:
        longest_s = stays.longest_s[first + low : first + high]
        if not _waited(spent_s[low:high] - longest_s, slow - len(longest_s)):
            return None
        from_s = max(before.stop * window_s, from_s - longest_s[0])
    if ended[high:].sum() < FEWEST_BEFORE:
        high = len(ended)  # what is left is too little to tell
    return Slowdown(
        from_s=float(from_s),
        until_s=(first + high) * window_s,
        before_s=before_s,
        during_s=float(spent_s[low:high].sum() / slow),
        came_back=high < len(ended),
    )


def _waited(spent_s: Array, commits: float) -> bool:
    """Returns whether transactions took so long that a stop of that length would count."""
    return bool(spent_s.sum() >= MATERIAL_STOP_S * commits)
