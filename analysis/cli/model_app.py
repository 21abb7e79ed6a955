"""Commands on the model itself: by hand, at random, its speed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from analysis.cli.completion import SHELLS, completion_script, words
from analysis.cli.failures import CommandError, ExitStatus
from analysis.cli.options import AsJson, CommandLine, ScenarioFiles, SparkMaster
from analysis.program import IS_INSTALLED
from analysis.terminal.console import output, say


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCommand(CommandLine):
    """Runs protocol scripts; docs/SCRIPTS.md is their grammar."""

    files: ScenarioFiles
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Write what is printed into the files.")
    ] = False
    as_json: AsJson = False


def _protections(names: list[str] | None) -> list[str] | None:
    """Refuses a protection that there is not."""
    if not names:
        return names
    # They bring the schema, which no other command here needs.
    from sim.scenario.problems import suggestion
    from sim.scenario.schema.tikv import ABLATION_NAMES

    for name in names:
        if name not in ABLATION_NAMES:
            meant = suggestion(name, ABLATION_NAMES, listed_by="docs/CHECKERS.md")
            raise typer.BadParameter(f"no protection {name!r}; {meant}")
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzCommand(CommandLine):
    """Runs random clusters with faults and all checkers.

    What fails is shrunk and shown.
    """

    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds; default 100, or as many as fit.")
    ] = None
    start: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0
    minutes: Annotated[
        float | None, typer.Option(min=0.0, help="Start no more seeds after this time.")
    ] = None
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: cores.")] = None
    ablate: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Protection to omit.", callback=_protections),
    ] = None
    cover: Annotated[bool, typer.Option("--cover", help="Fail if a mark is never hit.")] = False
    as_json: AsJson = False


def bench(
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures there.")
    ] = None,
    *,
    tiny: Annotated[bool, typer.Option("--tiny", hidden=True)] = False,
) -> int:
    """Measures the simulator's own speed, in about four minutes.

    Long studies of its statistics: python -m benchmarks
    """
    if IS_INSTALLED:
        raise CommandError("bench measures the sources of a checkout; run it there: make bench")
    from benchmarks.quick import FAILED, Found, document, line_of, measured

    if json_file is not None:  # Better now than in five minutes.
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.open("a").close()
    begun_s = perf_counter()
    found: Found = {}
    for figures in measured(tiny=tiny):
        found |= figures
        for key, figure in figures.items():
            say(output(), line_of(key, figure))
    seconds = round(perf_counter() - begun_s)
    say(output(), f"measured in {seconds // 60} min {seconds % 60} s")
    if json_file is not None:
        json_file.write_text(json.dumps(document(found), indent=1) + "\n", encoding="utf-8")
    failed = any(str(figure).startswith(FAILED) for figure in found.values())
    return ExitStatus.UNITS_FAILED if failed else ExitStatus.FINE


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateCommand(CommandLine):
    """Compares the model with theory and measurements."""

    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer and shorter runs, without the slow ones.")
    ] = False
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for studies, table and plot.")
    ] = Path("results/validation")
    write: Annotated[bool, typer.Option("--write", help="Also update docs/VALIDATION.md.")] = False
    master: SparkMaster = "local[*]"
    as_json: AsJson = False


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL",
            help="bash, zsh or fish.",
            autocompletion=words(*SHELLS),
        ),
    ],
) -> None:
    """Prints the completion script of a shell."""
    if shell not in SHELLS:
        raise typer.BadParameter(f"no completion for {shell!r}; write bash, zsh or fish")
    typer.echo(completion_script(shell), nl=False)


COMMANDS = (
    (ScriptCommand, "{program} script tests/scripts/rfc77"),
    (FuzzCommand, "{program} fuzz --seeds 300"),
    (ValidateCommand, "{program} validate --quick"),
    (bench, "{program} bench --json bench.json"),
    (completion, 'eval "$({program} completion bash)"'),
)
"""Each with an example, in the order of ``--help``; ``{program}`` is what this is called as."""
