"""The outcome of a sweep of many axes: a dot a point over each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.metrics.rounding import plain
from analysis.plots.axes import Axis, spread_of
from analysis.plots.style import (
    SMALL,
    WIDTH_IN,
    heading,
    legend_below,
    log_ticks,
    look_handle,
    new_figure,
    panel_grid,
    write_ticks,
)
from analysis.plots.sweep_lines import (
    draw_levels,
    mark,
    mark_no_values,
    no_value_handles,
    place_axis,
    scale_ratios,
)
from analysis.plots.sweep_outcomes import SweepView
from analysis.study.interpolation import decimal_text, kind_of
from analysis.study.units import Point

_COLUMNS: Final = 2
_MOST_TICKS: Final = 8


def sweep_scatter(view: SweepView, axes: Sequence[Axis], points: Sequence[Point]) -> Figure:
    """Draws one dot a point and variant over each axis, with its interval; what slopes, matters.

    Dots are ratios, if there is more than one variant.
    """
    columns = min(_COLUMNS, len(axes))
    figure = new_figure(WIDTH_IN, 2.8 * math.ceil(len(axes) / columns) + 0.9)
    outcome, names = view.cells.outcome, view.others or tuple(view.looks)
    panels = panel_grid(figure, len(axes), columns, sharey=True)
    for place, panel in enumerate(panels):
        _panel(panel, view, axes[place], points)
        if place % columns == 0:
            panel.set_ylabel(f"ratio to {view.baseline}" if view.others else outcome.title)
    if view.others:
        scale_ratios(panels, view, points)
    handles = [look_handle(view.looks[name], name, joined=False) for name in names]
    legend_below(figure, [*handles, *no_value_handles(view)])
    name = outcome.name if view.others else outcome.title
    heading(figure, f"{name.capitalize()}, over each axis")
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
        mark_no_values(axes, [place], view.looks[name])


def _scale(axes: Axes, axis: Axis) -> None:
    """Writes amounts with their units; a hypercube has too many values to write each."""
    if axis.amounts is None or len(axis.labels) <= _MOST_TICKS:
        place_axis(axes, axis)
        return
    if axis.logarithmic:
        axes.set_xscale("log")
        log_ticks(axes.xaxis, most=_MOST_TICKS)
    axes.set_xlim(*spread_of(axis.amounts, logarithmic=axis.logarithmic))
    sample = axis.labels[0]
    write_ticks(axes.xaxis, lambda amount: amount_text(amount, sample))
    axes.tick_params(axis="x", labelsize=SMALL)


def amount_text(amount: float, like: Any) -> str:
    """Returns an amount in base units as a file could write it that has values such as ``like``."""
    kind = kind_of(like)
    return plain(amount) if kind is None else decimal_text(amount, kind)
