"""The figures of a sweep as a whole: maps of two axes, lines along one, clouds of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from matplotlib.figure import Figure

from analysis.plots import heat_map, style, sweep_lines, sweep_scatter
from analysis.plots.axes import Axis, Point, axes_of, is_scattered
from analysis.plots.sweep_outcomes import OutcomeCells, compared, outcome_cells

MAPPED: Final = ("lock_latency", "disk_bytes_per_txn", "txn_per_s")
"""Outcomes, by file name, that a map is drawn of."""


def sweep_figures(
    summary: Mapping[str, Any],
    variants: Sequence[str],
    points: Sequence[Point],
    contours: Mapping[str, float],
) -> dict[str, Figure]:
    """Returns the figures of a study with several points, by file name.

    Points that fill a space become clouds. Otherwise the axis with the most values runs across; if
    there is a second one with an order of its own, the two become maps of the ratio, and if all
    other axes have few enough combinations, those become the columns of a line plot.

    Args:
        summary: content of ``summary.json``.
        variants: the baseline first.
        points: swept settings.
        contours: ratios at which maps have a contour and lines a dash, by metric.
    """
    axes = axes_of(points)
    figures: dict[str, Figure] = {}
    if not axes:
        return figures
    for cells in outcome_cells(summary):
        outcome = cells.outcome
        level = contours.get(str(outcome.key))
        looks = style.variant_looks(variants)
        if is_scattered(points, axes):
            cloud = sweep_scatter.ScatterPlot(cells, axes, points, looks, level)
            figures[f"sweep_{outcome.file}"] = sweep_scatter.sweep_scatter(cloud)
            continue
        figures |= _lines(cells, axes, points, looks, level)
        if outcome.file in MAPPED:
            figures |= _maps(cells, axes, points, variants, level)
    return figures


def _across(axes: Sequence[Axis]) -> Axis:
    """Returns the axis with the most values, one with an order of its own if there is any."""
    return max(axes, key=lambda axis: (axis.numeric, len(axis.labels)))


def _panels(axes: Sequence[Axis], points: Sequence[Point]) -> list[tuple[str, list[Point]]]:
    """Returns the points by their values on the axes given, with these values as a title."""
    panels: dict[tuple[int, ...], list[Point]] = {}
    for point in points:
        panels.setdefault(tuple(axis.index(point) for axis in axes), []).append(point)
    return [
        (", ".join(f"{axis.name} {axis.label(inside[0])}" for axis in axes), inside)
        for _, inside in sorted(panels.items(), key=lambda pair: pair[0])
    ]


def _lines(
    cells: OutcomeCells,
    axes: Sequence[Axis],
    points: Sequence[Point],
    looks: Mapping[str, style.Look],
    level: float | None,
) -> dict[str, Figure]:
    across = _across(axes)
    panels = _panels([axis for axis in axes if axis is not across], points)
    if len(panels) > sweep_lines.MOST_PANELS:
        return {}
    plot = sweep_lines.LinePlot(cells, across, panels, looks, level)
    return {f"sweep_{cells.outcome.file}": sweep_lines.sweep_lines(plot)}


def _maps(
    cells: OutcomeCells,
    axes: Sequence[Axis],
    points: Sequence[Point],
    variants: Sequence[str],
    level: float | None,
) -> dict[str, Figure]:
    ordered = sorted(
        (axis for axis in axes if axis.numeric), key=lambda axis: len(axis.labels), reverse=True
    )[:2]
    if len(ordered) < 2:
        return {}
    # The first axis of the file runs up, so that a map reads as the file does: "y over x".
    up, across = sorted(ordered, key=axes.index)
    panels = _panels([axis for axis in axes if axis not in (up, across)], points)
    if len(panels) > heat_map.MOST_PANELS:
        return {}
    baseline, others = variants[0], compared(variants)
    figures = {}
    for variant in others:
        plot = heat_map.RatioMap(cells, variant, baseline, across, up, panels, level)
        suffix = "" if len(others) == 1 else f"_{variant}"
        figures[f"map_{cells.outcome.file}{suffix}"] = heat_map.heat_map(plot)
    return figures
