"""Lock latency and throughput over simulated time, with the warm-up that is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.plots.style import heading, legend_above, new_figure

FEWEST_POINTS = 60
NS_PER_MS = 1e6


def over_time(
    table: pd.DataFrame, units: pd.DataFrame, colours: Mapping[str, str], subtitle: str
) -> Figure:
    """Draws mean lock latency above throughput, averaged over replications.

    Args:
        table: ``variant``, ``metric``, ``window``, ``count``, ``total`` at one point.
        units: ``variant``, ``window_ns``, ``warmup_windows``, ``simulated_s`` of the point.
        colours: by variant.
        subtitle: study and point.
    """
    figure = new_figure(7.0, 5.0)
    latency, rate = figure.subplots(2, 1, sharex=True)
    window_s = float(units["window_ns"].iloc[0]) / 1e9
    windows = int(units["simulated_s"].max() / window_s)
    group = group_windows(windows)
    whole = table[table["window"] < windows // group * group]
    for place, (variant, colour) in enumerate(colours.items()):
        rows = whole[whole["variant"] == variant]
        line = {"color": colour, "label": variant, "linewidth": line_width(place, len(colours))}
        replications = int((units["variant"] == variant).sum())
        _draw_latency(latency, rows, window_s, group, line)
        _draw_rate(rate, rows, window_s, group, line, replications)
    _shade_warmup(figure, units, window_s)
    latency.set_ylabel("mean lock latency (ms)")
    rate.set_ylabel("transactions (1/s)")
    rate.yaxis.set_major_formatter("{x:,.0f}")
    rate.set_xlabel("simulated time (s)")
    for axes in (latency, rate):
        axes.set_ylim(bottom=0)
    rate.set_xlim(0, float(units["simulated_s"].max()))
    legend_above(latency, len(colours) + 1)
    heading(figure, "Latency and throughput over time", subtitle)
    return figure


def group_windows(windows: int) -> int:
    """Returns how many windows to draw as one, so that a curve keeps 60 to 120 points."""
    return max(1, windows // FEWEST_POINTS)


def line_width(place: int, lines: int) -> float:
    """Returns widths that get thinner, so that curves which coincide are all seen."""
    return 1.3 + 0.7 * (lines - 1 - place)


def _draw_latency(
    axes: Axes, rows: pd.DataFrame, window_s: float, group: int, line: Mapping[str, Any]
) -> None:
    locks = _grouped(rows[rows["metric"] == "lock_latency"], group)
    mean_ms = locks["total"] / locks["count"] / NS_PER_MS
    axes.plot(_middle_s(locks, window_s, group), mean_ms, **line)


def _draw_rate(
    axes: Axes,
    rows: pd.DataFrame,
    window_s: float,
    group: int,
    line: Mapping[str, Any],
    replications: int,
) -> None:
    commits = _grouped(rows[rows["metric"] == "txns"], group)
    rate = commits["total"] / (window_s * group * max(replications, 1))
    axes.plot(_middle_s(commits, window_s, group), rate, **line)


def _grouped(rows: pd.DataFrame, group: int) -> pd.DataFrame:
    return rows.groupby(rows["window"] // group, sort=True)[["count", "total"]].sum()


def _middle_s(rows: pd.DataFrame, window_s: float, group: int) -> np.ndarray:
    return (rows.index.to_numpy() + 0.5) * group * window_s


def _shade_warmup(figure: Figure, units: pd.DataFrame, window_s: float) -> None:
    """Shades what every replication leaves out; the longest cut of a replication ends it."""
    until_s = float(units["warmup_windows"].max()) * window_s
    if until_s > 0:
        for place, axes in enumerate(figure.axes):
            label = "warm-up (longest cut)" if place == 0 else None
            axes.axvspan(0, until_s, color="#eeeeee", zorder=0, label=label)
