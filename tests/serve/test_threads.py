"""Arrow's pools of threads: none is started by what a page reads, since none would ever end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from tests.planned import plan_units
from tests.serve.made_studies import summed_up
from tests.stub_model import run_settings, stub_study

ROOT = Path(__file__).resolve().parents[2]
COUNTS = """
import sys
from pathlib import Path
import pyarrow.compute, pyarrow.parquet
from analysis.comparison.results import read_results
from analysis.running.early_figures import early_latency

def threads():
    return len(list(Path("/proc/self/task").iterdir()))

here, before = Path(sys.argv[1]), threads()
assert {call}
print(threads() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
@pytest.mark.parametrize(
    ("call", "of"),
    [("read_results(here)", "study"), ("early_latency(here, batches=1)", "unit")],
)
def test_what_a_page_reads_starts_no_thread(call: str, of: str, tmp_path: Path) -> None:
    folder = summed_up(tmp_path, "small")
    study = stub_study(run=run_settings(measure_ns=300_000_000))
    unit = plan_units(study)[0]
    run_unit_task(
        UnitJob(study, str(tmp_path / "units"), "tests.stub_model:run_unit"), Attempt(unit, {})
    )
    place = {"study": folder, "unit": tmp_path / "units" / unit.unit_hash}
    said = subprocess.run(
        [sys.executable, "-c", COUNTS.replace("{call}", call), str(place[of])],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "0\n"
