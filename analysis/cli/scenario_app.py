"""Commands on scenario files alone.

Commands import what they need when they are called, so that ``--help`` and ``check`` stay quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.cli.options import AsJson, Overrides, ScenarioFile, ScenarioFiles


def check(
    files: ScenarioFiles,
    *,
    set_: Overrides = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Checks scenario files; reports every problem and its remedy.

    Warns of what a scenario cannot show.
    """
    from analysis.cli.scenario_commands import check_command

    raise typer.Exit(check_command(files, set_ or (), strict=strict, as_json=as_json))


def schema() -> None:
    """Prints the JSON Schema of scenario files, for editors."""
    from analysis.cli.scenario_commands import schema_command

    raise typer.Exit(schema_command())


def scenarios(*, as_json: AsJson = False) -> None:
    """Lists the scenarios that come with the project."""
    from analysis.cli.scenario_commands import scenarios_command

    raise typer.Exit(scenarios_command(as_json=as_json))


def reference(
    word: Annotated[
        str, typer.Argument(metavar="[WORD]", help="Show only names that contain this.")
    ] = "",
) -> None:
    """Prints every key, operation, metric and profile."""
    from analysis.cli.reference_command import reference_command

    raise typer.Exit(reference_command(word))


def explain(
    file: ScenarioFile,
    set_: Overrides = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the estimate with the finished study.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --verify: its folder; default results/<name>."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Says what to expect, before anything runs.

    Stations, lock latency, disk bytes, what limits, how long a run takes.
    """
    from analysis.cli.explain_command import ExplainRequest, explain_command

    request = ExplainRequest(
        file=file, overrides=tuple(set_ or ()), verify=verify, out=out, as_json=as_json
    )
    raise typer.Exit(explain_command(request))


COMMANDS = (
    (check, "{program} check my.yaml"),
    (explain, "{program} explain pessim:rfc77"),
    (schema, "{program} schema > scenario.schema.json"),
    (scenarios, "{program} scenarios"),
    (reference, "{program} reference pool-size"),
)
"""Each with an example, in the order of ``--help``; ``{program}`` is what this is called as."""
