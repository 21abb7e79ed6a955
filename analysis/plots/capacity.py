"""Figures of a capacity search: how sure, how near to each limit, and at what cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from analysis.experiments.case_words import (
    capacity_text,
    case_words,
    limit_words,
    promise_words,
    unit_words,
)
from analysis.metrics.rounding import digits
from analysis.plots import style
from analysis.plots.drawn import Picture, listed
from analysis.statistics.crossing import probability_met

Found = Mapping[str, Any]
Case = Mapping[str, Any]

_NO_LATENCY = "overloaded runs have no latency, and no point here"


def capacity_pictures(found: Found) -> Iterator[Picture]:
    """Yields every picture that there is something to draw of.

    Args:
        found: ``capacity`` of ``summary.json``.
    """
    if any(case["loads"] for case in found["cases"]):
        yield _probability(found)
        yield _margins(found)
    if any(case["cost_per_1000_txn"] is not None for case in found["cases"]):
        yield _cost(found)


def _probability(found: Found) -> Picture:
    """Draws over load how likely a run meets all objectives; a bar spans the capacity's interval.

    Points are what was run: the share of replications at that load that met the objectives.
    """
    figure = style.new_figure(style.WIDTH_IN, 4.2)
    axes = figure.add_subplot()
    looks = style.line_looks([case["variant"] for case in found["cases"]])
    low, high = _span(found["cases"])
    for place, case in enumerate(found["cases"]):
        look = looks[place]
        tried = [load for load in case["loads"] if low <= load["load"] <= high]
        axes.plot(
            [load["load"] for load in tried], [load["met"] / load["of"] for load in tried],
            look.marker, color=look.colour, markersize=6, alpha=0.7, markeredgewidth=0,
        )  # fmt: skip
        crossings = np.array([load for load in case["crossings"] if load is not None])
        label = case_words(case)
        if case["status"] == "found" and len(crossings) > 1:
            loads = np.linspace(low, high, 400)
            chance = probability_met(loads, crossings)
            axes.plot(
                loads, chance, linestyle=look.line, color=look.colour, linewidth=1.8, label=label,
                marker=look.marker, markevery=[int(np.abs(chance - 0.5).argmin())], markersize=7,
            )  # fmt: skip
        else:
            missed = f"{label}: {capacity_text(found, case)}"
            axes.plot([], [], linestyle=look.line, color=look.colour, label=missed)
        _interval_bar(axes, case, place, look)
    _present_line(axes, found["cases"], (low, high))
    axes.set(xlabel=_load_label(found), ylabel="probability")
    axes.set_ylim(-0.06 - 0.05 * len(found["cases"]), 1.04)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    style.write_ticks(axes.yaxis, style.percent)
    style.write_ticks(axes.xaxis, style.whole)
    axes.plot([], [], "o", color="#777777", markersize=5, label="share of the runs that met them")
    axes.plot([], [], color="#777777", linewidth=3, label="95 % interval of the capacity")
    style.legend_below(figure, *axes.get_legend_handles_labels())
    limits = "\n".join(f"{each['key']} ≤ {limit_words(each)}" for each in found["slo"])
    style.heading(figure, "Probability that a load meets all objectives", limits)
    told = listed(f"{case_words(case)} {capacity_text(found, case)}" for case in found["cases"])
    alt = (
        "Curves over load of the probability that a run meets all objectives "
        f"({promise_words(found)}). Capacity in {unit_words(found)}: {told}."
    )
    return Picture("capacity_probability", "capacity", figure, alt)


def _margins(found: Found) -> Picture:
    """Draws each objective's value over its limit at every load that was run, a panel each.

    A log axis has no zero: an objective whose value is 0 wherever it was seen has no panel, but is
    told of.
    """
    seen = {objective["key"]: _shares(found["cases"], objective) for objective in found["slo"]}
    slo = [each for each in found["slo"] if any(seen[each["key"]])]
    idle = [each["key"] for each in found["slo"] if not any(seen[each["key"]])]
    figure = style.new_figure(style.WIDTH_IN, 1.8 + 2.2 * max(len(slo), 1))
    panels = figure.subplots(max(len(slo), 1), 1, sharex=True, squeeze=False)[:, 0]
    looks = style.line_looks([case["variant"] for case in found["cases"]])
    for axes, objective in zip(panels, slo, strict=False):
        lines = zip(found["cases"], looks, seen[objective["key"]], strict=True)
        for case, look, points in lines:
            axes.plot(
                [load for load, _ in points], [margin for _, margin in points],
                linestyle=look.line, marker=look.marker, color=look.colour,
                label=case_words(case), markersize=5, linewidth=1.4,
            )  # fmt: skip
        style.objective_line(axes, 1.0, f"limit: {limit_words(objective)}")
        axes.set_yscale("log")
        axes.set_ylim(
            *_between_ticks([margin for of in seen[objective["key"]] for _, margin in of])
        )
        style.log_ticks(axes.yaxis)
        axes.set_title(objective["key"], fontweight="bold")
        axes.set_ylabel("value over limit")
    style.legend_below(figure, *panels[0].get_legend_handles_labels())
    panels[-1].set_xlabel(_load_label(found))
    style.write_ticks(panels[-1].xaxis, style.whole)
    said = "\n".join(f"{key} is 0 at every load" for key in idle)
    style.heading(figure, "How close each load comes to the limits", f"{_NO_LATENCY}\n{said}")
    told = listed(f"{case_words(case)} {case['binds'] or 'not known'}" for case in found["cases"])
    alt = (
        "Each objective's value over its limit, at every load that was run; 1 is the limit. "
        f"What binds: {told}."
    )
    return Picture("capacity_margins", "capacity", figure, alt)


def _between_ticks(margins: Sequence[float]) -> tuple[float, float]:
    """Returns the ticks of a log axis beside the limit and all values: none lies beyond a tick."""
    low, high = min(*margins, 1.0), max(*margins, 1.0)
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
    ends = max(tick for tick in ticks if tick < low), min(tick for tick in ticks if tick > high)
    return 0.97 * ends[0], 1.03 * ends[1]


def _shares(cases: Sequence[Case], objective: Mapping[str, Any]) -> list[list[tuple[float, float]]]:
    """Returns by case the loads with what the objective's value is over its limit, if not 0."""
    return [
        [
            (load["load"], load["margins"][objective["key"]])
            for load in case["loads"]
            if load["margins"][objective["key"]]
        ]
        for case in cases
    ]


def _cost(found: Found) -> Picture:
    """Draws capacity over price; cases that no other beats in both are ringed and joined."""
    figure = style.new_figure(style.WIDTH_IN, 4.0)
    axes = figure.add_subplot()
    looks = style.line_looks([case["variant"] for case in found["cases"]])
    priced = [
        (case, look)
        for case, look in zip(found["cases"], looks, strict=True)
        if case["cost_per_1000_txn"] is not None
    ]
    for case, look in priced:
        price, carried = case["cost_per_hour"], case["txn_per_s"]
        low, high = case["txn_per_s_ci_low"], case["txn_per_s_ci_high"]
        if low is not None:
            axes.plot([price, price], [low, high], color=look.colour, linewidth=1.4)
        axes.plot(
            price, carried, look.marker, color=look.colour, markersize=8, label=case_words(case)
        )
        axes.annotate(
            f"{digits(1000 * case['cost_per_1000_txn'])} per million", (price, carried), (11, -10),
            textcoords="offset points", va="center", fontsize=style.SMALL, color="#444444",
        )  # fmt: skip
    best = sorted(
        (case["cost_per_hour"], case["txn_per_s"]) for case, _ in priced if case["pareto"]
    )
    axes.plot(
        *zip(*best, strict=True), color=style.INK, linewidth=1.0, linestyle=":", marker="o",
        markersize=16, fillstyle="none", zorder=0, label="no other costs less and carries more",
    )  # fmt: skip
    axes.set(xlabel="price of all nodes per hour", ylabel="transactions per second at capacity")
    prices = [case["cost_per_hour"] for case, _ in priced]
    room = 0.05 * max(prices)
    axes.set_xlim(min(prices) - room, max(prices) + 3 * room)
    axes.set_ylim(0, 1.12 * max(case["txn_per_s"] for case, _ in priced))
    style.write_ticks(axes.yaxis, style.whole)
    style.legend_below(figure, *axes.get_legend_handles_labels())
    style.heading(figure, "What capacity costs", "prices per million transactions")
    told = listed(_cost_words(case) for case, _ in priced)
    alt = f"Transactions per second at capacity over the price of all nodes per hour: {told}."
    return Picture("capacity_cost", "cost", figure, alt)


def _cost_words(case: Case) -> str:
    beaten = ", beaten by none" if case["pareto"] else ""
    return (
        f"{case_words(case)} {digits(case['txn_per_s'])} for {digits(case['cost_per_hour'])} an "
        f"hour, {digits(1000 * case['cost_per_1000_txn'])} per million{beaten}"
    )


def _span(cases: Sequence[Case]) -> tuple[float, float]:
    """Returns the loads around all capacities, with room at both sides."""
    ends = [load for case in cases for load in case["crossings"] if load is not None]
    ends += [case["load"] for case in cases if case["load"] is not None]
    ends += [case["present"] for case in cases if case["present"] is not None]
    if not ends:
        ends = [load["load"] for case in cases for load in case["loads"]]
    low, high = min(ends), max(ends)
    room = 0.12 * (high - low) + 0.05 * high
    return max(low - room, 0.0), high + room


def _interval_bar(axes: Axes, case: Case, place: int, look: style.Look) -> None:
    if case["load_ci_low"] is None:
        return
    height = -0.07 - 0.05 * place
    axes.plot(
        [case["load_ci_low"], case["load_ci_high"]], [height] * 2, color=look.colour, linewidth=3
    )
    axes.plot(
        [case["load"]], [height], look.marker, color=look.colour, markersize=8,
        markeredgecolor="black",
    )  # fmt: skip


def _present_line(axes: Axes, cases: Sequence[Case], span: tuple[float, float]) -> None:
    for present in dict.fromkeys(case["present"] for case in cases):
        if present is not None and span[0] <= present <= span[1]:
            axes.axvline(present, color="#888888", linewidth=1.0, linestyle=":")
            side = "left" if present < sum(span) / 2 else "right"
            axes.text(present, 0.5, " at present ", color="#666666", fontsize=style.SMALL, ha=side)


def _load_label(found: Found) -> str:
    return "threads" if found["unit"] == "threads" else "transactions that arrive per second"
