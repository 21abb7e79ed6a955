"""A lock request's way through the stations, a bar after another along the time axis.

Law: a bar begins where the one before it ends, so the last one ends at the mean lock latency, but
for stations at which hardly any time is spent in any variant, which are left out. Bars are means
over all lock requests of a variant, whatever path they took: a station that one request in two
passes has half its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import ConnectionPatch

from analysis.metrics.catalogue import LOCK_STATIONS
from analysis.metrics.rounding import digits, with_half_width
from analysis.plots.drawn import Picture
from analysis.plots.style import INK, SMALL, WIDTH_IN, Look, heading, new_figure, part_colours
from analysis.plots.style import part_hatches as hatches_of
from analysis.plots.words import part_sizes

LEAST_SHARE: Final = 0.002
"""Of the longest latency: what is shorter everywhere has no bar."""

_ROW_IN: Final = 0.27


def lock_waterfall(rows: pd.DataFrame, looks: Mapping[str, Look], subtitle: str) -> Picture:
    """Draws a panel a variant, all on one time axis, with the time of every station beside its bar.

    Args:
        rows: summary rows of ``lock_station_ms`` at one point, classes without a path: ``variant``,
            ``class``, ``value``, ``ci_low``, ``ci_high``; some value is there.
        looks: by variant, in order; those whose times are refused have no panel.
        subtitle: the point; empty if there is only one.
    """
    known = rows.dropna(subset=["value"])
    variants = [name for name in looks if (known["variant"] == name).any()]
    longest = float(known.groupby("variant")["value"].sum().max())
    most = known.groupby("class")["value"].max()
    stations = _in_order(most.index[most > LEAST_SHARE * longest])
    height_in = _ROW_IN * (len(stations) + 0.8)
    figure = new_figure(WIDTH_IN, height_in * len(variants) + 0.35 * len(variants) + 1.3)
    panels = figure.subplots(len(variants), 1, sharex=True, squeeze=False)[:, 0]
    for axes, variant in zip(panels, variants, strict=True):
        mine = known[known["variant"] == variant].set_index("class")
        _bars(axes, mine, stations)
        title = f"{variant}: {digits(float(mine['value'].sum()))} ms"
        axes.set_title(title, fontweight="bold", color=looks[variant].colour, pad=3)
    panels[-1].set_xlabel("time since TiDB sent the request (ms), mean")
    panels[-1].set_xlim(0, longest * 1.4)
    heading(figure, "A lock request's way through the stations", subtitle)
    told = part_sizes(known, variants, _in_order(known["class"]), "ms")
    alt = f"Bars one after another along a time axis, in the order of the way. Means: {told}."
    return Picture("lock_stations", "stations", figure, alt)


def _in_order(stations: Iterable[str]) -> list[str]:
    """Returns stations in the order in which a lock request passes them."""
    return sorted(set(stations), key=list(LOCK_STATIONS).index)


def _bars(axes: Axes, mine: pd.DataFrame, stations: Sequence[str]) -> None:
    """Draws the bars of a variant."""
    colours, hatches = part_colours(stations), hatches_of(stations)
    begun = 0.0
    for row, station in enumerate(stations):
        width = float(mine["value"].get(station, 0.0))
        axes.barh(
            row, width, left=begun, height=0.72, color=colours[station], hatch=hatches[station],
            edgecolor="white", linewidth=0,
        )  # fmt: skip
        ended = begun + width
        if row + 1 < len(stations):
            link = ConnectionPatch(
                (ended, row - 0.36), (ended, row + 1.36), "data", "data", axesA=axes, axesB=axes,
                color=INK, linewidth=0.6,
            )  # fmt: skip
            axes.add_patch(link)
        axes.annotate(
            _said(mine, station, width), (ended, row), xytext=(5, 0), textcoords="offset points",
            va="center", fontsize=SMALL,
        )  # fmt: skip
        begun = ended
    axes.set_yticks(range(len(stations)), list(stations))
    axes.set_ylim(len(stations) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def _said(mine: pd.DataFrame, station: str, width: float) -> str:
    """Returns a station's time with its interval; what is not passed is said, not left blank."""
    if width <= 0:
        return "not passed"
    low, high = mine["ci_low"].get(station), mine["ci_high"].get(station)
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return digits(width)
    half = (high - low) / 2
    return with_half_width(width, half) if half > 0 else digits(width)
