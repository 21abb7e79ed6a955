"""Commands and their options. A bare file name means ``run``.

Commands import what they need when they are called, so that ``--help`` and ``check`` stay quick.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from analysis.cli.console import messages, say
from analysis.cli.exit_status import ExitStatus

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="What do pipelined and in-memory pessimistic locks do to a TiKV cluster? "
    "Example: python run_sim.py scenarios/quickstart.yaml",
)

ScenarioFile = Annotated[Path, typer.Argument(metavar="FILE", help="A scenario, in YAML.")]


def _spark_master(text: str) -> str:
    """Refuses what Spark would refuse later, and in more words."""
    from analysis.pipeline.session import is_master

    if is_master(text):
        return text
    raise typer.BadParameter(
        f"{text!r} is no Spark master; write local[2], local[*], spark://HOST:PORT, yarn or "
        "k8s://HOST:PORT"
    )


def _retry(text: str | None) -> str | None:
    if text in (None, "failed"):
        return text
    raise typer.BadParameter(f"--retry {text!r} is nothing to run again; write --retry failed")


SparkMaster = Annotated[
    str, typer.Option(metavar="URL", help="Spark master.", callback=_spark_master)
]
StudyFolder = Annotated[Path, typer.Argument(metavar="DIR", help="A study's folder.")]


@app.command(epilog="Example: run_sim.py run scenarios/rfc77.yaml --set workload.threads=400")
def run(
    file: ScenarioFile,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Study folder; default results/<name>.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all random streams.")] = None,
    replications: Annotated[int | None, typer.Option(min=1, help="Runs of every variant.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="A.B=V", help="Overrides one key.")
    ] = None,
    master: SparkMaster = "local[*]",
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Begin no more units once one has failed.")
    ] = False,
    retry: Annotated[
        str | None,
        typer.Option(metavar="failed", help="Also run again what failed before.", callback=_retry),
    ] = None,
    no_checks: Annotated[
        bool, typer.Option("--no-checks", help="Watch for no broken invariants: faster.")
    ] = False,
    unit_function: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Runs a scenario's variants and compares them.

    Units that are done are not run again; an interrupted study goes on with the same command.
    """
    from analysis.cli.run_command import RunRequest, run_command

    request = RunRequest(
        file=file,
        out=out,
        seed=seed,
        replications=replications,
        overrides=(*(set_ or ()), *(["run.checks=false"] if no_checks else ())),
        master=master,
        after_failure="stop" if fail_fast else "go on",
        retry="failed" if retry else "missing",
        unit_function=unit_function,
    )
    raise typer.Exit(run_command(request))


@app.command(epilog="Example: run_sim.py check scenarios/*.yaml")
def check(files: Annotated[list[Path], typer.Argument(metavar="FILE...")]) -> None:
    """Checks scenario files; prints every problem and how to mend it."""
    from analysis.cli.scenario_commands import check_command

    raise typer.Exit(check_command(files))


@app.command(epilog="Example: run_sim.py script tests/scripts/rfc77")
def script(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...")],
    *,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Write what is printed into the files.")
    ] = False,
) -> None:
    """Runs protocol scripts; docs/SCRIPTS.md is their grammar."""
    from analysis.cli.script import script_command

    raise typer.Exit(script_command(files, rewrite=rewrite))


@app.command(epilog="Example: run_sim.py fuzz --seeds 300")
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


@app.command(epilog="Example: run_sim.py schema > scenario.schema.json")
def schema() -> None:
    """Prints the JSON Schema of scenario files, for editors."""
    from analysis.cli.scenario_commands import schema_command

    raise typer.Exit(schema_command())


@app.command(epilog="Example: run_sim.py scenarios")
def scenarios() -> None:
    """Lists the scenarios that come with the project."""
    from analysis.cli.scenario_commands import scenarios_command

    raise typer.Exit(scenarios_command())


@app.command(epilog="Example: run_sim.py status results/rfc77")
def status(
    folder: StudyFolder,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also check the digests of all facts.")
    ] = False,
) -> None:
    """Says which units of a study are done, failed, running or missing."""
    from analysis.cli.folder_commands import status_command

    raise typer.Exit(status_command(folder, "verify" if verify else "glance"))


@app.command(epilog="Example: run_sim.py replay results/rfc77 3f9a1c")
def replay(
    folder: StudyFolder,
    unit: Annotated[str, typer.Argument(metavar="UNIT", help="The first digits of its hash.")],
    unit_function: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Runs one unit again, alone, shows all it says, and compares its facts."""
    from analysis.cli.replay_command import replay_command

    raise typer.Exit(replay_command(folder, unit, unit_function))


@app.command(epilog="Example: run_sim.py report results/rfc77")
def report(
    folder: StudyFolder,
    master: SparkMaster = "local[*]",
) -> None:
    """Makes a study's summary, table and plots again from its facts."""
    from analysis.cli.report_command import report_command

    raise typer.Exit(report_command(folder, master))


@app.command(epilog="Example: run_sim.py bench --json bench.json")
def bench(
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write it to a file.")
    ] = None,
) -> None:
    """Measures the simulator's own speed; prints JSON."""
    from analysis.cli.bench_command import bench_command

    raise typer.Exit(bench_command(json_file))


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and returns the exit status."""
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        words = with_default_command(sys.argv[1:] if arguments is None else arguments)
        result = app(words, prog_name="run_sim.py", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        wrong = error.format_message().removeprefix("Invalid value: ").rstrip(".")
        say(messages(), f"run_sim.py: {wrong}. Try: run_sim.py --help")
        return ExitStatus.BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        _forget_output()
        return ExitStatus.FINE
    return int(result or 0)


def _forget_output() -> None:
    """Nobody reads any more; what is left in the buffer would be a complaint at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def with_default_command(words: list[str]) -> list[str]:
    """Puts ``run`` before a first word that is no command and no option; no words ask for help.

    Raises:
        typer.BadParameter: if the first word looks like a command misspelt.
    """
    if not words:
        return ["--help"]
    known = [command.callback.__name__ for command in app.registered_commands if command.callback]
    if words[0].startswith("-") or words[0] in known:
        return words
    meant = get_close_matches(words[0], known, n=1)
    if meant and not Path(words[0]).exists():
        raise typer.BadParameter(f"no command {words[0]!r}; did you mean {meant[0]}")
    return ["run", *words]


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """A termination is an interruption: what is done is kept."""
    raise KeyboardInterrupt
