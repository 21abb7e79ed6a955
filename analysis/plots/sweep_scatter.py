"""Points that fill a space, such as a Latin hypercube: the outcome over each axis in turn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from analysis.plots.axes import Axis, Point, spread_of
from analysis.plots.style import SMALL, WIDTH_IN, Look, heading, legend_below, new_figure
from analysis.plots.sweep_outcomes import OutcomeCells, compared
from sim.scenario.quantities import BANDWIDTH, DURATION, RATE, SIZE, QuantityError

COLUMNS = 2


@dataclass(frozen=True, slots=True)
class ScatterPlot:
    """What is drawn over each axis.

    Attributes:
        cells: of one outcome.
        axes: a panel each.
        points: all of them.
        looks: by variant, the baseline first; ratios if there is more than one.
        level: ratio at which a line is drawn across, or None.
    """

    cells: OutcomeCells
    axes: Sequence[Axis]
    points: Sequence[Point]
    looks: Mapping[str, Look]
    level: float | None


def sweep_scatter(plot: ScatterPlot) -> Figure:
    """Draws one dot a point and variant, with its interval; what slopes, matters."""
    others = compared(list(plot.looks))
    columns = min(COLUMNS, len(plot.axes))
    rows = math.ceil(len(plot.axes) / columns)
    figure = new_figure(WIDTH_IN, 2.8 * rows + 0.9)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= len(plot.axes):
            axes.set_visible(False)
            continue
        _panel(axes, plot, plot.axes[place], others or tuple(plot.looks))
    baseline = next(iter(plot.looks))
    title = plot.cells.outcome.title
    for row in grid:
        row[0].set_ylabel(f"ratio to {baseline}" if others else title)
    handles = [
        Line2D(
            [],
            [],
            color=plot.looks[name].colour,
            marker=plot.looks[name].marker,
            linestyle="",
            label=name,
        )
        for name in (others or plot.looks)
    ]
    legend_below(figure, handles)
    name = plot.cells.outcome.name if others else title
    heading(figure, f"{name.capitalize()}, over each axis")
    return figure


def _panel(axes: Axes, plot: ScatterPlot, axis: Axis, names: Sequence[str]) -> None:
    ratios = len(plot.looks) > 1
    if ratios:
        axes.axhline(1.0, color="#555555", linewidth=0.9)
    if ratios and plot.level is not None:
        axes.axhline(plot.level, color="#555555", linewidth=1.0, linestyle=(0, (4, 3)))
    for name in names:
        for point in plot.points:
            _dot(axes, plot, axis.place(point), point, name)
    _scale(axes, axis)
    axes.set_xlabel(axis.words)


def _dot(axes: Axes, plot: ScatterPlot, place: float, point: Point, name: str) -> None:
    ratios = len(plot.looks) > 1
    number = plot.cells.ratio(point, name) if ratios else plot.cells.value(point, name)
    if not number.is_there:
        return
    number = number.scaled(1.0 if ratios else plot.cells.outcome.scale)
    look = plot.looks[name]
    axes.plot([place], [number.value], look.marker, color=look.colour, markersize=4)
    if number.has_interval:
        ends = [number.ci_low, number.ci_high]
        axes.plot([place, place], ends, color=look.colour, linewidth=1.0, alpha=0.6)


def _scale(axes: Axes, axis: Axis) -> None:
    """Writes amounts with their units; a hypercube has too many values to write each."""
    if axis.amounts is None:
        axes.set_xticks(range(len(axis.labels)), axis.labels)
        return
    if axis.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(*spread_of(axis.amounts, logarithmic=axis.logarithmic))
    sample = axis.labels[0]
    axes.xaxis.set_major_formatter(FuncFormatter(lambda amount, _: amount_text(amount, sample)))
    axes.tick_params(axis="x", labelsize=SMALL)


def amount_text(amount: float, like: Any) -> str:
    """Returns an amount in base units as a file would write it.

    Args:
        amount: in base units.
        like: any value of the same kind.
    """
    for kind in (DURATION, SIZE, BANDWIDTH, RATE):
        try:
            kind.parse(like)
        except QuantityError:
            continue
        for unit in kind.written:
            factor = float(kind.units[unit])
            if abs(amount) >= factor:
                return f"{amount / factor:.3g}{unit}"
        return f"{amount:.3g}{kind.written[-1]}"
    return f"{amount:g}"
