"""All scenarios that are shipped are quiet, and soon looked through."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.lint.scenario_lint import scenario_warnings, static_warnings
from analysis.study.load import load_study
from tests.call_count import calls_of

FOLDER = Path(__file__).resolve().parents[2] / "scenarios"
SHIPPED = sorted([*FOLDER.glob("*.yaml"), *FOLDER.glob("cookbook/*.yaml")])


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_scenarios_can_answer_their_questions(file: Path) -> None:
    study = load_study(file)
    warnings: list[object] = []
    # What arrives at a rate is estimated, too.
    has_rate = any(each.workload.rate_per_s for each in study.variants.values())
    looked_through = static_warnings if has_rate else scenario_warnings
    assert calls_of(lambda: warnings.extend(looked_through(study))) < 10_000
    assert warnings == []
    assert scenario_warnings(study) == []
