"""Scenarios that come with the program: ``pessim:rfc77``, ``pessim:cookbook/slow_disk``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from analysis.program import SCENARIOS, command
from sim.scenario.problems import Mark, Problem, ScenarioError, shown, suggestion

PREFIX: Final = "pessim:"
_FOLDERS: Final = (".", "cookbook", "validation")


def shipped_files(*folders: str) -> list[Path]:
    """Returns scenario files of some folders in ``scenarios``, in their order."""
    return [file for folder in folders for file in sorted((SCENARIOS / folder).glob("*.yaml"))]


def shipped_name(file: Path) -> str:
    """Returns ``pessim:cookbook/slow_disk`` for that file."""
    return f"{PREFIX}{file.relative_to(SCENARIOS).with_suffix('').as_posix()}"


def located(name: Path | str) -> Path:
    """Returns the file that a name means: one of our own after ``pessim:``, else that path.

    Raises:
        ScenarioError: if we have none of that name.
    """
    text = str(name)
    if not text.startswith(PREFIX):
        return Path(name)
    known = _known()
    found = known.get(text.removesuffix(".yaml"))
    if found is None:
        names = [each.removeprefix(PREFIX) for each in known]
        message = f"no scenario is called {shown(text)}; "
        close = suggestion(text.removeprefix(PREFIX), names, f"`{command('scenarios')}`")
        raise ScenarioError([Problem(Mark(text), "", message + close)])
    return found


def ours_meant(file: Path) -> str:
    """Asks whether one of ours was meant by a file that is not there; empty if not."""
    ours = f"{PREFIX}{file.stem}"
    return f"did you mean {ours}, which comes with the program?" if ours in _known() else ""


def refuse_ours_without_prefix(file: Path) -> None:
    """Refuses a file that is not there if one of ours is called so.

    Raises:
        ScenarioError: with the name that it has.
    """
    if not file.exists() and (meant := ours_meant(file)):
        raise ScenarioError([Problem(Mark(str(file)), "", f"no such file; {meant}")])


def _known() -> dict[str, Path]:
    return {shipped_name(file): file for file in shipped_files(*_FOLDERS)}
