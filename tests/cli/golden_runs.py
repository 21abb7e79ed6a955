"""The small golden study, cut short, through the real command: in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from analysis.cli.exit_status import ExitStatus
from tests.cli.stub_runs import DEADLINE_S, ROOT

GOLDEN = ROOT / "tests" / "golden" / "tpcc_small.yaml"
SHORT = ("--set", "run.measure=150ms", "--replications", "2")
DRAWN = (str(ROOT / "run_sim.py"),)
UNDRAWN = ("-m", "tests.cli.undrawn")


def run_golden(out: Path, master: str, command: tuple[str, ...]) -> str:
    """Runs the study into a folder.

    Args:
        out: the study's folder; whole units that lie there are reused.
        master: of Spark.
        command: ``DRAWN`` or ``UNDRAWN``.

    Returns:
        What it has said.
    """
    words = ["run", str(GOLDEN), "--out", str(out), "--master", master, *SHORT]
    result = subprocess.run(
        [sys.executable, *command, *words],
        cwd=ROOT,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert result.returncode == ExitStatus.FINE, result.stderr
    return result.stdout
