"""Everything over simulated time, one axis below the other: what was done, and its effects.

Law: all variants share the time axis. Lines are over all replications together, bands reach from
the lowest replication to the highest. Locks are split by path, so a time in which in-memory locks
go through the raft log is seen as a path of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.metrics.rounding import digits
from analysis.metrics.study_tables import Course
from analysis.plots import style, timeline
from analysis.plots.drawn import Picture, between, listed
from sim.units import NS_PER_MS

PATHS: Final = style.FIXED | {"fallback": style.Look("#882255", (0, (7, 1.4, 1.4, 1.4)), "D")}
"""Looks of the ways that a lock can take."""
Looks = Mapping[str, style.Look]
"""By variant, in order."""

_PERCENTILES: Final = {"p50": 1.5, "p99": 0.9, "p999": 0.5}
"""Widths of lines, in points."""
_WARMUP: Final = "#e2ecf5"
_STROKES: Final = {
    "p50": "thick: p50", "p99": "thin: p99", "p999": "thinnest: p99.9", "max": "dots: longest",
}  # fmt: skip
_LATENCIES: Final = ("lock_latency", "txn_latency")


class _Lines(NamedTuple):
    """A panel with a line a variant for each of some facts.

    Attributes:
        title: what it shows.
        label: of its axis.
        height_in: in inches.
        widths: of lines in points, by fact.
        stat: of the facts.
        scale: from the facts' unit to the axis'; None of counts, which are 0 where there are none.
    """

    title: str
    label: str
    height_in: float
    widths: Mapping[str, float]
    stat: str = "mean"
    scale: float | None = None


_COMMITS: Final = _Lines("Throughput", "commits (1/s)", 1.0, {"txns": 1.3})
_BESIDE: Final = (
    _Lines("Region errors (thin: aborted transactions)", "errors (1/s)", 1.0,
           {"region_errors": 1.3, "txn_aborts": 0.7}),
    _Lines("Lock requests that could not stay in memory", "fallback (%)", 0.8,
           {"fallback_share": 1.3}, scale=100.0),
    _Lines("Lock table of the fullest store", "table (KiB)", 0.8,
           {"lock_table_bytes": 1.3}, "max", 1 / 1024),
)  # fmt: skip
"""Panels that only some points have."""


def over_time(course: Course, looks: Looks, subtitle: str) -> Picture:
    """Draws the events of a point above latencies, throughput, errors and the lock table.

    The words have the events with their times, and the extremes.
    """
    of_locks = list(looks) if course.has("lock_latency") else []
    lines = [_COMMITS, *(each for each in _BESIDE if any(map(course.has, each.widths)))]
    heights_in = [*[1.45] * len(of_locks), 1.3, *(each.height_in for each in lines)]
    figure, panels = timeline.time_panels(course.happenings, heights_in, course.span_s)
    by_path, (of_transactions, *rest) = panels[: len(of_locks)], panels[len(of_locks) :]
    for axes, variant in zip(by_path, of_locks, strict=True):
        for path, look in PATHS.items():
            _draw_latency(axes, course, (variant, "lock_latency", path), look, path)
        _name(axes, f"Lock requests, {variant}", "latency (ms)", looks[variant].colour)
    for variant, look in looks.items():
        _draw_latency(of_transactions, course, (variant, "txn_latency", "all"), look, variant)
    _name(of_transactions, "Transactions", "latency (ms)")
    style.log_values(of_transactions)
    for axes, each in zip(rest, lines, strict=True):
        _draw_lines(axes, course, looks, each)
    if course.warmup_s > 0:  # what every replication leaves out; the longest cut ends it
        for axes in panels:
            axes.axvspan(0, course.warmup_s, color=_WARMUP, linewidth=0, zorder=0)
    _same_scale(by_path)
    figure.align_ylabels(panels)
    style.legend_below(figure, *style.unique_handles(panels))
    style.heading(figure, "What happened over time", f"{subtitle}\n{_how_to_read(course)}")
    return Picture("over_time", "time", figure, _words(course, looks))


def _how_to_read(course: Course) -> str:
    """Returns what strokes, bands and colours mean, as far as there are any."""
    known = course.table[course.table["value"].notna()]
    drawn = set(known.loc[known["metric"].isin(_LATENCIES), "stat"])
    strokes = listed((words for stat, words in _STROKES.items() if stat in drawn), ", ")
    bands = "bands: lowest to highest replication" if (known["high"] > known["low"]).any() else ""
    shade = "blue: warm-up" if course.warmup_s > 0 else ""
    return f"{strokes}\n{listed((bands, shade))}\nrequests count at the time of their answer"


def _words(course: Course, looks: Looks) -> str:
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


def _draw_latency(
    axes: Axes, course: Course, series: tuple[str, str, str], look: style.Look, label: str
) -> None:
    """Draws percentiles of one series, and a dot for the longest of each bin.

    That is what one request met in a short stall.
    """
    variant, metric, class_ = series
    longest = course.line(variant, metric, "max", class_)
    axes.plot(
        longest["at_s"], longest["value"] / NS_PER_MS, ".", color=look.colour, alpha=0.6,
        markersize=4, markeredgewidth=0, zorder=1.5, rasterized=True,
    )  # fmt: skip
    for stat, width in _PERCENTILES.items():
        line = course.line(variant, metric, stat, class_)
        _draw_line(axes, line, look, label if stat == "p50" else "", 1 / NS_PER_MS, width)


def _draw_lines(axes: Axes, course: Course, looks: Looks, what: _Lines) -> None:
    for variant, look in looks.items():
        for fact, width in what.widths.items():
            line = course.line(variant, fact, what.stat)
            if what.scale is None:
                _draw_line(axes, line.fillna(0.0), look, width=width)
            elif (line["value"] > 0).any():
                _draw_line(axes, line, look, variant, what.scale, width)
    style.values_from_zero(axes)
    _name(axes, what.title, what.label)


def _draw_line(
    axes: Axes,
    line: pd.DataFrame,
    look: style.Look,
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


def _name(axes: Axes, title: str, label: str, colour: str = "black") -> None:
    """Writes what an axis shows above it, and what its values are beside it."""
    axes.set_title(title, color=colour, fontweight="bold", pad=3)
    axes.set_ylabel(label)


def _same_scale(panels: Sequence[Axes]) -> None:
    """Gives the variants' panels one logarithmic scale, so that heights can be compared."""
    for axes in panels:
        axes.set_yscale("log")
    limits = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        style.log_values(axes)
