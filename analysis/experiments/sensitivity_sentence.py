"""One line: what would change this conclusion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analysis.experiments.sensitivity_findings import SensitivityFindings, SensitivityOutcome
from analysis.experiments.walks import Walk

VAGUE_SHARE: Final = 0.5
"""Half width from which a share says nothing, and is not told."""


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
    here = f"{outcome.words} is {_base(base)} at the centre"
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
        share = f" ({100 * walk.total:.0f} ± {100 * walk.total_conf:.0f} % of the variance)"
    there = [
        (outcome.shown(each), value)
        for each, value in zip(walk.outcomes, walk.values, strict=True)
        if not math.isnan(each)
    ]
    if not there:
        return f"{walk.key}{share} weighs most"
    (least, at_least), (most, at_most) = min(there, key=_first), max(there, key=_first)
    return (
        f"{walk.key}{share} moves it between {_digits(least)} (at {at_least}) and "
        f"{_digits(most)} (at {at_most})"
    )


def _first(pair: tuple[float, Any]) -> float:
    return pair[0]


def _change(
    outcome: SensitivityOutcome,
    value: float | None,
    walks: Sequence[Walk],
    tried: Sequence[float],
) -> str:
    """Returns the crossing of the weightiest factor that has one, or that there is none."""
    for walk in walks:
        for crossing in walk.crossings[:1]:
            passed = _digits(outcome.shown(crossing.level))
            return f"with {walk.key} {crossing.side} {crossing.at} it passes {passed}"
    if not outcome.thresholds:
        return "no threshold was given"
    level, beyond = outcome.thresholds[0], 0
    if value is not None:
        level = min(outcome.thresholds, key=lambda level: abs(level - value))
        beyond = sum((one > level) != (value > level) for one in tried)
    alone = f"no factor alone takes it past {_digits(level)}"
    if not beyond:
        return f"{alone}, and none of the {len(tried)} points tried is past it"
    return f"{alone}, but several together do ({beyond} of {len(tried)} points)"


def _base(base: Mapping[str, Any]) -> str:
    if base["value"] is None:
        return "unknown"
    if base["ci_low"] is None:
        return f"{_digits(base['value'])} (n={base['replications']})"
    ends = f"[{_digits(base['ci_low'])}, {_digits(base['ci_high'])}]"
    return f"{_digits(base['value'])} {ends}"


def _digits(value: float) -> str:
    """Returns three telling digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
