"""``plot``: a study's pictures again, as a publication wants them, from the facts there are."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from analysis.cli.failures import CommandError, ExitStatus
from analysis.cli.report_command import finished_run
from analysis.cli.spark import spark
from analysis.cli.study_app import PlotCommand
from analysis.pipeline.session import SparkStarter
from analysis.plots.publishing import Sheet, publish, size_in
from analysis.running.results import points_drawn, tables_of
from analysis.running.rounds import RoundSettings
from analysis.study.finished_study import FinishedStudy, load_folder
from analysis.terminal.console import output, say

FIGURES: Final = "figures"
"""Folder below a study's, unless another is given; ``plots`` is made anew by each report."""


def plot_command(request: PlotCommand) -> int:
    """Writes the pictures and lists them; 2 for a folder or a name that there is not."""
    begun_s = time.perf_counter()
    study = load_folder(request.folder)
    _check_names(request)
    out = _made(request)
    with spark(request.master) as starter:
        run = finished_run(RoundSettings.of(study, request.folder, starter), begun_s)
        return _write(run, starter, request, out)


def _check_names(request: PlotCommand) -> None:
    """Refuses a picture that the report did not draw, before Spark is started."""
    known = sorted({file.stem for file in (request.folder / "plots").glob("*.*")})
    for name in request.names or () if known else ():
        if name not in known:
            raise CommandError(f"{name}: no such picture; there are {', '.join(known)}")


def _made(request: PlotCommand) -> Path:
    """Returns the folder for the pictures, which can be written.

    Raises:
        CommandError: if it cannot be.
    """
    out = request.out or request.folder / FIGURES
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out):
            return out
    except OSError as error:
        raise CommandError(f"{out}: {error.strerror}; choose another --out") from error


def _write(run: FinishedStudy, starter: SparkStarter, request: PlotCommand, out: Path) -> int:
    from analysis.plots.study_plots import study_pictures
    from analysis.report.summary import study_summary

    tables = tables_of(run, starter, points_drawn(run))
    summary = study_summary(run, tables)
    pictures = {name: picture for name, picture, _ in study_pictures(run, summary, tables)}
    for name in request.names or ():
        if name not in pictures:
            raise CommandError(f"{name}: no such picture; there are {', '.join(pictures)}")
    width_in, height_in = size_in(request.size) if request.size else (None, None)
    sheet = Sheet(
        request.format_, width_in, height_in, request.font, request.font_size, request.title
    )
    for name in request.names or pictures:
        file = out / f"{name}.{sheet.format}"
        publish(pictures[name].figure, sheet, file)
        say(output(), f"{file} ({file.stat().st_size:,} bytes)")
    return ExitStatus.FINE
