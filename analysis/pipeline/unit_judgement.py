"""How many windows of a finished unit are warm-up.

A scenario that says how long the warm-up is, is believed. Otherwise throughput and mean lock
latency are both looked at, and the later of the two cuts holds: a lock table settles sooner than
the regions' logs. Done on the worker, so that no series travels to the driver.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from analysis.statistics.saturation import Verdict
from analysis.statistics.warmup import Cut, mser_cut
from analysis.study.plan import ResolvedScenario, RunSettings
from sim.record.facts import COUNTER, MOMENTS

Series = NDArray[np.float64]


class JudgedUnit(NamedTuple):
    """What is left out of a unit's figures, and whether they can be believed."""

    warmup_windows: int
    verdict: Verdict
    reason: str


def judged_unit(folder: Path, scenario: ResolvedScenario, windows: int) -> JudgedUnit:
    """Returns the cut and the verdict of a unit whose facts lie in ``folder``."""
    cut = warmup_windows(folder, scenario.run, windows)
    verdict = Verdict.STABLE if cut.settled else Verdict.UNSETTLED
    return JudgedUnit(cut.observations, verdict, "" if cut.settled else "no warm-up was found")


def warmup_windows(folder: Path, run: RunSettings, windows: int) -> Cut:
    """Returns the cut in windows; ``settled`` is True when the scenario fixed it."""
    if run.warmup_ns is not None:
        return Cut(min(-(-run.warmup_ns // run.window_ns), max(windows - 1, 0)), settled=True)
    cuts = [mser_cut(_throughput(folder, windows)), mser_cut(_mean_latency(folder, windows))]
    return Cut(max(cut.observations for cut in cuts), all(cut.settled for cut in cuts))


def _throughput(folder: Path, windows: int) -> Series:
    facts = pq.read_table(folder / f"{COUNTER}.parquet")
    commits = facts.filter(pc.equal(facts["metric"], "txns"))
    return _by_window(commits["window"].to_numpy(), commits["value"].to_numpy(), windows)


def _mean_latency(folder: Path, windows: int) -> Series:
    """Mean lock latency by window; a window without a lock has the mean of all."""
    facts = pq.read_table(folder / f"{MOMENTS}.parquet")
    locks = facts.filter(pc.equal(facts["metric"], "lock_latency"))
    window = locks["window"].to_numpy()
    total = _by_window(window, locks["sum"].to_numpy(), windows)
    count = _by_window(window, locks["count"].to_numpy(), windows)
    overall = total.sum() / count.sum() if count.sum() else 0.0
    return np.where(count > 0, total / np.maximum(count, 1.0), overall)


def _by_window(window: NDArray[np.int64], weights: NDArray[np.int64], windows: int) -> Series:
    return np.bincount(window, weights=weights, minlength=windows)[:windows].astype(np.float64)
