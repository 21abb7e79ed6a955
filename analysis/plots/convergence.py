"""How certain each number has become with every further replication.

Law: a point is the half width of the 95 % t interval over the first n replications, relative to
their mean: what ``run.precision`` asks about. From one replication there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from analysis.metrics.asked import asked_metrics
from analysis.metrics.catalogue import MetricKey
from analysis.plots.style import (
    SMALL,
    WIDTH_IN,
    Look,
    heading,
    legend_below,
    new_figure,
    objective_line,
)
from analysis.plots.words import digits, listed
from analysis.statistics.precision import relative_half_widths

FEWEST_REPLICATIONS: Final = 3
MAIN: Final = (
    MetricKey("lock_latency_ms"),
    MetricKey("lock_latency_ms", stat="p99"),
    MetricKey("txn_per_s"),
    MetricKey("disk_write_bytes_per_txn"),
)
"""Numbers that are shown where a scenario asks for none."""
MOST_NUMBERS: Final = 8
_LEAST: Final = 1e-4
"""Relative half widths below are drawn here: a log axis has no zero."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """One number's way.

    Attributes:
        key: of the number.
        target: relative half width that was asked for; None if none was.
        lines: by variant, relative half widths over the first 2, 3, ... replications.
    """

    key: MetricKey
    target: float | None
    lines: Mapping[str, NDArray[np.float64]]


def convergences(
    units: pd.DataFrame,
    sums: pd.DataFrame,
    targets: Mapping[MetricKey, float],
    refused: set[tuple[str, MetricKey]],
) -> list[Convergence]:
    """Returns the numbers that are asked for, or the main ones, as far as there are any.

    Args:
        units: of one point: ``variant``, ``replication``, ``measured_s``.
        sums: of facts, the same rows.
        targets: relative half widths asked for, by number.
        refused: variants and numbers that are not told.
    """
    keys = list(targets)[:MOST_NUMBERS] or list(MAIN)
    tall = asked_metrics(sums, units["measured_s"], keys)
    place = tall["place"].to_numpy()
    for name in ("variant", "replication"):
        tall[name] = units[name].to_numpy()[place]
    found = []
    for key in keys:
        of = tall[
            (tall["metric"] == key.metric)
            & (tall["class"] == key.class_)
            & (tall["stat"] == key.stat)
        ]
        of_variant = {
            str(variant): _half_widths(mine.sort_values("replication")["value"].to_numpy())
            for variant, mine in of.groupby("variant")
            if len(mine) >= FEWEST_REPLICATIONS and (variant, key) not in refused
        }
        # What is the same in every replication, such as a 0, has no way to go.
        lines = {variant: line for variant, line in of_variant.items() if line.any()}
        if lines:
            found.append(Convergence(key, targets.get(key), lines))
    return found


def convergence(found: Sequence[Convergence], looks: Mapping[str, Look], subtitle: str) -> Figure:
    """Draws a panel a number, all over one axis of replications.

    Args:
        found: at least one.
        looks: by variant, in order.
        subtitle: the point; empty if there is only one.
    """
    columns = min(2, len(found))
    rows = math.ceil(len(found) / columns)
    figure = new_figure(WIDTH_IN, 1.2 + 2.3 * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= len(found):
            axes.set_visible(False)
            continue
        _panel(axes, found[place], looks)
        if place + columns >= len(found):
            axes.set_xlabel("replications or batches")
            axes.tick_params(labelbottom=True)
        if place % columns == 0:
            axes.set_ylabel("half width of 95 %")
    handles: dict[str, Artist] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(str(label), handle)
    legend_below(figure, list(handles.values()), list(handles))
    heading(figure, "How intervals narrow with every replication", subtitle)
    return figure


def convergence_words(found: Sequence[Convergence]) -> str:
    """Returns the text alternative: what each number came to, and what was wanted."""
    told = []
    for one in found:
        reached = listed(
            (f"{variant} {_percent(line[0])} to {_percent(line[-1])}"
             for variant, line in one.lines.items()), ", ",
        )  # fmt: skip
        wanted = "" if one.target is None else f", wanted {_percent(one.target)}"
        count = max(len(line) for line in one.lines.values()) + 1
        told.append(f"{one.key} over 2 to {count} replications or batches {reached}{wanted}")
    return f"Half width of the 95 % interval, relative to the mean: {listed(told)}."


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %" if math.isfinite(share) else "unbounded"


def _half_widths(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns relative half widths over the first 2, 3, ... values."""
    several = np.arange(2, len(values) + 1)[:, None] > np.arange(len(values))[None, :]
    return relative_half_widths(np.where(several, values[None, :].astype(np.float64), np.nan))


def _panel(axes: Axes, one: Convergence, looks: Mapping[str, Look]) -> None:
    for variant, look in looks.items():
        line = one.lines.get(variant)
        if line is None:
            continue
        known = np.where(np.isfinite(line), np.maximum(line, _LEAST), np.nan)
        axes.plot(
            np.arange(2, len(line) + 2), known, color=look.colour, linestyle=look.line,
            marker=look.marker, markersize=4, markevery=max(len(line) // 10, 1), linewidth=1.5,
            label=variant,
        )  # fmt: skip
    if one.target is not None:
        objective_line(axes, one.target, f"wanted: {_percent(one.target)}")
    axes.set_yscale("log")
    axes.set_title(str(one.key), fontsize=SMALL + 0.5, fontweight="bold", pad=4)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 60 * low else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    axes.yaxis.set_minor_formatter(NullFormatter())
