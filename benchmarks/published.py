"""The published cases beside the model, and the fit of its costs to them.

``python -m benchmarks published`` prints theirs, ours and how busy each station is; ``--fit`` fits
the free costs of CPU and prints them with standard errors and correlations; ``--without tpcc``
leaves one workload out of the fit and predicts it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from benchmarks.published_cases import (
    STATIONS,
    Outcome,
    Setting,
    default_workers,
    run_cases,
)
from benchmarks.published_fit import FREE, Constants, Fitted, begun_with, fit, residuals

_UNITS = {"txn_per_s": "1/s", "tpmc": "1/min", "p95_ms": "ms", "mean_ms": "ms", "lock_ms": "ms"}


def print_outcomes(outcomes: Sequence[Outcome], without: str | None) -> None:
    """Prints a line a figure, then how busy the stations were and the mean errors."""
    print(f"{'case':22} {'figure':10} {'theirs':>10} {'ours':>10} {'error':>7}")
    for outcome in outcomes:
        predicted = "  predicted" if outcome.case.workload == without else ""
        for name, theirs in outcome.case.theirs.items():
            ours = outcome.ours[name]
            print(
                f"{outcome.case.name:22} {name:10} {theirs.value:10.4g} {ours:10.4g} "
                f"{ours / theirs.value - 1:+7.1%}{predicted}"
            )
    print(f"\n{'busy, %':22} " + " ".join(f"{name:>12}" for name in STATIONS))
    for outcome in outcomes:
        shares = " ".join(f"{100 * outcome.busy[name]:12.0f}" for name in STATIONS)
        print(f"{outcome.case.name:22} {shares}")
    print()
    for words, some in (
        ("fitted" if without else "all", [o for o in outcomes if o.case.workload != without]),
        ("predicted", [o for o in outcomes if o.case.workload == without]),
    ):
        _print_mean_errors(words, some)


def _print_mean_errors(words: str, outcomes: Sequence[Outcome]) -> None:
    for what, names in (
        ("throughput", ("txn_per_s", "tpmc")),
        ("p95", ("p95_ms",)),
        ("idle", ("mean_ms", "lock_ms")),
    ):
        errors = [
            abs(outcome.ours[name] / theirs.value - 1)
            for outcome in outcomes
            for name, theirs in outcome.case.theirs.items()
            if name in names
        ]
        if errors:
            print(f"mean absolute error, {words}, {what}: {fmean(errors):.1%}")


def print_fitted(fitted: Fitted, before: Constants) -> None:
    """Prints constants with standard errors in percent, and correlations."""
    print(f"\n{'constant':18} {'before':>9} {'fitted':>9} {'error':>7}   correlations")
    for place, name in enumerate(FREE):
        error = fitted.errors[name]
        said = f"{error:7.0%}" if np.isfinite(error) else "unknown"
        row = " ".join(f"{each:+.2f}" for each in fitted.correlations[place, : place + 1])
        ours_us = fitted.constants[name] / 1_000
        print(f"{name:18} {before[name] / 1_000:6.1f} us {ours_us:6.1f} us {said}   {row}")
    print()


def main() -> None:
    """Prints the table, after a fit if one is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks published", description=__doc__)
    parser.add_argument("--fit", action="store_true", help="fit the free costs first")
    parser.add_argument("--without", choices=("tpcc", "point_select", "update"))
    parser.add_argument("--steps", type=int, default=4, help="of the fit")
    parser.add_argument("--workers", type=int, default=default_workers())
    parser.add_argument("--scale", type=float, default=1.0, help="of all windows, to try it")
    parser.add_argument("--set", action="append", default=[], help="what is not fitted")
    said = parser.parse_args()
    setting = Setting(tuple(said.set), said.scale)
    if said.fit or said.without:
        fitted = fit(setting, said.without, said.steps, said.workers)
        print_fitted(fitted, begun_with(setting))
        outcomes = fitted.outcomes
    else:
        (outcomes,) = run_cases([setting], said.workers)
    print_outcomes(outcomes, said.without)
    rest = residuals(outcomes, said.without)
    print(f"chi2 {rest @ rest:.1f} of {len(rest)} figures")


if __name__ == "__main__":
    main()
