"""What would change the answer: factors by weight, and the line that says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.page.content import Block, Cell, PageTable, Paragraph, texts
from analysis.page.findings import Findings
from analysis.page.numbers import DASH
from analysis.plots.axes import short_names
from analysis.report.sensitivity_table import (
    by_weight,
    in_percent,
    mean_effect,
    moves_words,
    signed_effect,
    title_of,
)


def sensitivity_blocks(found: Findings) -> Iterator[Block]:
    """Yields a line and a table an outcome; without such a study, how to make one."""
    if "sensitivity" not in found.summary:
        return
    content = found.summary["sensitivity"]
    names = short_names([factor["key"] for factor in content["factors"]])
    for outcome in content["outcomes"]:
        yield Paragraph(f"{outcome['says']}.")
        yield _weights(outcome, names)
    yield _factors(content, names)


def _weights(outcome: Mapping[str, Any], names: Mapping[str, str]) -> PageTable:
    shares = {row["factor"]: row for row in (outcome["shares"] or {"factors": []})["factors"]}
    rows = []
    for row in by_weight(outcome):
        share = shares.get(row["factor"], {})
        cells = (
            mean_effect(row),
            DASH if row["mu"] is None else signed_effect(row["mu"]).replace("-", "−"),
            in_percent(share.get("own"), share.get("own_conf")),
            in_percent(share.get("total"), share.get("total_conf")),
        )
        rows.append((Cell(names[row["factor"]]), *texts(*cells), Cell(moves_words(row))))
    note = "mu*: mean size of the effect over a factor's whole range, with a 95 % interval, or the "
    note += "upper end of one that reaches 0; mu: with its sign. "
    floor = outcome["noise"]["mu_star"]
    if floor:
        note += f"Verdict: whether that mean is above {floor:.2g}, which chance rarely reaches. "
    note += "Share of the variance: alone, and with interactions."
    headings = ("factor", "mu*", "mu", "share alone", "share in all", "verdict")
    return PageTable(title_of(outcome), headings, tuple(rows), note, (0, 5))


def _factors(content: Mapping[str, Any], names: Mapping[str, str]) -> PageTable:
    rows = tuple(
        texts(
            f"{names[factor['key']]} ({factor['key']})",
            *(str(factor[end]) for end in ("low", "high")),
            str(content["centre"][factor["key"]]),
            str(factor["scale"]),
        )
        for factor in content["factors"]
    )
    return PageTable("Factors", ("factor", "from", "to", "centre", "scale"), rows, words=(0, 4))
