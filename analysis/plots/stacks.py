"""Wholes and their parts: disk writes by place and by cause, lock latency by station."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.plots.style import heading, ink_on, new_figure, part_colours, variant_colours
from analysis.plots.words import part_sizes, sizes_by_part

PLACES = ("raft_log", "kv_wal", "flush", "compaction")
CAUSES = ("lock", "prewrite", "commit", "rollback", "heartbeat", "migration", "admin")
WAY = ("request", "scheduler", "latch", "propose", "replicate", "apply", "reply")
"""Stations in the order in which a lock request passes them; others come after."""

LEAST_SHARE = 0.002


def disk_writes(rows: pd.DataFrame, variants: Sequence[str], subtitle: str) -> Figure:
    """Draws disk write bandwidth of each variant, by place and by cause.

    Args:
        rows: summary rows of ``disk_write_bytes_per_s`` at one point: ``variant``, ``class``,
            ``value``, ``ci_low``, ``ci_high``.
        variants: in order.
        subtitle: study and point.
    """
    figure = new_figure(9.0, 1.9 + 0.42 * len(variants))
    left, right = figure.subplots(1, 2, sharey=True, sharex=True)
    for axes, parts, by in ((left, PLACES, "place"), (right, CAUSES, "cause")):
        _draw_stacks(axes, rows, variants, parts, scale=1e-6)
        axes.set_xlabel(f"disk writes of all stores by {by} (MB/s)")
    heading(figure, "Disk write bandwidth", subtitle)
    return figure


def lock_stations(rows: pd.DataFrame, variants: Sequence[str], subtitle: str) -> Figure:
    """Draws where the mean lock latency of each variant is spent, station after station.

    Args:
        rows: summary rows of ``lock_station_ms`` at one point, classes without a path.
        variants: in order.
        subtitle: study and point.
    """
    figure = new_figure(9.0, 2.1 + 0.42 * len(variants))
    axes = figure.add_subplot()
    total = rows.groupby("class")["value"].sum()
    stations = sorted((name for name in total.index if total[name] > 0), key=_way)
    _draw_stacks(axes, rows, variants, stations, scale=1.0)
    axes.set_xlabel("mean lock latency (ms), by the station at which it is spent")
    heading(figure, "Where a lock request's time goes", subtitle)
    return figure


def disk_write_words(rows: pd.DataFrame, variants: Sequence[str]) -> str:
    """Returns the text alternative of ``disk_writes``."""
    by_place = part_sizes(sizes_by_part(rows, variants, PLACES, 1e-6), "MB/s")
    by_cause = part_sizes(sizes_by_part(rows, variants, CAUSES, 1e-6), "MB/s")
    return f"Disk writes of all stores. By place: {by_place}. By cause: {by_cause}."


def station_words(rows: pd.DataFrame, variants: Sequence[str]) -> str:
    """Returns the text alternative of ``lock_stations``."""
    by_station = sizes_by_part(rows, variants, sorted(set(rows["class"])), 1.0)
    return f"Mean lock latency by the station at which it is spent: {part_sizes(by_station, 'ms')}."


def _way(station: str) -> tuple[int, str]:
    return (WAY.index(station) if station in WAY else len(WAY), station)


def _draw_stacks(
    axes: Axes, rows: pd.DataFrame, variants: Sequence[str], parts: Sequence[str], *, scale: float
) -> None:
    table = rows.pivot_table(index="class", columns="variant", values="value", sort=False)
    table = table.reindex(index=list(parts), columns=list(variants)).fillna(0.0) * scale
    largest = float(table.sum().max())
    shown = [part for part in parts if float(table.loc[part].max()) > LEAST_SHARE * largest]
    start = np.zeros(len(variants))
    place = np.arange(len(variants))
    for part, colour in part_colours(shown).items():
        width = table.loc[part].to_numpy()
        bars = axes.barh(place, width, left=start, color=colour, label=part, height=0.62)
        _label_bars(axes, bars, width, largest, ink_on(colour))
        start = start + width
    _name_variants(axes, variants)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, largest * 1.12 if largest else 1.0)
    _write_totals(axes, place, table.sum().to_numpy())
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, handlelength=1.0,
        columnspacing=1.0, fontsize=8.5,
    )  # fmt: skip


def _name_variants(axes: Axes, variants: Sequence[str]) -> None:
    """Names the rows, first variant on top, in the colours that variants have elsewhere."""
    axes.set_yticks(range(len(variants)), list(variants))
    axes.set_ylim(len(variants) - 0.5, -0.5)
    colours = variant_colours(variants)
    for label, colour in zip(axes.get_yticklabels(), colours.values(), strict=False):
        label.set(color=colour, fontweight="bold")


def _short(size: float) -> str:
    """Returns a size with two or three digits, never in powers of ten."""
    return f"{size:.0f}" if size >= 20 else f"{size:.2g}" if size < 1 else f"{size:.3g}"


def _label_bars(axes: Axes, bars: object, width: np.ndarray, largest: float, ink: str) -> None:
    """Writes a part's size into its bar where it has room."""
    texts = [_short(size) if size > 0.07 * largest else "" for size in width]
    axes.bar_label(bars, labels=texts, label_type="center", fontsize=8, color=ink)  # type: ignore[arg-type]


def _write_totals(axes: Axes, place: np.ndarray, total: np.ndarray) -> None:
    for row, size in zip(place, total, strict=True):
        axes.annotate(
            _short(size), (size, row), xytext=(4, 0), textcoords="offset points", va="center",
            fontsize=9, fontweight="bold",
        )  # fmt: skip
