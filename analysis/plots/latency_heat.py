"""Lock latency over time as a heat map a variant: what share of the requests took how long when.

A column is a time, a row is a latency, on a log scale; a column's shares add up to one. The scale
of colours is that of the logarithm of the share and darkens steadily, so that it says the same in
grey.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

from analysis.metrics.rounding import digits
from analysis.plots.drawn import Picture, listed
from analysis.plots.style import Look, heading, log_values, percent, write_ticks
from analysis.plots.timeline import time_panels
from sim.record.histogram import BASE
from sim.units import NS_PER_MS

_PANEL_IN: Final = 1.7
_BAR_IN: Final = 0.6
"""Height of the scale of colours, with its words."""
_LEAST_SHARE: Final = 1e-3
_COLOURS: Final = "cividis_r"
"""Nuñez, Anderton, Renslow, 2018: the same to readers with and without colour blindness."""


def latency_heat(
    table: pd.DataFrame,
    happenings: pd.DataFrame,
    looks: Mapping[str, Look],
    span_s: float,
    subtitle: str,
) -> Picture:
    """Draws a panel a variant that has locks, on one scale, below the events.

    The words have the band that holds nine of ten requests, and the end.

    Args:
        table: from ``plot_tables.latency_heat``, of one point; not empty.
        happenings: what ``timeline.marks`` takes.
        looks: by variant, in order.
        span_s: length of the time axis.
        subtitle: the point; empty if there is only one.
    """
    variants = [name for name in looks if (table["variant"] == name).any()]
    figure, panels = time_panels(happenings, [_PANEL_IN] * len(variants), span_s)
    bounds = _bounds(table)
    image: Any = None
    told = []
    for axes, variant in zip(panels, variants, strict=True):
        rows = table[table["variant"] == variant]
        image = _panel(axes, rows, bounds)
        told.append(f"{variant} {_band_words(rows)}")
        axes.set_title(variant, fontweight="bold", color=looks[variant].colour, pad=3)
    figure.set_figheight(figure.get_figheight() + _BAR_IN)
    bar = figure.colorbar(image, ax=panels, location="bottom", aspect=40, pad=0.02)
    write_ticks(bar.ax.xaxis, percent)
    bar.ax.xaxis.set_minor_formatter(NullFormatter())
    bar.set_label("share of that time's lock requests")
    heading(figure, "Lock latency over time, all requests", subtitle)
    alt = (
        "Heat map of lock latency (log scale) over simulated time; darker is a larger share of "
        f"that time's requests: {listed(told)}."
    )
    return Picture("latency_heat", "time", figure, alt)


def _band_words(rows: pd.DataFrame) -> str:
    counts = rows.groupby("bucket")["count"].sum()
    reached = counts.cumsum() / counts.sum()
    low, high, last = (
        digits(BASE ** float(reached.index[int(np.searchsorted(reached, share))]) / NS_PER_MS)
        for share in (0.05, 0.95, 1.0 - 1e-12)
    )
    return f"nine of ten from {low} to {high} ms, none longer than {last} ms"


def _bounds(table: pd.DataFrame) -> NDArray[np.int64]:
    """Returns the buckets whose upper bounds divide the rows, all rows being equally high."""
    buckets = np.sort(table["bucket"].unique())
    step = int(np.gcd.reduce(np.diff(buckets))) if len(buckets) > 1 else 16
    return np.arange(buckets[0] - step, buckets[-1] + 1, step)


def _panel(axes: Axes, rows: pd.DataFrame, bounds: NDArray[np.int64]) -> Any:
    edges_ms = BASE ** bounds.astype(np.float64) / NS_PER_MS
    column_s = float(rows["column_s"].iloc[0])
    columns = int(rows["column"].max()) + 1
    counts = np.zeros((len(bounds) - 1, columns))
    place = np.searchsorted(bounds[1:], rows["bucket"].to_numpy())
    np.add.at(counts, (place, rows["column"].to_numpy()), rows["count"].to_numpy())
    total = counts.sum(axis=0)
    share = counts / np.where(total > 0, total, 1.0)
    image = axes.pcolormesh(
        np.arange(columns + 1) * column_s, edges_ms, np.ma.masked_equal(share, 0.0),
        norm=LogNorm(_LEAST_SHARE, 1.0), cmap=_COLOURS, rasterized=True,
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(edges_ms[0], edges_ms[-1])
    log_values(axes, few=200)
    axes.set_ylabel("latency (ms)")
    axes.grid(visible=False)
    return image
