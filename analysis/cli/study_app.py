"""Commands on studies: they run one, or read its folder.

Commands import what they need when they are called, so that ``--help`` and ``check`` stay quick.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from analysis.cli import options
from analysis.cli.completion import study_folders, words
from analysis.cli.options import (
    AsJson,
    NoPlots,
    Overrides,
    ScenarioFile,
    SparkMaster,
    StudyFolder,
    Traced,
)


def run(
    file: ScenarioFile,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Study folder; default results/<name>. Or s3://BUCKET/FOLDER, copied to there.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all random streams.")] = None,
    replications: Annotated[
        int | None, typer.Option(min=1, help="Replications of every variant.")
    ] = None,
    set_: Overrides = None,
    master: SparkMaster = "local[*]",
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Start no more units once one has failed.")
    ] = False,
    retry: Annotated[
        str | None,
        typer.Option(
            metavar="failed",
            help="Also repeat units that failed before.",
            callback=options.retry,
            autocompletion=words("failed"),
        ),
    ] = None,
    no_checks: Annotated[
        bool, typer.Option("--no-checks", help="Do not check invariants: faster.")
    ] = False,
    no_plots: NoPlots = False,
    trace: Traced = None,
    as_json: AsJson = False,
) -> None:
    """Runs a scenario's variants and compares them.

    Units that are done are not run again; the same command continues an interrupted study.
    """
    from analysis.cli.run_command import RunRequest, run_command

    request = RunRequest(
        file=file,
        out=out,
        seed=seed,
        replications=replications,
        overrides=(*(set_ or ()), *(["run.checks=false"] if no_checks else ())),
        master=master,
        after_failure="stop" if fail_fast else "go on",
        retry="failed" if retry else "missing",
        plots="none" if no_plots else "all",
        traced=trace or 0,
        as_json=as_json,
    )
    raise typer.Exit(run_command(request))


def status(
    folder: StudyFolder,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also check the digests of all facts.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Says which units are done, failed, running or missing."""
    from analysis.cli.folder_commands import status_command

    raise typer.Exit(status_command(folder, "verify" if verify else "glance", as_json=as_json))


def replay(
    folder: StudyFolder,
    unit: Annotated[str, typer.Argument(metavar="UNIT", help="First digits of the unit's hash.")],
    trace: Traced = None,
    as_json: AsJson = False,
) -> None:
    """Runs one unit again, alone, and compares its facts."""
    from analysis.cli.replay_command import replay_command

    raise typer.Exit(replay_command(folder, unit, trace or 0, as_json=as_json))


def report(
    folder: StudyFolder,
    master: SparkMaster = "local[*]",
    no_plots: NoPlots = False,
    as_json: AsJson = False,
) -> None:
    """Makes summary, plots and page again from the facts."""
    from analysis.cli.report_command import report_command

    raise typer.Exit(report_command(folder, master, "none" if no_plots else "all", as_json=as_json))


def diff(
    a: Annotated[
        Path,
        typer.Argument(metavar="A", help="A study's folder.", autocompletion=study_folders),
    ],
    b: Annotated[
        Path, typer.Argument(metavar="B", help="Another one's.", autocompletion=study_folders)
    ],
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="NUMBER[:LIMIT%]",
            help="Exit with 1 if this number became worse beyond noise and limit; repeatable.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show everything that changed or moved.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a page that compares both, with curves."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compares two studies: what changed, what moved beyond noise."""
    from analysis.cli.diff_command import diff_command

    raise typer.Exit(
        diff_command((a, b), fail_on or (), everything=everything, html=html, as_json=as_json)
    )


def export(
    folder: StudyFolder,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="openmetrics, csv or trace; default the first two.",
            callback=options.export_format,
            autocompletion=words("openmetrics", "csv", "trace"),
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder; default the study's folder.")
    ] = None,
    start: Annotated[
        datetime | None,
        typer.Option(
            metavar="TIME",
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"],
            help="Start of simulated time, in UTC; default 2025-01-01.",
        ),
    ] = None,
    trace: Traced = None,
    as_json: AsJson = False,
) -> None:
    """Writes a study for Prometheus, spreadsheets, Perfetto."""
    from analysis.cli import export_command as command
    from analysis.export.openmetrics import START_S

    usual = (command.OPENMETRICS, command.CSV)
    formats = (format_,) if format_ else usual
    request = command.ExportRequest(
        folder=folder,
        formats=(*formats, command.TRACE) if trace and format_ != command.TRACE else formats,
        out=out,
        start_s=int(start.replace(tzinfo=UTC).timestamp()) if start else START_S,
        traced=trace or command.USUAL_TRACED,
        as_json=as_json,
    )
    raise typer.Exit(command.export_command(request))


def plot(
    folder: StudyFolder,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names of pictures, as in plots/; default all."),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAME", help="pdf, svg or png.", callback=options.picture_format
        ),
    ] = "pdf",
    size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Size, such as 85mm or 85x60mm; default as drawn.",
            callback=options.picture_size,
        ),
    ] = None,
    font: Annotated[
        str | None,
        typer.Option(metavar="FAMILY", help="Font, such as 'DejaVu Serif'.", callback=options.font),
    ] = None,
    font_size: Annotated[
        float | None, typer.Option("--font-size", metavar="PT", min=2, max=72, help="In points.")
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title in place of the picture's; '' for none."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder; default figures/ in DIR.")
    ] = None,
    master: SparkMaster = "local[*]",
) -> None:
    """Writes a study's pictures for a publication: size, font and title as it wants them."""
    from typing import cast

    from analysis.cli.plot_command import PlotRequest, plot_command
    from analysis.plots.publishing import Format, Sheet, size_in

    width_in, height_in = size_in(size) if size else (None, None)
    sheet = Sheet(cast("Format", format_), width_in, height_in, font, font_size, title)
    raise typer.Exit(plot_command(PlotRequest(folder, names or (), sheet, out, master)))


def serve(
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder of studies.")
    ] = Path("results"),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port, on this machine only; 0: any free one.")
    ] = 0,
) -> None:
    """Shows studies in a browser: index, explorer, progress.

    Prints the address; whoever has it can look at studies and run them.
    """
    from analysis.cli.serve_command import serve_command

    raise typer.Exit(serve_command(results, port))


COMMANDS = (
    (run, "{program} run pessim:rfc77 --set workload.threads=400"),
    (status, "{program} status results/rfc77"),
    (replay, "{program} replay results/rfc77 3f9a1c"),
    (report, "{program} report results/rfc77"),
    (plot, "{program} plot results/rfc77 lock_latency --format pdf --size 85mm"),
    (diff, "{program} diff results/rfc77 results/rfc77_seed=2 --fail-on lock_latency_ms.p99:5%"),
    (export, "{program} export results/rfc77 --format openmetrics"),
    (serve, "{program} serve"),
)
"""Each with an example, in the order of ``--help``; ``{program}`` is what this is called as."""
