"""How busy each station is: a bar a variant, the busiest station first.

Law: a bar is the mean over nodes of the share of the measured time in which a station works; its
whisker is the 95 % interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, Final

import pandas as pd
from matplotlib.axes import Axes

from analysis.metrics.catalogue import STATIONS, STATIONS_OF
from analysis.plots import style
from analysis.plots.drawn import Picture, listed

METRICS: Final = tuple(STATIONS_OF)
LEAST_SHARE: Final = 0.005
"""Of the time: a station that is less busy in every variant has no bar."""

_BAR_IN: Final = 0.2
_LABEL_CHARACTERS: Final = 18
_NOTE: Final = (
    "Whiskers: 95 % intervals. A raft log that is always busy limits nothing: waiting writes join "
    "the next one."
)


def utilisation(rows: pd.DataFrame, looks: Mapping[str, style.Look], subtitle: str) -> Picture:
    """Draws a group of bars a station.

    Args:
        rows: summary rows of ``METRICS`` at one point: ``variant``, ``class``, ``value``,
            ``ci_low``, ``ci_high``; ``stations`` finds some in them.
        looks: by variant, in order.
        subtitle: the point; empty if there is only one.
    """
    names = stations(rows)
    variants = [name for name in looks if (rows["variant"] == name).any()]
    hatches = style.part_hatches(variants)
    across = _BAR_IN * len(variants) + 0.16
    figure = style.new_figure(style.WIDTH_IN, across * len(names) + 1.6)
    axes = figure.add_subplot()
    height = _BAR_IN / across
    for place, variant in enumerate(variants):
        mine = {row["class"]: row for row in rows[rows["variant"] == variant].to_dict("records")}
        shift = (place - (len(variants) - 1) / 2) * height
        for row, station in enumerate(names):
            if station in mine:
                _bar(axes, row + shift, mine[station], height, looks[variant], hatches[variant])
        axes.barh([0], [0], color=looks[variant].colour, hatch=hatches[variant], edgecolor="white",
                  label=variant)  # fmt: skip
    labels = [fill(STATIONS[name], _LABEL_CHARACTERS) for name in names]
    axes.set_yticks(range(len(names)), labels)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, 1.16)
    axes.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0])
    style.write_ticks(axes.xaxis, style.percent)
    axes.set_xlabel("share of the time that it is busy")
    style.legend_below(figure, *axes.get_legend_handles_labels())
    style.heading(figure, "How busy each station is", f"{subtitle}\n{_NOTE}")
    told = []
    for station in names:
        busy = rows[rows["class"] == station].set_index("variant")["value"]
        shares = (f"{name} {_percent(busy[name])}" for name in looks if name in busy.index)
        told.append(f"{STATIONS[station]} {listed(shares, ', ')}")
    alt = f"Bars of the share of the time that each station is busy: {listed(told)}."
    return Picture("utilisation", "limits", figure, alt)


def stations(rows: pd.DataFrame) -> Sequence[str]:
    """Returns the stations that have bars, the busiest first."""
    most = rows[rows["class"].isin(list(STATIONS))].groupby("class")["value"].max()
    return [str(name) for name in most[most > LEAST_SHARE].sort_values(ascending=False).index]


def _bar(
    axes: Axes, place: float, row: Mapping[Any, Any], height: float, look: style.Look, hatch: str
) -> None:
    value = float(row["value"])
    axes.barh(place, value, height=0.9 * height, color=look.colour, hatch=hatch, edgecolor="white",
              linewidth=0)  # fmt: skip
    end = value
    if not pd.isna(row["ci_low"]):
        end = min(max(value, float(row["ci_high"])), 1.0)
        axes.plot(
            [max(float(row["ci_low"]), 0.0), end], [place] * 2, color=style.INK, linewidth=1.0
        )
    axes.annotate(
        _percent(value), (end, place), (4, 0), textcoords="offset points", va="center",
        fontsize=style.SMALL,
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
