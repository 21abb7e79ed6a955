"""Units that were simulated for a page: what a few of them say of their case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.serve.studies import Studies
from analysis.serve.units_here import FOLDER, UnitsHere
from analysis.study.load import load_study
from analysis.study.units import Unit

CASE: dict[str, Any] = {
    "about": "Is one unit enough?",
    "extends": "pessim:quickstart",
    "run": {"measure": "1s", "batches": 1},
    "compare": {"sync": {"tikv.pessimistic-txn.pipelined": False}},
    "expect": [],
}
CRASH = {"operations": [{"at": "500ms", "do": "crash_store", "store": 1}]}

LATE: dict[str, Any] = {
    "run": {"warmup": "auto", "measure": "1s", "window": "20ms", "batches": 1},
    "operations": [{"at": "1050ms", "do": "crash_store", "store": 1}],
}
"""Later than what is measured is long, but the warm-up that is looked for comes on top."""


@pytest.mark.parametrize(("more", "values"), [({}, 5), (CRASH, 1), (LATE, 1)])
def test_a_unit_has_an_interval_of_its_parts_unless_they_differ(
    tmp_path: Path, more: dict[str, Any], values: int
) -> None:
    study = load_study(CASE | more)
    here = UnitsHere(Studies(tmp_path))
    unit = Unit(study.config_hash({}, "sync", 0), 0, "sync", 0)
    job = UnitJob(study, str(tmp_path / FOLDER / "units"), "tests.stub_model:run_unit")
    assert run_unit_task(job, Attempt(unit, {})) is None
    (found,) = here.found(study, {}, "sync")
    assert found["values"] == values
    rate = found["figures"]["txn_per_s"]
    assert (rate["low"] is None) == (values == 1)
    assert rate["words"].endswith("(n=1)") == (values == 1)
