"""Commands about scenario files alone: ``check``, ``schema``, ``scenarios``. No Spark here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus
from analysis.cli.rounds import count
from analysis.experiments.choose import experiment_of
from analysis.experiments.seen import SeenUnits
from analysis.study.plan import Plan, ResolvedStudy

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def check_command(files: Sequence[Path]) -> int:
    """Prints every problem of every file; returns the exit status."""
    from analysis.study.load import load_study
    from sim.scenario import ScenarioError

    status = ExitStatus.FINE
    for file in files:
        try:
            study = load_study(file)
        except ScenarioError as error:
            status = ExitStatus.BAD_INPUT
            for problem in error.problems:
                say(messages(), str(problem))
        else:
            say(output(), f"{file}: fine, {_size(study)}")
    return status


def _size(study: ResolvedStudy) -> str:
    """Returns how many units a study has, or how its first round looks if more may follow."""
    plan, experiment = Plan(study), experiment_of(study)
    seen = SeenUnits(plan)
    units = count(len(plan.add(experiment.requests(seen))), "unit")
    return (
        f"{units} in the first round: {experiment.progress(seen)}" if experiment.keys() else units
    )


def schema_command() -> int:
    """Prints the JSON Schema."""
    from sim.scenario import json_schema

    print(json.dumps(json_schema(), indent=2))  # noqa: T201 - the output is the product
    return ExitStatus.FINE


def shipped() -> list[Path]:
    """Returns the project's scenarios, those of the cookbook last."""
    return [*sorted(SCENARIOS.glob("*.yaml")), *sorted(SCENARIOS.glob("cookbook/*.yaml"))]


def scenarios_command() -> int:
    """Prints a line for each scenario of the project."""
    from analysis.study.load import load_study
    from sim.scenario import ScenarioError

    for file in shipped():
        try:
            about = " ".join(load_study(file).about.split())
        except ScenarioError:
            about = "(does not load; see: run_sim.py check)"
        say(output(), f"{file.relative_to(SCENARIOS.parent)!s:36} {about}")
    return ExitStatus.FINE
