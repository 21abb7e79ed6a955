"""``scenarios``: those that come with the program, a line each."""

from __future__ import annotations

from pathlib import Path

from analysis.cli.failures import ExitStatus
from analysis.cli.scenario_app import ScenariosCommand
from analysis.program import command
from analysis.study.load import load_study
from analysis.study.shipped import shipped_files, shipped_name
from analysis.terminal.console import output, print_json, say
from sim.scenario import ScenarioError


def scenarios_command(request: ScenariosCommand) -> int:
    """Prints a line for each scenario that comes with the program, those of the cookbook last."""
    listed = [
        {"name": shipped_name(file), "file": str(file), "about": _about(file)}
        for file in shipped_files(".", "cookbook")
    ]
    if request.as_json:
        print_json({"scenarios": listed})
        return ExitStatus.FINE
    width = max(len(each["name"]) for each in listed)
    for each in listed:
        say(output(), f"{each['name']:{width}}  {each['about']}")
    return ExitStatus.FINE


def _about(file: Path) -> str:
    try:
        return " ".join(load_study(file).about.split())
    except ScenarioError:
        return f"(does not load; see: {command('check', file)})"
