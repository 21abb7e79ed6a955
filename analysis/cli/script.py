"""Command ``script``: the protocol laboratory on files of commands and expectations. No Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus

if TYPE_CHECKING:
    from sim.laboratory import ScriptResult


def script_command(files: Sequence[Path], *, rewrite: bool) -> int:
    """Runs every file; returns the exit status of the worst.

    Args:
        files: scripts, or folders that are searched for ``*.txt``.
        rewrite: write what was printed into the files, instead of comparing.
    """
    from sim.laboratory import run_script

    results = [run_script(file, rewrite=rewrite) for file in _scripts(files)]
    for result in results:
        _tell(result, rewrite=rewrite)
    if any(result.problem for result in results):
        return ExitStatus.BAD_INPUT
    differs = not rewrite and any(result.differences for result in results)
    return ExitStatus.CLAIM_FAILED if differs else ExitStatus.FINE


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
        say(output(), f"{result.name}: {result.commands} commands, {ended}")


def _scripts(files: Sequence[Path]) -> list[Path]:
    """Returns the files, folders replaced by the scripts in them."""
    found: list[Path] = []
    for file in files:
        below = sorted(file.rglob("*.txt")) if file.is_dir() else []
        found += below or [file]
    return found
