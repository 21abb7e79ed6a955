"""All figures of a study, as PNG and SVG under ``plots/``: of the whole, and of each point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import pandas as pd

from analysis.plots import alt_texts, course, distribution, stacks, style, warmup, words
from analysis.plots.capacity import capacity_figures
from analysis.plots.drawn import Drawn, Picture, Section
from analysis.plots.sensitivity import sensitivity_figures
from analysis.plots.sweep import sweep_figures

if TYPE_CHECKING:
    from analysis.study.finished_study import FinishedStudy


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


def write_study_plots(
    folder: Path, run: FinishedStudy, summary: Mapping[str, Any], tables: PlotTables
) -> list[Drawn]:
    """Draws every figure there are facts for, and says what was drawn.

    Args:
        folder: ``results/<study>/plots``; what an earlier run drew there goes away.
        run: the study.
        summary: content of ``summary.json``.
        tables: units, distributions, courses and happenings of the points that get figures.
    """
    for old in (*folder.glob("*.png"), *folder.glob("*.svg")):
        old.unlink()
    written = []
    for picture, point_index in _pictures(run, summary, tables):
        several = point_index is not None and len(run.plan.points) > 1
        name = f"{picture.name}_{point_index}" if several else picture.name
        style.save(picture.figure, folder, name)
        written.append(picture.drawn(name, point_index))
    return written


def _pictures(
    run: FinishedStudy, summary: Mapping[str, Any], tables: PlotTables
) -> Iterator[tuple[Picture, int | None]]:
    """Yields pictures, each with its point: of the whole study first, then of each point."""
    for picture in _whole(run, summary):
        yield picture, None
    variants = list(run.study.variants)
    for index in sorted(set(tables.courses["point_index"])):
        rows = summary["rows"].at_point(index).columns
        cut = _PointTables.of(tables, index)
        for picture in _point_pictures(
            rows, cut, variants, _subtitle(run.name, run.plan.points[index])
        ):
            yield picture, int(index)


def _whole(run: FinishedStudy, summary: Mapping[str, Any]) -> Iterator[Picture]:
    if "capacity" in summary:
        found = summary["capacity"]
        words = alt_texts.capacity_words(found)
        for name, figure in capacity_figures(found, run.name).items():
            section: Section = "cost" if name == "capacity_cost" else "capacity"
            yield Picture(name, section, figure, words[name])
    elif "sensitivity" in summary:
        found = summary["sensitivity"]
        words = alt_texts.sensitivity_words(found)
        for name, figure in sensitivity_figures(found, run.name).items():
            yield Picture(name, "sensitivity", figure, words[name])
    elif len(run.plan.points) > 1:
        yield from _sweep_pictures(run, summary)


def _sweep_pictures(run: FinishedStudy, summary: Mapping[str, Any]) -> Iterator[Picture]:
    variants, points = list(run.study.variants), run.plan.points
    words = alt_texts.sweep_words(summary, variants, points)
    for name, figure in sweep_figures(summary, variants, points, run.study.contours).items():
        kind, _, rest = name.partition("_")
        file = max((file for file in words if rest.startswith(file)), key=len)
        shown = "Map of ratios. " if kind == "map" else "Curves. "
        yield Picture(name, "sweep", figure, shown + words[file])


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


def _point_pictures(
    rows: pd.DataFrame, tables: _PointTables, variants: Sequence[str], subtitle: str
) -> Iterator[Picture]:
    colours = style.variant_colours(variants)
    locks = tables.distributions[tables.distributions["metric"] == "lock_latency"]
    if not locks.empty:
        figure = distribution.latency_ccdf(locks, colours, subtitle)
        said = words.latencies(rows, variants)
        alt = f"Share of lock requests slower than a latency: {said}."
        yield Picture("lock_latency_ccdf", "latency", figure, alt)
    if not tables.courses.empty:
        over = course.Course(tables.courses, tables.units, tables.happenings, colours)
        figure = course.over_time(over, subtitle)
        yield Picture("over_time", "time", figure, course.over_time_words(over))
        figure = warmup.warmup_cuts(tables.warmups, tables.units, colours, subtitle)
        yield Picture("warmup", "warmup", figure, warmup.warmup_words(tables.units, variants))
    writes = rows[rows["metric"] == "disk_write_bytes_per_s"]
    if not writes.empty:
        figure = stacks.disk_writes(writes, variants, subtitle)
        yield Picture("disk_writes", "writes", figure, stacks.disk_write_words(writes, variants))
    stations = rows[rows["metric"] == "lock_station_ms"]
    stations = stations[~stations["class"].str.contains("/")]
    if stations["value"].notna().any():
        figure = stacks.lock_stations(stations, variants, subtitle)
        yield Picture("lock_stations", "stations", figure, stacks.station_words(stations, variants))
