"""Two axes of a sweep as a map of ratios, with the contour of a claim.

Cells are equally large, whatever the distance of their values, and say their ratio. Colours are
those of the logarithm, white at 1. The contour is drawn between the cells' centres, on straight
lines of the logarithm; a cell whose interval holds the level is framed, since there the side is not
certain. A cell is hatched where the variants cannot be told apart, since its colour may be luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from analysis.metrics.catalogue import HIGHER_IS_BETTER
from analysis.metrics.numbers import StudyNumber
from analysis.metrics.rounding import plain
from analysis.plots import style
from analysis.plots.axes import Axis
from analysis.plots.sweep_outcomes import NO_VALUE, SweepView
from analysis.statistics.intervals import Array
from analysis.study.units import Point

MOST_PANELS: Final = 6
_CELL_IN: Final = 0.42
_BESIDE_IN: Final = 1.3
"""Width of the scale of colours, and of the labels."""
_BETTER, _WORSE = "#01665e", "#8c510a"
"""Ends of Brewer's BrBG, which colour-blind readers can tell apart.

Source: Brewer, ColorBrewer 2.0, 2013.
"""

_HATCHES: Final = {"black": "#404040", "white": "#d8d8d8"}
"""By the ink that can be read on a cell."""
_FRAME: Final = (0.0, (2.0, 2.0))

_LEAST_RANGE: Final = 0.05
"""Colours span at least this on the logarithm, so that noise is not painted as a difference."""


@dataclass(frozen=True, slots=True)
class RatioMap:
    """What is drawn as a map.

    Attributes:
        view: one outcome.
        variant: compared with the baseline.
        across: axis from left to right.
        up: axis from bottom to top.
        panels: title and points of each map.
    """

    view: SweepView
    variant: str
    across: Axis
    up: Axis
    panels: Sequence[tuple[str, Sequence[Point]]]


def heat_map(plot: RatioMap) -> Figure:
    """Draws a map a panel, on one scale of colours."""
    maps = [_ratios(plot, points) for _, points in plot.panels]
    logs = np.log(np.concatenate([one.ravel() for one in maps]))
    # Where colours end, on either side of 1.
    limit = float(np.nanmax(np.abs(logs), initial=_LEAST_RANGE))
    across, up = len(plot.across.labels), len(plot.up.labels)
    width = _CELL_IN * across + 0.25
    columns = 2 if len(maps) > 1 and 2 * width + _BESIDE_IN <= style.WIDTH_IN else 1
    rows = math.ceil(len(maps) / columns)
    height = min(max(0.52 * up + 0.7, 1.9), 4.0)
    figure = style.new_figure(
        max(width * columns + _BESIDE_IN, style.WIDTH_IN), height * rows + 1.3
    )
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    colours = _colours(plot)
    image: Any = None
    for place, axes in enumerate(grid.flat):
        if place >= len(maps):
            axes.set_visible(False)
            continue
        title, points = plot.panels[place]
        image = axes.imshow(
            np.ma.masked_invalid(np.log(maps[place])), origin="lower", cmap=colours,
            vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest",
        )  # fmt: skip
        axes.set_title(title, fontsize=style.SMALL)
        axes.grid(visible=False)
        _write_cells(axes, plot, points, limit)
        if plot.view.level is not None:
            _contour(axes, maps[place], plot.view.level)
    _label_axes(grid, plot)
    bar = figure.colorbar(image, ax=grid, shrink=0.85, pad=0.02)
    style.write_ticks(bar.ax.yaxis, lambda value: f"{math.exp(value):.2f}")
    bar.set_label(f"{plot.variant} / {plot.view.baseline} (green is better)")
    bar.ax.set_ylim(min(np.nanmin(logs, initial=0.0), 0.0), max(np.nanmax(logs, initial=0.0), 0.0))
    _legend(figure, plot, maps)
    name = plot.view.cells.outcome.name.capitalize()
    style.heading(figure, f"{name}: {plot.variant} / {plot.view.baseline}")
    return figure


def _ratios(plot: RatioMap, points: Sequence[Point]) -> Array:
    """Returns ratios of shape (up, across); NaN where there is none."""
    ratios = np.full((len(plot.up.labels), len(plot.across.labels)), np.nan)
    for point in points:
        ratio = plot.view.cells.ratio(point, plot.variant).value
        if ratio > 0:
            ratios[plot.up.index(point), plot.across.index(point)] = ratio
    return ratios


def _colours(plot: RatioMap) -> Colormap:
    """Returns a scale that is green where the variant is better, and grey without a value."""
    ends = [_BETTER, "#ffffff", _WORSE]
    if plot.view.cells.outcome.key.metric in HIGHER_IS_BETTER:
        ends.reverse()
    colours = LinearSegmentedColormap.from_list("ratios", ends)
    return colours.with_extremes(bad="#dddddd")


def _write_cells(axes: Axes, plot: RatioMap, points: Sequence[Point], limit: float) -> None:
    colours = _colours(plot)
    for point in points:
        column, line = plot.across.index(point), plot.up.index(point)
        ratio = plot.view.cells.ratio(point, plot.variant)
        if not ratio.is_there:
            mark = "×" if plot.view.cells.refused_at(point) else "-"
            axes.text(column, line, mark, ha="center", va="center", fontsize=style.SMALL)
            continue
        share = (math.log(ratio.value) / limit + 1) / 2
        ground = to_hex(colours(share))
        axes.text(
            column, line, f"{ratio.value:.2f}", ha="center", va="center", fontsize=style.SMALL,
            color=style.ink_on(ground), zorder=4,
            path_effects=[withStroke(linewidth=3, foreground=ground)],
        )  # fmt: skip
        if not ratio.told_apart:
            axes.add_patch(Rectangle(
                (column - 0.5, line - 0.5), 1.0, 1.0, fill=False, linewidth=0.0, hatch="//",
                edgecolor=_HATCHES[style.ink_on(ground)],
            ))  # fmt: skip
        if _is_framed(ratio, plot.view.level):
            axes.add_patch(Rectangle(
                (column - 0.44, line - 0.42), 0.88, 0.84, fill=False, edgecolor="black",
                linewidth=1.0, linestyle=_FRAME,
            ))  # fmt: skip


def _is_framed(ratio: StudyNumber, level: float | None) -> bool:
    """Returns whether the interval holds the level; without an interval nothing is certain."""
    if level is None or not ratio.is_there:
        return False
    return not ratio.has_interval or ratio.ci_low <= level <= ratio.ci_high


def _crosses(ratios: Array, level: float) -> bool:
    """Returns whether a map has a contour."""
    logs = np.ma.masked_invalid(np.log(ratios))
    return bool(
        min(ratios.shape) > 1 and logs.count() and logs.min() < math.log(level) < logs.max()
    )


def _contour(axes: Axes, ratios: Array, level: float) -> None:
    if _crosses(ratios, level):
        logs = np.ma.masked_invalid(np.log(ratios))
        # The outermost values are carried on to the rims, so that lines end there.
        across, up = ([-0.5, *range(size), size - 0.5] for size in reversed(ratios.shape))
        rimmed = np.ma.masked_invalid(np.pad(logs.filled(np.nan), 1, mode="edge"))
        axes.contour(
            across, up, rimmed, levels=[math.log(level)], colors="black", linewidths=2.2,
            linestyles="solid",
        )  # fmt: skip


def _label_axes(grid: NDArray[Any], plot: RatioMap) -> None:
    for axes in grid.flat:
        axes.set_xticks(range(len(plot.across.labels)), plot.across.labels, fontsize=style.SMALL)
        axes.set_yticks(range(len(plot.up.labels)), plot.up.labels, fontsize=style.SMALL)
        axes.tick_params(length=0)
    for column in grid.T:
        lowest = [axes for axes in column if axes.get_visible()][-1]
        lowest.set_xlabel(plot.across.words)
        lowest.tick_params(labelbottom=True)
    for row in grid:
        row[0].set_ylabel(plot.up.words)


def _legend(figure: Figure, plot: RatioMap, maps: Sequence[Array]) -> None:
    """Says what is drawn, and nothing else."""
    level, handles = plot.view.level, list[Any]()
    cells, points = plot.view.cells, [point for _, of in plot.panels for point in of]
    ratios = [cells.ratio(point, plot.variant) for point in points]
    if any(ratio.is_there and not ratio.told_apart for ratio in ratios):
        words = "no clear difference"
        handles.append(Patch(fill=False, edgecolor=_HATCHES["black"], hatch="////", label=words))
    if level is not None:
        if any(_crosses(one, level) for one in maps):
            words = f"ratio {plain(level)}"
            handles.append(Line2D([], [], color="black", linewidth=2.0, label=words))
        if any(_is_framed(ratio, level) for ratio in ratios):
            words = f"interval includes {plain(level)}"
            frame = Patch(fill=False, edgecolor="black", linestyle=_FRAME, label=words)
            handles.append(frame)
    if any(cells.refused_at(point) for point in points):
        handles.append(Line2D([], [], color="black", marker="x", linestyle="", label=NO_VALUE))
    if handles:
        style.legend_below(figure, handles)
