"""``run``: from a scenario file to a study folder.

The order is chosen so that nothing waits that need not: the scenario is checked, units that are
done are found, and Spark is started only when there is work for it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from analysis.cli.console import messages, say, words_aside
from analysis.cli.console_listener import ConsoleListener
from analysis.cli.exit_status import ExitStatus
from analysis.cli.failures import with_failures_reported
from analysis.cli.study_report import Listener, listener_of, no_listener, report_result
from analysis.pipeline.object_store import ObjectStore, is_address
from analysis.pipeline.session import SparkStarter
from analysis.pipeline.spark_master import is_local
from analysis.pipeline.store_copy import copied_study_folder
from analysis.pipeline.unit_task import UnitJob
from analysis.running.rounds import AfterFailure, Plots, Retry, RoundSettings
from analysis.running.run_study import complete_study
from analysis.study.folder_name import study_folder
from analysis.study.ledger import scan
from analysis.study.plan import Plan
from analysis.study.study import Study
from analysis.study.study_folder import write_text_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What the command line asks for."""

    file: Path
    out: str | None = None
    """A folder, or the address of one in an object store."""
    seed: int | None = None
    replications: int | None = None
    overrides: tuple[str, ...] = ()
    master: str = "local[*]"
    after_failure: AfterFailure = "go on"
    retry: Retry = "missing"
    plots: Plots = "all"
    traced: int = 0
    """Transactions of each case to follow when all is done."""
    as_json: bool = False
    """Print one JSON document; what would be said goes to standard error."""


def run_command(request: RunRequest) -> int:
    """Runs a study; returns the exit status."""
    begun_s = time.perf_counter()
    into_store = request.out is not None and is_address(request.out)
    starter = SparkStarter(
        request.master, shares_folder=is_local(request.master) or not into_store
    )  # fmt: skip

    def load_and_run() -> int:
        study = _load(request)
        if study is None:
            return ExitStatus.BAD_INPUT
        store = ObjectStore.at(request.out) if request.out and into_store else None
        return _run(request, study, starter, store, begun_s)

    with words_aside(when=request.as_json):
        return with_failures_reported(starter, load_and_run)


def _load(request: RunRequest) -> Study | None:
    from analysis.study.load import load_study
    from sim.scenario import ScenarioError

    try:
        return load_study(
            request.file,
            list(request.overrides),
            seed=request.seed,
            replications=request.replications,
        )
    except ScenarioError as error:
        for problem in error.problems:
            say(messages(), str(problem))
        return None


def _run(
    request: RunRequest,
    study: Study,
    starter: SparkStarter,
    store: ObjectStore | None,
    begun_s: float,
) -> int:
    usual = study_folder(study.name, request.overrides, request.seed)
    folder = usual if request.out is None or store is not None else Path(request.out)
    units_dir = (folder / "units").resolve()
    settings = RoundSettings(
        folder=folder,
        job=UnitJob(study, str(units_dir), store=store),
        starter=starter,
        after_failure=request.after_failure,
        retry=request.retry,
        plots=request.plots,
    )
    if store is not None:
        say(messages(), f"{store}: {folder} is this machine's copy")
    with copied_study_folder(folder, store):
        write_text_whole(folder / "scenario.yaml", study.resolved_yaml())
        status = run_study(settings, study, begun_s, listener_of(as_json=request.as_json))
    if request.traced and status in (ExitStatus.FINE, ExitStatus.CLAIM_FAILED):
        from analysis.cli.export_command import TRACE, ExportRequest, export_command

        traces = ExportRequest(folder=folder, formats=(TRACE,), traced=request.traced)
        return export_command(traces) or status
    return status


def run_study(
    settings: RoundSettings, study: Study, begun_s: float, listener: Listener = no_listener
) -> int:
    """Runs what is missing in a locked folder and reports the whole.

    Args:
        settings: the study's folder, and how its units are run.
        study: what is asked.
        begun_s: when the command began, on ``perf_counter``.
        listener: takes the study when it has been reported.
    """
    console = ConsoleListener(settings.starter.master, settings.after_failure, settings.folder)
    try:
        result = complete_study(settings, console, begun_s)
    except KeyboardInterrupt:
        units = (console.plan or Plan(study)).units
        done = scan(settings.folder / "units").done
        kept = sum(unit.unit_hash in done for unit in units)
        say(messages(), f"interrupted: {kept} of {len(units)} units are done and kept; "
                        f"the same command continues from there")  # fmt: skip
        raise
    return report_result(result, listener)
