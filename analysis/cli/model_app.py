"""Commands on the model itself: by hand, at random, its speed.

Commands import what they need when they are called, so that ``--help`` and ``check`` stay quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.cli.options import ScenarioFiles


def script(
    files: ScenarioFiles,
    *,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Write what is printed into the files.")
    ] = False,
) -> None:
    """Runs protocol scripts; docs/SCRIPTS.md is their grammar."""
    from analysis.cli.script import script_command

    raise typer.Exit(script_command(files, rewrite=rewrite))


def fuzz(
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How many; default 100, or as many as fit.")
    ] = None,
    start: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    minutes: Annotated[
        float | None, typer.Option(min=0.0, help="Begin no more seeds after this time.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: cores.")] = None,
    ablate: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Leaves out a protection.")
    ] = None,
    cover: Annotated[
        bool, typer.Option("--cover", help="A mark that is never hit is a failure.")
    ] = False,
) -> None:
    """Runs random small clusters with faults and all checkers; shrinks and shows what fails."""
    from analysis.cli.fuzz import FuzzRequest, fuzz_command

    request = FuzzRequest(
        seeds=seeds,
        start=start,
        minutes=minutes,
        workers=workers,
        ablations=tuple(ablate or ()),
        cover=cover,
    )
    raise typer.Exit(fuzz_command(request))


def bench(
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write it to a file.")
    ] = None,
) -> None:
    """Measures the simulator's own speed; prints JSON."""
    from analysis.cli.bench_command import bench_command

    raise typer.Exit(bench_command(json_file))


COMMANDS = (
    (script, "run_sim.py script tests/scripts/rfc77"),
    (fuzz, "run_sim.py fuzz --seeds 300"),
    (bench, "run_sim.py bench --json bench.json"),
)
"""Each with an example, in the order of ``--help``."""
