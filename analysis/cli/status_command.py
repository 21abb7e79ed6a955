"""``status``: what became of a study's units. It asks the folder, and never loads the scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from analysis.cli.console import output, print_json, say, words_aside
from analysis.cli.failures import ExitStatus
from analysis.cli.study_app import StatusCommand
from analysis.program import command
from analysis.study.ledger import read_failure, read_ledger
from analysis.study.source_digest import model_digest
from analysis.study.study_state import STATES, StudyState
from analysis.study.units import Unit

SHOWN_FAILURES: Final = 10
SHORT_HASH: Final = 10


def status_command(request: StatusCommand) -> int:
    """Prints what is done, failed, running and missing; 3 if anything is not done."""
    there = StudyState.now(request.folder)
    with words_aside(when=request.as_json):
        say(output(), f"{there.folder}: {len(there.by_unit):,} units asked for: "
                      f"{_counts(there.counts(), STATES[:2])}")  # fmt: skip
        for variant in there.variants:
            say(output(), f"  {variant}: {_counts(there.counts(variant), STATES[:1])}")
        damaged = _say_damaged(there) if request.verify else 0
        _say_failures(there)
        _say_what_next(there, damaged)
    if request.as_json:
        print_json(_document(there, damaged if request.verify else None))
    whole = len(there.units("done")) == len(there.by_unit) and not damaged
    return ExitStatus.FINE if whole else ExitStatus.UNITS_FAILED


def _document(there: StudyState, damaged: int | None) -> dict[str, Any]:
    return {
        "folder": str(there.folder),
        "units": _by_state(there.counts()),
        "damaged": damaged,
        "running_in": None if there.holder is None else str(there.holder),
        "variants": {name: _by_state(there.counts(name)) for name in there.variants},
        "failures": [_failure_document(there, unit) for unit in there.units("failed")],
    }


def _by_state(states: Counter[str]) -> dict[str, int]:
    return {"asked": states.total()} | {name: states[name] for name in STATES}


def _failure_document(there: StudyState, unit: Unit) -> dict[str, Any]:
    failure = read_failure(there.folder / "units", unit.unit_hash)
    return {
        "unit": unit.unit_hash,
        "variant": unit.variant,
        "replication": unit.replication,
        "point": dict(there.plan.points[unit.point_index]),
        "error": failure.error if failure else None,
    }


def _counts(states: Counter[str], always: Iterable[str]) -> str:
    shown = [name for name in STATES if states[name] or name in always]
    return ", ".join(f"{states[name]:,} {name}" for name in shown)


def _say_damaged(there: StudyState) -> int:
    """Checks the digests of all facts; returns how many units do not agree with theirs."""
    done = there.units("done")
    ledger = read_ledger(there.folder / "units", done)
    old = sum(record.model != model_digest() for record in ledger.done.values())
    damaged = len(done) - len(ledger.done)
    said = f"{damaged:,} are damaged; the next run makes them again" if damaged else "all agree"
    say(output(), f"  digests of {len(done):,} units checked: {said}")
    if old:
        say(output(), f"  {old:,} were made by another version of the model; the next run "
                      f"makes them again, `report` takes them as they are")  # fmt: skip
    return damaged


def _say_failures(there: StudyState) -> None:
    failed = there.units("failed")
    for unit in failed[:SHOWN_FAILURES]:
        failure = read_failure(there.folder / "units", unit.unit_hash)
        error = failure.error if failure else "its file cannot be read; the next run tries it again"
        other = failure is not None and failure.model != model_digest()
        old = " (in another version of the model; the next run tries it again)" if other else ""
        say(output(), f"  failed: {there.plan.words(unit)}: {error}{old}")
        say(output(), f"    {replay_line(there.folder, unit.unit_hash)} shows it alone")
    if len(failed) > SHOWN_FAILURES:
        say(
            output(),
            f"  ... and {len(failed) - SHOWN_FAILURES:,} more; {there.folder}/units/*.failed",
        )


def _say_what_next(there: StudyState, damaged: int) -> None:
    states = there.counts()
    if there.holder is not None:
        say(output(), f"a run is writing here ({there.holder})")
        return
    again = command("run", there.folder / "scenario.yaml", "--out", there.folder)
    if states["missing"] or damaged:
        say(output(), f"{again} runs the rest")
    if states["failed"]:
        say(output(), f"{again} --retry failed runs again what failed")


def replay_line(folder: Path, unit_hash: str) -> str:
    """Returns the command that runs one unit again, alone, with everything it says."""
    return command("replay", folder, unit_hash[:SHORT_HASH])
