"""``fuzz``: random clusters from seeds, with all checkers on; what fails is shrunk and shown.

The output is the same for any number of processes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.cli.failures import ExitStatus
from analysis.cli.model_app import FuzzCommand
from analysis.program import command, cores
from analysis.terminal.console import messages, output, print_json, say, words_aside
from sim.swarm import fuzz

SHRUNK = 3
"""Failures that are made smaller and shown whole; the others get a line each."""


@dataclass(slots=True)
class _Sums:
    runs: int = 0
    committed: int = 0
    aborted: int = 0
    simulated_ns: int = 0
    failed: dict[int, Sequence[str]] = field(default_factory=dict)
    """Violations by seed."""
    marks: dict[str, int] = field(default_factory=dict)


def fuzz_command(request: FuzzCommand) -> int:
    """Runs seeds; returns the exit status."""
    with words_aside(when=request.as_json):
        return _fuzz(request)


def _fuzz(request: FuzzCommand) -> int:
    begun_s = time.perf_counter()
    sums = _Sums()
    seeds = 100 if request.seeds is None and request.minutes is None else request.seeds
    most = cores() if seeds is None else min(cores(), seeds)
    workers = min(request.workers or most, most)
    for outcome in fuzz.outcomes(request.start, seeds, workers, tuple(request.ablate or ())):
        _add(sums, outcome)
        if outcome.violations:
            _tell(outcome, request)
        elapsed_s = time.perf_counter() - begun_s
        if request.minutes is not None and elapsed_s > request.minutes * 60:
            break
    for line in fuzz.shown(sums.marks):
        say(output(), line)
    for seed in list(sums.failed)[:SHRUNK]:
        _show_smallest(seed, request)
    missing = fuzz.never_hit(sums.marks)
    say(
        output(),
        f"{'FAILED' if sums.failed else 'PASSED'} {sums.runs} seeds from {request.start}: "
        f"{len(sums.failed)} failed; {sums.committed} transactions committed, {sums.aborted} "
        f"aborted, {sums.simulated_ns / 1e9:.0f} s simulated; "
        f"{len(sums.marks)} of {len(sums.marks) + len(missing)} marks hit",
    )
    if request.as_json:
        print_json(_document(sums, missing))
    say(messages(), f"took {time.perf_counter() - begun_s:.0f} s in {workers} processes")
    if request.cover and missing:
        say(output(), f"never hit: {', '.join(missing)}")
        return ExitStatus.CLAIM_FAILED
    return ExitStatus.CLAIM_FAILED if sums.failed else ExitStatus.FINE


def _document(sums: _Sums, never_hit: Sequence[str]) -> dict[str, Any]:
    return {
        "seeds": sums.runs,
        "failed": [
            {"seed": seed, "violations": list(violations)}
            for seed, violations in sums.failed.items()
        ],
        "committed": sums.committed,
        "aborted": sums.aborted,
        "simulated_s": sums.simulated_ns / 1e9,
        "marks": dict(sorted(sums.marks.items())),
        "never_hit": list(never_hit),
    }


def _add(sums: _Sums, outcome: fuzz.Outcome) -> None:
    sums.runs += 1
    sums.committed += outcome.committed
    sums.aborted += outcome.aborted
    sums.simulated_ns += outcome.simulated_ns
    fuzz.add_hits(sums.marks, outcome.marks)
    if outcome.violations:
        sums.failed[outcome.seed] = outcome.violations


def _replay(seed: int, request: FuzzCommand) -> str:
    ablations = [word for name in request.ablate or () for word in ("--ablate", name)]
    return command("fuzz", "--start", seed, "--seeds", 1, *ablations)


def _tell(outcome: fuzz.Outcome, request: FuzzCommand) -> None:
    more = len(outcome.violations) - 1
    others = f" (and {more} more)" if more else ""
    say(output(), f"seed {outcome.seed}: {outcome.violations[0]}{others}")
    say(output(), f"  replay: {_replay(outcome.seed, request)}")


def _show_smallest(seed: int, request: FuzzCommand) -> None:
    recipe, outcome = fuzz.smallest_failure(seed, tuple(request.ablate or ()))
    say(output(), f"seed {seed}, shrunk:")
    for line in recipe.splitlines():
        say(output(), f"  {line}")
    for violation in outcome.violations:
        say(output(), f"  {violation}")
