"""Is the run long enough, often enough repeated, and not asked for more than can be done?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from analysis.lint.scenario_warning import LintedCase, ScenarioWarning, duration
from analysis.statistics.amounts import count
from analysis.statistics.warmup import BATCH, FEWEST_BATCHES, FEWEST_WINDOWS
from analysis.study.run import FEW_REPLICATIONS, FIRST_ROUND
from analysis.study.study import Study

FEWEST_WITH_PRECISION: Final = 3
FAR_TOO_MUCH: Final = 1.5
"""Utilisation from which the estimate, good to a quarter, leaves no doubt; below it a study may
want to see where a cluster gives in."""


def repetition(study: Study) -> Iterator[ScenarioWarning]:
    """Yields what too few replications cannot tell."""
    key, number = "run.replications", study.replications
    values = number * study.run.batches
    if values < 2:
        yield ScenarioWarning(key, f"one replication has no interval; write {FEW_REPLICATIONS}")
    elif study.precision is not None and values < FEWEST_WITH_PRECISION:
        yield ScenarioWarning(
            key,
            f"rounds that begin with {number} replications stop too early, and their intervals "
            f"cover too little; write {FIRST_ROUND}",
        )


def warmup_windows(case: LintedCase) -> Iterator[ScenarioWarning]:
    """Yields a search for a warm-up in too few windows."""
    run = case.scenario.run
    windows, wanted = case.end_ns // run.window_ns, BATCH * FEWEST_BATCHES
    if run.warmup_ns is None and windows < wanted:
        yield ScenarioWarning(
            "run.warmup",
            f"auto has only {windows} windows of {duration(run.window_ns)} to look for it in, and "
            f"needs {wanted}; write a time, or run.window: {_window_for(case.end_ns, wanted)}",
        )


def judged_windows(case: LintedCase) -> Iterator[ScenarioWarning]:
    """Yields a run in which an overload or an outage may go unseen."""
    run = case.scenario.run
    windows = run.measure_ns // run.window_ns
    if windows < FEWEST_WINDOWS:
        said = count(windows, "window")
        yield ScenarioWarning(
            "run.measure",
            f"only {said} of {duration(run.window_ns)}, too few to judge "
            f"whether the cluster carries its load ({FEWEST_WINDOWS} are needed); lengthen it, or "
            f"write run.window: {_window_for(run.measure_ns, FEWEST_WINDOWS)}",
        )


def _window_for(length_ns: int, wanted: int) -> str:
    """Returns a round window of which a time has enough."""
    largest_ns = length_ns // wanted
    round_ns = 10 ** (len(str(largest_ns)) - 1)
    return duration(largest_ns // round_ns * round_ns)


def longest_transaction(case: LintedCase) -> Iterator[ScenarioWarning]:
    """Yields transactions that pause for longer than they are watched."""
    measure_ns = case.scenario.run.measure_ns
    for transaction in case.scenario.workload.transactions:
        pauses_ns = sum(statement.pause_ns for statement in transaction.statements)
        if pauses_ns >= measure_ns:
            yield ScenarioWarning(
                "run.measure",
                f"{duration(measure_ns)} is shorter than the pauses of transaction "
                f"{transaction.name} ({duration(pauses_ns)}), so hardly any is measured from "
                f"beginning to end; write {duration(10 * pauses_ns)}",
            )


def burst(case: LintedCase) -> Iterator[ScenarioWarning]:
    """Yields token buckets that outlast the run: their ceilings are never felt."""
    hardware = case.scenario.hardware
    for name, disk in (("raft", hardware.raft_disk), ("kv", hardware.kv_disk)):
        if disk is not None and disk.throttled and disk.burst_ns >= case.end_ns:
            yield ScenarioWarning(
                f"hardware.disk.{name}.burst",
                f"{duration(disk.burst_ns)} of burst budget outlast the run of "
                f"{duration(case.end_ns)}, so the limits hardly apply; lengthen run.measure",
            )


def beyond_capacity(cases: Iterable[LintedCase]) -> Iterator[ScenarioWarning]:
    """Yields a rate at which the first case that has the highest of all would only pile up work."""
    most = max(cases, key=lambda case: case.scenario.workload.rate_per_s or 0.0).scenario
    rate_per_s = most.workload.rate_per_s
    if rate_per_s is None:
        return
    from sim.estimate import estimate, has_estimate  # A closed loop begins without it.

    if not has_estimate(most):
        return
    busiest = estimate(most).busiest
    if busiest.used < FAR_TOO_MUCH:
        return
    percent = f"{100 * busiest.used:.0f} %"
    carried = float(f"{rate_per_s / busiest.used:.2g}")
    yield ScenarioWarning(
        "workload.rate",
        f"{busiest.name} would have to be {percent} busy: what arrives piles up, "
        f"and each unit takes long; about {carried:,.10g}/s is what it carries (explain says more)",
    )
