"""Commands about scenario files alone: ``check``, ``schema``, ``scenarios``. No Spark here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus
from analysis.cli.json_output import print_json
from analysis.experiments.choose import experiment_of
from analysis.experiments.seen import SeenUnits
from analysis.lint.scenario_lint import scenario_warnings
from analysis.lint.scenario_warning import ScenarioWarning
from analysis.program import command
from analysis.study.json_schema import json_schema
from analysis.study.load import load_study
from analysis.study.plan import Plan
from analysis.study.shipped import shipped_files, shipped_name
from analysis.study.study import Study
from analysis.study.units import count
from sim.scenario import Problem, ScenarioError


def check_command(
    files: Sequence[Path],
    overrides: Sequence[str] = (),
    *,
    strict: bool = False,
    as_json: bool = False,
) -> int:
    """Prints every problem and every warning of every file; returns the exit status.

    Args:
        files: scenarios.
        overrides: ``a.b=v``, as ``--set`` takes them, for each file.
        strict: a warning is exit status 1.
        as_json: print one JSON document instead.
    """
    checked = [_checked(file, overrides) for file in files]
    if as_json:
        print_json({"files": [_file_document(each) for each in checked]})
    else:
        for each in checked:
            _tell(each)
    if any(each.problems for each in checked):
        return ExitStatus.BAD_INPUT
    warned = any(each.warnings for each in checked)
    return ExitStatus.CLAIM_FAILED if strict and warned else ExitStatus.FINE


@dataclass(frozen=True, slots=True)
class _Checked:
    """What is to be said of a file: problems, or else its size and warnings."""

    file: Path
    problems: Sequence[Problem] = ()
    warnings: Sequence[ScenarioWarning] = ()
    units: int = 0
    size: str = ""


def _checked(file: Path, overrides: Sequence[str]) -> _Checked:
    try:
        study = load_study(file, overrides)
    except ScenarioError as error:
        return _Checked(file, problems=error.problems)
    units, size = _size(study)
    return _Checked(file, warnings=scenario_warnings(study), units=units, size=size)


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


def _size(study: Study) -> tuple[int, str]:
    """Returns how many units a study has, or its first round if more may follow, and in words."""
    plan, experiment = Plan(study), experiment_of(study)
    seen = SeenUnits(plan)
    number = len(plan.add(experiment.requests(seen)))
    units = count(number, "unit")
    if experiment.keys():
        return number, f"{units} in the first round: {experiment.progress(seen)}"
    return number, units


def schema_command() -> int:
    """Prints the JSON Schema."""
    print(json.dumps(json_schema(), indent=2))  # noqa: T201 - the output is the product
    return ExitStatus.FINE


def scenarios_command(*, as_json: bool = False) -> int:
    """Prints a line for each scenario that comes with the program, those of the cookbook last."""
    listed = [(shipped_name(file), str(file), _about(file)) for file in
              shipped_files(".", "cookbook")]  # fmt: skip
    if as_json:
        keys = ("name", "file", "about")
        print_json({"scenarios": [dict(zip(keys, each, strict=True)) for each in listed]})
        return ExitStatus.FINE
    width = max(len(name) for name, _, _ in listed)
    for name, _, about in listed:
        say(output(), f"{name:{width}}  {about}")
    return ExitStatus.FINE


def _about(file: Path) -> str:
    try:
        return " ".join(load_study(file).about.split())
    except ScenarioError:
        return f"(does not load; see: {command('check', file)})"
