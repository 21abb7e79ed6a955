"""``run_sim.py`` with the stub's study in place of a file, for tests that need a process.

No figures of points are drawn: these tests ask what is run, kept and summed up.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import analysis.pipeline.unit_task
import analysis.study.finished_study
import analysis.study.load
from analysis.cli.app import main
from analysis.study.study import Study
from tests.cli.undrawn import draw_no_points
from tests.stub_model import run_settings, stub_study


def load_stub(*_: Any, **__: Any) -> Study:
    """Returns a study of six units, whatever the file."""
    return stub_study(run=run_settings(measure_ns=300_000_000, replications=2))


if __name__ == "__main__":
    # A shell's background jobs ignore Ctrl-C, and so does what they start: tests press it anyway.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for loads in (analysis.study.load, analysis.study.finished_study):
        vars(loads)["load_study"] = load_stub
    vars(analysis.pipeline.unit_task)["MODEL"] = os.environ["STUB_FUNCTION"]
    draw_no_points()
    sys.exit(main())
