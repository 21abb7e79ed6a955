"""Commands on scenario files alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from analysis.cli.failures import CommandError
from analysis.cli.options import AsJson, CommandLine, Overrides, ScenarioFile, ScenarioFiles
from analysis.terminal.console import output, print_json, say
from analysis.terminal.streams import output_named


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCommand(CommandLine):
    """Checks scenario files; reports every problem and its remedy.

    Warns of what a scenario cannot show.
    """

    files: ScenarioFiles
    set_: Overrides = None
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if there are warnings.")] = (
        False
    )
    as_json: AsJson = False


def schema() -> None:
    """Prints the JSON Schema of scenario files, for editors."""
    from analysis.study.json_schema import json_schema

    with output_named():
        print(json.dumps(json_schema(), indent=2))  # noqa: T201 - the output is the product


def scenarios(*, as_json: AsJson = False) -> None:
    """Lists the scenarios that come with the project."""
    from analysis.study.load import shipped_scenarios

    listed = shipped_scenarios()
    if as_json:
        print_json({"scenarios": [each._asdict() for each in listed]})
        return
    width = max(len(each.name) for each in listed)
    for each in listed:
        say(output(), f"{each.name:{width}}  {each.about}")


def reference(
    word: Annotated[
        str,
        typer.Argument(
            metavar="[WORD]",
            help="Show only what is called so, contains it, or is explained by it.",
        ),
    ] = "",
) -> None:
    """Prints every key, operation, metric and profile."""
    from analysis.report.reference import NotInReferenceError, names, reference_text

    try:
        text = reference_text(word)
    except NotInReferenceError as error:
        parts = dict.fromkeys(part for name in names() for part in (name, *name.split(".")))
        meant = get_close_matches(word, parts, n=1, cutoff=0.75)
        remedy = f"did you mean {meant[0]}?" if meant else "docs/REFERENCE.md has everything"
        raise CommandError(f"{error}; {remedy}") from error
    print(text, end="")  # noqa: T201 - the output is the product


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainCommand(CommandLine):
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


COMMANDS = (
    (CheckCommand, "{program} check my.yaml"),
    (ExplainCommand, "{program} explain pessim:rfc77"),
    (schema, "{program} schema > scenario.schema.json"),
    (scenarios, "{program} scenarios"),
    (reference, "{program} reference pool-size"),
)
"""Each with an example, in the order of ``--help``; ``{program}`` is what this is called as."""
