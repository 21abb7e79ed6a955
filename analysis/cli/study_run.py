"""How ``run`` carries out a study, from its scenario to its folder.

The order is chosen so that nothing waits that need not: units that are done are found, and Spark is
started only when there is work for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from analysis.cli.failures import ExitStatus, ToldInterrupt
from analysis.cli.spark import spark
from analysis.cli.study_app import ExportCommand, RunCommand
from analysis.cli.study_report import ConsoleListener, report_result
from analysis.pipeline.spark_master import is_local
from analysis.pipeline.store_copy import copied_study_folder, place_of
from analysis.running.rounds import RoundSettings
from analysis.running.run_study import complete_study
from analysis.statistics.amounts import count
from analysis.study.ledger import scan
from analysis.study.study import Study
from analysis.study.study_folder import study_folder
from analysis.terminal.console import messages, say


def carry_out(request: RunCommand, study: Study, begun_s: float) -> int:
    """Runs a study; returns the exit status."""
    usual = study_folder(study.name, request.overrides, request.seed)
    folder, store = place_of(request.out, usual)
    shares_folder = store is None or is_local(request.master)
    with spark(request.master, shares_folder=shares_folder) as starter:
        settings = RoundSettings.of(
            study,
            folder,
            starter,
            store,
            after_failure="stop" if request.fail_fast else "go on",
            retry="failed" if request.retry else "missing",
            plots="none" if request.no_plots else "all",
        )
        if store is not None:
            say(messages(), f"{store}: {folder} is this machine's copy")
        console = ConsoleListener(settings.starter.master, settings.after_failure, folder)
        with told_when_interrupted(settings, console), copied_study_folder(folder, store):
            result = complete_study(settings, console, begun_s)
            status = report_result(result, as_json=request.as_json)
        if request.trace and status in (ExitStatus.FINE, ExitStatus.CLAIM_FAILED):
            traces = ExportCommand(folder=folder, format_="trace", trace=request.trace)
            return traces() or status
        return status


@contextmanager
def told_when_interrupted(settings: RoundSettings, console: ConsoleListener) -> Iterator[None]:
    """Says what an interrupted run has kept."""
    try:
        yield
    except KeyboardInterrupt:
        done = scan(settings.folder / "units").done
        kept = count(len(done), "unit")
        if console.plan is not None:
            asked = console.plan.units
            kept = f"{sum(unit.unit_hash in done for unit in asked)} of {count(len(asked), 'unit')}"
        say(messages(), f"interrupted: {kept} done and kept; "
                        f"the same command continues from there")  # fmt: skip
        raise ToldInterrupt from None
