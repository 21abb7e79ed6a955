"""How many windows of a finished unit are warm-up, and whether the unit could carry its load.

If the scenario gives the length of the warm-up, that holds. Otherwise throughput and mean lock
latency are both looked at, and the later of the two cuts holds: a lock table settles sooner than
the regions' logs. Done on the worker, so that no series travels to the driver.

A scenario in which something happens at a fixed time has no steady state: its averages are over a
course of events (a terminating simulation). It is not judged, and a warm-up is only looked for
before the first such event.

Source: Law, Simulation Modeling and Analysis, 5th ed., 9.4 (terminating simulations).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.pipeline.aggregate import read_facts
from analysis.statistics.saturation import Array, UnitCourse, Verdict, judge
from analysis.statistics.warmup import Cut, mser_cut
from sim.record.facts import COUNTER, MOMENTS
from sim.scenario import Scenario
from sim.scenario.schema.operations import Operation, Timed
from sim.scenario.schema.run import Run


class JudgedUnit(NamedTuple):
    """What is left out of a unit's figures, and whether they can be trusted."""

    warmup_windows: int
    verdict: Verdict
    reason: str


def judged_unit(folder: Path, scenario: Scenario, simulated_ns: int) -> JudgedUnit:
    """Returns the cut and the verdict of a unit.

    Args:
        folder: where its facts lie.
        scenario: what was run.
        simulated_ns: how long; a last window that it fills only in part is not looked at.
    """
    windows = simulated_ns // scenario.run.window_ns
    counters = _Counters(folder, windows)
    committed = counters.total("txns")
    course = UnitCourse(
        begun=counters.total("txns_started"),
        ended=committed + counters.total("txn_aborts"),
        committed=committed,
        latency=_mean_latency(folder, windows),
    )
    fixed_ns = first_fixed_ns(scenario.operations)
    cut = _cut(course, scenario.run, fixed_ns)
    if fixed_ns is not None:
        said = f"not judged: an average over what happens at fixed times, from {fixed_ns / 1e9:g} s"
        return JudgedUnit(cut.observations, Verdict.STABLE, said)
    busy = counters.busy_shares(cut.observations)
    found = judge(course, cut.observations, busy, settled=cut.settled)
    return JudgedUnit(cut.observations, found.verdict, found.reason)


def first_fixed_ns(operations: Sequence[Operation]) -> int | None:
    """Returns when the first operation with an ``at`` is carried out; None without one."""
    times = [each.at_ns for each in operations if isinstance(each, Timed)]
    return min((at_ns for at_ns in times if at_ns is not None), default=None)


def _cut(course: UnitCourse, run: Run, until_ns: int | None) -> Cut:
    """Returns the cut in windows; ``settled`` is False where it was said, not found."""
    windows = len(course.latency)
    if run.warmup_ns is not None:
        return Cut(min(-(-run.warmup_ns // run.window_ns), max(windows - 1, 0)), settled=False)
    end = windows if until_ns is None else min(until_ns // run.window_ns, windows)
    cuts = [mser_cut(course.committed[:end]), mser_cut(course.latency[:end])]
    return Cut(max(cut.observations for cut in cuts), all(cut.settled for cut in cuts))


class _Counters:
    """The counters of a unit by window."""

    def __init__(self, folder: Path, windows: int) -> None:
        self._facts = read_facts(folder, COUNTER)
        self._windows = windows

    def total(self, metric: str) -> Array:
        """Returns growth by window over all classes; zeros if there is no such counter."""
        rows = self._rows(metric)
        return _by_window(rows, "value", self._windows)

    def busy_shares(self, start: int) -> dict[str, float]:
        """Returns busy time over capacity of each station from a window on."""
        busy, capacity = self._by_class("busy_ns", start), self._by_class("capacity_ns", start)
        return {name: busy.get(name, 0) / of for name, of in capacity.items() if of > 0}

    def _by_class(self, metric: str, start: int) -> dict[str, int]:
        rows = self._rows(metric)
        rows = rows.filter(pc.greater_equal(rows["window"], start))
        summed = rows.group_by("class").aggregate([("value", "sum")])
        pairs = zip(summed["class"].to_pylist(), summed["value_sum"].to_pylist(), strict=True)
        return dict(sorted(pairs))

    def _rows(self, metric: str) -> pa.Table:
        return self._facts.filter(pc.equal(self._facts["metric"], metric))


def _mean_latency(folder: Path, windows: int) -> Array:
    """Mean lock latency by window; a window without a lock has the mean of all."""
    facts = read_facts(folder, MOMENTS)
    locks = facts.filter(pc.equal(facts["metric"], "lock_latency"))
    total, count = _by_window(locks, "sum", windows), _by_window(locks, "count", windows)
    overall = total.sum() / count.sum() if count.sum() else 0.0
    return np.where(count > 0, total / np.maximum(count, 1.0), overall)


def _by_window(rows: pa.Table, column: str, windows: int) -> Array:
    window, weights = rows["window"].to_numpy(), rows[column].to_numpy()
    return np.bincount(window, weights=weights, minlength=windows)[:windows].astype(np.float64)
