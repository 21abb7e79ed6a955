"""``replay``: one unit again, alone, in this process, with everything it says.

It writes into a temporary folder: what a study has is never touched. Facts are the same bytes
whenever and wherever a unit is run, so a replay also checks those that are there.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any, Final

from analysis.cli.failures import ExitStatus
from analysis.cli.study_app import ReplayCommand
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.finished_study import FinishedStudy, load_folder
from analysis.study.study import Study
from analysis.study.study_folder import StudyFolderError
from analysis.study.unit_folder import UnitNotWrittenError, UnitRecord, read_unit
from analysis.study.units import AskedUnits, Unit, read_plan
from analysis.terminal.console import messages, output, print_json, say, words_aside

LEAST_DIGITS: Final = 6


def replay_command(request: ReplayCommand) -> int:
    """Runs one unit and compares its facts with the study's.

    Returns:
        0; 1 if facts differ; 2 for no such unit; 3 if the unit fails.
    """
    told: dict[str, Any] = {}
    with words_aside(when=request.as_json):
        status = _replay_command(request, told)
    if request.as_json and told:
        print_json(told)
    return status


def _replay_command(request: ReplayCommand, told: dict[str, Any]) -> int:
    """Does it, and notes in ``told`` what a document says of it."""
    folder, prefix = request.folder, request.unit
    plan = read_plan(folder)
    unit = unit_called(plan, prefix)
    study = load_folder(folder)
    point = plan.points[unit.point_index]
    if study.config_hash(point, unit.variant, unit.replication) != unit.unit_hash:
        raise StudyFolderError(
            f"{folder}: scenario.yaml is not the one that unit {prefix} was made from; run the "
            "study again"
        )
    say(output(), f"unit {unit.unit_hash}: {plan.words(unit)}")
    told |= {"folder": str(folder), "unit": unit.unit_hash, "variant": unit.variant}
    told |= {"replication": unit.replication, "point": dict(point), "error": None}
    with tempfile.TemporaryDirectory(prefix="pessim-replay-") as scratch:
        job = UnitJob(study, scratch)
        status = _replay(job, Attempt(unit, point), folder, told)
    if request.trace and status in (ExitStatus.FINE, ExitStatus.CLAIM_FAILED):
        _trace(folder, study, unit, request.trace)
    return status


def unit_called(plan: AskedUnits, prefix: str) -> Unit:
    """Returns the one unit whose hash begins so.

    Raises:
        StudyFolderError: if there is none, or more than one.
    """
    if len(prefix) < LEAST_DIGITS or set(prefix) - set("0123456789abcdef"):
        raise StudyFolderError(
            f"{prefix!r} is not a unit; give at least {LEAST_DIGITS} hexadecimal digits of "
            "its hash: "
            "its folder under units, or what `status` shows of a failed one"
        )
    found = [unit for unit in plan.units if unit.unit_hash.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if found:
        raise StudyFolderError(f"{len(found)} units begin with {prefix}; give more digits")
    raise StudyFolderError(
        f"no unit begins with {prefix}; their folders under units are named after them, and "
        "`status` lists those that failed"
    )


def _replay(job: UnitJob, attempt: Attempt, folder: Path, told: dict[str, Any]) -> int:
    begun_s = time.perf_counter()
    try:
        failure = run_unit_task(job, attempt)
    except UnitNotWrittenError as error:
        say(messages(), f"{error.filename}: {error.strerror}; set TMPDIR to a folder with room")
        return ExitStatus.UNITS_FAILED
    if failure is not None:
        say(messages(), failure.trace.rstrip())
        told["error"] = failure.error
        return ExitStatus.UNITS_FAILED
    name = attempt.unit.unit_hash
    record = read_unit(Path(job.units_dir) / name)
    assert record is not None, "a unit that was written is whole"
    say(output(), f"done in {time.perf_counter() - begun_s:.1f} s: {record.events:,} events, "
                  f"{record.transactions:,} transactions, {record.verdict}"
                  f"{': ' if record.verdict_reason else ''}{record.verdict_reason}")  # fmt: skip
    for violation in record.violations:
        say(output(), f"violated: {violation}")
    said = ("events", "transactions", "verdict", "verdict_reason", "violations", "wall_s")
    told |= {word: getattr(record, word) for word in said}
    return _compare(record, read_unit(folder / "units" / name), folder, told)


def _trace(folder: Path, study: Study, unit: Unit, count: int) -> None:
    """Follows transactions of one unit; its file is named by the unit."""
    from analysis.export.traces import FOLDER, write_trace

    run = FinishedStudy.in_folder(folder, study, study.name)
    name = f"{unit.variant}-{unit.unit_hash[:8]}.json"
    path = write_trace(folder / FOLDER / name, run, unit, count)
    say(output(), f"{path} ({path.stat().st_size:,} bytes)")


def _compare(
    record: UnitRecord, known: UnitRecord | None, folder: Path, told: dict[str, Any]
) -> int:
    told["facts"], told["differing_tables"] = "unknown", []
    if known is None:
        say(output(), f"{folder} has no facts of this unit to compare with")
        return ExitStatus.FINE
    differ = [table for table, digest in record.digests.items() if known.digests[table] != digest]
    told["facts"], told["differing_tables"] = "differ" if differ else "same", differ
    if not differ:
        say(output(), f"facts are the same bytes as in {folder}")
        return ExitStatus.FINE
    cause = "another version of the model made those" if known.model != record.model else (
        "the same model should make the same bytes"
    )  # fmt: skip
    say(output(), f"facts differ from those in {folder} ({', '.join(differ)}): {cause}")
    return ExitStatus.CLAIM_FAILED
