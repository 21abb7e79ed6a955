"""What each replication's warm-up was cut from: throughput and lock latency, a line a replication.

A dot on a line is where that replication's cut lies; what is left of it is paler and in no figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.metrics.rounding import digits
from analysis.plots.drawn import Picture, between, listed
from analysis.plots.style import WIDTH_IN, Look, heading, new_figure, values_from_zero

_ROWS: Final = (("txns", "commits (1/s)"), ("lock_latency", "lock latency (ms)"))
_MOST_COLUMNS: Final = 3


def warmup_cuts(
    series: pd.DataFrame, units: pd.DataFrame, looks: Mapping[str, Look], subtitle: str
) -> Picture:
    """Draws a panel a variant and quantity; the words say how much of each was left out.

    Args:
        series: ``unit_hash``, ``metric`` (``txns``, ``lock_latency``), ``at_s``, ``value``.
        units: ``unit_hash``, ``variant``, ``warmup_windows``, ``window_ns``, ``simulated_s``.
        looks: by variant, in their order.
        subtitle: the point; empty if there is only one.
    """
    columns = min(len(looks), _MOST_COLUMNS)
    blocks = -(-len(looks) // columns)
    figure = new_figure(WIDTH_IN, 2.9 * blocks + 0.8)
    panels = figure.subplots(2 * blocks, columns, sharex=True, sharey="row", squeeze=False)
    for place, (variant, look) in enumerate(looks.items()):
        block, column = divmod(place, columns)
        mine = units[units["variant"] == variant]
        for row, (metric, label) in enumerate(_ROWS):
            axes = panels[2 * block + row, column]
            _draw(axes, series[series["metric"] == metric], mine, look.colour)
            if column == 0:
                axes.set_ylabel(label)
        panels[2 * block, column].set_title(variant, color=look.colour, fontweight="bold")
        panels[2 * block + 1, column].set_xlabel("simulated time (s)")
    for place in range(len(looks), blocks * columns):
        for row in range(2):
            panels[2 * (place // columns) + row, place % columns].set_visible(False)
    for axes in panels[:, 0]:
        values_from_zero(axes)  # when everything is drawn: a limit that is set stops scaling
    panels[0, 0].set_xlim(0, float(units["simulated_s"].max()))
    note = "one line per replication, which counts from its dot on"
    heading(figure, "What was left out as warm-up", f"{subtitle}\n{note}")
    told = listed(_words(units, variant) for variant in looks)
    alt = f"Commits per second and lock latency of each replication. Left out: {told}."
    return Picture("warmup", "warmup", figure, alt)


def _words(units: pd.DataFrame, variant: str) -> str:
    mine = units[units["variant"] == variant]
    if mine.empty:
        return ""
    cut_s = mine["warmup_windows"] * mine["window_ns"] / 1e9
    return f"{variant} {between(cut_s.tolist())} s of {digits(mine['simulated_s'].max())} s"


def _draw(axes: Axes, series: pd.DataFrame, units: pd.DataFrame, colour: str) -> None:
    lines = dict(iter(series.groupby("unit_hash")))
    for unit_hash, windows, window_ns in zip(
        units["unit_hash"], units["warmup_windows"], units["window_ns"], strict=True
    ):
        if unit_hash not in lines:
            continue
        line = lines[unit_hash].sort_values("at_s")
        at_s, value = line["at_s"].to_numpy(), line["value"].to_numpy()
        cut_s = windows * window_ns / 1e9
        counts = at_s >= cut_s
        axes.plot(at_s, value, color=colour, linewidth=0.7, alpha=0.25, rasterized=True)
        axes.plot(
            at_s[counts], value[counts], color=colour, linewidth=0.8, alpha=0.8, rasterized=True
        )
        if counts.any():
            level = float(np.interp(cut_s, at_s, value))
            axes.plot([cut_s], [level], "o", color="black", markersize=3.5, clip_on=False, zorder=3)
