"""Data of the charts that a reader can zoom into: over simulated time, and over load.

Law: a chart shows what a picture of the page shows, too, so nothing is lost where no script runs.
Numbers have four telling digits; a gap is null.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.page.findings import Findings
from analysis.plots import timeline
from analysis.plots.axes import Axis, axes_of, is_scattered
from analysis.plots.course import PATHS, Course
from analysis.plots.style import variant_colours
from analysis.plots.sweep_outcomes import OutcomeCells, outcome_cells

Chart = dict[str, Any]

MOST_POINTS: Final = 2
"""Points with charts over time; each has some 100 KB of data."""

_MOST_SERIES: Final = 8
_DASHES: Final = ([], [7, 3], [2, 2], [9, 3, 2, 3])
"""Of lines, so that they are told apart without colours; the solid one is the main variant's."""

_MS: Final = 1e-6
_STATS: Final = ("mean", "p99", "max")
_STAT_NAMES: Final = {"mean": "mean", "p99": "p99", "max": "longest"}


def time_charts(found: Findings) -> dict[str, Chart]:
    """Returns charts over simulated time by name, of the first points that have any."""
    tables = found.tables
    indices = sorted({int(index) for index in tables.courses["point_index"]})
    charts: dict[str, Chart] = {}
    dashes = _dashes(found)
    for index in indices[:MOST_POINTS]:
        of_point = [
            table[table["point_index"] == index]
            for table in (tables.courses, tables.units, tables.happenings)
        ]
        course = Course(*of_point, variant_colours(found.variants))
        where = f", {found.point_name(index)}" if found.point_name(index) else ""
        for name, chart in _of_course(course, dashes, where):
            charts[f"time-{index}-{name}"] = chart
    return charts


def _dashes(found: Findings) -> dict[str, int]:
    """Returns by variant which of the dashes it has: the main one none, then the baseline."""
    ordered = dict.fromkeys([found.main, found.baseline, *found.variants])
    return {name: place for place, name in enumerate(ordered)}


def _of_course(
    course: Course, dashes: Mapping[str, int], where: str
) -> Iterator[tuple[str, Chart]]:
    frame = _frame(course)
    locks = [{"name": stat, "series": list(_lock_series(course, dashes, stat))} for stat in _STATS]
    if locks[0]["series"]:
        title = f"Latency of lock requests (ms){where}"
        yield "locks", frame | {"title": title, "log": True, "views": _named(locks)}
    transactions = [
        {"name": stat, "series": list(_series(course, dashes, ("txn_latency", stat), _MS))}
        for stat in _STATS
    ]
    if transactions[0]["series"]:
        title = f"Latency of transactions (ms){where}"
        yield "txns", frame | {"title": title, "log": True, "views": _named(transactions)}
    rates = [
        ("commits", "txns"), ("region errors", "region_errors"), ("aborts", "txn_aborts"),
    ]  # fmt: skip
    views = [
        {"name": name, "series": list(_series(course, dashes, (metric, "mean"), 1.0))}
        for name, metric in rates
        if course.has(metric)
    ]
    if views:
        yield "rates", frame | {"title": f"Per second{where}", "log": False, "views": views}


def _named(views: Sequence[Chart]) -> list[Chart]:
    return [view | {"name": _STAT_NAMES[view["name"]]} for view in views if view["series"]]


def _frame(course: Course) -> Chart:
    """Returns what the charts of a point share: time axis, warm-up, what was done."""
    bin_s = float(course.table["bin_s"].iloc[0])
    units = course.units
    marks = timeline.marks(course.happenings, course.span_s)
    return {
        "axis": "simulated time (s)",
        "x": [short_number((place + 0.5) * bin_s, 6) for place in range(_bins(course, bin_s))],
        "warmup": float((units["warmup_windows"] * units["window_ns"]).max()) / 1e9,
        "marks": [
            [short_number(mark.from_s, 5), short_number(mark.until_s, 5), mark_words(mark)]
            for mark in marks[:_MOST_MARKS]
        ],
    }


_MOST_MARKS: Final = 200


def mark_words(mark: timeline.Mark) -> str:
    """Returns ``evict leader: store 1``."""
    name = mark.lane.replace("_", " ")
    return f"{name}: {mark.text}" if mark.text else name


def _bins(course: Course, bin_s: float) -> int:
    return int(course.span_s / bin_s + 1e-9)


def _lock_series(course: Course, dashes: Mapping[str, int], stat: str) -> Iterator[Chart]:
    """Yields a line a variant and path; where a variant has one path, its colour is its own."""
    for variant, colour in course.colours.items():
        of_paths = {path: course.line(variant, "lock_latency", stat, path) for path in PATHS}
        taken = {path: line for path, line in of_paths.items() if not line.empty}
        for place, (path, line) in enumerate(taken.items()):
            name = variant if path == variant or len(taken) == 1 else f"{variant}: {path}"
            shown = colour if path == variant or len(taken) == 1 else PATHS[path]
            dash = _DASHES[(dashes[variant] + place) % len(_DASHES)]
            yield _line(name, shown, dash, line, _MS, bands=stat == "mean")


def _series(
    course: Course, dashes: Mapping[str, int], of: tuple[str, str], scale: float
) -> Iterator[Chart]:
    """Yields a line a variant; a rate is 0 where nothing was counted, a latency has a gap."""
    metric, stat = of
    for variant, colour in course.colours.items():
        line = course.line(variant, metric, stat)
        if line.empty:
            continue
        filled = line if metric == "txn_latency" else line.fillna(0.0)
        dash = _DASHES[dashes[variant] % len(_DASHES)]
        yield _line(variant, colour, dash, filled, scale, bands=stat == "mean")


def _line(
    name: str, colour: str, dash: list[int], line: pd.DataFrame, scale: float, *, bands: bool
) -> Chart:
    chart: Chart = {
        "name": name, "colour": colour, "dash": dash, "v": _numbers(line["value"] * scale),
    }  # fmt: skip
    if bands:
        chart |= {"lo": _numbers(line["low"] * scale), "hi": _numbers(line["high"] * scale)}
    return chart


def _numbers(values: pd.Series[float]) -> list[float | None]:
    return [short_number(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def short_number(value: float, digits: int = 4) -> float | None:
    """Returns a number as short as JSON takes it: 12.0 is 12; None for no number."""
    if math.isnan(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) else rounded


def load_charts(found: Findings) -> dict[str, Chart]:
    """Returns a chart an outcome over the axis that is a number; none if there is no such axis."""
    points = _points_on_axis(found)
    if len(points) < 3 or "sensitivity" in found.summary:
        return {}
    axes = axes_of(points)
    numeric = [axis for axis in axes if axis.numeric]
    if len(numeric) != 1 or is_scattered(points, axes):
        return {}
    axis = numeric[0]
    charts = {}
    for cells in outcome_cells(found.summary):
        series = list(_curves(found.variants, points, cells, axis))
        if 0 < len(series) <= _MOST_SERIES:
            charts[f"load-{cells.outcome.file}"] = {
                "title": cells.outcome.title,
                "axis": f"{axis.key} (1/s)" if axis.key.endswith("rate") else axis.key,
                "joined": True,
                "log": cells.outcome.metric.endswith("_ms"),
                "x": list(axis.amounts or ()),
                "warmup": 0,
                "marks": [],
                "views": [{"name": "", "series": series}],
            }
    return charts


def _points_on_axis(found: Findings) -> list[Mapping[str, Any]]:
    """Returns the points; of a search for capacity those at which a load was tried."""
    if "capacity" not in found.summary:
        return list(found.points)
    load = found.summary["capacity"]["load"]
    return [point for point in found.points if load in point]


def _curves(
    variants: Sequence[str], points: Sequence[Mapping[str, Any]], cells: OutcomeCells, axis: Axis
) -> Iterator[Chart]:
    """Yields a curve a variant and setting of the other axes."""
    others: dict[str, list[Mapping[str, Any]]] = {}
    for point in points:
        rest = ", ".join(str(value) for key, value in point.items() if key != axis.key)
        others.setdefault(rest, []).append(point)
    for order, (rest, there) in enumerate(others.items()):
        at = {axis.index(point): point for point in there}
        for variant, colour in variant_colours(variants).items():
            rows = [
                cells.value(at[step], variant) if step in at else None
                for step in range(len(axis.labels))
            ]
            scale = cells.outcome.scale
            yield {
                "name": f"{variant}, {rest}" if rest else variant,
                "colour": colour,
                "dash": _DASHES[order % len(_DASHES)],
                "v": [_scaled(row, "value", scale) for row in rows],
                "gaps": [place for place, row in enumerate(rows) if row and "refused" in row],
                "lo": [_scaled(row, "ci_low", scale) for row in rows],
                "hi": [_scaled(row, "ci_high", scale) for row in rows],
            }


def _scaled(row: Mapping[str, Any] | None, field: str, scale: float) -> float | None:
    value = None if row is None else row.get(field)
    return None if value is None else short_number(value * scale)
