"""Commands on studies: they run one, or read its folder."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from analysis.cli import options
from analysis.cli.completion import study_folders
from analysis.cli.failures import CommandError
from analysis.cli.options import (
    AsJson,
    CommandLine,
    FolderOrStore,
    NoPlots,
    Overrides,
    ScenarioFile,
    SparkMaster,
    StudyFolder,
    Traced,
)
from analysis.terminal.console import output, say


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand(CommandLine):
    """Runs a scenario's variants and compares them.

    Units that are done are not run again; the same command continues an interrupted study.
    """

    file: ScenarioFile
    out: FolderOrStore = None
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all random streams.")] = None
    replications: Annotated[
        int | None, typer.Option(min=1, help="Replications of every variant.")
    ] = None
    set_: Overrides = None
    master: SparkMaster = "local[*]"
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Start no more units once one has failed.")
    ] = False
    retry: Annotated[
        Literal["failed"] | None,
        typer.Option(metavar="failed", help="Also repeat units that failed before."),
    ] = None
    no_checks: Annotated[
        bool, typer.Option("--no-checks", help="Do not check invariants: faster.")
    ] = False
    no_plots: NoPlots = False
    trace: Traced = None
    as_json: AsJson = False

    @property
    def overrides(self) -> list[str]:
        """All that is given over the file, as ``--set`` takes it."""
        return [*(self.set_ or ()), *(["run.checks=false"] if self.no_checks else ())]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusCommand(CommandLine):
    """Says which units are done, failed, running or missing."""

    folder: StudyFolder
    verify: Annotated[
        bool, typer.Option("--verify", help="Also check the digests of all facts.")
    ] = False
    as_json: AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCommand(CommandLine):
    """Runs one unit again, alone, and compares its facts."""

    folder: StudyFolder
    unit: Annotated[str, typer.Argument(metavar="UNIT", help="First digits of the unit's hash.")]
    trace: Traced = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCommand(CommandLine):
    """Makes summary, plots and page again from the facts."""

    folder: StudyFolder
    master: SparkMaster = "local[*]"
    no_plots: NoPlots = False
    as_json: AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffCommand(CommandLine):
    """Compares two studies: what changed, what moved beyond noise."""

    a: Annotated[
        Path,
        typer.Argument(metavar="A", help="A study's folder.", autocompletion=study_folders),
    ]
    b: Annotated[
        Path, typer.Argument(metavar="B", help="Another one's.", autocompletion=study_folders)
    ]
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="NUMBER[:LIMIT%]",
            help="Exit with 1 if this number became worse beyond noise and limit; repeatable.",
        ),
    ] = None
    everything: Annotated[
        bool, typer.Option("--all", help="Show everything that changed or moved.")
    ] = False
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a page that compares both, with curves."),
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportCommand(CommandLine):
    """Writes a study for Prometheus, spreadsheets, Perfetto."""

    folder: StudyFolder
    format_: Annotated[
        Literal["openmetrics", "csv", "trace"] | None,
        typer.Option(
            "--format", metavar="NAME", help="openmetrics, csv or trace; default the first two."
        ),
    ] = None
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder; default the study's folder.")
    ] = None
    start: Annotated[
        datetime | None,
        typer.Option(
            metavar="TIME",
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"],
            help="Start of simulated time, in UTC; default 2025-01-01.",
        ),
    ] = None
    trace: Traced = None
    as_json: AsJson = False

    @property
    def formats(self) -> set[str]:
        """What is written."""
        asked: set[str] = {self.format_} if self.format_ else {"openmetrics", "csv"}
        return asked | {"trace"} if self.trace else asked


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotCommand(CommandLine):
    """Writes a study's pictures for a publication: size, font and title as it wants them."""

    folder: StudyFolder
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names of pictures, as in plots/; default all."),
    ] = None
    format_: Annotated[
        Literal["pdf", "svg", "png"],
        typer.Option("--format", metavar="NAME", help="pdf, svg or png."),
    ] = "pdf"
    size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Size, such as 85mm or 85x60mm; default as drawn.",
            callback=options.picture_size,
        ),
    ] = None
    font: Annotated[
        str | None,
        typer.Option(metavar="FAMILY", help="Font, such as 'DejaVu Serif'.", callback=options.font),
    ] = None
    font_size: Annotated[
        float | None, typer.Option("--font-size", metavar="PT", min=2, max=72, help="In points.")
    ] = None
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title in place of the picture's; '' for none."),
    ] = None
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder; default figures/ in DIR.")
    ] = None
    master: SparkMaster = "local[*]"


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
    from analysis.serve import server

    if results.exists() and not results.is_dir():
        raise CommandError(f"{results}: is a file; name the folder of your studies")
    try:
        server.serve(results, port, lambda address: say(output(), f"{address}  (Ctrl-C stops it)"))
    except server.PortTakenError as error:
        raise CommandError(str(error)) from error


COMMANDS = (
    (RunCommand, "{program} run pessim:rfc77 --set workload.threads=400"),
    (StatusCommand, "{program} status results/rfc77"),
    (ReplayCommand, "{program} replay results/rfc77 3f9a1c"),
    (ReportCommand, "{program} report results/rfc77"),
    (PlotCommand, "{program} plot results/rfc77 lock_latency --format pdf --size 85mm"),
    (
        DiffCommand,
        "{program} diff results/rfc77 results/rfc77_seed=2 --fail-on lock_latency_ms.p99:5%",
    ),
    (ExportCommand, "{program} export results/rfc77 --format openmetrics"),
    (serve, "{program} serve"),
)
"""Each with an example, in the order of ``--help``; ``{program}`` is what this is called as."""
