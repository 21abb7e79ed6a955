"""The figures of a sweep as a whole: maps of two axes, lines along one, clouds of many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from analysis.plots import heat_map, style, sweep_lines, sweep_scatter
from analysis.plots.axes import Axis, axes_of, is_scattered, place_words
from analysis.plots.drawn import Picture
from analysis.plots.sweep_outcomes import OutcomeCells, SweepView, outcome_cells
from analysis.plots.words import between
from analysis.study.units import Point

_MapLayout = tuple[Axis, Axis, list[tuple[str, list[Point]]]]

MAPPED: Final = ("lock_latency", "disk_bytes_per_txn", "txn_per_s")
"""Outcomes, by file name, that a map is drawn of."""


def sweep_pictures(
    summary: Mapping[str, Any],
    variants: Sequence[str],
    points: Sequence[Point],
    contours: Mapping[str, float],
) -> Iterator[Picture]:
    """Yields the pictures of a study with several points.

    Points that fill a space become clouds. Otherwise the axis with the most values runs across; if
    there is a second one with an order of its own, the two become maps of the ratio, and if all
    other axes have few enough combinations, those become the columns of a line plot. Where neither
    can be drawn, they are clouds, too.

    Args:
        summary: content of ``summary.json``.
        variants: the baseline first.
        points: swept settings.
        contours: ratios at which maps have a contour and lines a dash, by figure.
    """
    axes = axes_of(points)
    if not axes:
        return
    looks = style.variant_looks(variants)
    across = max(axes, key=lambda axis: (axis.numeric, len(axis.labels)))
    rest = [axis for axis in axes if axis is not across]
    panels = [] if is_scattered(points, axes) else _panels(rest, points)
    in_lines = 0 < len(panels) * min(len(variants), 2) <= sweep_lines.MOST_PANELS
    layout = _map_layout(axes, points) if panels and len(variants) > 1 else None
    for cells in outcome_cells(summary):
        view = SweepView(cells, looks, contours.get(str(cells.outcome.key)))
        file, words = cells.outcome.file, _words(cells, variants, points, axes)
        if in_lines:
            told = [panel for panel in panels if cells.points_told(panel[1], variants)]
            figure = sweep_lines.sweep_lines(view, across, told)
            yield Picture(f"sweep_{file}", "sweep", figure, f"Curves. {words}")
        elif layout is None:
            figure = sweep_scatter.sweep_scatter(view, axes, points)
            yield Picture(f"sweep_{file}", "sweep", figure, f"Dots. {words}")
        if layout is not None and file in MAPPED:
            for variant in view.others:
                name = f"map_{file}" if len(view.others) == 1 else f"map_{file}_{variant}"
                figure = heat_map.heat_map(heat_map.RatioMap(view, variant, *layout))
                yield Picture(name, "sweep", figure, f"Map of ratios. {words}")


def _words(
    cells: OutcomeCells, variants: Sequence[str], points: Sequence[Point], axes: Sequence[Axis]
) -> str:
    """Returns what an outcome of a sweep comes to."""
    over = ", ".join(f"{axis.name} from {axis.labels[0]} to {axis.labels[-1]}" for axis in axes)
    values, ratios = [], []
    for variant in variants:
        numbers = [cells.value(point, variant).scaled(cells.outcome.scale) for point in points]
        refused = sum(bool(number.refused) for number in numbers)
        but = f" (refused at {refused} of {len(points)} points)" if refused else ""
        values.append(f"{variant} {between([number.value for number in numbers])}{but}")
    for variant in variants[1:]:
        known = [cells.ratio(point, variant).value for point in points]
        if not all(map(math.isnan, known)):
            ratios.append(f"{variant} over {variants[0]} {between(known)}")
    said = f"{cells.outcome.title} over {over}: {'; '.join(values)}."
    return f"{said} Ratio: {'; '.join(ratios)}." if ratios else said


def _panels(axes: Sequence[Axis], points: Sequence[Point]) -> list[tuple[str, list[Point]]]:
    """Returns the points by their values on the axes given, with these values as a title."""
    panels: dict[tuple[int, ...], list[Point]] = {}
    for point in points:
        panels.setdefault(tuple(axis.index(point) for axis in axes), []).append(point)
    return [
        (place_words(axes, inside[0]), inside)
        for _, inside in sorted(panels.items(), key=lambda pair: pair[0])
    ]


def _map_layout(axes: Sequence[Axis], points: Sequence[Point]) -> _MapLayout | None:
    """Returns the axes of maps, across and up, and their panels; None if nothing can be mapped."""
    ordered = sorted(
        (axis for axis in axes if axis.numeric), key=lambda axis: len(axis.labels), reverse=True
    )[:2]
    if len(ordered) < 2:
        return None
    # The first axis of the file runs up, so that a map reads as the file does: "y over x".
    up, across = sorted(ordered, key=axes.index)
    panels = _panels([axis for axis in axes if axis not in (up, across)], points)
    return None if len(panels) > heat_map.MOST_PANELS else (across, up, panels)
