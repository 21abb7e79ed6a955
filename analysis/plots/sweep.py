"""The figures of a sweep as a whole: maps of two axes, lines along one, clouds of many.

A cloud has a dot a point over each of the axes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.metrics.rounding import plain
from analysis.plots import heat_map, style, sweep_lines
from analysis.plots.axes import Axis, axes_of, is_scattered, place_words, spread_of
from analysis.plots.drawn import Picture, between
from analysis.plots.sweep_lines import draw_levels, mark, no_value_handles, place_axis, scale_ratios
from analysis.plots.sweep_outcomes import OutcomeCells, SweepView, outcome_cells
from analysis.study.interpolation import decimal_text, kind_of
from analysis.study.units import Point

_MapLayout = tuple[Axis, Axis, list[tuple[str, list[Point]]]]

_COLUMNS: Final = 2
"""Of clouds."""
_MOST_TICKS: Final = 8
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
            figure = _scatter(view, axes, points)
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


def _scatter(view: SweepView, axes: Sequence[Axis], points: Sequence[Point]) -> Figure:
    """Draws one dot a point and variant over each axis, with its interval; what slopes, matters.

    Dots are ratios, if there is more than one variant.
    """
    columns = min(_COLUMNS, len(axes))
    figure = style.new_figure(style.WIDTH_IN, 2.8 * math.ceil(len(axes) / columns) + 0.9)
    outcome, names = view.cells.outcome, view.others or tuple(view.looks)
    panels = style.panel_grid(figure, len(axes), columns, sharey=True)
    for place, panel in enumerate(panels):
        _panel(panel, view, axes[place], points)
        if place % columns == 0:
            panel.set_ylabel(f"ratio to {view.baseline}" if view.others else outcome.title)
    if view.others:
        scale_ratios(panels, view, points)
    handles = [style.look_handle(view.looks[name], name, joined=False) for name in names]
    style.legend_below(figure, [*handles, *no_value_handles(view)])
    name = outcome.name if view.others else outcome.title
    style.heading(figure, f"{name.capitalize()}, over each axis")
    return figure


def _panel(axes: Axes, view: SweepView, axis: Axis, points: Sequence[Point]) -> None:
    if view.others:
        draw_levels(axes, view)
    for name in view.others or view.looks:
        for point in points:
            _dot(axes, view, axis.place(point), point, name)
    _scale(axes, axis)
    axes.set_xlabel(axis.words)


def _dot(axes: Axes, view: SweepView, place: float, point: Point, name: str) -> None:
    number = view.cells.value(point, name).scaled(view.cells.outcome.scale)
    if view.others:
        number = view.cells.ratio(point, name)
    if number.is_drawn:
        mark(axes, place, number, view.looks[name], size=4)
    elif number.refused or number.at_least:
        style.mark_no_values(axes, [place], view.looks[name])


def _scale(axes: Axes, axis: Axis) -> None:
    """Writes amounts with their units; a hypercube has too many values to write each."""
    if axis.amounts is None or len(axis.labels) <= _MOST_TICKS:
        place_axis(axes, axis)
        return
    if axis.logarithmic:
        axes.set_xscale("log")
        style.log_ticks(axes.xaxis, most=_MOST_TICKS)
    axes.set_xlim(*spread_of(axis.amounts, logarithmic=axis.logarithmic))
    sample = axis.labels[0]
    style.write_ticks(axes.xaxis, lambda amount: amount_text(amount, sample))
    axes.tick_params(axis="x", labelsize=style.SMALL)


def amount_text(amount: float, like: Any) -> str:
    """Returns an amount in base units as a file could write it that has values such as ``like``."""
    kind = kind_of(like)
    return plain(amount) if kind is None else decimal_text(amount, kind)
