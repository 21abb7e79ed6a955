"""What travels to executors is enough to resolve and run a unit there."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.pipeline.session import write_source_zip
from analysis.study.load import load_study

ROOT = Path(__file__).resolve().parents[2]
SWEPT = ROOT / "scenarios" / "capacity_gp3_vs_nvme.yaml"
RESOLVE = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
import sim.simulation
import analysis.pipeline.run_units
with open("study", "rb") as file:
    study = pickle.load(file)
print(sim.__file__)
print(sorted({study.scenario(point, name).hardware.raft_disk.name
              for point in study.points for name in study.variants}))
"""


@pytest.mark.parametrize("path", ["pessim.zip", "./pessim.zip"])
def test_a_case_is_resolved_from_the_zip_alone(tmp_path: Path, path: str) -> None:
    write_source_zip(tmp_path)
    (tmp_path / "study").write_bytes(pickle.dumps(load_study(SWEPT)))
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        [sys.executable, "-c", RESOLVE, path], cwd=tmp_path, env=kept,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    where, seen = result.stdout.splitlines()
    assert "pessim.zip" in where
    assert len(seen.split(",")) > 1
