"""Command ``script``: the protocol laboratory on files of commands and expectations. No Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.cli.failures import CommandError, ExitStatus
from analysis.cli.model_app import ScriptCommand
from analysis.statistics.amounts import count
from analysis.terminal.console import messages, output, print_json, say
from sim.laboratory import ScriptResult, run_script


def script_command(request: ScriptCommand) -> int:
    """Runs every file; returns the exit status of the worst."""
    rewrite = request.rewrite
    results = [_run(file, rewrite=rewrite) for file in _scripts(request.files)]
    if request.as_json:
        print_json({"scripts": [_document(result) for result in results]})
    for result in () if request.as_json else results:
        _tell(result, rewrite=rewrite)
    if any(result.problem for result in results):
        return ExitStatus.BAD_INPUT
    differs = not rewrite and any(result.differences for result in results)
    return ExitStatus.CLAIM_FAILED if differs else ExitStatus.FINE


def _run(file: Path, *, rewrite: bool) -> ScriptResult:
    """Runs a file, unless reading it might never end."""
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise CommandError(f"{file}: is not a regular file; name a script")
    return run_script(file, rewrite=rewrite)


def _document(result: ScriptResult) -> dict[str, Any]:
    return {
        "file": result.name,
        "commands": result.commands,
        "as_expected": not (result.problem or result.differences),
        "differences": list(result.differences),
        "problem": result.problem,
    }


def _tell(result: ScriptResult, *, rewrite: bool) -> None:
    """Prints what became of one script."""
    for difference in () if rewrite else result.differences:
        say(output(), difference)
    if result.problem:
        say(messages(), result.problem)
    elif rewrite or not result.differences:
        ended = "as expected"
        if rewrite:
            ended = "rewritten" if result.differences else "unchanged"
        say(output(), f"{result.name}: {count(result.commands, 'command')}, {ended}")


def _scripts(files: Sequence[Path]) -> list[Path]:
    """Returns the files, folders replaced by the scripts in them."""
    found: list[Path] = []
    for file in files:
        below = sorted(file.rglob("*.txt")) if file.is_dir() else []
        found += below or [file]
    return found
