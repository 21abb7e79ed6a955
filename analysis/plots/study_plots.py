"""All figures of a study, one set a point, as PNG and SVG under ``plots/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

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
        """Values by bin of windows, from ``course_tables.courses``."""

    @property
    def happenings(self) -> pd.DataFrame:
        """What was done to the cluster, from ``course_tables.happenings``."""


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
        tables: units, distributions, courses and happenings.
    """
    variants = list(dict.fromkeys(tables.units["variant"]))
    written = []
    for index, point in enumerate(points):
        rows = pd.DataFrame([row for row in summary["rows"] if row["point"] == point])
        if rows.empty:
            continue
        figures = _point_figures(
            rows, _PointTables.of(tables, index), variants, _subtitle(study_name, point)
        )
        suffix = f"_{index}" if len(points) > 1 else ""
        for name, figure in figures.items():
            style.save(figure, folder, f"{name}{suffix}")
            written.append(folder / f"{name}{suffix}.png")
    return written


@dataclass(frozen=True, slots=True)
class _PointTables:
    """The tables of one point."""

    units: pd.DataFrame
    distributions: pd.DataFrame
    courses: pd.DataFrame
    happenings: pd.DataFrame

    @classmethod
    def of(cls, tables: PlotTables, index: int) -> Self:
        """Cuts a point out of the tables of a study."""
        whole = (tables.units, tables.distributions, tables.courses, tables.happenings)
        return cls(*(table[table["point_index"] == index] for table in whole))


def _subtitle(study_name: str, point: Mapping[str, Any]) -> str:
    return ", ".join([study_name, *(f"{key} = {value}" for key, value in point.items())])


def _point_figures(
    rows: pd.DataFrame, tables: _PointTables, variants: Sequence[str], subtitle: str
) -> dict[str, Figure]:
    colours = style.variant_colours(variants)
    locks = tables.distributions[tables.distributions["metric"] == "lock_latency"]
    writes = rows[rows["metric"] == "disk_write_bytes_per_s"]
    stations = rows[rows["metric"] == "lock_station_ms"]
    stations = stations[~stations["class"].str.contains("/")]
    figures: dict[str, Figure] = {}
    if not locks.empty:
        figures["lock_latency_ccdf"] = distribution.latency_ccdf(locks, colours, subtitle)
    if not tables.courses.empty:
        over = course.Course(tables.courses, tables.units, tables.happenings, colours)
        figures["over_time"] = course.over_time(over, subtitle)
    if not writes.empty:
        figures["disk_writes"] = stacks.disk_writes(writes, variants, subtitle)
    if not stations.empty:
        figures["lock_stations"] = stacks.lock_stations(stations, variants, subtitle)
    return figures
