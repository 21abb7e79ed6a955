"""``status``: what became of a study's units. It asks the folder, and never loads the scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from analysis.cli.failures import ExitStatus
from analysis.cli.study_app import StatusCommand
from analysis.program import replay_line
from analysis.study.ledger import DAMAGED, STATES, Ledger, StudyState, read_failure, read_ledger
from analysis.study.study_folder import runs_the_rest
from analysis.study.unit_folder import model_digest
from analysis.study.units import Unit
from analysis.terminal.console import output, print_json, say, words_aside

SHOWN_FAILURES: Final = 10
_SHOWN: Final = (*STATES, DAMAGED)


def status_command(request: StatusCommand) -> int:
    """Prints what is done, failed, running and missing; 3 if anything is not done."""
    there = StudyState.now(request.folder)
    ledger = read_ledger(there.folder / "units", there.units("done")) if request.verify else None
    there = there.but_cut() if ledger is None else there.but_damaged(ledger.missing)
    with words_aside(when=request.as_json):
        say(output(), f"{there.folder}: {len(there.by_unit):,} units asked for: "
                      f"{_counts(there.counts(), STATES[:2])}")  # fmt: skip
        for variant in there.variants:
            say(output(), f"  {variant}: {_counts(there.counts(variant), STATES[:1])}")
        if ledger is not None:
            _say_verified(there, ledger)
        _say_failures(there)
        _say_what_next(there)
    if request.as_json:
        print_json(_document(there))
    whole = len(there.units("done")) == len(there.by_unit)
    return ExitStatus.FINE if whole else ExitStatus.UNITS_FAILED


def _document(there: StudyState) -> dict[str, Any]:
    return {
        "folder": str(there.folder),
        "units": _by_state(there.counts()),
        "running_in": None if there.holder is None else str(there.holder),
        "variants": {name: _by_state(there.counts(name)) for name in there.variants},
        "failures": [_failure_document(there, unit) for unit in there.units("failed")],
    }


def _by_state(states: Counter[str]) -> dict[str, int]:
    return {"asked": states.total()} | {name: states[name] for name in _SHOWN}


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
    shown = [name for name in _SHOWN if states[name] or name in always]
    return ", ".join(f"{states[name]:,} {name}" for name in shown)


def _say_verified(there: StudyState, ledger: Ledger) -> None:
    """Says of how many units the facts are those that were written, and by which model."""
    agree, damaged = len(ledger.done), len(there.units(DAMAGED))
    say(output(), f"  digests of {agree + damaged:,} units checked: {agree:,} agree")
    old = sum(record.model != model_digest() for record in ledger.done.values())
    if old:
        say(output(), f"  {old:,} were made by another version of the model; the next run "
                      f"makes them again, `report` takes them as they are")  # fmt: skip


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


def _say_what_next(there: StudyState) -> None:
    states = there.counts()
    if there.holder is not None:
        say(output(), f"a run is writing here ({there.holder})")
        return
    again = runs_the_rest(there.folder)
    if states["missing"] or states[DAMAGED]:
        say(output(), f"{again} runs the rest")
    if states["failed"]:
        say(output(), f"{again} --retry failed runs again what failed")
