"""The small golden study, cut short, through the real command: in a process of its own, or here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from tests.cli.stub_runs import DEADLINE_S, ROOT

GOLDEN = ROOT / "tests" / "golden" / "tpcc_small.yaml"
SHORT = ("--set", "run.measure=150ms", "--replications", "2")


def run_golden_here(out: Path) -> None:
    """Runs the study in this process, which shares a session, without figures of points."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analysis.pipeline.study_tables.FIGURE_POINTS", 0)
        assert main(["run", str(GOLDEN), "--out", str(out), *SHORT]) == ExitStatus.FINE


def run_golden(out: Path, master: str, hash_seed: str) -> str:
    """Runs the study into a folder; whole units that lie there are reused.

    Returns:
        What it has said.
    """
    words = ["run", str(GOLDEN), "--out", str(out), "--master", master, *SHORT]
    result = subprocess.run(
        [sys.executable, str(ROOT / "run_sim.py"), *words],
        cwd=ROOT,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert result.returncode == ExitStatus.FINE, result.stderr
    return result.stdout
