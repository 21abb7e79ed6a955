"""What a command says of a study when its units are done, or not all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cli.failures import ExitStatus
from analysis.cli.study_report import report_result
from analysis.program import command
from analysis.running.results import StudyResult
from tests.page import hostile


@pytest.mark.parametrize(("missing", "said"), [(1, "1 of 4 units is"), (2, "2 of 4 units are")])
def test_what_runs_missing_units_is_named_whatever_command_found_them(
    missing: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = hostile.finished(tmp_path, missing=missing)
    result = StudyResult(run, {}, phases={"spark_start": 1.0, "facts": 1.0})
    assert report_result(result) == ExitStatus.UNITS_FAILED
    rest = command("run", tmp_path / "scenario.yaml", "--out", tmp_path)
    told = f"{said} missing; what is done is kept, {rest} runs the rest"
    assert told in capsys.readouterr().err
