"""One line: what would change this conclusion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analysis.experiments.walks import Walk

VAGUE_SHARE: Final = 0.5
"""Half width from which a share says nothing, and is not told."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the line is made of.

    Attributes:
        words: the outcome's name.
        base: value and interval at the centre, as ``summary.json`` has them.
        logarithmic: whether walks are logarithms of what is shown.
        thresholds: levels, as they are shown.
        varies: whether anything moved it at all.
        screened: whether enough trajectories were whole.
        walks: of the factors that stand out, the weightiest first.
        tried: the outcome at every point seen, as it is shown.
    """

    words: str
    base: Mapping[str, Any]
    logarithmic: bool
    thresholds: Sequence[float]
    varies: bool
    screened: bool
    walks: Sequence[Walk]
    tried: Sequence[float]


def sentence(told: Told) -> str:
    """Returns what the outcome is, what moves it, and when it passes the nearest threshold."""
    here = f"{told.words} is {_base(told.base)} at the centre"
    if not told.screened:
        return f"{here}; too few trajectories are whole to say what moves it"
    if not told.varies:
        return f"{here} and does not vary: nothing that was tried changes it"
    if not told.walks:
        return f"{here}; nothing that was tried moves it more than luck does"
    first = told.walks[0]
    return f"{here}; {_moves(told, first)}; {_change(told)}"


def _moves(told: Told, walk: Walk) -> str:
    share = ""
    if walk.total_conf <= VAGUE_SHARE:
        share = f" ({100 * walk.total:.0f} ± {100 * walk.total_conf:.0f} % of the variance)"
    there = [
        (_shown(told, outcome), value)
        for outcome, value in zip(walk.outcomes, walk.values, strict=True)
        if not math.isnan(outcome)
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


def _change(told: Told) -> str:
    """Returns the crossing of the weightiest factor that has one, or that there is none."""
    for walk in told.walks:
        for crossing in walk.crossings[:1]:
            passed = _digits(_shown(told, crossing.level))
            return f"with {walk.key} {crossing.side} {crossing.at} it passes {passed}"
    if not told.thresholds:
        return "no threshold was given"
    level = _nearest(told)
    beyond = _beyond(told, level)
    alone = f"no factor alone takes it past {_digits(level)}"
    if not beyond:
        return f"{alone}, nor did any of {len(told.tried)} points"
    return f"{alone}, several at once do ({beyond} of {len(told.tried)} points)"


def _nearest(told: Told) -> float:
    value = told.base["value"]
    if value is None:
        return told.thresholds[0]
    return min(told.thresholds, key=lambda level: abs(level - value))


def _beyond(told: Told, level: float) -> int:
    """Returns how many points lie on the other side of a level than the centre."""
    value = told.base["value"]
    if value is None:
        return 0
    return sum((one > level) != (value > level) for one in told.tried)


def _shown(told: Told, outcome: float) -> float:
    return math.exp(outcome) if told.logarithmic else outcome


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
