"""The outcome of a sweep along one axis: lines over amounts, dots over words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from analysis.metrics.numbers import NOTHING, StudyNumber
from analysis.metrics.rounding import plain
from analysis.plots import style
from analysis.plots.axes import Axis, spread_of
from analysis.plots.sweep_outcomes import NO_VALUE, SweepView
from analysis.study.units import Point

MOST_PANELS: Final = 8
"""Of values and of ratios together."""
_COLUMNS: Final = 2
_TITLE: Final = 30
"""Letters of a title that fit above a column."""
_LOG_SPAN: Final = 20.0
"""Greatest over smallest value from which the value axis is logarithmic."""
_ROOM: Final = 3.0
"""How many times the greatest ratio an interval is shown, and of the least one likewise."""
_ASIDE: Final = 0.08
"""How far variants stand apart over a word, in steps of the axis."""
_IN_A_ROW: Final = 32
"""Letters of labels that fit beside each other; more are tilted."""
_LABEL_IN: Final = 0.055
"""Half the width of a letter of a label, with some room beside it."""
_TILTED_IN: Final = 0.055
"""Height that a letter of a tilted label takes."""


Panels = Sequence[tuple[str, Sequence[Point]]]
"""Title and points of each column."""


def sweep_lines(view: SweepView, axis: Axis, panels: Panels) -> Figure:
    """Draws values with interval bands, and ratios; a cross stands for a refused value.

    Args:
        view: one outcome.
        axis: along which lines run.
        panels: title and points of each column.
    """
    kinds = 2 if view.others else 1
    rows = math.ceil(len(panels) / _COLUMNS)
    tilted_in = _TILTED_IN * max(map(len, axis.labels)) if _is_tilted(axis) else 0.0
    figure = style.new_figure(style.WIDTH_IN, (3.1 * kinds - 0.5) * rows + 1.0 + tilted_in)
    above, below = _grid(figure, view, axis, (len(panels), rows, kinds))
    for axes, (title, points) in zip(above, panels, strict=True):
        _values(axes, view, axis, points)
        axes.set_title(fill(title, _TITLE), fontsize=style.SMALL)
    for axes, (_, points) in zip(below, panels, strict=False):
        _ratios(axes, view, axis, points)
    _scale_values(above, view, panels)
    every = [point for _, points in panels for point in points]
    scale_ratios(below, view, every)
    _legend(figure, view, axis)
    style.heading(figure, f"{view.cells.outcome.name.capitalize()}, by {axis.words}")
    return figure


def _grid(
    figure: Figure, view: SweepView, axis: Axis, shape: tuple[int, int, int]
) -> tuple[list[Axes], list[Axes]]:
    """Returns the axes of values and those of ratios, one a panel; each kind has one scale."""
    count, rows, kinds = shape
    columns = min(count, _COLUMNS)
    grid = figure.subplots(
        kinds * rows, columns, sharex=True, squeeze=False,
        gridspec_kw={"height_ratios": [1.35, 1.0][:kinds] * rows},
    )  # fmt: skip
    for axes in grid.flat:
        place_axis(axes, axis)
    names = (view.cells.outcome.title, f"ratio to {view.baseline}")
    found: list[list[Axes]] = [[], []]
    for kind in range(kinds):
        every = list(grid[kind::kinds].flat)
        found[kind] = every[:count]
        for unused in every[count:]:
            unused.set_visible(False)
        for place, axes in enumerate(found[kind]):
            axes.set_ylabel(names[kind] if place % columns == 0 else "")
            if place:
                axes.sharey(every[0])
    for axes in found[kinds - 1]:
        axes.tick_params(labelbottom=True)
    for axes in found[kinds - 1][-columns:]:
        axes.set_xlabel(axis.words)
    return found[0], found[1]


def _values(axes: Axes, view: SweepView, axis: Axis, points: Sequence[Point]) -> None:
    scale = view.cells.outcome.scale
    for variant, look in view.looks.items():
        numbers = [(axis.place(point), view.cells.value(point, variant)) for point in points]
        drawn = [
            (place, number.scaled(scale) if number.is_drawn else NOTHING)
            for place, number in numbers
        ]
        _draw(axes, view, axis, variant, drawn)
        refused = [place for place, number in numbers if number.refused or number.at_least]
        style.mark_no_values(axes, refused, look)


def _ratios(axes: Axes, view: SweepView, axis: Axis, points: Sequence[Point]) -> None:
    draw_levels(axes, view)
    for variant in view.others:
        ratios = [(axis.place(point), view.cells.ratio(point, variant)) for point in points]
        _draw(axes, view, axis, variant, ratios)
    style.write_ticks(axes.yaxis, plain)


def _draw(
    axes: Axes,
    view: SweepView,
    axis: Axis,
    variant: str,
    drawn: Sequence[tuple[float, StudyNumber]],
) -> None:
    """Draws a line along an axis of amounts, dots beside each other over one of words."""
    look, names = view.looks[variant], list(view.looks)
    if axis.numeric:
        _band(axes, drawn, look)
        return
    aside = _ASIDE * (names.index(variant) - (len(names) - 1) / 2)
    for place, number in drawn:
        if number.is_there:
            mark(axes, place + aside, number, look, size=6)


def _band(axes: Axes, drawn: Sequence[tuple[float, StudyNumber]], look: style.Look) -> None:
    """Draws a line with markers and its interval; gaps where values or intervals are missing."""
    drawn = sorted(drawn, key=lambda pair: pair[0])
    places, values = [place for place, _ in drawn], [number.value for _, number in drawn]
    lows, highs = zip(*((number.ci_low, number.ci_high) for _, number in drawn), strict=True)
    axes.fill_between(places, lows, highs, color=look.colour, alpha=0.25, linewidth=0)
    axes.plot(
        places, values, linestyle=look.line, marker=look.marker, color=look.colour, linewidth=1.6,
        markersize=5,
    )  # fmt: skip


def place_axis(axes: Axes, axis: Axis) -> None:
    """Puts the ticks at the values, as the file wrote them."""
    places = axis.amounts or tuple(float(place) for place in range(len(axis.labels)))
    if axis.logarithmic:
        axes.set_xscale("log")
    words = (-0.5, len(places) - 0.5)
    axes.set_xlim(*spread_of(places, logarithmic=axis.logarithmic) if axis.numeric else words)
    axes.xaxis.set_major_locator(FixedLocator(list(places)))
    axes.xaxis.set_minor_locator(NullLocator())
    labels = dict(zip(places, axis.labels, strict=True))
    if axis.numeric and not _is_tilted(axis):
        labels = _with_room(axes, labels)
    style.write_ticks(axes.xaxis, lambda place: labels.get(place, ""))
    axes.tick_params(axis="x", labelsize=style.SMALL)
    if _is_tilted(axis):
        for label in axes.get_xticklabels():
            label.set(rotation=45.0, rotation_mode="anchor", horizontalalignment="right")


def _with_room(axes: Axes, labels: Mapping[float, str]) -> dict[float, str]:
    """Returns the labels that do not meet their neighbours; both ends are among them."""
    drawn = axes.get_figure(root=True)
    assert drawn is not None
    width_in = axes.get_position().width * drawn.get_figwidth()
    low, high = axes.transData.transform([(limit, 1.0) for limit in axes.get_xlim()])[:, 0]
    first, *between, last = labels
    kept: dict[float, tuple[float, float]] = {}
    for place in dict.fromkeys((first, last, *between)) if between else labels:
        at_px = axes.transData.transform((place, 1.0))[0]
        middle_in, half_in = width_in * (at_px - low) / (high - low), _LABEL_IN * len(labels[place])
        span = middle_in - half_in, middle_in + half_in
        if all(span[1] < left or right < span[0] for left, right in kept.values()):
            kept[place] = span
    return {place: labels[place] for place in kept}


def _is_tilted(axis: Axis) -> bool:
    return sum(map(len, axis.labels)) > _IN_A_ROW


def _scale_values(row: Sequence[Axes], view: SweepView, panels: Panels) -> None:
    """Begins values at 0, or takes a log scale if they span decades."""
    scale = view.cells.outcome.scale
    points = [point for _, inside in panels for point in inside]
    every = [view.cells.value(point, variant) for point in points for variant in view.looks]
    values = [scale * number.value for number in every if number.is_drawn]
    if _spans_decades(values):
        for axes in row:
            style.log_values(axes, few=1000)
    else:
        style.values_from_zero(row[0])


def scale_ratios(row: Sequence[Axes], view: SweepView, points: Sequence[Point]) -> None:
    """Takes a log scale if ratios or their intervals span decades, and cuts wide intervals.

    Near 1 no ratio could be read beside a great one, nor inside the interval of one that is hardly
    known.
    """
    every = [view.cells.ratio(point, variant) for point in points for variant in view.others]
    drawn = [ratio for ratio in every if ratio.is_drawn]
    levels = [1.0] if view.level is None else [1.0, view.level]
    values = [ratio.value for ratio in drawn] + levels
    ends = [end for each in drawn if each.has_interval for end in (each.ci_low, each.ci_high)]
    low, high = min(values), max(values)
    if low <= 0:
        return
    least, most = min([low, *ends]), max([high, *ends])
    is_cut = least < low / _ROOM or most > high * _ROOM
    if not is_cut and not _spans_decades(values):
        return
    for axes in row:
        axes.set_yscale("log")
        if is_cut:
            axes.set_ylim(max(least, low / _ROOM) / 1.05, min(most, high * _ROOM) * 1.05)
        style.log_values(axes, few=1000)


def _spans_decades(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) > _LOG_SPAN


def _legend(figure: Figure, view: SweepView, axis: Axis) -> None:
    handles = [
        style.look_handle(look, variant, joined=axis.numeric)
        for variant, look in view.looks.items()
    ]
    handles += no_value_handles(view)
    if view.level is not None:
        name = f"ratio {plain(view.level)}"
        handles.append(Line2D([], [], color=style.INK, linestyle=(0, (4, 3)), label=name))
    style.legend_below(figure, handles)


def draw_levels(axes: Axes, view: SweepView) -> None:
    """Draws where a ratio is 1, and where it was asked about."""
    axes.axhline(1.0, color=style.INK, linewidth=0.9)
    if view.level is not None:
        axes.axhline(view.level, color=style.INK, linewidth=1.0, linestyle=(0, (4, 3)))


def no_value_handles(view: SweepView) -> list[Line2D]:
    """Returns what a legend says of such crosses, if there are any."""
    handle = Line2D([], [], color=style.INK, marker="x", linestyle="", label=NO_VALUE)
    return [handle] if view.cells.any_refused else []


def mark(axes: Axes, place: float, number: StudyNumber, look: style.Look, *, size: float) -> None:
    """Draws a dot with its interval."""
    axes.plot([place], [number.value], look.marker, color=look.colour, markersize=size)
    if number.has_interval:
        ends = [number.ci_low, number.ci_high]
        axes.plot([place, place], ends, color=look.colour, linewidth=size / 4, alpha=0.6)
