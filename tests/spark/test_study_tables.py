"""Which points have tables for figures: those that are drawn."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from analysis.pipeline.session import SparkStarter
from analysis.pipeline.study_tables import read_study_tables
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.ledger import read_ledger
from tests.planned import plan_units
from tests.stub_model import run_settings, stub_study

pytestmark = pytest.mark.spark

STUDY = stub_study(
    run=run_settings(measure_ns=300_000_000, replications=1),
    points=({"workload.threads": 20}, {"workload.threads": 40}),
)


def test_only_points_that_are_drawn_have_tables_for_it(
    starter: SparkStarter, tmp_path: Path
) -> None:
    plan = plan_units(STUDY)
    job = UnitJob(STUDY, str(tmp_path / "units"), "tests.stub_model:run_unit")
    for unit in plan:
        assert run_unit_task(job, Attempt(unit, STUDY.points[unit.point_index])) is None
    done = read_ledger(tmp_path / "units", plan).done
    both, first, none = (
        read_study_tables(starter.context(), tmp_path, done, figure_points=points)
        for points in (2, 1, 0)
    )
    assert set(both.courses["point_index"]) == {0, 1}
    for table in (first.courses, first.tails, first.heat, first.warmups):
        assert set(table["point_index"]) == {0}
    for table in (none.courses, none.tails, none.heat, none.moves, none.happenings, none.warmups):
        assert table.empty
    for fewer in (first, none):
        pd.testing.assert_frame_equal(fewer.sums, both.sums, check_exact=True)
