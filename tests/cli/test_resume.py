"""A run that is interrupted, damaged and started again ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.cli.exit_status import ExitStatus

ROOT = Path(__file__).resolve().parents[2]
UNITS = 6
DEADLINE_S = 120.0

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def start(out: Path, function: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.cli.stub_command", "run", "stub.yaml"]
    options = ["--out", str(out), "--master", "local[1]"]
    options += ["--unit-function", f"tests.stub_model:{function}"]
    return subprocess.Popen(
        [*command, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finished_units(out: Path) -> list[Path]:
    return sorted(out.glob("units/*/unit.json"))


def wait_for_units(process: subprocess.Popen[str], out: Path, count: int) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while len(finished_units(out)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def test_ctrl_c_then_damage_then_resume(tmp_path: Path) -> None:
    out = tmp_path / "study"
    first = start(out, "run_slowly")
    wait_for_units(first, out, 3)
    os.killpg(first.pid, signal.SIGINT)
    said, complained = first.communicate(timeout=60)
    assert first.returncode == ExitStatus.INTERRUPTED, complained
    assert "units are done and kept" in complained
    assert "Traceback" not in said + complained

    kept = finished_units(out)
    assert 3 <= len(kept) < UNITS
    facts = kept[0].parent / "moments.parquet"
    facts.write_bytes(facts.read_bytes()[:-20])
    half_written = out / "units" / ".writing-abc-1"
    half_written.mkdir()
    (half_written / "moments.parquet").write_bytes(b"PAR1")

    second = start(out, "run_unit")
    said, complained = second.communicate(timeout=DEADLINE_S)
    assert second.returncode == ExitStatus.FINE, complained
    assert f"{len(kept) - 1} units reused" in said
    assert not half_written.exists()
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["units"] == {"done": UNITS, "reused": len(kept) - 1, "failed": 0}
    summary = json.loads((out / "summary.json").read_text())
    assert {row["replications"] for row in summary["rows"]} == {2}


def test_a_killed_run_leaves_whole_units_and_frees_the_folder(tmp_path: Path) -> None:
    out = tmp_path / "study"
    process = start(out, "run_slowly")
    wait_for_units(process, out, 2)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    for unit in finished_units(out):
        assert (unit.parent / "counter.parquet").is_file()
    second = start(out, "run_unit")
    _, complained = second.communicate(timeout=DEADLINE_S)
    assert second.returncode == ExitStatus.FINE, complained
