"""``run_sim.py`` with the stub's study in place of a file: in a process of its own, or in this one.

No figures of points are drawn: these tests ask what is run, kept and summed up.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import Any

from analysis.cli.app import main
from analysis.study.study import Study
from tests.stub_model import run_settings, stub_study


def load_stub(*_: Any, **__: Any) -> Study:
    """Returns a study of six units, whatever the file."""
    return stub_study(run=run_settings(measure_ns=300_000_000, replications=2))


def replaced(function: str) -> dict[str, object]:
    """Returns what stands in place of what, with a function of ``tests`` as the model."""
    return {
        "analysis.cli.run_command.load_study": load_stub,
        "analysis.study.finished_study.load_study": load_stub,
        "analysis.pipeline.unit_task.MODEL": f"tests.{function}",
        "analysis.pipeline.study_tables.FIGURE_POINTS": 0,
    }


if __name__ == "__main__":
    # A shell's background jobs ignore Ctrl-C, and so does what they start: tests press it anyway.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, value in replaced(os.environ["STUB_FUNCTION"]).items():
        module, _, attribute = name.rpartition(".")
        setattr(import_module(module), attribute, value)
    sys.exit(main())
