"""Everything over simulated time, one axis below the other: what was done, and its effects.

Law: all variants share the time axis. Lines are over all replications together, bands reach from
the lowest replication to the highest. Locks are split by path, so a time in which in-memory locks
go through the raft log is seen as a path of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.metrics.rounding import digits
from analysis.metrics.study_tables import Course
from analysis.plots import timeline
from analysis.plots.style import (
    FIXED,
    Look,
    heading,
    legend_below,
    log_values,
    unique_handles,
    values_from_zero,
)
from analysis.plots.words import between, listed
from sim.units import NS_PER_MS

PATHS: Final = FIXED | {"fallback": Look("#882255", (0, (7, 1.4, 1.4, 1.4)), "D")}
"""Looks of the ways that a lock can take."""
Looks = Mapping[str, Look]
"""By variant, in order."""

_PERCENTILES: Final = {"p50": 1.5, "p99": 0.9, "p999": 0.5}
"""Widths of lines, in points."""
_WARMUP: Final = "#e2ecf5"
_STROKES: Final = {
    "p50": "thick: p50", "p99": "thin: p99", "p999": "thinnest: p99.9", "max": "dots: longest",
}  # fmt: skip
_LATENCIES: Final = ("lock_latency", "txn_latency")


@dataclass(frozen=True, slots=True)
class _Row:
    """One axis: its height in inches, its label, and what draws it."""

    height_in: float
    label: str
    draw: Any
    key: Any = None


def over_time(course: Course, looks: Looks, subtitle: str) -> Figure:
    """Draws the events of a point above latencies, throughput, errors and the lock table."""
    rows = _rows(course, looks)
    heights_in = [row.height_in for row in rows]
    figure, panels = timeline.time_panels(course.happenings, heights_in, course.span_s)
    for axes, row in zip(panels, rows, strict=True):
        row.draw(axes, course, looks, *(() if row.key is None else (row.key,)))
        axes.set_ylabel(row.label)
        _shade_warmup(axes, course)
    _same_scale([axes for axes, row in zip(panels, rows, strict=True) if row.key is not None])
    figure.align_ylabels(panels)
    legend_below(figure, *unique_handles(panels))
    heading(figure, "What happened over time", f"{subtitle}\n{_how_to_read(course)}")
    return figure


def _how_to_read(course: Course) -> str:
    """Returns what strokes, bands and colours mean, as far as there are any."""
    known = course.table[course.table["value"].notna()]
    drawn = set(known.loc[known["metric"].isin(_LATENCIES), "stat"])
    strokes = listed((words for stat, words in _STROKES.items() if stat in drawn), ", ")
    bands = "bands: lowest to highest replication" if (known["high"] > known["low"]).any() else ""
    shade = "blue: warm-up" if course.warmup_s > 0 else ""
    return f"{strokes}\n{listed((bands, shade))}\nrequests count at the time of their answer"


def over_time_words(course: Course, looks: Looks) -> str:
    """Returns the text alternative of ``over_time``: events with their times, and the extremes."""
    told = []
    what = "lock" if course.has("lock_latency") else "txn"
    for variant in looks:
        lines = course.table[course.table["variant"] == variant]
        slow = lines[(lines["metric"] == f"{what}_latency") & (lines["stat"] == "p99")]["value"]
        commits = lines[(lines["metric"] == "txns") & (lines["stat"] == "mean")]["value"]
        told.append(
            f"{variant} p99 of {what} latency {between((slow / NS_PER_MS).tolist())} ms, "
            f"{between(commits.tolist())} commits per second"
        )
    shown = timeline.marks(course.happenings, course.span_s)
    return (
        f"Latency and throughput over {digits(course.span_s)} s of simulated time. Lowest and "
        f"highest of a short time: {listed(told)}. Events: {timeline.mark_words(shown)}."
    )


def _rows(course: Course, looks: Looks) -> list[_Row]:
    rows = []
    if course.has("lock_latency"):
        rows += [_Row(1.45, "latency (ms)", _draw_paths, variant) for variant in looks]
    rows.append(_Row(1.3, "latency (ms)", _draw_transactions))
    rows.append(_Row(1.0, "commits (1/s)", _draw_commits))
    if course.has("region_errors") or course.has("txn_aborts"):
        rows.append(_Row(1.0, "errors (1/s)", _draw_errors))
    if course.has("fallback_share"):
        rows.append(_Row(0.8, "fallback (%)", _draw_fallback))
    if course.has("lock_table_bytes"):
        rows.append(_Row(0.8, "table (KiB)", _draw_table))
    return rows


def _draw_paths(axes: Axes, course: Course, looks: Looks, variant: str) -> None:
    """Draws the lock latency of a variant, a colour and a kind of line a path."""
    for path, look in PATHS.items():
        _draw_latency(axes, course, (variant, "lock_latency", path), look, path)
    _name(axes, f"Lock requests, {variant}", looks[variant].colour)


def _draw_transactions(axes: Axes, course: Course, looks: Looks) -> None:
    for variant, look in looks.items():
        _draw_latency(axes, course, (variant, "txn_latency", "all"), look, variant)
    _name(axes, "Transactions")
    log_values(axes)


def _draw_latency(
    axes: Axes, course: Course, series: tuple[str, str, str], look: Look, label: str
) -> None:
    """Draws percentiles of one series, and its longest."""
    variant, metric, class_ = series
    _draw_longest(axes, course.line(variant, metric, "max", class_), look.colour)
    for stat, width in _PERCENTILES.items():
        line = course.line(variant, metric, stat, class_)
        _draw_line(axes, line, look, label if stat == "p50" else "", 1 / NS_PER_MS, width)


def _draw_commits(axes: Axes, course: Course, looks: Looks) -> None:
    for variant, look in looks.items():
        _draw_line(axes, course.line(variant, "txns", "mean").fillna(0.0), look)
    values_from_zero(axes)
    _name(axes, "Throughput")


def _draw_errors(axes: Axes, course: Course, looks: Looks) -> None:
    for variant, look in looks.items():
        errors = course.line(variant, "region_errors", "mean").fillna(0.0)
        aborts = course.line(variant, "txn_aborts", "mean").fillna(0.0)
        _draw_line(axes, errors, look)
        _draw_line(axes, aborts, look, width=0.7)
    values_from_zero(axes)
    _name(axes, "Region errors (thin: aborted transactions)")


def _draw_fallback(axes: Axes, course: Course, looks: Looks) -> None:
    for variant, look in looks.items():
        line = course.line(variant, "fallback_share", "mean")
        if (line["value"] > 0).any():
            _draw_line(axes, line, look, variant, scale=100)
    values_from_zero(axes)
    _name(axes, "Lock requests that could not stay in memory")


def _draw_table(axes: Axes, course: Course, looks: Looks) -> None:
    for variant, look in looks.items():
        line = course.line(variant, "lock_table_bytes", "max")
        if (line["value"] > 0).any():
            _draw_line(axes, line, look, variant, scale=1 / 1024)
    values_from_zero(axes)
    _name(axes, "Lock table of the fullest store")


def _draw_line(
    axes: Axes,
    line: pd.DataFrame,
    look: Look,
    label: str = "",
    scale: float = 1.0,
    width: float = 1.3,
) -> None:
    """Draws a line with its band; a value between two gaps is a dot."""
    if line.empty:
        return
    at_s, value = line["at_s"].to_numpy(), line["value"].to_numpy() * scale
    known = ~np.isnan(value)
    alone = known & ~np.r_[False, known[:-1]] & ~np.r_[known[1:], False]
    thin = width < 1.0
    axes.fill_between(
        at_s, line["low"].to_numpy() * scale, line["high"].to_numpy() * scale,
        color=look.colour, alpha=0.12 if thin else 0.3, linewidth=0, rasterized=True,
    )  # fmt: skip
    axes.plot(
        at_s, value, color=look.colour, linestyle=look.line, label=label or "_", linewidth=width,
        alpha=0.8 if thin else 1.0,
    )  # fmt: skip
    axes.plot(at_s[alone], value[alone], ".", color=look.colour, markersize=2 if thin else 3.5)


def _draw_longest(axes: Axes, line: pd.DataFrame, colour: str) -> None:
    """Draws a dot for the longest latency of each bin: what one request met in a short stall."""
    axes.plot(
        line["at_s"], line["value"] / NS_PER_MS, ".", color=colour, alpha=0.6, markersize=4,
        markeredgewidth=0, zorder=1.5, rasterized=True,
    )  # fmt: skip


def _name(axes: Axes, title: str, colour: str = "black") -> None:
    """Writes what an axis shows above it."""
    axes.set_title(title, color=colour, fontweight="bold", pad=3)


def _same_scale(panels: Sequence[Axes]) -> None:
    """Gives the variants' panels one logarithmic scale, so that heights can be compared."""
    for axes in panels:
        axes.set_yscale("log")
    limits = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        log_values(axes)


def _shade_warmup(axes: Axes, course: Course) -> None:
    """Shades what every replication leaves out of its figures; the longest cut ends it."""
    if course.warmup_s > 0:
        axes.axvspan(0, course.warmup_s, color=_WARMUP, linewidth=0, zorder=0)
