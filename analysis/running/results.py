"""From finished units to the files of a study: summary, metrics, figures, page, manifest."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.metrics.study_tables import StudyTables
from analysis.pipeline.session import SparkStarter
from analysis.plots.drawn import Drawn
from analysis.report.manifest import MANIFEST, manifest
from analysis.running.listener import RunListener
from analysis.running.rounds import Plots
from analysis.statistics.amounts import count
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What running a study came to."""

    run: FinishedStudy
    summary: Mapping[str, Any]
    """Content of ``summary.json``; empty if no unit is done."""
    page: Path | None = None
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each; empty if nothing but the summary was written."""


def write_results(
    run: FinishedStudy, starter: SparkStarter, listener: RunListener, plots: Plots
) -> StudyResult:
    """Writes all files of a study."""
    phases = {"until_units_done": round(time.perf_counter() - run.begun_s, 3)}
    summary: dict[str, Any] = {}
    page = None
    if run.done:
        summary, page = _present(run, starter, listener, plots, phases)
    phases["total"] = round(time.perf_counter() - run.begun_s, 3)
    write_text_whole(run.folder / MANIFEST, json.dumps(manifest(run, phases), indent=1) + "\n")
    return StudyResult(run, summary, page, phases)


def _present(
    run: FinishedStudy,
    starter: SparkStarter,
    listener: RunListener,
    plots: Plots,
    phases: dict[str, float],
) -> tuple[dict[str, Any], Path]:
    """Writes summary, metrics, figures and page."""
    with listener.phase(f"summing up {count(len(run.done), 'unit')}"):
        tables, summary = sum_up(run, starter, points_drawn(run))
    listener.summed_up(run, summary)
    from analysis.export.openmetrics import write_metrics
    from analysis.page.study_page import write_page
    from analysis.plots.study_plots import clear_plots, write_study_plots

    metrics_begun_s = time.perf_counter()
    write_metrics(run)
    plots_begun_s = time.perf_counter()
    drawn: list[Drawn] = []
    if plots == "none":
        clear_plots(run.folder / "plots")
    else:
        with listener.phase("drawing pictures"):
            drawn = write_study_plots(run.folder / "plots", run, summary, tables)
    page_begun_s = time.perf_counter()
    with listener.phase("writing the page"):
        page = write_page(run, summary, tables, drawn)
    phases |= {
        "spark_start": round(starter.start_s, 3),
        "facts": round(tables.facts_s, 3),
        "metrics": round(plots_begun_s - metrics_begun_s, 3),
        "plots": round(page_begun_s - plots_begun_s, 3),
        "page": round(time.perf_counter() - page_begun_s, 3),
    }
    return summary, page


def sum_up(
    run: FinishedStudy, starter: SparkStarter, figure_points: int
) -> tuple[StudyTables, dict[str, Any]]:
    """Aggregates the facts and writes the summary; returns the tables and its content."""
    tables = tables_of(run, starter, figure_points)
    from analysis.report.summary import study_summary, write_summary
    from analysis.report.tidy import UNITS, unit_table_written

    path = run.folder / f"{UNITS}.parquet"
    with unit_table_written(path, run.plan.points, tables.batches) as take:
        summary = study_summary(run, tables, take)
    write_summary(run.folder, summary)
    return tables, summary


def tables_of(run: FinishedStudy, starter: SparkStarter, figure_points: int) -> StudyTables:
    """Returns what the facts come to as tables."""
    spark = starter.readers()
    from analysis.pipeline.study_tables import read_study_tables

    batches = run.study.run.batches
    folder = run.folder.resolve()  # executors have a working directory of their own
    return read_study_tables(spark, folder, run.done, figure_points, batches)


def points_drawn(run: FinishedStudy) -> int:
    """Returns how many points get figures of their own: all, or none if they are too many."""
    from analysis.pipeline.study_tables import FIGURE_POINTS

    searched = run.study.capacity is not None or run.study.sensitivity is not None
    few = len(run.plan.points) <= FIGURE_POINTS
    return len(run.plan.points) if few and not searched else 0
