"""Lock latency as a tail: what share of requests takes longer than x."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from analysis.plots.style import heading, legend_above, new_figure
from sim.record.histogram import BASE, ZERO_BUCKET

NS_PER_MS = 1e6
FEWEST_VALUES = 10


def latency_ccdf(table: pd.DataFrame, colours: Mapping[str, str], subtitle: str) -> Figure:
    """Draws one curve a variant on log axes.

    Args:
        table: ``variant``, ``bucket``, ``count`` of lock latency at one point.
        colours: by variant, in the order of the legend.
        subtitle: study and point.
    """
    figure = new_figure(7.0, 4.4)
    axes = figure.add_subplot()
    for variant, colour in colours.items():
        rows = table[table["variant"] == variant].sort_values("bucket")
        if not rows.empty:
            latency_ms, share = tail_shares(rows)
            axes.plot(latency_ms, share, color=colour, label=variant, linewidth=1.8)
    axes.set(xscale="log", yscale="log", xlabel="lock latency (ms)")
    axes.set_ylabel("share of lock requests that take longer")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    axes.set_ylim(top=1.15)
    _mark_quantiles(axes)
    legend_above(axes, len(colours))
    heading(figure, "Lock latency, as TiDB sees it", subtitle)
    return figure


def tail_shares(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Returns upper bucket bounds in ms and the share of values above each.

    Ends where fewer than ten values are left: beyond, a curve shows luck.
    """
    bucket = rows["bucket"].to_numpy()
    count = rows["count"].to_numpy(dtype=np.float64)
    upper_ns = np.where(bucket == ZERO_BUCKET, 1.0, BASE ** bucket.astype(np.float64))
    left = count.sum() - np.cumsum(count)
    enough = left >= FEWEST_VALUES
    return upper_ns[enough] / NS_PER_MS, left[enough] / count.sum()


def _mark_quantiles(axes: Axes) -> None:
    lowest = axes.get_ylim()[0]
    for name, share in (("p50", 0.5), ("p99", 0.01), ("p99.9", 0.001)):
        if share > lowest:
            axes.axhline(share, color="#888888", linewidth=0.8, linestyle=":")
            axes.annotate(
                name, (0.0, share), xycoords=("axes fraction", "data"), xytext=(4, 2),
                textcoords="offset points", ha="left", fontsize=8, color="#555555",
            )  # fmt: skip
