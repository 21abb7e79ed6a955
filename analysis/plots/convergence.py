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
from matplotlib.ticker import MaxNLocator

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.rounding import digits
from analysis.metrics.unit_metrics import asked_metrics
from analysis.plots import style
from analysis.plots.drawn import Picture, listed
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
        lines = {}
        if target is None or target.against is None:
            lines = {
                str(name): relative_half_widths(_first_ones(known[name].dropna().to_numpy()))
                for name in known
            }
        elif {variant := str(target.variant), target.against} <= set(known.columns):
            # Half widths of the ratio's logarithm, as in ``summary.json``.
            logs = log_ratios(known[variant].to_numpy(), known[target.against].to_numpy())
            lines = {variant: half_widths(_first_ones(logs[~np.isnan(logs)]))}
        # What is the same in every replication, such as a 0, has no way to go.
        lines = {name: line for name, line in lines.items() if line.any()}
        if lines:
            words = str(key if target is None else target).replace(", ", "\n")
            found.append(Convergence(words, None if target is None else target.width, lines))
    return found


def convergence(
    found: Sequence[Convergence], looks: Mapping[str, style.Look], subtitle: str
) -> Picture:
    """Draws a panel a number, all over one axis of replications.

    The words say what each came to, and what was wanted.

    Args:
        found: at least one.
        looks: by variant, in order.
        subtitle: the point; empty if there is only one.
    """
    columns = min(2, len(found))
    figure = style.new_figure(style.WIDTH_IN, 1.2 + 2.3 * math.ceil(len(found) / columns))
    grid = style.panel_grid(figure, len(found), columns, sharex=True, sharey=True)
    for place, axes in enumerate(grid):
        _panel(axes, found[place], looks)
        if place + columns >= len(found):
            axes.set_xlabel("replications or batches")
            axes.tick_params(labelbottom=True)
        if place % columns == 0:
            axes.set_ylabel("95 % half width")
    style.legend_below(figure, *style.unique_handles(grid))
    style.heading(figure, "How intervals narrow with every replication", subtitle)
    told = listed(map(_words, found))
    alt = f"Half width of the 95 % interval, relative to the mean: {told}."
    return Picture("convergence", "convergence", figure, alt)


def _words(one: Convergence) -> str:
    reached = ", ".join(
        f"{variant} {_percent(line[0])} to {_percent(line[-1])}"
        for variant, line in one.lines.items()
    )
    wanted = "" if one.wanted is None else f", wanted {_percent(one.wanted)}"
    count = max(len(line) for line in one.lines.values()) + 1
    name = one.name.replace("\n", ", ")
    return f"{name} over 2 to {count} replications or batches {reached}{wanted}"


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %" if math.isfinite(share) else "unbounded"


def _first_ones(values: Array) -> Array:
    """Returns the first 2, 3, ... values, a row each; none of fewer than three."""
    if len(values) < FEWEST_REPLICATIONS:
        return np.empty((0, len(values)))
    several = np.arange(2, len(values) + 1)[:, None] > np.arange(len(values))[None, :]
    return np.where(several, values[None, :], np.nan)


def _panel(axes: Axes, one: Convergence, looks: Mapping[str, style.Look]) -> None:
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
        style.objective_line(axes, one.wanted, f"wanted: {_percent(one.wanted)}")
    axes.set_title(one.name, fontsize=style.SMALL + 0.5, fontweight="bold", pad=4)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    style.log_values(axes, style.percent)
