"""What was found about one outcome, as ``summary.json`` has it, with the sentence that says it.

Law: effects and deviations of a ratio are given on the scale of its logarithm, where they add;
base, walks and ranges as ratios again. NaN becomes null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np

from analysis.experiments.sensitivity_findings import SensitivityFindings, SensitivityOutcome, Walk
from analysis.metrics.rounding import digits, kept, share_with_half_width
from analysis.statistics.intervals import Array, half_widths
from analysis.study.sections import Range, Sensitivity


def conclusion_of(
    outcome: SensitivityOutcome, found: SensitivityFindings, asked: Sensitivity
) -> dict[str, Any]:
    """Returns one outcome for ``summary.json``; NaN becomes null."""
    base = _base(outcome, found)
    walks = _walks(outcome, found, asked)
    return {
        **outcome.key.columns,
        "variant": outcome.variant,
        "baseline": outcome.baseline,
        "scale": "value" if outcome.baseline is None else "logarithm of the ratio",
        "base": base,
        "noise": {"deviation": kept(found.deviation), "mu_star": kept(found.floor)},
        "varies": found.effects.varies,
        "morris": _morris(found, asked),
        "sobol": _sobol(found, asked),
        "shares": _shares(found, asked),
        "walks": [walk.content(outcome.shown) for walk in walks],
        "tried": {
            "points": len(found.tried),
            "least": kept(outcome.shown(found.tried.min()) if len(found.tried) else math.nan),
            "greatest": kept(outcome.shown(found.tried.max()) if len(found.tried) else math.nan),
        },
        "thresholds": list(outcome.thresholds),
        "says": sentence(outcome, found, base, walks),
    }


def _base(outcome: SensitivityOutcome, found: SensitivityFindings) -> dict[str, Any]:
    there = found.base[~np.isnan(found.base)]
    if not len(there):
        return {"value": None, "ci_low": None, "ci_high": None, "replications": 0}
    middle, half = float(there.mean()), float(half_widths(there))
    half += outcome.histogram_error(middle)
    ends = [outcome.shown(middle + half * sign) for sign in (-1, 1)]
    return {
        "value": kept(outcome.shown(middle)),
        "ci_low": kept(ends[0]),
        "ci_high": kept(ends[1]),
        "replications": len(there),
    }


def _morris(found: SensitivityFindings, asked: Sensitivity) -> dict[str, Any]:
    effects = found.effects
    rows = _by_factor(
        asked.factors,
        mu=effects.mu,
        mu_star=effects.mu_star,
        mu_star_conf=effects.mu_star_conf,
        sigma=effects.sigma,
    )
    both = zip(rows, found.above_noise.tolist(), strict=True)
    return {
        "used": effects.used,
        "of": asked.trajectories,
        "effects": [row | {"above_noise": above} for row, above in both],
    }


def _by_factor(factors: Sequence[Range], **columns: Array) -> list[dict[str, Any]]:
    """Returns a row a factor, with its number in each column."""
    return [
        {"factor": factor.key} | {name: kept(column[row]) for name, column in columns.items()}
        for row, factor in enumerate(factors)
    ]


def _sobol(found: SensitivityFindings, asked: Sensitivity) -> dict[str, Any] | None:
    indices = found.indices
    if indices is None:
        return None
    rows = _by_factor(
        [asked.factors[place] for place in found.kept],
        first=indices.own,
        first_conf=indices.own_conf,
        total=indices.total,
        total_conf=indices.total_conf,
    )
    return {"used": indices.used, "of": asked.samples, "indices": rows}


def _shares(found: SensitivityFindings, asked: Sensitivity) -> dict[str, Any] | None:
    """Returns the shares of variance to believe, and where they are from."""
    told = found.told_shares
    if told is None:
        return None
    kept_factors = [asked.factors[place] for place in found.kept]
    fit = found.fit
    return {
        "from": "polynomial" if found.smooth else "blocks",
        "degree": None if fit is None else fit.degree,
        "q2": None if fit is None else kept(fit.q2),
        "factors": _by_factor(
            kept_factors,
            own=told.own,
            own_conf=told.own_conf,
            total=told.total,
            total_conf=told.total_conf,
        ),
    }


def _walks(
    outcome: SensitivityOutcome, found: SensitivityFindings, asked: Sensitivity
) -> list[Walk]:
    """Returns the kept factors' walks, those with the greatest total index first."""
    told, levels = found.told_shares, [outcome.scaled(level) for level in outcome.thresholds]
    walks = [
        Walk.of(
            asked.factors[place],
            found.walks[row],
            total=math.nan if told is None else float(told.total[row]),
            total_conf=math.nan if told is None else float(told.total_conf[row]),
            levels=levels,
        )
        for row, place in enumerate(found.kept)
    ]
    return sorted(walks, key=lambda walk: -np.nan_to_num(walk.total))


VAGUE_SHARE: Final = 0.5
"""Half width from which a share says nothing, and is left out."""


def sentence(
    outcome: SensitivityOutcome,
    found: SensitivityFindings,
    base: Mapping[str, Any],
    walks: Sequence[Walk],
) -> str:
    """Returns what the outcome is, what moves it, and when it passes the nearest threshold.

    Args:
        outcome: which figure.
        found: of it.
        base: value and interval at the centre, as ``summary.json`` has them.
        walks: of the factors that stand out, the weightiest first.
    """
    here = f"{outcome.words} is {_base_words(base)} at the centre"
    if found.effects.used <= 1:
        return f"{here}; too few trajectories are complete to say what moves it"
    if not found.effects.varies:
        return f"{here} and does not vary: nothing that was tried changes it"
    if not walks:
        return f"{here}; nothing that was tried moves it more than chance does"
    tried = [outcome.shown(value) for value in found.tried]
    return f"{here}; {_moves(outcome, walks[0])}; {_change(outcome, base['value'], walks, tried)}"


def _moves(outcome: SensitivityOutcome, walk: Walk) -> str:
    share = ""
    if walk.total_conf <= VAGUE_SHARE:
        share = f" ({share_with_half_width(walk.total, walk.total_conf)} of the variance)"
    there = [
        (outcome.shown(each), value)
        for each, value in zip(walk.outcomes, walk.values, strict=True)
        if not math.isnan(each)
    ]
    if not there:
        return f"{walk.key}{share} weighs most"
    (least, at_least), (most, at_most) = (
        min(there, key=itemgetter(0)),
        max(there, key=itemgetter(0)),
    )
    return (
        f"{walk.key}{share} moves it between {digits(least)} (at {at_least}) and "
        f"{digits(most)} (at {at_most})"
    )


def _change(
    outcome: SensitivityOutcome,
    value: float | None,
    walks: Sequence[Walk],
    tried: Sequence[float],
) -> str:
    """Returns the crossing of the weightiest factor that has one, or that there is none."""
    for walk in walks:
        for crossing in walk.crossings[:1]:
            passed = digits(outcome.shown(crossing.level))
            return f"with {walk.key} {crossing.side} {crossing.at} it passes {passed}"
    if not outcome.thresholds:
        return "no threshold was given"
    level, beyond = outcome.thresholds[0], 0
    if value is not None:
        level = min(outcome.thresholds, key=lambda level: abs(level - value))
        beyond = sum((one > level) != (value > level) for one in tried)
    alone = f"no factor alone takes it past {digits(level)}"
    if any(math.isnan(one) for walk in walks for one in walk.outcomes):
        alone += " at the points that could be judged"
    if not beyond:
        return f"{alone}, and none of the {len(tried)} points tried is past it"
    return f"{alone}, but several together do ({beyond} of {len(tried)} points)"


def _base_words(base: Mapping[str, Any]) -> str:
    if base["value"] is None:
        return "unknown"
    if base["ci_low"] is None:
        return f"{digits(base['value'])} (n={base['replications']})"
    ends = f"[{digits(base['ci_low'])}, {digits(base['ci_high'])}]"
    return f"{digits(base['value'])} {ends}"
