"""``run``: the scenario is checked, then the study is run."""

from __future__ import annotations

import time

from analysis.cli.study_app import RunCommand
from analysis.study.load import load_study
from analysis.terminal.console import words_aside
from analysis.terminal.streams import finished_unread


def run_command(request: RunCommand) -> int:
    """Runs a study; returns the exit status."""
    begun_s = time.perf_counter()
    with words_aside(when=request.as_json), finished_unread():
        study = load_study(request.file, request.overrides, request.seed, request.replications)
        # Takes two CPU seconds to import: a mistake in the scenario need not wait for it.
        from analysis.cli.study_run import carry_out

        return carry_out(request, study, begun_s)
