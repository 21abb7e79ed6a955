"""What a sensitivity analysis has found: the factors, then their weights for each outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.experiments.case_words import key_of
from analysis.experiments.sensitivity_conclusion import VAGUE_SHARE
from analysis.metrics.rounding import (
    is_known,
    share_with_half_width,
    size_with_half_width,
)
from analysis.plots.axes import short_names
from analysis.report.table import DASH, Cell, ReportTable, texts

Content = Mapping[str, Any]


def factor_table(found: Content) -> ReportTable:
    """Returns what was varied, from what to what.

    Args:
        found: ``sensitivity`` of ``summary.json``.
    """
    names = short_names([factor["key"] for factor in found["factors"]])
    rows = tuple(
        texts(names[key], *map(str, (factor["low"], factor["high"], found["centre"][key])),
              str(factor["scale"]), key)
        for factor in found["factors"] for key in (factor["key"],)
    )  # fmt: skip
    headings = ("factor", "from", "to", "centre", "scale", "key")
    return ReportTable("Factors", headings, rows, words=(0, 4, 5), spare=(5,))


def weight_tables(found: Content) -> Iterator[tuple[ReportTable, str]]:
    """Yields a table an outcome, what weighs most first, and what it comes to in a sentence."""
    names = short_names([factor["key"] for factor in found["factors"]])
    for outcome in found["outcomes"]:
        yield _weights(outcome, names), f"{outcome['says']}."


def _weights(outcome: Content, names: Mapping[str, str]) -> ReportTable:
    """Returns a row a factor, the greatest mu* first."""
    shares = {row["factor"]: row for row in (outcome["shares"] or {"factors": []})["factors"]}
    rows = []
    for row in sorted(outcome["morris"]["effects"], key=lambda row: -(row["mu_star"] or 0.0)):
        share = shares.get(row["factor"], {})
        effect = mean_effect(row)
        may_be_chance = row["mu_star"] and not row["above_noise"]
        rows.append(tuple(
            Cell(text, "" if row["above_noise"] else "quiet")
            for text in (
                names[row["factor"]],
                f"({effect})" if may_be_chance else effect,
                signed_effect(row["mu"]),
                DASH if row["sigma"] is None else f"{row['sigma']:.2f}",
                in_percent(share.get("own"), share.get("own_conf")),
                in_percent(share.get("total"), share.get("total_conf")),
                moves_words(row),
            )
        ))  # fmt: skip
    headings = ("factor", "mu*", "mu", "sigma", "share alone", "share in all", "verdict")
    notes = tuple(_notes(outcome))
    title = f"{key_of(outcome)}, {outcome['variant']}"
    title += "" if outcome["baseline"] is None else f" / {outcome['baseline']}"
    return ReportTable(title, headings, tuple(rows), notes, words=(0, 6), spare=(6,))


def _notes(outcome: Content) -> Iterator[str]:
    """Yields how to read effects and shares, and what is left out of them."""
    floor, deviation = outcome["noise"]["mu_star"], outcome["noise"]["deviation"]
    unit = "" if outcome["baseline"] is None else ", on ln(ratio)"
    yield (
        f"mu: mean effect over the whole range{unit}; mu*: its size, with a 95 % interval, or the "
        "upper end of one that reaches 0; sigma: how much it differs from place to place."
    )
    if not outcome["morris"]["used"]:
        yield "Too little is known for a noise floor."
    elif deviation is None:
        yield "One replication gives no noise floor."
    else:
        yield f"In brackets: a mean up to {floor:.2g} may be chance."
    shares = outcome["shares"]
    if shares is not None:
        how = "from sample blocks; more samples make it more precise"
        if shares["from"] == "polynomial":
            how = f"from a fit of degree {shares['degree']} (q2 {shares['q2']:.2f})"
        yield f"Share of the variance: alone, and in all, with interactions; {how}."
    for part, name in ((outcome["morris"], "trajectories"), (outcome["sobol"], "sample blocks")):
        if part is not None and part["used"] < part["of"]:
            yield (
                f"{part['of'] - part['used']} of {part['of']} {name} are left out, because one of "
                "their units failed or was refused."
            )


def mean_effect(row: Content) -> str:
    """Returns mu* of a factor with its interval; a dash for none."""
    size, half = row["mu_star"], row["mu_star_conf"]
    return DASH if size is None or half is None else size_with_half_width(size, half)


def moves_words(row: Content) -> str:
    """Returns what is known of a factor, and whether its size is."""
    size, half = row["mu_star"], row["mu_star_conf"]
    if not row["above_noise"]:
        return "may be chance" if size else "no effect seen"
    return "moves it" if half is None or is_known(size, half) else "moves it, how far is open"


def in_percent(value: float | None, half: float | None) -> str:
    """Returns ``65 ± 12 %``; a dash for none, and words for an interval that says nothing."""
    if value is None or half is None:
        return DASH
    if half > VAGUE_SHARE:
        return "too vague"
    return share_with_half_width(value, half)


def signed_effect(value: float | None) -> str:
    """Returns ``+0.12``; a dash for none. What rounds to nothing has no sign of its own."""
    return DASH if value is None else f"{round(value, 2) + 0.0:+.2f}".replace("-", "−")
