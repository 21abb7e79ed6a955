"""The load curve: latency against the throughput at which it was measured.

Law: a point of the curve is a load that was run; its place are two means over replications, with a
bar for the 95 % interval of each. An overloaded run has a throughput and no latency: a cross at the
upper rim. What was promised is a line across, what can be carried a line upwards, which has the
marker of its curve at its foot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from analysis.experiments.case_words import case_words
from analysis.plots.style import (
    INK,
    WIDTH_IN,
    Look,
    heading,
    legend_below,
    line_looks,
    new_figure,
    objective_line,
)
from analysis.plots.words import digits, listed
from analysis.study.interpolation import amount_of

Point = Mapping[str, Any]

LOAD_KEYS: Final = ("workload.rate", "workload.threads")
MOST_LINES: Final = 8
_THROUGHPUT: Final = ("txn_per_s", "all", "mean")


@dataclass(frozen=True, slots=True)
class Latency:
    """One latency over which a panel is drawn.

    Attributes:
        metric: with ``class_`` and ``stat``, in ms.
        limit_ms: what was promised; None without a promise.
    """

    metric: str
    class_: str
    stat: str
    limit_ms: float | None = None

    @property
    def name(self) -> str:
        """Returns ``lock latency p99``, ``new_order txn latency p95``."""
        words = self.metric.removesuffix("_ms").replace("_", " ")
        stat = "mean" if self.stat == "mean" else self.stat
        return f"{'' if self.class_ == 'all' else f'{self.class_} '}{words} {stat}"


SWEPT: Final = (Latency("lock_latency_ms", "all", "p99"), Latency("txn_latency_ms", "all", "p99"))


@dataclass(frozen=True, slots=True)
class LoadLine:
    """One curve: a variant, with the settings that do not make load.

    Attributes:
        name: as cases are called.
        variant: it is of.
        table: by ascending load: ``load``, ``txn_per_s``, ``x_low``, ``x_high`` and by place of a
            latency ``y0``, ``y0_low``, ``y0_high``; NaN where there is none.
        capacity: transactions per second, with its interval; None if none was sought or found.
    """

    name: str
    variant: str
    table: pd.DataFrame
    capacity: tuple[float, float | None, float | None] | None = None


def load_key(points: Sequence[Point]) -> str | None:
    """Returns the swept key that makes load, or None."""
    for key in LOAD_KEYS:
        values = {repr(point[key]) for point in points if key in point}
        if len(values) > 1:
            return key
    return None


def load_lines(
    columns: pd.DataFrame,
    points: Sequence[Point],
    variants: Sequence[str],
    key: str,
    latencies: Sequence[Latency],
) -> list[LoadLine]:
    """Returns the curves there are, in the order of points and variants.

    Args:
        columns: of the rows of ``summary.json``.
        points: by ``point_index``.
        variants: in order.
        key: that makes load.
        latencies: in the order of the panels.
    """
    wanted = [_THROUGHPUT, *((one.metric, one.class_, one.stat) for one in latencies)]
    tables = [_cells(columns, name) for name in wanted]
    groups: dict[str, list[int]] = {}
    for index, point in enumerate(points):
        if key in point:
            groups.setdefault(repr(_without(point, key)), []).append(index)
    lines = []
    for members in groups.values():
        members.sort(key=lambda index: float(amount_of(points[index][key])))
        for variant in variants:
            rows = [_row(tables, index, variant, points[index][key]) for index in members]
            table = pd.DataFrame([row for row in rows if row is not None])
            if not table.empty and table["y0"].notna().any():
                case = {"variant": variant, "point": _without(points[members[0]], key)}
                lines.append(LoadLine(case_words(case), variant, table))
    return lines


def with_capacity(lines: Sequence[LoadLine], found: Mapping[str, Any]) -> list[LoadLine]:
    """Returns the curves with the throughput that each carries at most."""
    capacities = {
        case_words(case): (case["txn_per_s"], case["txn_per_s_ci_low"], case["txn_per_s_ci_high"])
        for case in found["cases"]
        if case["status"] == "found" and case["txn_per_s"] is not None
    }
    return [
        LoadLine(line.name, line.variant, line.table, capacities.get(line.name)) for line in lines
    ]


def load_curve(lines: Sequence[LoadLine], latencies: Sequence[Latency]) -> Figure:
    """Draws a panel a latency, all over one axis of throughput.

    Args:
        lines: at least one, and no more than ``MOST_LINES``.
        latencies: in the order of the panels.
    """
    figure = new_figure(WIDTH_IN, 1.7 + 2.5 * len(latencies))
    panels = figure.subplots(len(latencies), 1, sharex=True, squeeze=False)[:, 0]
    looks = line_looks([line.variant for line in lines])
    crossed = False
    for place, (axes, latency) in enumerate(zip(panels, latencies, strict=True)):
        for line, look in zip(lines, looks, strict=True):
            crossed |= _draw(axes, line, look, place)
            _capacity(axes, line, look)
        _scale(axes, lines, place, latency.limit_ms)
        axes.set_ylabel(f"{latency.name} (ms)")
    panels[-1].set_xlabel("throughput (transactions per second)")
    panels[-1].set_xlim(left=0)
    panels[-1].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    _legend(figure, panels[0], crossed=crossed, sought=any(line.capacity for line in lines))
    heading(figure, "Latency against throughput", "bars: 95 % intervals")
    return figure


def _legend(figure: Figure, axes: Axes, *, crossed: bool, sought: bool) -> None:
    if crossed:
        axes.plot([], [], "x", color=INK, label="overloaded: no latency")
    if sought:
        axes.plot([], [], ":", color=INK, linewidth=1.4, label="capacity, with its interval")
    legend_below(figure, *axes.get_legend_handles_labels())


def load_curve_words(lines: Sequence[LoadLine], latencies: Sequence[Latency]) -> str:
    """Returns the text alternative: both ends of every curve, and what it carries."""
    told = []
    for line in lines:
        known = line.table.dropna(subset=["y0"])
        first, last = known.iloc[0], known.iloc[-1]
        carried = "" if line.capacity is None else f", capacity {digits(line.capacity[0])}"
        told.append(
            f"{line.name} {digits(first['y0'])} ms at {digits(first['txn_per_s'])} per second, "
            f"{digits(last['y0'])} ms at {digits(last['txn_per_s'])}{carried}"
        )
    limits = listed(
        (f"{one.name} {digits(one.limit_ms)} ms" for one in latencies if one.limit_ms), ", "
    )
    promised = f" Promised: {limits}." if limits else ""
    return f"Curves of {latencies[0].name} over throughput: {listed(told)}.{promised}"


def _without(point: Point, key: str) -> dict[str, Any]:
    return {name: value for name, value in point.items() if name != key}


def _cells(columns: pd.DataFrame, name: tuple[str, str, str]) -> dict[tuple[int, str], Any]:
    metric, class_, stat = name
    rows = columns[
        (columns["metric"] == metric) & (columns["class"] == class_) & (columns["stat"] == stat)
    ]
    names = ["point_index", "variant", "value", "ci_low", "ci_high"]
    return {
        (int(point), str(variant)): (value, low, high)
        for point, variant, value, low, high in rows[names].itertuples(index=False)
    }


def _row(
    tables: Sequence[Mapping[tuple[int, str], Any]], index: int, variant: str, load: Any
) -> dict[str, float] | None:
    """Returns throughput and latencies at a load; None if it was not run."""
    nothing = (float("nan"),) * 3
    middle, low, high = tables[0].get((index, variant), nothing)
    if pd.isna(middle):
        return None
    row = {"load": float(amount_of(load)), "txn_per_s": middle, "x_low": low, "x_high": high}
    for place, table in enumerate(tables[1:]):
        cell = table.get((index, variant), nothing)
        row |= dict(zip((f"y{place}", f"y{place}_low", f"y{place}_high"), cell, strict=True))
    return row


def _draw(axes: Axes, line: LoadLine, look: Look, place: int) -> bool:
    """Draws a curve; returns whether a load had no latency."""
    table, name = line.table, f"y{place}"
    known = table.dropna(subset=[name])
    axes.plot(
        known["txn_per_s"], known[name], color=look.colour, linestyle=look.line,
        marker=look.marker, markersize=5, linewidth=1.5, label=line.name,
    )  # fmt: skip
    bar: dict[str, Any] = {"color": look.colour, "linewidth": 1.0, "alpha": 0.7}
    for row in known.to_dict("records"):
        x, y = row["txn_per_s"], row[name]
        if not pd.isna(row[f"{name}_low"]):
            axes.plot([x, x], [max(row[f"{name}_low"], y / 20), row[f"{name}_high"]], **bar)
        if not pd.isna(row["x_low"]):
            axes.plot([row["x_low"], row["x_high"]], [y, y], **bar)
    lost = table[table[name].isna()]
    if not lost.empty:  # An empty line without clipping would upset the layout.
        axes.plot(
            lost["txn_per_s"].tolist(), [0.97] * len(lost), "x", color=look.colour, markersize=6,
            transform=axes.get_xaxis_transform(), clip_on=False,
        )  # fmt: skip
    return not lost.empty


def _capacity(axes: Axes, line: LoadLine, look: Look) -> None:
    if line.capacity is None:
        return
    carried, low, high = line.capacity
    axes.axvline(carried, color=look.colour, linewidth=1.4, linestyle=":")
    axes.plot(
        [carried], [0.05], look.marker, color=look.colour, markersize=7, markeredgecolor="black",
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip
    if low is not None and high is not None:
        axes.axvspan(low, high, color=look.colour, alpha=0.12, linewidth=0)


def _scale(axes: Axes, lines: Sequence[LoadLine], place: int, limit_ms: float | None) -> None:
    """Draws what was promised, and scales to the values; an interval may go beyond."""
    values_ms = [value for line in lines for value in line.table[f"y{place}"].dropna()]
    if limit_ms is not None:
        objective_line(axes, limit_ms, f"promised: {limit_ms:g} ms")
        values_ms.append(limit_ms)
    if not values_ms:
        return
    low, high = min(values_ms) / 2, max(values_ms) * 2.5
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 200 * low else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
