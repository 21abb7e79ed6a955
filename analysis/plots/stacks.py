"""Wholes and their parts: disk writes by place and by cause, a lock request's way, by station.

Law: on the way a bar begins where the one before it ends, so the last one ends at the mean lock
latency, but for stations at which hardly any time is spent in any variant, which are left out. Bars
are means over all lock requests of a variant, whatever path they took: a station that one request
in two passes has half its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import ConnectionPatch

from analysis.metrics.catalogue import LOCK_STATIONS, WRITE_PLACES
from analysis.metrics.rounding import digits, with_half_width
from analysis.plots import style
from analysis.plots.drawn import Picture, part_sizes
from sim.fact_names import WRITE_CAUSES

LEAST_SHARE: Final = 0.002
"""Of the largest whole: what is smaller everywhere has no bar."""
_ROW_IN: Final = 0.27


def disk_writes(
    per_txn: pd.DataFrame, per_s: pd.DataFrame, variants: Sequence[str], subtitle: str
) -> Picture:
    """Draws what a transaction of each variant writes, by place and by cause; then the bandwidth.

    Args:
        per_txn: summary rows of ``disk_write_bytes_per_txn`` at one point: ``variant``, ``class``,
            ``value``; none if nothing was committed.
        per_s: of ``disk_write_bytes_per_s``, likewise.
        variants: in order.
        subtitle: the point; empty if there is only one.
    """
    figure = style.new_figure(style.WIDTH_IN, 4.2 + 1.2 * len(variants))
    panels = figure.subplots(3, 1, sharey=True)
    panels[0].sharex(panels[1])
    places, said = tuple(WRITE_PLACES), []
    for axes, rows, names, title, unit, scale in (
        (panels[0], per_txn, places, "per transaction, by place", "KiB", 1 / 1024),
        (panels[1], per_txn, WRITE_CAUSES, "per transaction, by cause", "KiB", 1 / 1024),
        (panels[2], per_s, places, "per second, by place", "MB/s", 1e-6),
    ):
        _draw_stacks(axes, rows, variants, names, scale)
        axes.set_title(f"{title} ({unit})", fontweight="bold", pad=24)
        said.append(part_sizes(rows, variants, names, unit, scale))
    style.heading(figure, "Disk writes of all stores", subtitle)
    alt = (
        f"Disk writes of all stores. Per transaction, by place: {said[0]}. By cause: {said[1]}. "
        f"Bandwidth, by place: {said[2]}."
    )
    return Picture("disk_writes", "writes", figure, alt)


def _draw_stacks(
    axes: Axes, rows: pd.DataFrame, variants: Sequence[str], names: Sequence[str], scale: float
) -> None:
    """Draws a row a variant; hatches tell apart what colours cannot."""
    table = rows.pivot_table(index="class", columns="variant", values="value", sort=False)
    table = table.reindex(index=list(names), columns=list(variants)).fillna(0.0) * scale
    largest = float(table.sum().max())
    shown = [name for name in names if float(table.loc[name].max()) > LEAST_SHARE * largest]
    colours, hatches = style.part_colours(shown), style.part_hatches(shown)
    start = np.zeros(len(variants))
    place = np.arange(len(variants))
    for name in shown:
        width = table.loc[name].to_numpy()
        bars = axes.barh(
            place, width, left=start, color=colours[name], hatch=hatches[name], label=name,
            edgecolor="white", linewidth=0.6, height=0.62,
        )  # fmt: skip
        _label_bars(axes, bars, width, largest, colours[name])
        start = start + width
    _name_variants(axes, variants)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, largest * 1.12 if largest else 1.0)
    for row, size in zip(place, table.sum().to_numpy(), strict=True):
        axes.annotate(
            digits(size) if size else "no value", (size, row), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=style.SMALL, fontweight="bold",
        )  # fmt: skip
    if shown:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, handlelength=1.6,
            columnspacing=1.0, borderaxespad=0.1,
        )  # fmt: skip


def _name_variants(axes: Axes, variants: Sequence[str]) -> None:
    """Names the rows, first variant on top, in the colours that variants have elsewhere."""
    axes.set_yticks(range(len(variants)), list(variants))
    axes.set_ylim(len(variants) - 0.5, -0.5)
    looks = style.variant_looks(variants).values()
    for label, look in zip(axes.get_yticklabels(), looks, strict=False):
        label.set(color=look.colour, fontweight="bold")


def _label_bars(axes: Axes, bars: Any, width: np.ndarray, largest: float, colour: str) -> None:
    """Writes a part's size into its bar where it has room, on a ground without hatches."""
    texts = [digits(size) if size > 0.075 * largest else "" for size in width]
    labels = axes.bar_label(
        bars, labels=texts, label_type="center", fontsize=style.SMALL, color=style.ink_on(colour)
    )
    for label in labels:
        if label.get_text():
            label.set_bbox({"facecolor": colour, "edgecolor": "none", "pad": 1.2})


def lock_waterfall(rows: pd.DataFrame, looks: Mapping[str, style.Look], subtitle: str) -> Picture:
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
    figure = style.new_figure(
        style.WIDTH_IN, height_in * len(variants) + 0.35 * len(variants) + 1.3
    )
    panels = figure.subplots(len(variants), 1, sharex=True, squeeze=False)[:, 0]
    for axes, variant in zip(panels, variants, strict=True):
        mine = known[known["variant"] == variant].set_index("class")
        _bars(axes, mine, stations)
        title = f"{variant}: {digits(float(mine['value'].sum()))} ms"
        axes.set_title(title, fontweight="bold", color=looks[variant].colour, pad=3)
    panels[-1].set_xlabel("time since TiDB sent the request (ms), mean")
    panels[-1].set_xlim(0, longest * 1.4)
    style.heading(figure, "A lock request's way through the stations", subtitle)
    told = part_sizes(known, variants, _in_order(known["class"]), "ms")
    alt = f"Bars one after another along a time axis, in the order of the way. Means: {told}."
    return Picture("lock_stations", "stations", figure, alt)


def _in_order(stations: Iterable[str]) -> list[str]:
    """Returns stations in the order in which a lock request passes them."""
    return sorted(set(stations), key=list(LOCK_STATIONS).index)


def _bars(axes: Axes, mine: pd.DataFrame, stations: Sequence[str]) -> None:
    """Draws the bars of a variant."""
    colours, hatches = style.part_colours(stations), style.part_hatches(stations)
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
                color=style.INK, linewidth=0.6,
            )  # fmt: skip
            axes.add_patch(link)
        axes.annotate(
            _said(mine, station, width), (ended, row), xytext=(5, 0), textcoords="offset points",
            va="center", fontsize=style.SMALL,
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
