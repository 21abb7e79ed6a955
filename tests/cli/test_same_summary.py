"""The model through the whole pipeline: the same numbers for any number of workers, and resumed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.golden_runs import UNDRAWN, run_golden

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def numbers(out: Path) -> str:
    """Returns every number of a summary as text, but not what it has cost."""
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return json.dumps(summary["rows"] + summary["comparisons"], indent=1)


def facts(out: Path, units: list[str]) -> list[dict[str, str]]:
    """Returns the digests of every unit's facts."""
    return [json.loads((out / "units" / name / "unit.json").read_text())["digests"]
            for name in units]  # fmt: skip


def test_workers_and_interruptions_leave_no_trace_in_a_summary(
    golden_run: Path, tmp_path: Path
) -> None:
    one, two = golden_run, tmp_path / "two" / "study"
    units = sorted(path.name for path in (one / "units").iterdir())
    shutil.copytree(one / "units" / units[2], two / "units" / units[2])
    assert "1 units reused" in run_golden(two, "local[2]", UNDRAWN)
    assert len(numbers(one)) > 10_000
    assert numbers(two) == numbers(one)
    assert facts(two, units) == facts(one, units)
