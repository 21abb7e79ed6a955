"""Commands on scenario files alone.

Commands import what they need when they are called, so that ``--help`` and ``check`` stay quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from analysis.cli.failures import CommandError
from analysis.cli.options import AsJson, Overrides, ScenarioFile, ScenarioFiles


def check(
    files: ScenarioFiles,
    *,
    set_: Overrides = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Checks scenario files; reports every problem and its remedy.

    Warns of what a scenario cannot show.
    """
    from analysis.cli.scenario_commands import check_command

    return check_command(files, set_ or (), strict=strict, as_json=as_json)


def schema() -> int:
    """Prints the JSON Schema of scenario files, for editors."""
    from analysis.cli.scenario_commands import schema_command

    return schema_command()


def scenarios(*, as_json: AsJson = False) -> int:
    """Lists the scenarios that come with the project."""
    from analysis.cli.scenario_commands import scenarios_command

    return scenarios_command(as_json=as_json)


def reference(
    word: Annotated[
        str, typer.Argument(metavar="[WORD]", help="Show only names that contain this.")
    ] = "",
) -> None:
    """Prints every key, operation, metric and profile."""
    from analysis.report.reference import NotInReferenceError, names, reference_text

    try:
        text = reference_text(word)
    except NotInReferenceError as error:
        parts = dict.fromkeys(part for name in names() for part in (name, *name.split(".")))
        meant = get_close_matches(word, parts, n=1)
        remedy = f"did you mean {meant[0]}?" if meant else "docs/REFERENCE.md has everything"
        raise CommandError(f"{error}; {remedy}") from error
    print(text, end="")  # noqa: T201 - the output is the product


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainCommand:
    """Says what to expect, before anything runs.

    Stations, lock latency, disk bytes, what limits, how long a run takes.
    """

    file: ScenarioFile
    set_: Overrides = None
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the estimate with the finished study.")
    ] = False
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --verify: its folder; default results/<name>."),
    ] = None
    as_json: AsJson = False

    def __call__(self) -> int:
        """Runs the command."""
        from analysis.cli.explain_command import explain_command

        return explain_command(self)


COMMANDS = (
    (check, "{program} check my.yaml"),
    (ExplainCommand, "{program} explain pessim:rfc77"),
    (schema, "{program} schema > scenario.schema.json"),
    (scenarios, "{program} scenarios"),
    (reference, "{program} reference pool-size"),
)
"""Each with an example, in the order of ``--help``; ``{program}`` is what this is called as."""
