"""``export``: a study in other tools' formats, from its folder, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.cli.console import messages, output, say, words_aside
from analysis.cli.exit_status import ExitStatus
from analysis.cli.folder_commands import load_folder, study_name
from analysis.cli.json_output import print_json
from analysis.export.openmetrics import MOST_POINTS, START_S
from analysis.study.finished_study import FinishedStudy
from analysis.study.plan_file import read_plan
from analysis.study.study_folder import StudyFolderError

OPENMETRICS: Final = "openmetrics"
CSV: Final = "csv"
TRACE: Final = "trace"
FORMATS: Final = (OPENMETRICS, CSV, TRACE)
USUAL_TRACED: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What the command line asks for.

    Attributes:
        formats: some of ``FORMATS``.
        out: where the folders ``metrics``, ``csv``, ``traces`` are made; the study's if None.
        start_s: when simulated time begins, in seconds from 1970.
        traced: transactions in each trace.
        as_json: print the list of files as JSON.
    """

    folder: Path
    formats: tuple[str, ...]
    out: Path | None = None
    start_s: int = START_S
    traced: int = USUAL_TRACED
    as_json: bool = False


def export_command(request: ExportRequest) -> int:
    """Writes what is asked for and lists it; 2 for a folder that has nothing to export."""
    try:
        study = _read(request.folder)
        if study is None:
            return ExitStatus.BAD_INPUT
        with words_aside(when=request.as_json):
            written = [_told(path) for path in _written(request, study)]
    except StudyFolderError as error:
        say(messages(), str(error))
        return ExitStatus.BAD_INPUT
    except OSError as error:
        say(messages(), f"{error.filename}: {error.strerror}; choose another folder with --out")
        return ExitStatus.BAD_INPUT
    if request.as_json:
        print_json({"folder": str(request.folder), "written": written})
    return ExitStatus.FINE


def _told(path: Path) -> str:
    say(output(), f"{path} ({path.stat().st_size:,} bytes)")
    return str(path)


def _read(folder: Path) -> FinishedStudy | None:
    read_plan(folder)  # a folder without one is told before its scenario is read
    study = load_folder(folder)
    if study is None:
        return None
    run = FinishedStudy.in_folder(folder, study, study_name(folder))
    if not run.done:
        raise StudyFolderError(f"{folder}: no finished unit matches its digests; run the scenario")
    return run


def _written(request: ExportRequest, run: FinishedStudy) -> Iterator[Path]:
    """Writes one file after the other and yields it."""
    from analysis.export.csv_course import write_csv_course
    from analysis.export.csv_tables import write_csv_tables
    from analysis.export.openmetrics import write_metrics
    from analysis.export.traces import write_traces

    out = request.out or request.folder
    out.mkdir(parents=True, exist_ok=True)
    if len(run.plan.points) > MOST_POINTS and set(request.formats) != {CSV}:
        say(messages(), f"more than {MOST_POINTS} points: no OpenMetrics, course or traces; "
                        f"replay UNIT --trace {USUAL_TRACED} follows one unit")  # fmt: skip
    if OPENMETRICS in request.formats:
        yield from write_metrics(request.folder, run, out, request.start_s)
    if CSV in request.formats:
        yield from write_csv_tables(request.folder, out)
        yield from write_csv_course(request.folder, run, out)
    if TRACE in request.formats:
        say(messages(), f"following {request.traced} transactions of each case: "
                        f"one unit of each is run again, in this process")  # fmt: skip
        yield from write_traces(out, run, request.traced)
