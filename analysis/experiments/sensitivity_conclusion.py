"""What was found about one outcome, as ``summary.json`` has it, with the sentence that says it.

Law: effects and deviations of a ratio are given on the scale of its logarithm, where they add;
base, walks and ranges as ratios again. NaN becomes null.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from analysis.experiments.sensitivity_findings import SensitivityFindings, SensitivityOutcome
from analysis.experiments.sensitivity_sentence import sentence
from analysis.experiments.walks import Walk
from analysis.statistics.intervals import half_widths
from analysis.study.sections import Sensitivity


def conclusion_of(
    outcome: SensitivityOutcome, found: SensitivityFindings, asked: Sensitivity
) -> dict[str, Any]:
    """Returns one outcome for ``summary.json``; NaN becomes null."""
    base = _base(outcome, found)
    walks = _walks(outcome, found, asked)
    return {
        "metric": outcome.key.metric,
        "class": outcome.key.class_,
        "stat": outcome.key.stat,
        "variant": outcome.variant,
        "baseline": outcome.baseline,
        "scale": "value" if outcome.baseline is None else "logarithm of the ratio",
        "base": base,
        "noise": {"deviation": _number(found.deviation), "mu_star": _number(found.floor)},
        "varies": found.effects.varies,
        "morris": _morris(found, asked),
        "sobol": _sobol(found, asked),
        "shares": _shares(found, asked),
        "walks": [walk.content(outcome.shown) for walk in walks],
        "tried": {
            "points": len(found.tried),
            "least": _number(outcome.shown(found.tried.min()) if len(found.tried) else math.nan),
            "greatest": _number(outcome.shown(found.tried.max()) if len(found.tried) else math.nan),
        },
        "thresholds": list(outcome.thresholds),
        "says": sentence(outcome, found, base, walks),
    }


def _base(outcome: SensitivityOutcome, found: SensitivityFindings) -> dict[str, Any]:
    there = found.base[~np.isnan(found.base)]
    if not len(there):
        return {"value": None, "ci_low": None, "ci_high": None, "replications": 0}
    middle, half = float(there.mean()), float(half_widths(there[None, :])[0])
    half += outcome.histogram_error(middle)
    ends = [outcome.shown(middle + half * sign) for sign in (-1, 1)]
    return {
        "value": _number(outcome.shown(middle)),
        "ci_low": _number(ends[0]),
        "ci_high": _number(ends[1]),
        "replications": len(there),
    }


def _morris(found: SensitivityFindings, asked: Sensitivity) -> dict[str, Any]:
    effects = found.effects
    columns = (effects.mu, effects.mu_star, effects.mu_star_conf, effects.sigma)
    return {
        "used": effects.used,
        "of": asked.trajectories,
        "effects": [
            {
                "factor": factor.key,
                "mu": _number(mu),
                "mu_star": _number(star),
                "mu_star_conf": _number(conf),
                "sigma": _number(sigma),
                "above_noise": bool(above),
            }
            for factor, above, mu, star, conf, sigma in zip(
                asked.factors, found.above_noise, *columns, strict=True
            )
        ],
    }


def _sobol(found: SensitivityFindings, asked: Sensitivity) -> dict[str, Any] | None:
    indices = found.indices
    if indices is None:
        return None
    columns = (indices.first, indices.first_conf, indices.total, indices.total_conf)
    return {
        "used": indices.used,
        "of": asked.samples,
        "indices": [
            {
                "factor": asked.factors[place].key,
                "first": _number(first),
                "first_conf": _number(first_conf),
                "total": _number(total),
                "total_conf": _number(total_conf),
            }
            for place, first, first_conf, total, total_conf in zip(
                found.kept, *columns, strict=True
            )
        ],
    }


def _shares(found: SensitivityFindings, asked: Sensitivity) -> dict[str, Any] | None:
    """Returns the shares of variance to believe, and where they are from."""
    told = found.told_shares
    if told is None:
        return None
    names = ("own", "own_conf", "total", "total_conf")
    fit = found.fit
    return {
        "from": "polynomial" if found.smooth else "blocks",
        "degree": None if fit is None else fit.degree,
        "q2": None if fit is None else _number(fit.q2),
        "factors": [
            {"factor": asked.factors[place].key}
            | {name: _number(column[row]) for name, column in zip(names, told, strict=True)}
            for row, place in enumerate(found.kept)
        ],
    }


def _walks(
    outcome: SensitivityOutcome, found: SensitivityFindings, asked: Sensitivity
) -> list[Walk]:
    """Returns the kept factors' walks, those with the greatest total index first."""
    walks = []
    for row, place in enumerate(found.kept):
        total = total_conf = math.nan
        if (told := found.told_shares) is not None:
            total, total_conf = told[2][row], told[3][row]
        walks.append(
            Walk.of(
                asked.factors[place],
                found.walks[row],
                total=float(total),
                total_conf=float(total_conf),
                levels=[outcome.scaled(level) for level in outcome.thresholds],
            )
        )
    return sorted(walks, key=lambda walk: -np.nan_to_num(walk.total))


def _number(value: float) -> float | None:
    """Returns ten digits, on which JSON readers agree; None for NaN."""
    return None if math.isnan(value) else float(f"{value:.10g}")
