"""``status``: what became of a study's units. It asks the folder, and never loads the scenario."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from analysis.cli.console import messages, output, say, words_aside
from analysis.cli.exit_status import ExitStatus
from analysis.cli.json_output import print_json
from analysis.cli.unit_watch import replay_line
from analysis.program import command
from analysis.study.folder_lock import Holder, lock_holder
from analysis.study.ledger import Scan, read_ledger, scan
from analysis.study.plan_file import read_plan
from analysis.study.source_digest import model_digest
from analysis.study.study_folder import StudyFolderError, no_study
from analysis.study.unit_failure import read_failure
from analysis.study.units import AskedUnits

if TYPE_CHECKING:
    from analysis.study.study import Study
    from analysis.study.units import Unit

SHOWN_FAILURES: Final = 10
STATES: Final = ("done", "failed", "running", "missing")
Depth = Literal["glance", "verify"]


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


def status_command(folder: Path, depth: Depth = "glance", *, as_json: bool = False) -> int:
    """Prints what is done, failed, running and missing; 3 if anything is not done.

    Args:
        folder: the study's.
        depth: whether to check the digests of all facts, too.
        as_json: print one JSON document; what would be said goes to standard error.
    """
    with words_aside(when=as_json):
        return _status(folder, depth, as_json=as_json)


def _status(folder: Path, depth: Depth, *, as_json: bool) -> int:
    try:
        plan = read_plan(folder)
    except StudyFolderError as error:
        say(messages(), str(error))
        return ExitStatus.BAD_INPUT
    holder = lock_holder(folder)  # before the folder is read: what ends in between is done
    there = _Folder(folder, plan, scan(folder / "units"), holder)
    states = Counter(there.state(unit) for unit in plan.units)
    say(output(), f"{folder}: {len(plan.units):,} units asked for: {_counts(states, STATES[:2])}")
    _say_variants(there)
    damaged = _say_damaged(there) if depth == "verify" else 0
    _say_failures(there)
    _say_what_next(there, states, damaged)
    if as_json:
        print_json(_document(there, states, damaged if depth == "verify" else None))
    whole = states["done"] == len(plan.units) and not damaged
    return ExitStatus.FINE if whole else ExitStatus.UNITS_FAILED


def _document(there: _Folder, states: Counter[str], damaged: int | None) -> dict[str, Any]:
    by_variant: dict[str, Counter[str]] = {}
    for unit in there.plan.units:
        by_variant.setdefault(unit.variant, Counter())[there.state(unit)] += 1
    failed = [unit for unit in there.plan.units if unit.unit_hash in there.seen.failed]
    return {
        "folder": str(there.path),
        "units": _by_state(states),
        "damaged": damaged,
        "running_in": None if there.holder is None else str(there.holder),
        "variants": {variant: _by_state(counted) for variant, counted in by_variant.items()},
        "failures": [_failure_document(there, unit) for unit in failed],
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


def _say_variants(there: _Folder) -> None:
    by_variant: dict[str, Counter[str]] = {}
    for unit in there.plan.units:
        by_variant.setdefault(unit.variant, Counter())[there.state(unit)] += 1
    for variant, states in by_variant.items():
        say(output(), f"  {variant}: {_counts(states, STATES[:1])}")


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
    failed = [unit for unit in there.plan.units if unit.unit_hash in there.seen.failed]
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


def _say_what_next(there: _Folder, states: Counter[str], damaged: int) -> None:
    if there.holder is not None:
        say(output(), f"a run is writing here ({there.holder})")
        return
    again = command("run", there.path / "scenario.yaml", "--out", there.path)
    if states["missing"] or damaged:
        say(output(), f"{again} runs the rest")
    if states["failed"]:
        say(output(), f"{again} --retry failed runs again what failed")


def load_folder(folder: Path) -> Study | None:
    """Returns the study of a folder, or None after saying what is wrong with it."""
    from analysis.study.load import load_study
    from sim.scenario import ScenarioError

    scenario = folder / "scenario.yaml"
    if not scenario.is_file():
        say(messages(), no_study(folder, "scenario.yaml"))
        return None
    try:
        return load_study(scenario)
    except ScenarioError as error:
        for problem in error.problems:
            say(messages(), str(problem))
        return None


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def study_name(folder: Path) -> str:
    """Returns the name under which the study was run, else the folder's."""
    return str(_manifest(folder).get("study") or folder.resolve().name)
