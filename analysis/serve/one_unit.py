"""Simulates one unit that the explorer asks for, named on standard input as JSON."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.load import load_study
from analysis.study.units import Unit


def main() -> None:
    """Runs the unit; what comes of it is its folder, or a file that says why there is none."""
    signal.signal(signal.SIGTERM, _leave)
    asked = json.load(sys.stdin)
    study = load_study(Path(asked["file"]))
    point, variant, replication = asked["point"], asked["variant"], asked["replication"]
    unit = Unit(study.config_hash(point, variant, replication), 0, variant, replication)
    run_unit_task(UnitJob(study, asked["units_dir"]), Attempt(unit, point))


def _leave(*_: object) -> None:
    """Ends by an exception, so that a folder that is half written is removed."""
    sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    main()
