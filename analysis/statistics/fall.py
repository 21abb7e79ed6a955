"""Whether throughput fell after something was done to the cluster, and when.

The throughput after the first thing that was done is held against the throughput before it: of all
stretches of the course, the one is taken whose shortfall stands out most from the scatter (a scan
statistic). The level is high because many stretches are looked at; a shortfall also has to matter.
It stands out from the scatter of Poisson commits, or from the scatter measured before it: a few
clients that wait for each answer commit far more regularly than Poisson, and a few windows know
little of how regularly.

Source: Glaz, Naus, Wallenstein, Scan Statistics, 2001 (a maximum over stretches of a Poisson
process needs a level of its own).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from analysis.statistics.intervals import Array
from analysis.statistics.saturation import FEWEST_BEFORE, UnitCourse

DEVIATIONS: Final = 4.5
"""Shortfall that stands out, in standard deviations: among the 20,000 stretches of 200 bins, most
of which overlap, a course without a fall reaches it about once in 200 times."""
LEAST_VARIANCE: Final = 1 / 12
"""Of a window's commits, if measured: that of rounding to whole ones, however alike they look."""
MATERIAL_FALL: Final = 0.2
"""Shortfall of a stretch that counts, as a share of the throughput before."""
MATERIAL_STOP_S: Final = 0.25
"""Shortfall that counts, as seconds of the throughput before; in short runs a fifth of the rest."""
STOPPED: Final = 0.1
"""Share of the throughput before below which a cluster at the end of a run has stopped."""
_BURST: Final = 2
"""Times the longest gap between commits before that a gap is no stop; our own figure."""
MOST_BINS: Final = 200
_MOST_BATCHES: Final = 20


class Fall(NamedTuple):
    """The stretch in which throughput fell most clearly."""

    from_s: float
    until_s: float
    before_per_s: float | None
    """None: it is not known, and nothing was done in the stretch."""
    during_per_s: float
    came_back: bool
    """Whether it was over before the run was."""

    @property
    def stopped(self) -> bool:
        """Whether next to nothing was done from then on."""
        nothing = self.before_per_s is None or self.during_per_s < STOPPED * self.before_per_s
        return nothing and not self.came_back

    @property
    def words(self) -> str:
        """What a reader sees of it."""
        if self.before_per_s is None:
            until = f"{self.until_s:.2f} s" if self.came_back else "the end"
            return f"no transaction was committed from {self.from_s:.2f} s to {until}"
        fell = f"throughput fell from {self.before_per_s:,.0f}/s to {self.during_per_s:,.0f}/s"
        return f"{fell} {when(self.from_s, self.until_s, came_back=self.came_back)}"


def when(from_s: float, until_s: float, *, came_back: bool) -> str:
    """Returns ``between 4.00 s and 6.00 s``, or since when if it had not come back."""
    if came_back:
        return f"between {from_s:.2f} s and {until_s:.2f} s"
    return f"at {from_s:.2f} s and had not come back at the end"


def fall_of_throughput(course: UnitCourse) -> Fall | None:
    """Returns the clearest fall after something was done to the cluster; None: it held."""
    window_s = course.window_s
    usual, first = course.committed[course.before], max(course.before.stop, course.cut)
    after = course.committed[first:]
    if not len(after) or not course.comparable:
        return None
    size = -(-len(after) // MOST_BINS)
    ends = np.append(np.arange(size, len(after), size), len(after))
    mean = float(usual.mean())
    place = np.concatenate([[0.0], ends.astype(np.float64)])
    lost = mean * place - np.concatenate([[0.0], np.cumsum(after)[ends - 1]])
    shortfall = lost[None, :] - lost[:, None]
    length = place[None, :] - place[:, None]
    least = min(MATERIAL_STOP_S / window_s, MATERIAL_FALL * len(after)) * mean
    material = (shortfall >= MATERIAL_FALL * mean * length) & (shortfall >= least) & (length > 0)
    over = np.abs(length)
    scatter = np.sqrt(over * (1 + over / len(usual)))  # of commits with a variance of 1
    clear = np.divide(shortfall, scatter, out=np.zeros_like(length), where=material)
    low, high = (int(end) for end in np.unravel_index(int(clear.argmax()), clear.shape))
    if clear[low, high] < _clear_from(usual, len(ends)):
        return None
    # It began where most is lost until then. What that adds has to lack much itself: a small
    # deficit for a long time before is another matter.
    depth = max(MATERIAL_FALL * mean, 0.5 * shortfall[low, high] / length[low, high])
    low = int((shortfall[:high, high] - depth * length[:high, high]).argmax())
    rest = mean * float(place[-1] - place[high])
    left_out = lost[-1] - lost[high]
    if rest - left_out < FEWEST_BEFORE or left_out > MATERIAL_FALL * rest:
        high = len(ends)  # what is left is too little to tell, or no better
    during = mean - shortfall[low, high] / length[low, high]
    return Fall(
        from_s=float(first + place[low]) * window_s,
        until_s=float(first + place[high]) * window_s,
        before_per_s=mean / window_s,
        during_per_s=max(float(during), 0.0) / window_s,
        came_back=high < len(ends),
    )


def stop_of_work(course: UnitCourse, event: int) -> Fall | None:
    """Returns the longest time without a commit after something was done; None: it is no stop.

    That work stopped shows without anything to compare with before it: what was committed in all
    the time measured would hardly have left so long a gap, were it spread by chance. Where commits
    come in bursts (clients that wait for the same thing) there are long gaps before it, too.

    Args:
        course: of the whole unit.
        event: window in which something was first done.
    """
    committed, window_s = course.committed, course.window_s
    start = max(event, course.cut)
    busy = np.flatnonzero(committed)
    earlier, busy = busy[busy < start], busy[busy >= start]
    edges = np.concatenate([[start - 1], busy, [len(committed)]])
    gaps = np.diff(edges) - 1
    longest = int(gaps.argmax())
    length, low = int(gaps[longest]), int(edges[longest]) + 1
    measured = committed[course.cut :]
    if not length or length < min(MATERIAL_STOP_S / window_s, MATERIAL_FALL * len(measured)):
        return None
    usual = float(measured.mean())
    burst = int(np.diff(earlier).max(initial=1)) - 1
    if usual * length < DEVIATIONS**2 or length < _BURST * burst:
        return None
    high = low + length
    return Fall(low * window_s, high * window_s, None, 0.0, came_back=high < len(committed))


def _clear_from(usual: Array, bins: int) -> float:
    """Returns from where on a shortfall stands out, of commits with a variance of 1 a window.

    That is so many standard deviations of commits that are Poisson at least, or the quantile of
    Student's t at the same level by the scatter measured, whichever is less. The quantile knows how
    little a short time tells of a scatter; its level is that of ``DEVIATIONS`` in ``MOST_BINS``,
    shared by those that there are.

    Args:
        usual: commits before the first event, by window; shape (windows,).
        bins: between which stretches are looked at.
    """
    batches = min(len(usual), _MOST_BATCHES)  # windows may hang together
    size = len(usual) // batches
    means = usual[len(usual) - size * batches :].reshape(batches, size).mean(axis=1)
    variance = size * float(means.var(ddof=1))
    poisson = DEVIATIONS * np.sqrt(max(float(usual.mean()), variance))
    level = ndtr(-DEVIATIONS) * MOST_BINS / bins
    measured = -stdtrit(batches - 1, level) * np.sqrt(max(variance, LEAST_VARIANCE))
    return float(min(poisson, measured))
