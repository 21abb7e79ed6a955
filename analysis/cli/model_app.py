"""Commands on the model itself: by hand, at random, its speed.

Commands import what they need when they are called, so that ``--help`` and ``check`` stay quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.cli.completion import SCRIPTS, completion_script, words
from analysis.cli.options import AsJson, ScenarioFiles, SparkMaster


def script(
    files: ScenarioFiles,
    *,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Write what is printed into the files.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Runs protocol scripts; docs/SCRIPTS.md is their grammar."""
    from analysis.cli.script import script_command

    raise typer.Exit(script_command(files, rewrite=rewrite, as_json=as_json))


def fuzz(
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds; default 100, or as many as fit.")
    ] = None,
    start: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    minutes: Annotated[
        float | None, typer.Option(min=0.0, help="Start no more seeds after this time.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: cores.")] = None,
    ablate: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Protection to omit.")
    ] = None,
    cover: Annotated[bool, typer.Option("--cover", help="Fail if a mark is never hit.")] = False,
    as_json: AsJson = False,
) -> None:
    """Runs random clusters with faults and all checkers.

    What fails is shrunk and shown.
    """
    from analysis.cli.fuzz import FuzzRequest, fuzz_command

    request = FuzzRequest(
        seeds=seeds,
        start=start,
        minutes=minutes,
        workers=workers,
        ablations=tuple(ablate or ()),
        cover=cover,
        as_json=as_json,
    )
    raise typer.Exit(fuzz_command(request))


def bench(
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures there.")
    ] = None,
    *,
    tiny: Annotated[bool, typer.Option("--tiny", hidden=True)] = False,
) -> None:
    """Measures the simulator's own speed, in under four minutes.

    Long studies of its statistics: python -m benchmarks
    """
    from analysis.cli.bench_command import bench_command

    raise typer.Exit(bench_command(json_file, tiny=tiny))


def validate(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer and shorter runs, without the slow ones.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for studies, table and plot.")
    ] = Path("results/validation"),
    write: Annotated[bool, typer.Option("--write", help="Also update docs/VALIDATION.md.")] = False,
    master: SparkMaster = "local[*]",
    as_json: AsJson = False,
) -> None:
    """Compares the model with theory and measurements."""
    from analysis.cli.validate_command import ValidateRequest, validate_command

    request = ValidateRequest(quick=quick, out=out, write=write, master=master, as_json=as_json)
    raise typer.Exit(validate_command(request))


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL",
            help="bash, zsh or fish.",
            autocompletion=words(*SCRIPTS),
        ),
    ],
) -> None:
    """Prints the completion script of a shell."""
    if shell not in SCRIPTS:
        raise typer.BadParameter(f"no completion for {shell!r}; write bash, zsh or fish")
    typer.echo(completion_script(shell), nl=False)


COMMANDS = (
    (script, "{program} script tests/scripts/rfc77"),
    (fuzz, "{program} fuzz --seeds 300"),
    (validate, "{program} validate --quick"),
    (bench, "{program} bench --json bench.json"),
    (completion, 'eval "$({program} completion bash)"'),
)
"""Each with an example, in the order of ``--help``; ``{program}`` is what this is called as."""
