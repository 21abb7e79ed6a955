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

from analysis.experiments.case_words import key_of, limit_words
from analysis.metrics.catalogue import MS_PER_NS, stat_name
from analysis.metrics.numbers import NOTHING
from analysis.metrics.shown import OUTCOMES, ShownFigure
from analysis.metrics.study_tables import Course
from analysis.page.findings import Findings
from analysis.plots import style, timeline
from analysis.plots.axes import Axis, axes_of, is_scattered
from analysis.plots.course import PATHS
from analysis.plots.load_curve import LOAD_KEYS, Latency
from analysis.plots.sweep_outcomes import OutcomeCells, outcome_cells

Chart = dict[str, Any]
Look = Mapping[str, Any]

MOST_POINTS: Final = 2
"""Points with charts over time; each has some 100 KB of data."""

_MOST_SERIES: Final = 8
_MOST_MARKS: Final = 200
_MOST_NAMED: Final = 3
_MOST_TICKS: Final = 12
"""Values of an axis up to which its ticks stand at them."""
_LINE_PX: Final = 2

_STATS: Final = ("mean", "p50", "p99", "p999", "max")
_RATES: Final = {"txns": "commits", "region_errors": "region errors", "txn_aborts": "aborts"}


def time_charts(found: Findings) -> dict[str, Chart]:
    """Returns charts over simulated time by name, of the first points that have any."""
    indices = sorted({int(index) for index in found.tables.courses["point_index"]})
    charts: dict[str, Chart] = {}
    looks = chart_looks(list(found.variants))
    for index in indices[:MOST_POINTS]:
        course = found.tables.at_point(index).course
        frame = _frame(course, timeline.marks(course.happenings, course.span_s))
        where = f", {found.point_name(index)}" if found.point_name(index) else ""
        for name, (title, chart) in _of_course(course, looks).items():
            charts[f"time-{index}-{name}"] = frame | chart | {"title": f"{title}{where}"}
    return charts


def chart_looks(names: Sequence[str]) -> dict[str, Look]:
    """Returns colour and dash of each line by name, as pictures have them."""
    return {name: _look(look) for name, look in style.variant_looks(names).items()}


def _look(look: style.Look) -> Look:
    parts = () if look.line == "-" else look.line[1]
    return {"colour": look.colour, "dash": [round(part * _LINE_PX) for part in parts]}


def one_view(columns: Mapping[str, Chart]) -> list[Chart]:
    """Returns the only view of a chart, with a line a name.

    Args:
        columns: by name values ``v``, and ``lo`` and ``hi`` where there are intervals.
    """
    looks = chart_looks(list(columns))
    lines = [{"name": name, **looks[name], **columns[name]} for name in columns]
    return [{"name": "", "series": lines}]


def _frame(course: Course, marks: Sequence[timeline.EventMark]) -> Chart:
    """Returns what the charts of a point share: time axis, warm-up, what was done."""
    return {
        "axis": "simulated time (s)",
        "x": [short_number((place + 0.5) * course.bin_s, 6) for place in range(course.bins)],
        "warmup": course.warmup_s,
        "marks": [
            [short_number(mark.from_s, 5), short_number(mark.until_s, 5), mark_words(mark)]
            for mark in marks[:_MOST_MARKS]
        ],
    }


def mark_words(mark: timeline.EventMark) -> str:
    """Returns ``evict leader: store 1``."""
    name = mark.lane.replace("_", " ")
    return f"{name}: {mark.text}" if mark.text else name


def _of_course(course: Course, looks: Mapping[str, Look]) -> dict[str, tuple[str, Chart]]:
    """Returns title and data of each chart; one without a line is left out."""
    latencies = (
        ("locks", "Latency of lock requests (ms)", "lock_latency"),
        ("txns", "Latency of transactions (ms)", "txn_latency"),
    )
    found: dict[str, tuple[str, Chart]] = {}
    for name, title, metric in latencies:
        views = [
            {"name": stat_name(stat), "series": list(_latencies(course, looks, metric, stat))}
            for stat in _STATS
            if stat in course.stats(metric)
        ]
        found[name] = (title, {"log": True, "views": [view for view in views if view["series"]]})
    rates = [
        {"name": shown, "series": list(_rates(course, looks, metric))}
        for metric, shown in _RATES.items()
        if course.has(metric)
    ]
    found["rates"] = ("Per second", {"log": False, "views": rates})
    return {name: chart for name, chart in found.items() if chart[1]["views"]}


def _latencies(
    course: Course, looks: Mapping[str, Look], metric: str, stat: str
) -> Iterator[Chart]:
    """Yields a line a variant; of locks one a path that any lock of the variant took."""
    classes = tuple(PATHS) if metric == "lock_latency" else ("all",)
    for variant in looks:
        lines = {class_: course.line(variant, metric, stat, class_) for class_ in classes}
        taken = {class_: line for class_, line in lines.items() if not line.empty}
        for class_, line in taken.items():
            usual = class_ == variant or len(taken) == 1
            name = variant if usual else f"{variant}: {class_}"
            look = looks[variant] if usual else _look(PATHS[class_])
            yield series(name, look, line, MS_PER_NS, bands=stat == "mean")


def _rates(course: Course, looks: Mapping[str, Look], metric: str) -> Iterator[Chart]:
    """Yields a line a variant, 0 where nothing was counted."""
    for variant in looks:
        line = course.line(variant, metric, "mean")
        if not line.empty:
            yield series(variant, looks[variant], line.fillna(0.0), 1.0, bands=True)


def sweep_title(found: Findings) -> str:
    """Returns what the charts and pictures of all points are about, as a heading."""
    names = [
        "the load" if axis.key in LOAD_KEYS else axis.words
        for axis in axes_of(_points_on_axis(found))
        if axis.numeric
    ]
    if not 0 < len(names) <= _MOST_NAMED:
        return "How the results change over the sweep"
    words = " and ".join([", ".join(names[:-1]), names[-1]][len(names) < 2 :])
    return f"How the results change with {words}"


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
    limits = dict(_promised(found.summary))
    shown = list(dict.fromkeys([*OUTCOMES, *limits]))
    for cells in outcome_cells(found.summary, shown):
        series = list(_curves(found.variants, points, cells, axis))
        if 0 < len(series) <= _MOST_SERIES:
            charts[f"load-{cells.outcome.file}"] = {
                "title": cells.outcome.title,
                "axis": f"{axis.words} ({axis.unit})" if axis.unit else axis.words,
                "joined": True,
                "log": cells.outcome.key.metric.endswith("_ms"),
                "xlog": axis.logarithmic,
                "ticks": len(axis.labels) <= _MOST_TICKS,
                "x": [short_number(place, 6) for place in axis.in_unit],
                "limit": limits.get(cells.outcome),
                "warmup": 0,
                "marks": [],
                "views": [{"name": "", "series": series}],
            }
    return charts


def _promised(summary: Mapping[str, Any]) -> Iterator[tuple[ShownFigure, Chart]]:
    """Yields the latencies for which a search for capacity has limits, each with its line."""
    usual = {outcome.key: outcome for outcome in OUTCOMES}
    for one in summary.get("capacity", {"slo": []})["slo"]:
        if not one["metric"].endswith("_latency_ms"):
            continue
        key = key_of(one)
        own = ShownFigure(key, f"{Latency(key).name} (ms)", file=one["key"])
        line = {"at": one["limit"], "words": f"promised: {limit_words(one)}"}
        yield usual.get(own.key, own), line


def _points_on_axis(found: Findings) -> list[Mapping[str, Any]]:
    """Returns the points; of a search for capacity those at which a load was tried."""
    if "capacity" not in found.summary:
        return list(found.points)
    load = found.summary["capacity"]["load"]
    return [point for point in found.points if load in point]


def _curves(
    variants: Sequence[str], points: Sequence[Mapping[str, Any]], cells: OutcomeCells, axis: Axis
) -> Iterator[Chart]:
    """Yields a curve a variant and setting of the other axes, whose dashes all differ."""
    others: dict[str, list[Mapping[str, Any]]] = {}
    for point in points:
        rest = ", ".join(str(value) for key, value in point.items() if key != axis.key)
        others.setdefault(rest, []).append(point)
    looks = iter(style.line_looks([*variants] * len(others)))
    for rest, there in others.items():
        at = {axis.index(point): point for point in there}
        for variant in variants:
            numbers = [
                cells.value(at[step], variant) if step in at else NOTHING
                for step in range(len(axis.labels))
            ]
            scaled = [number.scaled(cells.outcome.scale) for number in numbers]
            yield {
                "name": f"{variant}, {rest}" if rest else variant,
                **_look(next(looks)),
                "v": [short_number(number.value) if number.is_drawn else None for number in scaled],
                "gaps": [
                    place
                    for place, number in enumerate(numbers)
                    if number.refused or number.at_least
                ],
                "lo": [short_number(number.ci_low) for number in scaled],
                "hi": [short_number(number.ci_high) for number in scaled],
            }


def series(
    name: str, look: Mapping[str, Any], line: pd.DataFrame, scale: float, *, bands: bool
) -> dict[str, Any]:
    """Returns a chart's line: ``name``, its look, ``v``, and with bands ``lo`` and ``hi``."""
    found = {"name": name, **look, "v": numbers(line["value"] * scale)}
    if bands:
        found |= {"lo": numbers(line["low"] * scale), "hi": numbers(line["high"] * scale)}
    return found


def numbers(values: pd.Series[float]) -> list[float | None]:
    """Returns numbers with four telling digits; None for a gap."""
    return [short_number(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def short_number(value: float, digits: int = 4) -> float | None:
    """Returns a number as short as JSON takes it: 12.0 is 12; None for no number."""
    if math.isnan(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) else rounded
