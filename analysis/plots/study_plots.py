"""All figures of a study, as PNG and SVG under ``plots/``: of the whole, and of each point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import pandas as pd
from matplotlib.figure import Figure

from analysis.plots import course, distribution, stacks, style, warmup
from analysis.plots.capacity import capacity_figures
from analysis.plots.sensitivity import sensitivity_figures
from analysis.plots.sweep import sweep_figures

if TYPE_CHECKING:
    from analysis.study.plan import Plan, ResolvedStudy


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

    @property
    def warmups(self) -> pd.DataFrame:
        """Each replication by bin, from ``warmup_tables.warmup_series``."""


class DrawnStudy(Protocol):
    """What is drawn."""

    @property
    def study(self) -> ResolvedStudy:
        """Variants, and levels of ratios that a map shows."""

    @property
    def name(self) -> str:
        """The study's name, for the headings."""

    @property
    def plan(self) -> Plan:
        """Its points, by ``point_index``."""


def write_study_plots(
    folder: Path, run: DrawnStudy, summary: Mapping[str, Any], tables: PlotTables
) -> list[Path]:
    """Draws every figure there are facts for, and returns the PNG files.

    Args:
        folder: ``results/<study>/plots``; what an earlier run drew there goes away.
        run: the study.
        summary: content of ``summary.json``.
        tables: units, distributions, courses and happenings of the points that get figures.
    """
    for old in (*folder.glob("*.png"), *folder.glob("*.svg")):
        old.unlink()
    written = []
    for name, figure in _figures(run, summary, tables):
        style.save(figure, folder, name)
        written.append(folder / f"{name}.png")
    return written


def _figures(
    run: DrawnStudy, summary: Mapping[str, Any], tables: PlotTables
) -> Iterator[tuple[str, Figure]]:
    """Yields figures by file name: of the whole study first, then of each point."""
    if "capacity" in summary:
        yield from capacity_figures(summary["capacity"], run.name).items()
    elif "sensitivity" in summary:
        yield from sensitivity_figures(summary["sensitivity"], run.name).items()
    elif len(run.plan.points) > 1:
        variants, contours = list(run.study.variants), run.study.contours
        yield from sweep_figures(summary, variants, run.plan.points, contours).items()
    yield from _all_points(run, summary, tables)


def _all_points(
    run: DrawnStudy, summary: Mapping[str, Any], tables: PlotTables
) -> Iterator[tuple[str, Figure]]:
    variants = list(run.study.variants)
    for index in sorted(set(tables.courses["point_index"])):
        point = run.plan.points[index]
        rows = summary["rows"].at_point(index).columns
        suffix = f"_{index}" if len(run.plan.points) > 1 else ""
        cut, subtitle = _PointTables.of(tables, index), _subtitle(run.name, point)
        for name, figure in _point_figures(rows, cut, variants, subtitle).items():
            yield f"{name}{suffix}", figure


@dataclass(frozen=True, slots=True)
class _PointTables:
    """The tables of one point."""

    units: pd.DataFrame
    distributions: pd.DataFrame
    courses: pd.DataFrame
    happenings: pd.DataFrame
    warmups: pd.DataFrame

    @classmethod
    def of(cls, tables: PlotTables, index: int) -> Self:
        """Cuts a point out of the tables of a study."""
        whole = (
            tables.units, tables.distributions, tables.courses, tables.happenings, tables.warmups,
        )  # fmt: skip
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
        figures["warmup"] = warmup.warmup_cuts(tables.warmups, tables.units, colours, subtitle)
    if not writes.empty:
        figures["disk_writes"] = stacks.disk_writes(writes, variants, subtitle)
    if not stations.empty:
        figures["lock_stations"] = stacks.lock_stations(stations, variants, subtitle)
    return figures
