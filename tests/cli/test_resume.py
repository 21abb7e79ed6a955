"""A run that is interrupted, killed or damaged and started again ends as if nothing had happened.

Each is compared with a run that nothing happened to, on one core and under another hash seed; what
was left of the first is summed up with units of this process.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from tests.cli.stub_command import replaced
from tests.cli.stub_runs import (
    DEADLINE_S,
    UNITS,
    finish,
    finished_units,
    rows,
    run_here,
    start,
    wait_for_units,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.usefixtures("shared_session")
def test_a_killed_run_then_ctrl_c_then_damage_then_resume(
    tmp_path: Path, undisturbed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "study"
    killed = start(out, "stub_model:run_two_units", PYTHONHASHSEED="1")
    wait_for_units(killed, out, 2)
    assert str(killed.pid) in (out / ".lock").read_text()
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=DEADLINE_S)
    for unit in finished_units(out):
        assert (unit.parent / "counter.parquet").is_file()

    stopped = start(out, "stub_model:run_first_round", PYTHONHASHSEED="2", master="local[2]")
    # The third is its own, so that it is at work, and has not just begun, when it is interrupted.
    wait_for_units(stopped, out, 3)
    os.killpg(stopped.pid, signal.SIGINT)
    status, _, complained = finish(stopped)
    assert status == ExitStatus.INTERRUPTED, complained
    assert "of 6 units done and kept" in complained

    kept = finished_units(out)
    assert 3 <= len(kept) < UNITS
    facts = kept[0].parent / "moments.parquet"
    facts.write_bytes(facts.read_bytes()[:-20])
    half_written = out / "units" / ".writing-abc-1"
    half_written.mkdir()
    (half_written / "moments.parquet").write_bytes(b"PAR1")

    run_here(out)
    assert f"{len(kept) - 1} units reused" in capsys.readouterr().out
    assert not half_written.exists()
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["units"] == {"done": UNITS, "reused": len(kept) - 1, "failed": 0}
    assert rows(out) == undisturbed


def test_ctrl_c_tells_what_is_kept_even_before_the_first_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    for name, value in replaced("stub_model:run_unit").items():
        monkeypatch.setattr(name, value)
    monkeypatch.setattr("analysis.running.run_study.write_text_whole", ctrl_c)
    status = main(["run", "stub.yaml", "--out", str(tmp_path / "study")])
    assert status == ExitStatus.INTERRUPTED
    assert "interrupted: 0 units done and kept" in capsys.readouterr().err
