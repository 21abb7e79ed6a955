"""Runs one of the long measurements: ``python -m benchmarks NAME [its options]``.

The quick figures of the simulator's speed are ``run_sim.py bench``.
"""

from __future__ import annotations

import os
import sys
from typing import Final

STUDIES: Final = {
    "capacity_coverage": ("how often a capacity's interval holds the truth", "20 minutes"),
    "checks": ("CPU time that the checkers add to a unit", "half a minute"),
    "common_random_numbers": ("what shared random numbers save", "half an hour"),
    "coverage": ("how often printed intervals hold the truth; 12,000 units", "an hour"),
    "etcd": ("predictions beside a real etcd", "half a minute"),
    "etcd_costs": ("the CPU costs of etcd, from CPU seconds", "2 minutes"),
    "explain_errors": ("the estimate of explain beside the simulation", "2 minutes"),
    "false_alarms": ("how often a sound unit is called overloaded", "10 minutes"),
    "figures": ("every figure in the documents, written again where it is stale", "half an hour"),
    "file_systems": ("what file systems write for a sync; needs root", "10 minutes"),
    "goroutines": ("how unequally goroutines wait: Go's queues, one queue, the model", "a minute"),
    "memory": ("memory of a unit, and of one four times as long", "a minute"),
    "published": ("published throughputs beside the model; --fit fits its costs", "a minute"),
    "sequential_coverage": ("coverage when replications stop at a precision", "10 minutes"),
    "serve": (
        "the server's pages: an index of 10,000 studies, answers, a run watched",
        "2 minutes",
    ),
    "spark_overhead": ("Spark beside a process pool and beside one core", "20 minutes"),
    "two_trees": ("CPU of a unit over that in another checkout; OTHER is its folder", "a minute"),
    "ten_thousand": ("a study of 10,000 units: seconds and memory", "20 minutes"),
}
"""Name: what it measures, and about how long it takes on two cores."""

WITH_OPTIONS: Final = {
    "common_random_numbers", "coverage", "etcd", "figures", "published", "serve",
    "spark_overhead",
    "ten_thousand", "two_trees",
}  # fmt: skip
"""Those that read a command line of their own."""


def main() -> int:  # noqa: RET503 - a program that replaces this one does not return
    """Lists the studies, or runs one; 2 if there is none of that name."""
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in {"-h", "--help"}:
        print("Quick figures, under four minutes: python run_sim.py bench")
        print("Long studies: python -m benchmarks NAME [--help]")
        for study, (what, takes) in STUDIES.items():
            print(f"  {study:21}  {what} ({takes})")
        return 0
    if name not in STUDIES:
        print(f"no study {name!r}; there are: {', '.join(STUDIES)}", file=sys.stderr)
        return 2
    if sys.argv[2:] and name not in WITH_OPTIONS:
        what, takes = STUDIES[name]
        print(f"{name}: {what} ({takes}); it has no options")
        return 0 if sys.argv[2:] in (["-h"], ["--help"]) else 2
    # In this process's place, so that what stops this one stops the study.
    os.execv(sys.executable, [sys.executable, "-m", f"benchmarks.{name}", *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
