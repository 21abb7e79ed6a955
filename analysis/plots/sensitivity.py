"""Figures of a sensitivity analysis, a row an outcome: effects, shares of variance, walks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullFormatter

from analysis.experiments.case_words import key_of
from analysis.experiments.sensitivity_conclusion import VAGUE_SHARE
from analysis.metrics.rounding import digits, plain
from analysis.plots import style
from analysis.plots.axes import short_names
from analysis.plots.drawn import Picture, listed

Content = Mapping[str, Any]

_FAINT: Final = "#999999"
_SHARE_COLOURS: Final = {"own": style.OTHERS[3], "total": style.OTHERS[0]}
_SHARE_HATCHES: Final = {"own": "", "total": "///"}
_MOST_TICKS: Final = 6
_WALK_STEPS: Final = ("from", "", "centre", "", "to")


def sensitivity_pictures(found: Content) -> Iterator[Picture]:
    """Yields the pictures that there is something to draw of.

    Args:
        found: ``sensitivity`` of ``summary.json``.
    """
    names = short_names([factor["key"] for factor in found["factors"]])
    outcomes = [outcome for outcome in found["outcomes"] if outcome["varies"]]
    if outcomes:
        yield _effects(outcomes, names)
    walked = [outcome for outcome in outcomes if outcome["shares"] is not None]
    told = [outcome for outcome in walked if any(map(_is_told, outcome["shares"]["factors"]))]
    if told:
        yield _shares(told, names)
    if walked:
        yield _walks(walked, found)


def _grid(rows: int, height_in: float) -> tuple[Figure, list[Axes]]:
    figure = style.new_figure(style.WIDTH_IN, (height_in + 0.4) * rows + 0.9)
    return figure, list(figure.subplots(rows, 1, squeeze=False)[:, 0])


def _effects(outcomes: Sequence[Content], names: Mapping[str, str]) -> Picture:
    """Draws bars of mu* with sigma as a dot; what does not pass the floor is grey, dotted."""
    figure, grid = _grid(len(outcomes), 0.36 * len(names) + 1.0)
    for axes, outcome in zip(grid, outcomes, strict=True):
        rows = sorted(outcome["morris"]["effects"], key=lambda row: row["mu_star"] or 0.0)
        for place, row in enumerate(rows):
            colour = style.OTHERS[3] if row["above_noise"] else _FAINT
            axes.barh(
                place, row["mu_star"] or 0.0, xerr=row["mu_star_conf"], color=colour, height=0.62,
                hatch="" if row["above_noise"] else "...", edgecolor="white",
                error_kw={"elinewidth": 1.0, "ecolor": "#333333"},
            )  # fmt: skip
            if row["sigma"] is not None:
                axes.plot([row["sigma"]], [place], "D", color="black", markersize=4)
        axes.set_yticks(
            range(len(rows)), [_arrow(row, names) for row in rows], fontsize=style.SMALL
        )
        axes.grid(visible=False, axis="y")
        axes.axvline(outcome["noise"]["mu_star"], color="#333333", linestyle=(0, (4, 3)))
        axes.set_xlim(left=0)
        axes.set_xlabel(
            "mu*, in its unit"
            if outcome["baseline"] is None
            else f"mu* of ln({outcome['variant']} / {outcome['baseline']})"
        )
        axes.set_title(str(key_of(outcome)), fontsize=style.SMALL)
    first = grid[0]
    first.plot([], [], "D", color="black", markersize=4, label="sigma: interactions, curvature")
    chance = "chance alone stays below this"
    first.plot([], [], color="#333333", linestyle=(0, (4, 3)), label=chance)
    style.legend_below(figure, *first.get_legend_handles_labels())
    style.heading(figure, "Effect of each factor over its whole range (Morris)")
    alt = (
        "Bars of each factor's effect over its whole range, by outcome; the three largest: "
        f"{listed(map(_largest, outcomes))}."
    )
    return Picture("sensitivity_effects", "sensitivity", figure, alt)


def _largest(outcome: Content) -> str:
    rows = sorted(outcome["morris"]["effects"], key=lambda row: -(row["mu_star"] or 0.0))
    told = ", ".join(f"{row['factor']} {digits(row['mu_star'])}" for row in rows[:3])
    return f"{key_of(outcome)}: {told}"


def _arrow(row: Content, names: Mapping[str, str]) -> str:
    """Returns the factor's name with the direction of its mean effect, if it has a clear one."""
    mu, star = row["mu"] or 0.0, row["mu_star"] or 0.0
    if not row["above_noise"] or abs(mu) < 0.5 * star:
        return names[row["factor"]]
    return f"{names[row['factor']]} {'↑' if mu > 0 else '↓'}"


def _is_told(row: Content, kinds: Sequence[str] = tuple(_SHARE_COLOURS)) -> bool:
    """Returns whether any share of a factor is known well enough to be told."""
    return any((row[f"{kind}_conf"] or 0.0) <= VAGUE_SHARE for kind in kinds)


def _shares(outcomes: Sequence[Content], names: Mapping[str, str]) -> Picture:
    """Draws own and total shares side by side, with their intervals; none that is too vague."""
    most = max(len(outcome["shares"]["factors"]) for outcome in outcomes)
    figure, grid = _grid(len(outcomes), 0.62 * most + 1.0)
    for axes, outcome in zip(grid, outcomes, strict=True):
        rows = sorted(outcome["shares"]["factors"], key=lambda row: row["total"] or 0.0)
        for shift, kind in ((0.2, "own"), (-0.2, "total")):
            _bars(axes, rows, shift, kind)
        axes.set_yticks(
            range(len(rows)), [names[row["factor"]] for row in rows], fontsize=style.SMALL
        )
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.grid(visible=False, axis="y")
        axes.axvline(0.0, color="#333333", linewidth=0.8)
        axes.xaxis.set_major_locator(MaxNLocator(_MOST_TICKS, steps=[1, 2, 2.5, 5, 10]))
        style.write_ticks(axes.xaxis, lambda share: style.percent(share).replace("-", "−"))
        low, high = axes.get_xlim()
        axes.set_xlim(max(low, -0.5), min(high, 1.5))
        axes.set_xlabel("share of the variance")
        axes.set_title(str(key_of(outcome)), fontsize=style.SMALL)
    handles = [
        Patch(facecolor=_SHARE_COLOURS[kind], hatch=_SHARE_HATCHES[kind], edgecolor="white")
        for kind in _SHARE_COLOURS
    ]
    style.legend_below(figure, handles, ["alone", "with interactions"])
    style.heading(figure, "Shares of the variance (Sobol'), the other factors at the centre")
    told = listed(map(_shares_words, outcomes))
    alt = f"Bars of each factor's share of the variance, by outcome: {told}."
    return Picture("sensitivity_shares", "sensitivity", figure, alt)


def _shares_words(outcome: Content) -> str:
    rows = sorted(outcome["shares"]["factors"], key=lambda row: -(row["total"] or 0.0))
    shares = {
        row["factor"]: f"{digits(100 * (row['total'] or 0.0))} %"
        if _is_told(row, ["total"])
        else "too vague"
        for row in rows
    }
    told = ", ".join(f"{factor} {share}" for factor, share in shares.items())
    return f"{key_of(outcome)}: {told}"


def _bars(axes: Axes, rows: Sequence[Content], shift: float, kind: str) -> None:
    look: Any = {"color": _SHARE_COLOURS[kind], "hatch": _SHARE_HATCHES[kind]}
    for place, row in enumerate(rows):
        if _is_told(row, [kind]):
            axes.barh(
                place + shift, row[kind] or 0.0, xerr=row[f"{kind}_conf"] or 0.0, height=0.36,
                edgecolor="white", error_kw={"elinewidth": 1.0, "ecolor": "#333333"}, **look,
            )  # fmt: skip
        else:
            axes.annotate(
                "too vague", (0.0, place + shift), (4, 0), textcoords="offset points",
                va="center", fontsize=style.SMALL, color=style.INK,
            )  # fmt: skip


def _walks(outcomes: Sequence[Content], found: Content) -> Picture:
    """Draws each kept factor alone, from end to end, and the thresholds."""
    names = short_names([factor["key"] for factor in found["factors"]])
    looks = style.variant_looks(list(found["kept"]))
    ends = {factor["key"]: factor for factor in found["factors"]}
    figure, grid = _grid(len(outcomes), 3.3)
    for axes, outcome in zip(grid, outcomes, strict=True):
        for level in outcome["thresholds"]:
            axes.axhline(level, color="#333333", linewidth=1.0, linestyle=(0, (4, 3)))
        for walk in outcome["walks"]:
            ys = [math.nan if one is None else one for one in walk["outcomes"]]
            factor, look = ends[walk["factor"]], looks[walk["factor"]]
            axes.plot(
                range(len(ys)), ys, color=look.colour, linestyle=look.line, marker=look.marker,
                markersize=5,
                label=f"{names[walk['factor']]}: {factor['low']} to {factor['high']}",
            )  # fmt: skip
        base = outcome["base"]  # at the centre, over all replications
        if base["ci_low"] is not None and base["ci_high"] is not None:
            axes.plot([2, 2], [base["ci_low"], base["ci_high"]], color="black", linewidth=2.5)
        axes.set_xticks(range(len(_WALK_STEPS)), _WALK_STEPS)
        pair = f"{outcome['variant']} / {outcome['baseline']}"
        axes.set_ylabel(str(key_of(outcome)) if outcome["baseline"] is None else pair)
        style.write_ticks(axes.yaxis, plain)
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_title(str(key_of(outcome)), fontsize=style.SMALL)
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.07), ncols=1, handlelength=2.8)
    style.heading(figure, "One factor at a time, the others at the centre")
    alt = (
        "Lines of each outcome as one factor goes from end to end, the others at the centre; "
        f"factors: {', '.join(looks) or 'none'}. {listed(map(_walks_words, outcomes))}."
    )
    return Picture("sensitivity_walks", "sensitivity", figure, alt)


def _walks_words(outcome: Content) -> str:
    told = []
    for walk in outcome["walks"]:
        known = [digits(value) for value in walk["outcomes"] if value is not None]
        ends = " to ".join([known[0], known[-1]][: len(known)]) if known else "no value"
        told.append(f"{walk['factor']} {ends}")
    return f"{key_of(outcome)}: {', '.join(told)}"
