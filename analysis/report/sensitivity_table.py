"""What a sensitivity analysis has found, as a reader looks at it: the sentence first, then why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from analysis.experiments.case_words import key_of
from analysis.experiments.sensitivity_conclusion import VAGUE_SHARE
from analysis.metrics.rounding import is_known, size_with_half_width
from analysis.plots.axes import short_names
from analysis.report.terminal import plain_table

Content = Mapping[str, Any]

_DIM: Final = "dim"


def print_sensitivity(console: Console, found: Content) -> None:
    """Prints one block an outcome.

    Args:
        console: where to; nothing is wider than it.
        found: ``sensitivity`` of ``summary.json``.
    """
    names = short_names([factor["key"] for factor in found["factors"]])
    _print_factors(console, found, names)
    for outcome in found["outcomes"]:
        _print_outcome(console, outcome, names)
        console.print(Text(f"{outcome['says']}."), highlight=False)
        for line in _left_out(outcome):
            console.print(Text(line, style=_DIM), highlight=False)
        console.print()


def _print_factors(console: Console, found: Content, names: Mapping[str, str]) -> None:
    table = plain_table("Factors")
    for heading in ("factor", "from", "to", "centre", "scale"):
        table.add_column(heading, justify="left" if heading == "factor" else "right", no_wrap=True)
    for factor in found["factors"]:
        key = factor["key"]
        centre = found["centre"][key]
        cells = (names[key], factor["low"], factor["high"], centre, factor["scale"])
        table.add_row(*(Text(str(cell)) for cell in cells))
    console.print(table)


def _print_outcome(console: Console, outcome: Content, names: Mapping[str, str]) -> None:
    """Prints a row a factor, what weighs most first."""
    shares = {row["factor"]: row for row in (outcome["shares"] or {"factors": []})["factors"]}
    table = plain_table(title_of(outcome), caption=_caption(outcome), caption_justify="left")
    table.add_column("factor", no_wrap=True)
    for heading in ("mu*", "mu", "sigma", "alone", "in all"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in by_weight(outcome):
        style = "" if row["above_noise"] else _DIM
        share = shares.get(row["factor"], {})
        cells = (
            names[row["factor"]],
            _marked(row),
            signed_effect(row["mu"]),
            _number(row["sigma"]),
            in_percent(share.get("own"), share.get("own_conf")),
            in_percent(share.get("total"), share.get("total_conf")),
        )
        table.add_row(*(Text(cell, style=style) for cell in cells))
    console.print(table)


def title_of(outcome: Content) -> str:
    """Returns the outcome's name, what it is divided by, and its value at the centre."""
    if outcome["baseline"] is None:
        return f"{key_of(outcome)} of {outcome['variant']}"
    return f"{key_of(outcome)}, {outcome['variant']} / {outcome['baseline']}"


def by_weight(outcome: Content) -> list[Content]:
    """Returns the factors' effects, the greatest mu* first."""
    effects: Sequence[Content] = outcome["morris"]["effects"]
    return sorted(effects, key=lambda row: -(row["mu_star"] or 0.0))


def _caption(outcome: Content) -> str:
    floor, deviation = outcome["noise"]["mu_star"], outcome["noise"]["deviation"]
    unit = "" if outcome["baseline"] is None else ", on ln(ratio)"
    luck = f"(in brackets): a mean up to {floor:.2g} may be chance"
    if not outcome["morris"]["used"]:
        luck = "too little is known for a noise floor"
    elif deviation is None:
        luck = "one replication gives no noise floor"
    return (
        f"mu: mean effect over the whole range{unit}, mu*: its size\n{luck}{_about_shares(outcome)}"
    )


def _about_shares(outcome: Content) -> str:
    shares = outcome["shares"]
    if shares is None:
        return ""
    how = "from sample blocks; more samples make it more precise"
    if shares["from"] == "polynomial":
        how = f"from a fit of degree {shares['degree']} (q2 {shares['q2']:.2f})"
    return f"\nalone, in all: share of the variance, interactions left out or in, {how}"


def _left_out(outcome: Content) -> list[str]:
    lines = []
    for part, name in ((outcome["morris"], "trajectories"), (outcome["sobol"], "sample blocks")):
        if part is not None and part["used"] < part["of"]:
            lines.append(
                f"{part['of'] - part['used']} of {part['of']} {name} are left out, because one of "
                "their units failed or was refused"
            )
    return lines


def mean_effect(row: Content) -> str:
    """Returns mu* of a factor with its interval; a dash for none."""
    size, half = row["mu_star"], row["mu_star_conf"]
    return "-" if size is None or half is None else size_with_half_width(size, half)


def _marked(row: Content) -> str:
    """Returns mu* of a factor, in brackets where it may be chance."""
    effect = mean_effect(row)
    return effect if row["above_noise"] or not row["mu_star"] else f"({effect})"


def moves_words(row: Content) -> str:
    """Returns what is known of a factor, and whether its size is."""
    size, half = row["mu_star"], row["mu_star_conf"]
    if not row["above_noise"]:
        return "may be chance" if size else "no effect seen"
    return "moves it" if half is None or is_known(size, half) else "moves it, how far is open"


def in_percent(value: float | None, half: float | None) -> str:
    """Returns ``65 ± 12 %``; a dash for none, and words for an interval that says nothing."""
    if value is None or half is None:
        return "-"
    if half > VAGUE_SHARE:
        return "too vague"
    return f"{100 * value:.0f} ± {100 * half:.0f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def signed_effect(value: float | None) -> str:
    """Returns ``+0.12``; a dash for none. What rounds to nothing has no sign of its own."""
    return "-" if value is None else f"{round(value, 2) + 0.0:+.2f}"
