"""``check``: every problem of scenario files, and what they cannot show. No Spark here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from analysis.cli.failures import ExitStatus
from analysis.cli.scenario_app import CheckCommand
from analysis.experiments.choose import first_round
from analysis.lint.scenario_lint import scenario_warnings
from analysis.lint.scenario_warning import ScenarioWarning
from analysis.program import cores
from analysis.report.estimate_table import rough_duration, study_seconds
from analysis.statistics.amounts import count
from analysis.study.load import load_study
from analysis.study.study import Study
from analysis.terminal.console import messages, output, print_json, say
from sim.estimate import Estimates, has_estimate
from sim.scenario import Problem, ScenarioError

_LONG_S: Final = 300.0
"""A study that takes longer is not begun by the way."""


def check_command(request: CheckCommand) -> int:
    """Prints every problem and every warning of every file; returns the exit status."""
    checked = [_checked(file, request.set_ or ()) for file in request.files]
    if request.as_json:
        print_json({"files": [_file_document(each) for each in checked]})
    else:
        for each in checked:
            _tell(each)
    if any(each.problems for each in checked):
        return ExitStatus.BAD_INPUT
    warned = any(each.warnings for each in checked)
    return ExitStatus.CLAIM_FAILED if request.strict and warned else ExitStatus.FINE


@dataclass(frozen=True, slots=True)
class _Checked:
    """What is to be said of a file: problems, or else its size and warnings."""

    file: Path
    problems: Sequence[Problem] = ()
    warnings: Sequence[ScenarioWarning] = ()
    units: int = 0
    seconds: float | None = None
    """That they take here; None: no estimate knows it."""
    size: str = ""


def _checked(file: Path, overrides: Sequence[str]) -> _Checked:
    try:
        study = load_study(file, overrides)
    except ScenarioError as error:
        return _Checked(file, problems=error.problems)
    units, sought = first_round(study)
    seconds = _time_to_run(study, units)
    return _Checked(
        file,
        warnings=scenario_warnings(study),
        units=units,
        seconds=seconds,
        size=_size(units, sought, seconds),
    )


def _tell(checked: _Checked) -> None:
    for problem in checked.problems:
        say(messages(), str(problem))
    if not checked.problems:
        say(output(), f"{checked.file}: fine, {checked.size}")
    for warning in checked.warnings:
        say(output(), f"{checked.file}: warning: {warning}", "yellow")


def _file_document(checked: _Checked) -> dict[str, Any]:
    return {
        "file": str(checked.file),
        "fine": not checked.problems,
        "units": checked.units,
        "seconds": None if checked.seconds is None else round(checked.seconds, 1),
        "problems": [problem_document(problem) for problem in checked.problems],
        "warnings": [{"key": each.key, "text": each.text} for each in checked.warnings],
    }


def problem_document(problem: Problem) -> dict[str, Any]:
    """Returns a problem as JSON has it; line and column are null where there is none."""
    message, _, mend = problem.message.rpartition("; ")
    mark = problem.mark
    return {
        "file": mark.file,
        "line": mark.line or None,
        "column": mark.column or None,
        "path": problem.path,
        "message": message or mend,
        "mend": mend if message else "",
    }


def _size(units: int, sought: str, seconds: float | None) -> str:
    """Returns in words how many units a study has, and how long they take if that is long."""
    size = count(units, "unit")
    if sought:
        size = f"{size} in the first round: {sought}"
    if seconds is None or seconds < _LONG_S:
        return size
    lasting = f"these units take about {rough_duration(seconds)} on {count(cores(), 'core')}"
    return f"{size}; {lasting}"


def _time_to_run(study: Study, units: int) -> float | None:
    """Returns for how many seconds so many units run, as far as an estimate knows it.

    The baseline at the first and the last point stands for all: between them lies the load.
    """
    baseline = next(iter(study.variants))
    ends = [study.scenario(point, baseline) for point in (study.points[0], study.points[-1])]
    if not all(map(has_estimate, ends)):
        return None
    estimates = Estimates()
    return study_seconds([estimates.of(each) for each in ends], units, cores())
