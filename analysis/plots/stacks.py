"""Wholes and their parts: disk writes by place and by cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.metrics.catalogue import WRITE_PLACES
from analysis.metrics.rounding import digits
from analysis.plots.drawn import Picture
from analysis.plots.style import (
    SMALL,
    WIDTH_IN,
    heading,
    ink_on,
    new_figure,
    part_colours,
    part_hatches,
    variant_colours,
)
from analysis.plots.words import part_sizes
from sim.fact_names import WRITE_CAUSES

LEAST_SHARE: Final = 0.002


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
    figure = new_figure(WIDTH_IN, 4.2 + 1.2 * len(variants))
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
    heading(figure, "Disk writes of all stores", subtitle)
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
    colours, hatches = part_colours(shown), part_hatches(shown)
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
    _write_totals(axes, place, table.sum().to_numpy())
    if shown:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, handlelength=1.6,
            columnspacing=1.0, borderaxespad=0.1,
        )  # fmt: skip


def _name_variants(axes: Axes, variants: Sequence[str]) -> None:
    """Names the rows, first variant on top, in the colours that variants have elsewhere."""
    axes.set_yticks(range(len(variants)), list(variants))
    axes.set_ylim(len(variants) - 0.5, -0.5)
    colours = variant_colours(variants)
    for label, colour in zip(axes.get_yticklabels(), colours.values(), strict=False):
        label.set(color=colour, fontweight="bold")


def _label_bars(axes: Axes, bars: Any, width: np.ndarray, largest: float, colour: str) -> None:
    """Writes a part's size into its bar where it has room, on a ground without hatches."""
    texts = [digits(size) if size > 0.075 * largest else "" for size in width]
    labels = axes.bar_label(
        bars, labels=texts, label_type="center", fontsize=SMALL, color=ink_on(colour)
    )
    for label in labels:
        if label.get_text():
            label.set_bbox({"facecolor": colour, "edgecolor": "none", "pad": 1.2})


def _write_totals(axes: Axes, place: np.ndarray, total: np.ndarray) -> None:
    for row, size in zip(place, total, strict=True):
        axes.annotate(
            digits(size) if size else "no value", (size, row), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=SMALL, fontweight="bold",
        )  # fmt: skip
