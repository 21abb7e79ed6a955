"""``status``: what became of a study's units. It asks the folder, and never loads the scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from analysis.cli.console import output, say, words_aside
from analysis.cli.exit_status import ExitStatus
from analysis.cli.json_output import print_json
from analysis.cli.study_app import StatusCommand
from analysis.program import command
from analysis.study.folder_lock import Holder, lock_holder
from analysis.study.ledger import Scan, read_ledger, scan
from analysis.study.plan_file import read_plan
from analysis.study.source_digest import model_digest
from analysis.study.unit_failure import read_failure
from analysis.study.units import AskedUnits, Unit

SHOWN_FAILURES: Final = 10
SHORT_HASH: Final = 10
STATES: Final = ("done", "failed", "running", "missing")


@dataclass(frozen=True, slots=True)
class _Folder:
    """A study's folder as it is now."""

    path: Path
    plan: AskedUnits
    seen: Scan
    holder: Holder | None

    def state(self, unit: Unit) -> str:
        """Returns one of ``STATES``; what a killed run was writing is missing."""
        if unit.unit_hash in self.seen.done:
            return "done"
        if unit.unit_hash in self.seen.failed:
            return "failed"
        running = self.holder is not None and unit.unit_hash in self.seen.running
        return "running" if running else "missing"

    @property
    def by_variant(self) -> dict[str, Counter[str]]:
        """How many units of each variant are in each state."""
        found: dict[str, Counter[str]] = {}
        for unit in self.plan.units:
            found.setdefault(unit.variant, Counter())[self.state(unit)] += 1
        return found

    @property
    def states(self) -> Counter[str]:
        """How many units are in each state."""
        return sum(self.by_variant.values(), Counter())

    @property
    def failed(self) -> list[Unit]:
        """The units that have failed."""
        return [unit for unit in self.plan.units if unit.unit_hash in self.seen.failed]


def status_command(request: StatusCommand) -> int:
    """Prints what is done, failed, running and missing; 3 if anything is not done."""
    folder, plan = request.folder, read_plan(request.folder)
    holder = lock_holder(folder)  # before the folder is read: what ends in between is done
    there = _Folder(folder, plan, scan(folder / "units"), holder)
    with words_aside(when=request.as_json):
        say(output(), f"{folder}: {len(plan.units):,} units asked for: "
                      f"{_counts(there.states, STATES[:2])}")  # fmt: skip
        for variant, states in there.by_variant.items():
            say(output(), f"  {variant}: {_counts(states, STATES[:1])}")
        damaged = _say_damaged(there) if request.verify else 0
        _say_failures(there)
        _say_what_next(there, damaged)
    if request.as_json:
        print_json(_document(there, damaged if request.verify else None))
    whole = there.states["done"] == len(plan.units) and not damaged
    return ExitStatus.FINE if whole else ExitStatus.UNITS_FAILED


def _document(there: _Folder, damaged: int | None) -> dict[str, Any]:
    return {
        "folder": str(there.path),
        "units": _by_state(there.states),
        "damaged": damaged,
        "running_in": None if there.holder is None else str(there.holder),
        "variants": {variant: _by_state(states) for variant, states in there.by_variant.items()},
        "failures": [_failure_document(there, unit) for unit in there.failed],
    }


def _by_state(states: Counter[str]) -> dict[str, int]:
    return {"asked": states.total()} | {name: states[name] for name in STATES}


def _failure_document(there: _Folder, unit: Unit) -> dict[str, Any]:
    failure = read_failure(there.path / "units", unit.unit_hash)
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


def _say_damaged(there: _Folder) -> int:
    """Checks the digests of all facts; returns how many units do not agree with theirs."""
    done = [unit for unit in there.plan.units if unit.unit_hash in there.seen.done]
    ledger = read_ledger(there.path / "units", done)
    old = sum(record.model != model_digest() for record in ledger.done.values())
    damaged = len(done) - len(ledger.done)
    said = f"{damaged:,} are damaged; the next run makes them again" if damaged else "all agree"
    say(output(), f"  digests of {len(done):,} units checked: {said}")
    if old:
        say(output(), f"  {old:,} were made by another version of the model; the next run "
                      f"makes them again, `report` takes them as they are")  # fmt: skip
    return damaged


def _say_failures(there: _Folder) -> None:
    failed = there.failed
    for unit in failed[:SHOWN_FAILURES]:
        failure = read_failure(there.path / "units", unit.unit_hash)
        error = failure.error if failure else "its file cannot be read; the next run tries it again"
        other = failure is not None and failure.model != model_digest()
        old = " (in another version of the model; the next run tries it again)" if other else ""
        say(output(), f"  failed: {there.plan.words(unit)}: {error}{old}")
        say(output(), f"    {replay_line(there.path, unit.unit_hash)} shows it alone")
    if len(failed) > SHOWN_FAILURES:
        say(
            output(),
            f"  ... and {len(failed) - SHOWN_FAILURES:,} more; {there.path}/units/*.failed",
        )


def _say_what_next(there: _Folder, damaged: int) -> None:
    states = there.states
    if there.holder is not None:
        say(output(), f"a run is writing here ({there.holder})")
        return
    again = command("run", there.path / "scenario.yaml", "--out", there.path)
    if states["missing"] or damaged:
        say(output(), f"{again} runs the rest")
    if states["failed"]:
        say(output(), f"{again} --retry failed runs again what failed")


def replay_line(folder: Path, unit_hash: str) -> str:
    """Returns the command that runs one unit again, alone, with everything it says."""
    return command("replay", folder, unit_hash[:SHORT_HASH])
