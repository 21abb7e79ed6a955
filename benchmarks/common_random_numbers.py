"""What shared random numbers buy: variance of a paired ratio against that under independent seeds.

Both variants of a scenario run with the same seed, replication by replication. The variance of
log(variant / baseline) over the pairs is compared with var(log variant) + var(log baseline), which
it would be if the two had nothing in common. A factor f means that pairs reach with n replications
what independent seeds reach with f n. It is an estimate of a ratio of variances: with 30
replications its interval spans a factor of three or so, as printed.

``limit`` is the factor that lock latency would reach if whatever both variants do had the very same
luck in both: then they differ by the wait for a store poller alone, which locks in memory do not
have, and whose variance no draw can share. It takes the time of the other stations from the variant
and the wait from the baseline.

Run it with ``python -m benchmarks.common_random_numbers [--replications 30] [CASE ...]``.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.histogram import value_at
from analysis.study.load import load_study
from sim.record.facts import COUNTER, HISTOGRAM, MOMENTS, Columns
from sim.scenario.resolved import Scenario
from sim.simulation import run_unit
from sim.units import NS_PER_MS, NS_PER_S

_SCENARIOS: Final = Path(__file__).parent.parent / "scenarios"
_BASELINE, _VARIANT = "pipelined", "in_memory"
_PROCESSES: Final = 2
_RESAMPLES: Final = 4000
_FEWEST: Final = 10
METRICS: Final = ("lock latency mean", "lock latency p99", "bytes per txn", "throughput")
_MEAN: Final = METRICS.index("lock latency mean")
_WAIT: Final = len(METRICS)
"""Where the mean wait of a lock request for a store poller is, after the metrics."""


class Case(NamedTuple):
    """A scenario, shortened."""

    file: str
    overrides: tuple[str, ...]


CASES: Final = {
    "rfc77, 50 threads": Case("rfc77", ("run.warmup=500ms", "run.measure=1s")),
    "quickstart, 20 threads": Case("quickstart", ("run.warmup=500ms", "run.measure=1s")),
    "open_loop, 60/s": Case(
        "open_loop", ("workload.rate=60/s", "run.warmup=500ms", "run.measure=4s")
    ),
    "open_loop, 300/s": Case(
        "open_loop", ("workload.rate=300/s", "run.warmup=500ms", "run.measure=2s")
    ),
    "open_loop, 1200/s": Case(
        "open_loop", ("workload.rate=1200/s", "run.warmup=500ms", "run.measure=1s")
    ),
    "open_loop, 1800/s": Case(
        "open_loop", ("workload.rate=1800/s", "run.warmup=500ms", "run.measure=1s")
    ),
    "leader_transfer, 300/s": Case(
        "leader_transfer",
        ("sweep.grid.operations.transfers.rate=[5/s]", "run.warmup=500ms", "run.measure=3s"),
    ),
}


class Gain(NamedTuple):
    """By what factor pairing makes the variance of a log ratio smaller, with its interval."""

    factor: float
    low: float
    high: float
    correlation: float
    """Of the logarithms of the two variants; the factor is 1 / (1 - it) if both vary alike."""


class Totals:
    """A sink that sums facts up over the windows after the warm-up."""

    def __init__(self, scenario: Scenario) -> None:
        run = scenario.run
        assert run.warmup_ns is not None, "a benchmark's warm-up is a time"
        self._first = run.warmup_ns // run.window_ns
        self._measured_s = run.measure_ns / NS_PER_S
        self._sums: Counter[str] = Counter()
        self._buckets: Counter[int] = Counter()

    def reached(self, now_ns: int) -> None:
        """Does nothing."""

    def write(self, table: str, columns: Columns) -> None:
        """Takes rows of any table."""
        rows = zip(*columns.values(), strict=True)
        kept = (row for row in rows if int(row[0]) >= self._first)
        if table == MOMENTS:
            for _, metric, _, count, total, _ in kept:
                self._sums[f"{metric} count"] += int(count)
                self._sums[str(metric)] += int(total)
        elif table == COUNTER:
            for _, metric, class_, value in kept:
                self._sums[str(metric)] += int(value)
                self._sums[f"{metric} {str(class_).rpartition('/')[2]}"] += int(value)
        elif table == HISTOGRAM:
            for _, metric, _, bucket, count in kept:
                if metric == "lock_latency":
                    self._buckets[int(bucket)] += int(count)

    def values(self) -> list[float]:
        """Returns the unit's ``METRICS``, and the wait at ``_WAIT``: ms, ms, bytes, 1/s, ms."""
        sums = self._sums
        locks = sums["lock_latency count"]
        return [
            sums["lock_latency"] / locks / NS_PER_MS,
            value_at(0.99 * self._buckets.total(), self._buckets) / NS_PER_MS,
            sums["disk_write_bytes"] / sums["txns"],
            sums["txns"] / self._measured_s,
            sums["lock_station_ns propose"] / locks / NS_PER_MS,
        ]


def measure(name: str, replications: int, overrides: Sequence[str] = ()) -> NDArray[np.float64]:
    """Runs both variants of a case; returns shape (variants, replications, values)."""
    jobs = [
        (name, variant, replication, tuple(overrides))
        for replication, variant in product(range(replications), (_BASELINE, _VARIANT))
    ]
    with multiprocessing.get_context("spawn").Pool(_PROCESSES) as pool:
        values = pool.starmap(_run_unit, jobs, chunksize=1)
    table = np.array(values).reshape(replications, 2, _WAIT + 1)
    return table.transpose(1, 0, 2)


def _run_unit(name: str, variant: str, replication: int, overrides: Sequence[str]) -> list[float]:
    case = CASES[name]
    chosen = ["run.checks=false", *case.overrides, *overrides]
    study = load_study(_SCENARIOS / f"{case.file}.yaml", chosen)
    scenario = study.scenario(study.points[0], variant)
    totals = Totals(scenario)
    run_unit(scenario, replication, totals)
    return totals.values()


def gain(baseline: NDArray[np.float64], variant: NDArray[np.float64]) -> Gain:
    """Returns what pairing gains for one metric; the interval is a bootstrap over pairs, 95 %.

    Args:
        baseline: positive values, shape (replications,).
        variant: the same replications of the other variant.
    """
    logs = np.log(np.stack([baseline, variant]))
    draws = np.random.default_rng(1).integers(logs.shape[1], size=(_RESAMPLES, logs.shape[1]))
    factors = _factor(logs[:, draws])
    low, high = np.quantile(factors, (0.025, 0.975), method="nearest")
    correlation = float(np.corrcoef(logs)[0, 1])
    return Gain(float(_factor(logs)), float(low), float(high), correlation)


def limit(table: NDArray[np.float64]) -> float:
    """Returns the factor of mean lock latency if both variants shared all that they have in common.

    Args:
        table: what ``measure`` returns.
    """
    shared = table[1, :, _MEAN]
    return gain(shared + table[0, :, _WAIT], shared).factor


def _factor(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns independent over paired variance; shape (2, ..., replications) to (...,).

    Infinite where all pairs have the same ratio, as open loops can have of their throughput.
    """
    apart = logs.var(axis=-1, ddof=1).sum(axis=0)
    paired = (logs[1] - logs[0]).var(axis=-1, ddof=1)
    with np.errstate(divide="ignore"):
        factor: NDArray[np.float64] = apart / paired
    return factor


def main() -> None:
    """Prints a row a case and metric."""
    parser = argparse.ArgumentParser(description=__doc__, prog="common_random_numbers")
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--replications", type=int, default=30)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    if given.replications < _FEWEST:
        parser.error(f"--replications: a variance needs {_FEWEST} or more")
    unknown = set(given.cases) - set(CASES)
    if unknown:
        parser.error(f"no such case: {min(unknown)}; there are: {', '.join(CASES)}")
    print("| case | metric | pipelined | in memory | correlation | factor | 95 % | limit |")
    print("|---|---|---|---|---|---|---|---|")
    for name in given.cases:
        table = measure(name, given.replications, given.set)
        for index, metric in enumerate(METRICS):
            baseline, variant = table[:, :, index]
            most = f"{limit(table):.2f}" if index == _MEAN else ""
            print(_row(name, metric, baseline, variant) + f" {most} |", flush=True)


def _row(
    name: str, metric: str, baseline: NDArray[np.float64], variant: NDArray[np.float64]
) -> str:
    sizes = [
        f"{v.mean():.4g} ± {100 * v.std(ddof=1) / v.mean():.2f} %" for v in (baseline, variant)
    ]
    of = gain(baseline, variant)
    return (
        f"| {name} | {metric} | {' | '.join(sizes)} | {of.correlation:+.2f} "
        f"| {of.factor:.3g} | {of.low:.3g} to {of.high:.3g} |"
    )


if __name__ == "__main__":
    main()
