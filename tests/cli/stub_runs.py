"""The stub's study as a command: in a process of its own, to be interrupted and killed, or here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from tests.cli.stub_command import replaced

ROOT = Path(__file__).resolve().parents[2]
UNITS = 6
DEADLINE_S = 400.0
"""Only a hang takes so long, even on a machine that is busy."""


def start(
    out: Path | str,
    function: str,
    *options: str,
    master: str = "local[1]",
    here: Path = ROOT,
    **environment: str,
) -> subprocess.Popen[str]:
    """Starts ``run`` in the folder ``here``, with a function of ``tests`` as the model."""
    command = [sys.executable, "-m", "tests.cli.stub_command", "run", "stub.yaml"]
    words = ["--out", str(out), "--master", master]
    return subprocess.Popen(
        [*command, *words, *options],
        cwd=here,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment | {"STUB_FUNCTION": function},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run_here(out: Path | str, function: str = "stub_model:run_unit") -> None:
    """Runs it in this process, which shares a session; it has to end well."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in replaced(function).items():
            patch.setattr(name, value)
        assert main(["run", "stub.yaml", "--out", str(out)]) == ExitStatus.FINE


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Returns exit status, output and messages."""
    said, complained = process.communicate(timeout=DEADLINE_S)
    assert "Traceback" not in said + complained, complained
    return process.returncode, said, complained


def finished_units(out: Path) -> list[Path]:
    """Returns the records of whole units."""
    return sorted(out.glob("units/*/unit.json"))


def wait_for_units(process: subprocess.Popen[str], out: Path, count: int) -> None:
    """Waits until the process has the folder, and so many units are whole, while it lives."""
    deadline_s = time.monotonic() + DEADLINE_S
    while not _has(process, out) or len(finished_units(out)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def _has(process: subprocess.Popen[str], out: Path) -> bool:
    lock = out / ".lock"
    return lock.is_file() and str(process.pid) in lock.read_text()


def rows(out: Path) -> str:
    """Returns every number of a summary as text, but not what it has cost."""
    summary = json.loads((out / "summary.json").read_text())
    return json.dumps([summary["rows"], summary["comparisons"]], indent=1)
