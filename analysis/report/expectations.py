"""A scenario's ``expect``: does it hold, judged on interval ends, with the numbers as reason.

``below`` holds when the whole interval lies below; a claim that one replication cannot support, or
whose number is refused, does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from analysis.report.row_table import RowTable
from analysis.study.sections import Expectation
from analysis.study.units import point_words

Row = Mapping[str, Any]


def claims_to_judge(
    claims: Sequence[Expectation], found: Mapping[str, Any]
) -> Sequence[Expectation]:
    """Returns the claims as they are meant: those of a sensitivity study are about its centre.

    Its other points have one replication each, which supports no claim.

    Args:
        claims: of the scenario.
        found: what experiments have found, by name.
    """
    if "sensitivity" not in found:
        return claims
    return [replace(claim, at_point=found["sensitivity"]["centre"]) for claim in claims]


def claim_place(point: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    """Returns where a claim was judged: a point's settings, or ``at the centre``."""
    if "sensitivity" in summary and point == summary["sensitivity"]["centre"]:
        return "at the centre"
    return point_words(point)


def judge(
    claims: Sequence[Expectation], rows: Sequence[Row], comparisons: Sequence[Row]
) -> list[dict[str, Any]]:
    """Returns one row per claim and point: ``holds`` and the ``reason``.

    Args:
        claims: of the scenario.
        rows: of ``summary.json``.
        comparisons: of ``summary.json``.
    """
    refused = _refused(rows) if claims else []
    return [
        row
        for claim in claims
        for row in _judge_claim(claim, comparisons if claim.against else rows, refused)
    ]


def _refused(rows: Sequence[Row]) -> Sequence[Row]:
    """Returns the rows without a number that say why."""
    if isinstance(rows, RowTable):
        return rows.refused()
    return [row for row in rows if "refused" in row]


def _judge_claim(
    claim: Expectation, rows: Sequence[Row], refused: Sequence[Row]
) -> list[dict[str, Any]]:
    found = [
        _judge_row(claim, row)
        for row in rows
        if "refused" not in row and _is_about(row, claim, claim.variant)
    ]
    found += _judge_refused(claim, refused)
    if not found:
        return [_verdict(claim, {}, None, holds=False, reason="no such number in this study")]
    return found


def _judge_refused(claim: Expectation, refused: Sequence[Row]) -> list[dict[str, Any]]:
    """Returns a row for each point at which a number that the claim needs was refused."""
    wanted = [variant for variant in (claim.variant, claim.against) if variant]
    why: dict[str, Row] = {}
    for variant in wanted:
        for row in refused:
            if _is_about(row, claim, variant):
                why.setdefault(repr(row["point"]), row)
    return [
        _verdict(claim, row["point"], None, holds=False,
                 reason=f"refused, {row['variant']}: {row['refused']}")
        for row in why.values()
    ]  # fmt: skip


def _is_about(row: Row, claim: Expectation, variant: str) -> bool:
    named = (variant, claim.metric, claim.class_, claim.stat)
    at_point = claim.at_point or {}
    return (row["variant"], row["metric"], row["class"], row["stat"]) == named and all(
        row["point"].get(key) == value for key, value in at_point.items()
    )


def _judge_row(claim: Expectation, row: Row) -> dict[str, Any]:
    value = row["ratio"] if claim.against is not None else row["value"]
    low, high = row["ci_low"], row["ci_high"]
    if row.get("at_least"):
        holds = claim.below is None and claim.above is not None and value > claim.above
        reason = f"more than {value:.4g}, as far as is known: what never ended counts"
        return _verdict(claim, row["point"], value, holds=holds, reason=reason)
    if low is None or high is None:
        reason = f"{value:.4g} has no interval; run at least two replications"
        return _verdict(claim, row["point"], value, holds=False, reason=reason)
    failed = [
        f"{name} {bound:g}"
        for name, bound, met in (
            ("below", claim.below, claim.below is None or high < claim.below),
            ("above", claim.above, claim.above is None or low > claim.above),
        )
        if not met
    ]
    reason = f"{value:.4g} [{low:.4g}, {high:.4g}]"
    if failed:
        reason += f" is not {' and '.join(failed)}"
    return _verdict(claim, row["point"], value, holds=not failed, reason=reason)


def _verdict(
    claim: Expectation, point: Mapping[str, Any], value: float | None, *, holds: bool, reason: str
) -> dict[str, Any]:
    return {
        "point": dict(point),
        "metric": claim.metric,
        "class": claim.class_,
        "stat": claim.stat,
        "variant": claim.variant,
        "against": claim.against,
        "below": claim.below,
        "above": claim.above,
        "value": value,
        "holds": holds,
        "reason": reason,
    }


def claim_line(claim: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    """Returns one expectation with its number; the centre of a sensitivity study has that name."""
    where = claim_place(claim["point"], summary)
    point = f", {where}" if where else ""
    against = f" / {claim['against']}" if claim["against"] else ""
    verdict = "holds" if claim["holds"] else "DOES NOT HOLD"
    named = f"{claim['metric']} {claim['stat']}, {claim['variant']}{against}{point}"
    return f"expected {named}: {claim['reason']}: {verdict}"
