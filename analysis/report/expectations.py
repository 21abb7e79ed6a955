"""A scenario's ``expect``: does it hold, judged on interval ends, with the numbers as reason.

``below`` holds when the whole interval lies below, and is refuted when none of it does; what lies
between, what one replication cannot support, and what is refused, is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from analysis.metrics.numbers import Numbers, StudyNumber
from analysis.metrics.rounding import four_digits, plain
from analysis.metrics.row_table import point_text
from analysis.report.table import Cell, ReportTable, texts
from analysis.study.expectation import Expectation
from analysis.study.units import point_words


def claims_to_judge(
    claims: Sequence[Expectation], found: Mapping[str, Any]
) -> Sequence[Expectation]:
    """Returns the claims as they are meant.

    Those of a sensitivity study are about its centre: its other points have one replication each,
    which supports no claim. A search for capacity tries loads that nobody chose, so of its claims
    only those on the capacity are judged.
    """
    if "capacity" in found:
        return [claim for claim in claims if claim.is_about_capacity]
    if "sensitivity" not in found:
        return claims
    return [replace(claim, at_point=found["sensitivity"]["centre"]) for claim in claims]


def claim_place(point: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    """Returns where a claim was judged: a point's settings, or ``at the centre``."""
    if "sensitivity" in summary and point == summary["sensitivity"]["centre"]:
        return "at the centre"
    return point_words(point)


def judge(
    claims: Sequence[Expectation],
    rows: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Returns one row per claim and point: ``holds``, ``refuted`` and the ``reason``."""
    keys = {claim.key for claim in claims}
    if not claims:
        return []
    values, ratios = (Numbers(some, keys=keys) for some in (rows, comparisons))
    return [row for claim in claims for row in _judge_claim(claim, values, ratios)]


def _judge_claim(claim: Expectation, values: Numbers, ratios: Numbers) -> list[dict[str, Any]]:
    key = claim.key
    numbers = ratios if claim.against else values
    found, refused = [], []
    for point in {point_text(point): point for point in (*numbers.points, *values.points)}.values():
        if any(point.get(name) != value for name, value in (claim.at_point or {}).items()):
            continue
        number = numbers.get(point, claim.variant, key)
        if number.is_there:
            found.append(_judge_number(claim, point, number))
        for variant in filter(None, (claim.variant, claim.against)):
            reason = _why_none(claim, variant, values.get(point, variant, key))
            if reason:
                refused.append(_verdict(claim, point, None, holds=False, reason=reason))
                break
    if not found and not refused:
        return [_verdict(claim, {}, None, holds=False, reason="no such number in this study")]
    return [*found, *refused]


def _why_none(claim: Expectation, variant: str, number: StudyNumber) -> str:
    """Returns why a claim cannot be judged by a number; empty: it can."""
    if number.refused:
        return f"refused, {variant}: {number.refused}"
    if claim.against and number.at_least:
        least = f"more than {four_digits(number.value)} is all that is known of {variant}"
        return f"no ratio: {least}, since work had not ended"
    return ""


def _judge_number(
    claim: Expectation, point: Mapping[str, Any], number: StudyNumber
) -> dict[str, Any]:
    value, low, high = number.value, number.ci_low, number.ci_high
    if number.at_least:
        holds = claim.below is None and claim.above is not None and value > claim.above
        refuted = claim.below is not None and value >= claim.below
        reason = f"more than {four_digits(value)}, as far as is known: what never ended counts"
        return _verdict(claim, point, value, holds=holds, refuted=refuted, reason=reason)
    if not number.has_interval:
        reason = f"{four_digits(value)} has no interval; run at least two replications"
        if claim.against and value == 0:
            reason = f"with {claim.variant} there is none at all, and such a ratio has no interval"
            reason += f"; claim {claim.metric} of {claim.variant} alone"
        return _verdict(claim, point, value, holds=False, reason=reason)
    failed, refuted = [], False
    if claim.below is not None and not high < claim.below:
        failed.append(f"below {plain(claim.below)}")
        refuted = low >= claim.below
    if claim.above is not None and not low > claim.above:
        failed.append(f"above {plain(claim.above)}")
        refuted |= high <= claim.above
    reason = f"{four_digits(value)} [{four_digits(low)}, {four_digits(high)}]"
    if failed:
        reason += f" is not {'' if refuted else 'wholly '}{' and '.join(failed)}"
    return _verdict(claim, point, value, holds=not failed, refuted=refuted, reason=reason)


def _verdict(
    claim: Expectation,
    point: Mapping[str, Any],
    value: float | None,
    *,
    holds: bool,
    reason: str,
    refuted: bool = False,
) -> dict[str, Any]:
    return {
        "point": dict(point),
        **claim.key.columns,
        "variant": claim.variant,
        "against": claim.against,
        "below": claim.below,
        "above": claim.above,
        "value": value,
        "holds": holds,
        "refuted": refuted,
        "reason": reason,
    }


def claim_line(claim: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    """Returns one expectation with its number."""
    verdict = verdict_words(claim)
    told = verdict if claim["holds"] else verdict.upper()
    return f"expected {claim_words(claim, summary)[0]}: {claim['reason']}: {told}"


def verdict_words(claim: Mapping[str, Any]) -> str:
    """Returns what became of an expectation."""
    if claim["holds"]:
        return "holds"
    return "does not hold" if claim["refuted"] else "not shown"


def expectation_table(summary: Mapping[str, Any]) -> Iterator[ReportTable]:
    """Yields what the scenario expects, and whether it holds."""
    claims = summary["expectations"]
    if not claims:
        return
    rows = []
    for claim in claims:
        verdict = Cell(verdict_words(claim), "better" if claim["holds"] else "worse")
        rows.append((*texts(*claim_words(claim, summary)), verdict))
    headings = ("expected", "bound", "found [95 %]", "verdict")
    note = (
        "A claim holds if the whole interval is on the right side of its bound; if only a part "
        "is, or there is no interval, it is not shown."
    )
    yield ReportTable(
        "What the scenario claims under expect", headings, tuple(rows), (note,), (0, 1, 3)
    )


def claim_words(claim: Mapping[str, Any], summary: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns what an expectation is about, its bound, and what was found."""
    class_ = "" if claim["class"] == "all" else f" {claim['class']}"
    against = f" / {claim['against']}" if claim["against"] else ""
    where = claim_place(claim["point"], summary)
    bound = [f"below {plain(claim['below'])}"] if claim["below"] is not None else []
    bound += [f"above {plain(claim['above'])}"] if claim["above"] is not None else []
    name = f"{claim['metric']}{class_} {claim['stat']}, {claim['variant']}{against}"
    shown = _HYPHEN.sub("−", claim["reason"].partition(" is not ")[0])
    place = where if where.startswith("at ") else f"at {where}"
    return f"{name} {place}" if where else name, " and ".join(bound), shown


_HYPHEN: Final = re.compile(r"(?<![\w.])-(?=\d)")
