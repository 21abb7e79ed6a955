"""How certain each number has become with every further replication.

Law: a point is the half width of the 95 % t interval over the first n replications, relative to
their mean; of a ratio, that of its logarithm. It is what ``run.precision`` and the ratios of
``expect`` wait for. From one replication there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.rounding import digits
from analysis.metrics.unit_metrics import asked_metrics
from analysis.plots.style import (
    SMALL,
    WIDTH_IN,
    Look,
    heading,
    legend_below,
    log_values,
    new_figure,
    objective_line,
    panel_grid,
    percent,
    unique_handles,
)
from analysis.plots.words import listed
from analysis.statistics.intervals import Array, half_widths, log_ratios, relative_half_widths
from analysis.study.run import Target

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
    """The way of one number, or of the ratio of two.

    Attributes:
        name: of the number; below it, of a ratio, the two variants.
        wanted: relative half width that was asked for; None if none was.
        lines: by variant, relative half widths over the first 2, 3, ... replications.
    """

    name: str
    wanted: float | None
    lines: Mapping[str, Array]


def convergences(
    units: pd.DataFrame,
    sums: pd.DataFrame,
    targets: Sequence[Target],
    refused: set[tuple[str, MetricKey]],
) -> list[Convergence]:
    """Returns what is waited for, or else the main numbers, as far as there are any.

    Args:
        units: of one point: ``variant``, ``replication``, ``measured_s``.
        sums: of facts, the same rows.
        targets: what replications are added for.
        refused: variants and numbers that are not told.
    """
    shown = targets[:MOST_NUMBERS]
    keys = [target.key for target in shown] or list(MAIN)
    tall = asked_metrics(sums, units["measured_s"], list(dict.fromkeys(keys)))
    place = tall["place"].to_numpy()
    for name in ("variant", "replication"):
        tall[name] = units[name].to_numpy()[place]
    found = []
    wanted: Sequence[Target | None] = shown or [None] * len(keys)
    for key, target in zip(keys, wanted, strict=True):
        of = tall[
            (tall["metric"] == key.metric)
            & (tall["class"] == key.class_)
            & (tall["stat"] == key.stat)
        ]
        values = of.pivot_table(index="replication", columns="variant", values="value")
        known = values.drop(columns=[name for name in values if (str(name), key) in refused])
        if target is None or target.against is None:
            lines = {
                str(name): relative_half_widths(_first_ones(known[name].dropna().to_numpy()))
                for name in known
            }
        else:
            lines = _of_ratio(known, str(target.variant), target.against)
        # What is the same in every replication, such as a 0, has no way to go.
        lines = {name: line for name, line in lines.items() if line.any()}
        if lines:
            words = str(key if target is None else target).replace(", ", "\n")
            found.append(Convergence(words, None if target is None else target.width, lines))
    return found


def _of_ratio(values: pd.DataFrame, variant: str, against: str) -> dict[str, Array]:
    """Returns the line of a ratio: half widths of its logarithm, as in ``summary.json``."""
    if not {variant, against} <= set(values.columns):
        return {}
    logs = log_ratios(values[variant].to_numpy(), values[against].to_numpy())
    return {variant: half_widths(_first_ones(logs[~np.isnan(logs)]))}


def convergence(found: Sequence[Convergence], looks: Mapping[str, Look], subtitle: str) -> Figure:
    """Draws a panel a number, all over one axis of replications.

    Args:
        found: at least one.
        looks: by variant, in order.
        subtitle: the point; empty if there is only one.
    """
    columns = min(2, len(found))
    figure = new_figure(WIDTH_IN, 1.2 + 2.3 * math.ceil(len(found) / columns))
    grid = panel_grid(figure, len(found), columns, sharex=True, sharey=True)
    for place, axes in enumerate(grid):
        _panel(axes, found[place], looks)
        if place + columns >= len(found):
            axes.set_xlabel("replications or batches")
            axes.tick_params(labelbottom=True)
        if place % columns == 0:
            axes.set_ylabel("95 % half width")
    legend_below(figure, *unique_handles(grid))
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
        wanted = "" if one.wanted is None else f", wanted {_percent(one.wanted)}"
        count = max(len(line) for line in one.lines.values()) + 1
        name = one.name.replace("\n", ", ")
        told.append(f"{name} over 2 to {count} replications or batches {reached}{wanted}")
    return f"Half width of the 95 % interval, relative to the mean: {listed(told)}."


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %" if math.isfinite(share) else "unbounded"


def _first_ones(values: Array) -> Array:
    """Returns the first 2, 3, ... values, a row each; none of fewer than three."""
    if len(values) < FEWEST_REPLICATIONS:
        return np.empty((0, len(values)))
    several = np.arange(2, len(values) + 1)[:, None] > np.arange(len(values))[None, :]
    return np.where(several, values[None, :], np.nan)


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
    if one.wanted is not None:
        objective_line(axes, one.wanted, f"wanted: {_percent(one.wanted)}")
    axes.set_title(one.name, fontsize=SMALL + 0.5, fontweight="bold", pad=4)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    log_values(axes, percent)
