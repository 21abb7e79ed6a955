"""Latency as a tail: what share of requests takes longer than x, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from analysis.plots import style
from analysis.statistics.intervals import half_widths_of
from sim.record.histogram import BASE
from sim.units import NS_PER_MS

FEWEST_VALUES: Final = 10
_HIGHEST_END: Final = 0.09
"""Of the share axis: it has more than one number, also where half of all had not ended."""


@dataclass(frozen=True, slots=True)
class Tail:
    """One latency whose tail is drawn.

    Attributes:
        metric: in ``plot_tables.tails``.
        what: it is of, in the plural.
        title: of the picture.
    """

    metric: str
    what: str
    title: str

    @property
    def name(self) -> str:
        """Returns ``lock latency``."""
        return self.metric.replace("_", " ")


TAILS: Final = (
    Tail("lock_latency", "lock requests", "Lock latency, as TiDB sees it"),
    Tail("txn_latency", "transactions", "Latency of transactions, from begin to commit"),
)


def latency_ccdf(
    table: pd.DataFrame, tail: Tail, looks: Mapping[str, style.Look], subtitle: str
) -> Figure:
    """Draws one curve a variant on log axes, in a band that is the 95 % interval of the share.

    Args:
        table: from ``plot_tables.tails``, of one point; rows of the tail's metric only.
        tail: what it is of.
        looks: by variant, in the order of the legend.
        subtitle: the point; empty if there is only one.
    """
    figure = style.new_figure(style.WIDTH_IN, 4.2)
    axes = figure.add_subplot()
    banded = False
    for variant, look in looks.items():
        rows = table[table["variant"] == variant]
        if not rows.empty:
            banded |= _draw(axes, tail_band(rows), variant, look)
    axes.set(xscale="log", yscale="log", xlabel=f"{tail.name} (ms)")
    axes.set_ylabel("share that takes longer")
    style.log_ticks(axes.xaxis)
    style.write_ticks(axes.yaxis, style.percent)
    axes.yaxis.set_minor_formatter(NullFormatter())
    _mark_quantiles(axes)
    style.legend_below(figure, *axes.get_legend_handles_labels())
    said = "bands: 95 % interval over replications" if banded else "one replication: no intervals"
    if table["unended"].any():
        said += f"; {tail.what} that had not ended take longest"
    style.heading(figure, tail.title, f"{subtitle}\n{said}")
    return figure


def tail_band(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns ``latency_ms``, ``share``, ``low`` and ``high`` by ascending latency.

    Ends where fewer than ten values are left: beyond, a curve shows luck. Without an interval its
    ends are NaN.
    """
    rows = rows[rows["above"] >= FEWEST_VALUES].sort_values("bucket")
    share = rows["share"].to_numpy(dtype=np.float64)
    deviation = rows["deviation"].to_numpy(dtype=np.float64)
    half = half_widths_of(deviation, rows["replications"].to_numpy(dtype=np.float64))
    return pd.DataFrame(
        {
            "latency_ms": BASE ** rows["bucket"].to_numpy(dtype=np.float64) / NS_PER_MS,
            "share": share,
            "low": share - half,
            "high": np.minimum(share + half, 1.0),
        }
    )


def _draw(axes: Axes, band: pd.DataFrame, variant: str, look: style.Look) -> bool:
    """Draws a curve and its band, which a log axis cuts off below; returns whether it has one."""
    at_ms, share = band["latency_ms"].to_numpy(), band["share"].to_numpy()
    axes.plot(
        at_ms, share, color=look.colour, linestyle=look.line, marker=look.marker, markersize=5,
        markevery=max(len(at_ms) // 7, 1), label=variant, linewidth=1.8,
    )  # fmt: skip
    if band["low"].isna().all():
        return False
    least = share.min() / 3
    axes.fill_between(
        at_ms, np.maximum(band["low"], least), band["high"], color=look.colour, alpha=0.25,
        linewidth=0,
    )  # fmt: skip
    return True


def _mark_quantiles(axes: Axes) -> None:
    if axes.get_ylim()[0] > _HIGHEST_END:
        axes.set_ylim(bottom=_HIGHEST_END)
    lowest = axes.get_ylim()[0]
    for name, share in (("p50", 0.5), ("p99", 0.01), ("p99.9", 0.001)):
        if share > lowest:
            axes.axhline(share, color="#888888", linewidth=0.8, linestyle=":")
            axes.annotate(
                name, (0.0, share), xycoords=("axes fraction", "data"), xytext=(4, 2),
                textcoords="offset points", ha="left", fontsize=style.SMALL, color=style.INK,
            )  # fmt: skip
    axes.set_ylim(top=1.15)
