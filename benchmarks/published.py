"""The published cases beside the model, and the fit of its costs to them.

``python -m benchmarks published`` prints theirs, ours and how busy each station is; ``--fit`` fits
the free costs of CPU and prints them with standard errors and correlations; ``--without tpcc``
leaves one workload out of the fit and predicts it, ``--cross`` each in turn.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from statistics import fmean

from analysis.pipeline.compiled_model import library
from analysis.program import cores
from benchmarks.published_cases import (
    REQUESTS,
    STATIONS,
    Outcome,
    Overrides,
    run_cases,
)
from benchmarks.published_fit import (
    GUESSES_US,
    Constants,
    Fitted,
    Start,
    fit,
    own_constants,
    residuals,
)
from sim.compiled import VARIABLE

WORKLOADS = ("tpcc", "point_select", "update")


def print_outcomes(outcomes: Sequence[Outcome], without: str | None) -> None:
    """Prints a line a figure, then how busy the stations were and the mean errors."""
    print_figures(outcomes, without)
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


def print_figures(outcomes: Sequence[Outcome], without: str | None) -> None:
    """Prints a line a figure."""
    print(f"{'case':22} {'figure':10} {'theirs':>10} {'ours':>10} {'error':>7}")
    for outcome in outcomes:
        predicted = "  predicted" if outcome.case.workload == without else ""
        for name, theirs in outcome.case.theirs.items():
            ours = outcome.ours[name]
            print(
                f"{outcome.case.name:22} {name:10} {theirs.value:10.4g} {ours:10.4g} "
                f"{ours / theirs.value - 1:+7.1%}{predicted}"
            )


def _print_mean_errors(words: str, outcomes: Sequence[Outcome]) -> None:
    for what, names in (
        ("throughput", ("txn_per_s", "tpmc")),
        ("p95", ("p95_ms",)),
        ("idle", ("mean_ms", *(f"{kind}_service_ms" for kind in REQUESTS))),
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
    print(f"\n{'constant':16} {'guess':>7} {'before':>7} {'fitted':>7} {'error':>6}   correlations")
    for place, name in enumerate(GUESSES_US):
        row = " ".join(f"{each:+.2f}" for each in fitted.correlations[place, : place + 1])
        print(
            f"{name:16} {GUESSES_US[name]:4.0f} us {before[name]:4.0f} us "
            f"{fitted.constants[name]:4.1f} us {fitted.errors[name]:6.0%}   {row}"
        )
    print(f"of which the figures determine {fitted.determined:.1f}\n")


def cross_validate(overrides: Overrides, rounds: int, workers: int) -> None:
    """Prints what each workload is predicted to do by a fit to the others.

    Each fit begins at the guesses: the model's own costs know the workload that is left out.
    """
    predicted: list[Outcome] = []
    start = Start.at(GUESSES_US, overrides, workers)
    for without in WORKLOADS:
        fitted = fit(overrides, without, rounds, workers, start)
        print_fitted(fitted, GUESSES_US)
        some = [each for each in fitted.outcomes if each.case.workload == without]
        print_figures(some, without)
        predicted += some
    print()
    _print_mean_errors("each workload predicted by the others", predicted)


def main() -> None:
    """Prints the table, after a fit if one is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks published", description=__doc__)
    parser.add_argument("--fit", action="store_true", help="fit the free costs first")
    parser.add_argument("--without", choices=WORKLOADS)
    parser.add_argument("--cross", action="store_true", help="leave out each workload in turn")
    parser.add_argument("--rounds", type=int, default=3, help="of the fit")
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--set", action="append", default=[], help="what is not fitted")
    said = parser.parse_args()
    overrides = tuple(said.set)
    os.environ[VARIABLE] = str(library() or "")  # for the processes that run the cases
    if said.cross:
        cross_validate(overrides, said.rounds, said.workers)
        return
    if said.fit or said.without:
        fitted = fit(overrides, said.without, said.rounds, said.workers)
        print_fitted(fitted, own_constants(overrides))
        outcomes = fitted.outcomes
    else:
        outcomes = run_cases(overrides, said.workers)
    print_outcomes(outcomes, said.without)
    rest = residuals(outcomes, said.without)
    print(f"chi2 {rest @ rest:.1f} of {len(rest)} figures")


if __name__ == "__main__":
    main()
