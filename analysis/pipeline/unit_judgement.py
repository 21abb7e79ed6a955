"""How many windows of a finished unit are warm-up, and whether the unit could carry its load.

If the scenario gives the length of the warm-up, that holds. Otherwise throughput and mean lock
latency are both looked at, and the later of the two cuts holds: a lock table settles sooner than
the regions' logs. Done on the worker, so that no series travels to the driver.

A scenario in which something happens at a fixed time has no steady state: its averages are over a
course of events (a terminating simulation). Whether it has settled is not asked, and a warm-up is
only looked for before the first such event. Whether work stopped, throughput fell, or transactions
piled up or took far longer is looked at in every unit.

Source: Law, Simulation Modeling and Analysis, 5th ed., 9.4 (terminating simulations).
"""

from __future__ import annotations

import math
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.pipeline.aggregate import read_facts
from analysis.statistics.fall import fall_of_throughput, stop_of_work
from analysis.statistics.intervals import Array
from analysis.statistics.outage import OVERDUE, Unfinished, missing, outage, piled_up_since
from analysis.statistics.saturation import (
    FEWEST_WINDOWS_BEFORE,
    UnitCourse,
    Verdict,
    judge,
    overloaded,
)
from analysis.statistics.slowdown import (
    Slowdown,
    Stragglers,
    slowdown_since,
    stragglers_since,
    straggles_from_s,
)
from analysis.statistics.unjudged import NOTHING_BEGAN, Done, not_judged, unsteady
from analysis.statistics.warmup import Cut, mser_cut
from analysis.study.run import first_fixed_ns
from sim.fact_names import LOG_WRITER
from sim.record.facts import COUNTER, EVENT, HISTOGRAM, MOMENTS
from sim.record.histogram import bucket_of
from sim.scenario import Scenario
from sim.scenario.schema.run import Run
from sim.units import NS_PER_S


class JudgedUnit(NamedTuple):
    """What is left out of a unit's figures, and whether they can be trusted."""

    warmup_windows: int
    verdict: Verdict
    reason: str
    others_went_on: bool = False


def judged_unit(folder: Path, scenario: Scenario, simulated_ns: int) -> JudgedUnit:
    """Returns the cut and the verdict of a unit.

    Args:
        folder: where its facts lie.
        scenario: what was run.
        simulated_ns: how long; a last window that it fills only in part is not looked at.
    """
    window_ns = scenario.run.window_ns
    facts = _Facts(folder, simulated_ns // window_ns)
    fixed_ns = first_fixed_ns(scenario.operations, simulated_ns)
    committed, latency = facts.counted("txns"), _mean_latency(facts)
    cut = _cut(committed, latency, scenario.run, fixed_ns)
    done = _first_done(folder, fixed_ns)
    event_ns = None if done is None else done.at_ns
    total_s, longest_s = _stays(facts)
    course = UnitCourse(
        begun=facts.counted("txns_started"),
        ended=committed + facts.counted("txn_aborts"),
        committed=committed,
        total_s=total_s,
        longest_s=longest_s,
        latency=latency,
        window_s=window_ns / NS_PER_S,
        cut=cut.observations,
        before=_before(event_ns, cut.observations, window_ns),
    )
    unfinished = _unfinished(facts)
    measured = slice(course.cut, None)
    if not (course.begun[measured].any() or committed[measured].any() or unfinished.count):
        return JudgedUnit(course.cut, Verdict.NOT_JUDGED, NOTHING_BEGAN)
    fall = fall_of_throughput(course)
    if fall is None and event_ns is not None:
        fall = stop_of_work(course, event_ns // window_ns)
    overload = overloaded(course)
    slowness = None if overload else _slowness(facts, course)
    stopped = outage(course, unfinished, fall, slowness) or piled_up_since(course)
    ended_s = total_s + facts.counted("txn_aborted_ns") / NS_PER_S
    untold = missing(course, float(ended_s[measured].sum()), unfinished)
    if done is not None and fixed_ns is not None:
        found = stopped or overload or untold or not_judged(course, fixed_ns, done)
    else:
        found = judge(course, _busy_shares(facts, course.cut), settled=cut.settled)
        if found.verdict is Verdict.STABLE and done is not None:
            found = unsteady(course, done) or found
        if untold is not None and found.verdict.carried:
            found = untold
        if stopped is not None and (event_ns is not None or found.verdict.carried):
            found = stopped
    return JudgedUnit(course.cut, *found)


def _slowness(facts: _Facts, course: UnitCourse) -> Slowdown | Stragglers | None:
    """Returns how transactions took far longer, all of them for a while or some; None: no."""
    if not course.comparable:
        return None
    slowdown = slowdown_since(course)
    if slowdown is not None:
        return slowdown
    first = bucket_of(math.ceil(straggles_from_s(course) * NS_PER_S)) + 1
    ended = facts.rows(HISTOGRAM, "txn_latency")
    far = facts.by_window(ended.filter(pc.field("bucket") >= first), "count")
    return stragglers_since(course, far)


def _first_done(folder: Path, fixed_ns: int | None) -> Done | None:
    """Returns what was first done to the cluster; None: nothing was."""
    events = read_facts(folder, EVENT)
    if events.num_rows:
        place = int(np.argmin(events["at_ns"].to_numpy()))
        return Done(events["at_ns"][place].as_py(), events["kind"][place].as_py())
    return None if fixed_ns is None else Done(fixed_ns, "")


def _before(event_ns: int | None, cut: int, window_ns: int) -> slice:
    """Returns the windows to compare with those after the first event; none if there was none.

    An event within the warm-up is compared with what was before it, but for the first half of that,
    in which clients begin.
    """
    if event_ns is None:
        return slice(0, 0)
    event = event_ns // window_ns
    return slice(cut if cut + FEWEST_WINDOWS_BEFORE <= event else event // 2, event)


def _unfinished(facts: _Facts) -> Unfinished:
    """Returns what had not ended when the unit did.

    Of those that gave up only how long a window's took together is known: the longest took no less
    than their mean.
    """
    ended, left = (facts.rows(MOMENTS, name) for name in ("txn_latency", "txn_unfinished"))
    gave_up_ns = facts.counted("txn_aborted_ns") / np.maximum(facts.counted("txn_aborts"), 1)
    longest_ns = max(pc.max(ended["max"]).as_py() or 0, round(gave_up_ns.max(initial=0)))
    oldest_ns = pc.max(left["max"]).as_py() or 0
    overdue = 0
    if oldest_ns > OVERDUE * longest_ns:
        ages = facts.rows(HISTOGRAM, "txn_unfinished")
        first = bucket_of(math.ceil(OVERDUE * longest_ns))
        overdue = pc.sum(ages.filter(pc.field("bucket") >= first)["count"]).as_py() or 0
    return Unfinished(
        count=pc.sum(left["count"]).as_py() or 0,
        oldest_s=oldest_ns / NS_PER_S,
        overdue=overdue,
        longest_s=longest_ns / NS_PER_S,
        ages_s=(pc.sum(left["sum"]).as_py() or 0) / NS_PER_S,
    )


def _stays(facts: _Facts) -> tuple[Array, Array]:
    """Returns by window how long those took that were committed, in seconds: sum and longest."""
    ended = facts.rows(MOMENTS, "txn_latency")
    longest_ns = np.zeros(max(facts.windows, pc.max(ended["window"]).as_py() or 0) + 1)
    np.maximum.at(longest_ns, ended["window"].to_numpy(), ended["max"].to_numpy())
    return facts.by_window(ended, "sum") / NS_PER_S, longest_ns[: facts.windows] / NS_PER_S


def _cut(committed: Array, latency: Array, run: Run, until_ns: int | None) -> Cut:
    """Returns the cut in windows; ``settled`` is False where it was said, not found."""
    windows = len(latency)
    if run.warmup_ns is not None:
        return Cut(min(-(-run.warmup_ns // run.window_ns), max(windows - 1, 0)), settled=False)
    end = windows if until_ns is None else min(until_ns // run.window_ns, windows)
    cuts = [mser_cut(committed[:end]), mser_cut(latency[:end])]
    return Cut(max(cut.observations for cut in cuts), all(cut.settled for cut in cuts))


class _Facts:
    """The facts of a unit; what lies beyond its whole windows is in no series."""

    def __init__(self, folder: Path, windows: int) -> None:
        self.windows = windows
        self._read = cache(partial(read_facts, folder))

    def rows(self, table: str, metric: str) -> pa.Table:
        """Returns the rows of a series or a counter."""
        return self._read(table).filter(pc.field("metric") == metric)

    def by_window(self, rows: pa.Table, column: str) -> Array:
        """Returns a column summed by window."""
        window, weights = rows["window"].to_numpy(), rows[column].to_numpy()
        summed = np.bincount(window, weights=weights, minlength=self.windows)
        return summed[: self.windows].astype(np.float64)

    def counted(self, counter: str) -> Array:
        """Returns growth by window over all classes; zeros if there is no such counter."""
        return self.by_window(self.rows(COUNTER, counter), "value")


def _busy_shares(facts: _Facts, start: int) -> dict[str, float]:
    """Returns busy time over capacity from a window on, of each station of which it tells."""

    def by_class(counter: str) -> dict[str, int]:
        rows = facts.rows(COUNTER, counter).filter(pc.field("window") >= start)
        summed = rows.group_by("class").aggregate([("value", "sum")])
        pairs = zip(summed["class"].to_pylist(), summed["value_sum"].to_pylist(), strict=True)
        return dict(sorted(pairs))

    busy = by_class("busy_ns")
    return {
        name: busy.get(name, 0) / of
        for name, of in by_class("capacity_ns").items()
        if of > 0 and name != LOG_WRITER
    }


def _mean_latency(facts: _Facts) -> Array:
    """Mean lock latency by window; a window without a lock has the mean of all."""
    locks = facts.rows(MOMENTS, "lock_latency")
    total, count = (facts.by_window(locks, column) for column in ("sum", "count"))
    overall = total.sum() / count.sum() if count.sum() else 0.0
    return np.where(count > 0, total / np.maximum(count, 1.0), overall)
