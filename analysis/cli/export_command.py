"""``export``: a study in other tools' formats, from its folder, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Final

from analysis.cli.failures import CommandError, ExitStatus
from analysis.cli.study_app import ExportCommand
from analysis.export.csv_tables import write_csv_course, write_csv_tables
from analysis.export.openmetrics import MOST_POINTS, START_S, write_metrics
from analysis.export.traces import write_traces
from analysis.study.finished_study import FinishedStudy, finished_study, load_folder
from analysis.study.units import read_plan
from analysis.terminal.console import messages, output, print_json, say, words_aside

USUAL_TRACED: Final = 20


def export_command(request: ExportCommand) -> int:
    """Writes what is asked for and lists it; 2 for a folder that has nothing to export."""
    read_plan(request.folder)  # a folder without one is told before its scenario is read
    run = finished_study(request.folder, load_folder(request.folder))
    try:
        with words_aside(when=request.as_json):
            written = [_told(path) for path in _written(request, run)]
    except OSError as error:
        message = f"{error.filename}: {error.strerror}; choose another folder with --out"
        raise CommandError(message) from error
    if request.as_json:
        print_json({"folder": str(request.folder), "written": written})
    return ExitStatus.FINE


def _told(path: Path) -> str:
    say(output(), f"{path} ({path.stat().st_size:,} bytes)")
    return str(path)


def _written(request: ExportCommand, run: FinishedStudy) -> Iterator[Path]:
    """Writes one file after the other and yields it."""
    out = request.out or request.folder
    out.mkdir(parents=True, exist_ok=True)
    traced = request.trace or USUAL_TRACED
    start_s = int(request.start.replace(tzinfo=UTC).timestamp()) if request.start else START_S
    if len(run.plan.points) > MOST_POINTS and request.formats != {"csv"}:
        say(messages(), f"more than {MOST_POINTS} points: no OpenMetrics, course or traces; "
                        f"replay UNIT --trace {USUAL_TRACED} follows one unit")  # fmt: skip
    if "openmetrics" in request.formats:
        yield from write_metrics(run, out, start_s)
    if "csv" in request.formats:
        yield from write_csv_tables(run, out)
        yield from write_csv_course(run, out)
    if "trace" in request.formats:
        say(messages(), f"following {traced} transactions of each case: "
                        f"one unit of each is run again, in this process")  # fmt: skip
        yield from write_traces(out, run, traced)
