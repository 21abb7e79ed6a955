"""Commands about a finished or half-finished study folder: ``status`` and ``report``."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus
from analysis.study.ledger import Ledger, read_ledger
from analysis.study.plan import ResolvedStudy, plan_units
from analysis.study.source_digest import model_digest
from analysis.study.study_folder import StudyFolderError, locked_study_folder


def status_command(folder: Path) -> int:
    """Prints what is done, failed and missing; 3 if anything is not done."""
    study = load_folder(folder)
    if study is None:
        return ExitStatus.BAD_INPUT
    plan = plan_units(study)
    ledger = read_ledger(folder / "units", plan)
    failures = known_failures(folder)
    failed = [unit for unit in ledger.missing if unit.unit_hash in failures]
    say(output(), f"{folder}: {len(plan)} units: {len(ledger.done)} done, {len(failed)} failed, "
                  f"{len(ledger.missing) - len(failed)} missing")  # fmt: skip
    old = sum(record.model != model_digest() for record in ledger.done.values())
    if old:
        say(output(), f"  {old} were made by another version of the model: a run makes them anew, "
                      f"`report` takes them as they are")  # fmt: skip
    for variant, text in _by_variant(study, ledger).items():
        say(output(), f"  {variant}: {text}")
    for unit in failed:
        say(output(), f"  failed: {unit}: {failures[unit.unit_hash]}")
    if ledger.missing:
        words = ["run_sim.py", str(folder / "scenario.yaml"), "--out", str(folder)]
        say(output(), f"{shlex.join(words)} runs the rest")
    return ExitStatus.UNITS_FAILED if ledger.missing else ExitStatus.FINE


def _by_variant(study: ResolvedStudy, ledger: Ledger) -> dict[str, str]:
    done = Counter(unit.variant for unit in ledger.done)
    missing = Counter(unit.variant for unit in ledger.missing)
    return {name: f"{done[name]} of {done[name] + missing[name]}" for name in study.variants}


def report_command(folder: Path, master: str) -> int:
    """Makes summary, table and plots again from the facts that are there."""
    begun_s = time.perf_counter()
    study = load_folder(folder)
    if study is None:
        return ExitStatus.BAD_INPUT
    plan = plan_units(study)
    ledger = read_ledger(folder / "units", plan)
    if not ledger.done:
        say(messages(), f"{folder}: no finished unit agrees with its digests; run the scenario")
        return ExitStatus.BAD_INPUT

    from analysis.cli.study_report import StudyRun, not_written, report_study
    from analysis.pipeline.session import SparkStarter, SparkStartError, stop_spark

    starter = SparkStarter(master)
    run = StudyRun(
        study=study,
        name=study_name(folder),
        folder=folder,
        done=ledger.done,
        reused=len(ledger.done),
        failed=known_failures(folder),
        missing=len(ledger.missing),
        master=master,
        begun_s=begun_s,
        anew=True,
    )
    try:
        with locked_study_folder(folder):
            return report_study(run, starter)
    except StudyFolderError as error:
        say(messages(), str(error))
        return ExitStatus.BAD_INPUT
    except SparkStartError as error:
        say(messages(), str(error))
        return ExitStatus.UNITS_FAILED
    except OSError as error:
        say(messages(), not_written(error))
        return ExitStatus.UNITS_FAILED
    finally:
        stop_spark(starter)


def load_folder(folder: Path) -> ResolvedStudy | None:
    """Returns the study of a folder, or None after saying what is wrong with it."""
    from sim.scenario import ScenarioError, load_study

    scenario = folder / "scenario.yaml"
    if not scenario.is_file():
        say(messages(), f"{folder}: is no study folder (it has no scenario.yaml)")
        return None
    try:
        return load_study(scenario)
    except ScenarioError as error:
        for problem in error.problems:
            say(messages(), str(problem))
        return None


def _manifest(folder: Path) -> Mapping[str, Any]:
    try:
        content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def study_name(folder: Path) -> str:
    """Returns the name under which the study was run, else the folder's."""
    return str(_manifest(folder).get("study") or folder.resolve().name)


def known_failures(folder: Path) -> dict[str, str]:
    """Returns the error of each unit that failed in the last run, by hash."""
    return dict(_manifest(folder).get("failures") or {})
