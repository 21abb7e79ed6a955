"""All figures of a study, one set a point, as PNG and SVG under ``plots/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from matplotlib.figure import Figure

from analysis.plots import course, distribution, stacks, style


class PlotTables(Protocol):
    """The tables that figures are made of."""

    @property
    def units(self) -> pd.DataFrame:
        """One row a unit."""

    @property
    def distributions(self) -> pd.DataFrame:
        """Merged histograms, from ``plot_tables.distributions``."""

    @property
    def courses(self) -> pd.DataFrame:
        """Sums by window, from ``plot_tables.courses``."""


def write_study_plots(
    folder: Path,
    study_name: str,
    points: Sequence[Mapping[str, Any]],
    summary: Mapping[str, Any],
    tables: PlotTables,
) -> list[Path]:
    """Draws every figure there are facts for, and returns the PNG files.

    Args:
        folder: ``results/<study>/plots``.
        study_name: for the headings.
        points: swept settings by ``point_index``.
        summary: content of ``summary.json``.
        tables: units, distributions and courses.
    """
    units, distributions, courses = tables.units, tables.distributions, tables.courses
    variants = list(dict.fromkeys(units["variant"]))
    written = []
    for index, point in enumerate(points):
        rows = pd.DataFrame([row for row in summary["rows"] if row["point"] == point])
        if rows.empty:
            continue
        figures = _point_figures(
            rows,
            units[units["point_index"] == index],
            distributions[distributions["point_index"] == index],
            courses[courses["point_index"] == index],
            variants,
            _subtitle(study_name, point),
        )
        suffix = f"_{index}" if len(points) > 1 else ""
        for name, figure in figures.items():
            style.save(figure, folder, f"{name}{suffix}")
            written.append(folder / f"{name}{suffix}.png")
    return written


def _subtitle(study_name: str, point: Mapping[str, Any]) -> str:
    return ", ".join([study_name, *(f"{key} = {value}" for key, value in point.items())])


def _point_figures(
    rows: pd.DataFrame,
    units: pd.DataFrame,
    distributions: pd.DataFrame,
    courses: pd.DataFrame,
    variants: Sequence[str],
    subtitle: str,
) -> dict[str, Figure]:
    colours = style.variant_colours(variants)
    locks = distributions[distributions["metric"] == "lock_latency"]
    writes = rows[rows["metric"] == "disk_write_bytes_per_s"]
    stations = rows[rows["metric"] == "lock_station_ms"]
    stations = stations[~stations["class"].str.contains("/")]
    figures: dict[str, Figure] = {}
    if not locks.empty:
        figures["lock_latency_ccdf"] = distribution.latency_ccdf(locks, colours, subtitle)
    if not courses.empty:
        figures["over_time"] = course.over_time(courses, units, colours, subtitle)
    if not writes.empty:
        figures["disk_writes"] = stacks.disk_writes(writes, variants, subtitle)
    if not stations.empty:
        figures["lock_stations"] = stacks.lock_stations(stations, variants, subtitle)
    return figures
