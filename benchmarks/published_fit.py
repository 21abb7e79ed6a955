"""Fits costs of CPU to published figures: Gauss and Newton's method on logarithms.

Each figure counts by its own spread. Derivatives are differences over a quarter of a constant, with
the same random numbers on both sides. Standard errors are those of linear regression, scaled by
what the fit leaves unexplained.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.published_cases import (
    CASES,
    Outcome,
    Setting,
    run_cases,
    scenario_of,
    spread_of,
)

FREE: Final = (
    "client_statement", "tidb_statement", "tidb_write", "grpc_request", "tikv_key", "store_visit",
    "apply_key",
)  # fmt: skip
_STEP: Final = math.log(1.25)
_LONGEST: Final = 0.6
"""No constant is changed by more than this logarithm at once: derivatives hold only nearby."""
_FELT: Final = 0.05
"""A constant whose derivatives are all smaller, in spreads a logarithm, is not determined."""

Constants = Mapping[str, float]
"""Nanoseconds by name."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Constants with what is known of them."""

    constants: Constants
    errors: Mapping[str, float]
    """Standard errors of the logarithms; infinite, if the figures do not determine a constant."""
    correlations: NDArray[np.float64]
    """In the order of ``FREE``; nan where a constant is not determined."""
    outcomes: Sequence[Outcome]
    """With these constants, what was left out included."""


def begun_with(setting: Setting) -> dict[str, float]:
    """Returns the free constants before the fit: the model's own, or as the setting says."""
    costs = scenario_of(CASES[0], setting).hardware.cpu
    return {name: float(getattr(costs, f"{name}_ns")) for name in FREE}


def fit(setting: Setting, without: str | None, steps: int, workers: int) -> Fitted:
    """Fits the free constants to all workloads but one.

    Args:
        setting: what is not fitted.
        without: the workload that is left out, to be predicted; None: all count.
        steps: how many times constants are moved.
        workers: processes.
    """
    constants: Constants = begun_with(setting)
    for step in range(1, steps + 1):
        here, jacobian = _linearised(constants, setting, without, workers)
        moved = _step(here, jacobian)
        print(f"step {step}: chi2 {here @ here:.1f} before", flush=True)
        constants = {
            name: value * math.exp(change)
            for (name, value), change in zip(constants.items(), moved, strict=True)
        }
    return _judged(constants, setting, without, workers)


def residuals(outcomes: Sequence[Outcome], without: str | None) -> NDArray[np.float64]:
    """Returns log(ours / theirs) of every figure that counts, in its spreads."""
    return np.array(
        [
            math.log(outcome.ours[name] / theirs.value) / spread_of(theirs)
            for outcome in outcomes
            if outcome.case.workload != without
            for name, theirs in outcome.case.theirs.items()
        ]
    )


def _linearised(
    constants: Constants, setting: Setting, without: str | None, workers: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns residuals, and their derivatives by the constants' logarithms (figure, constant)."""
    moved = [{**constants, name: constants[name] * math.exp(_STEP)} for name in FREE]
    settings = [_with(setting, each) for each in (constants, *moved)]
    here, *there = (residuals(each, without) for each in run_cases(settings, workers))
    return here, np.stack([(each - here) / _STEP for each in there], axis=1)


def _with(setting: Setting, constants: Constants) -> Setting:
    own = tuple(f"hardware.cpu.{name}={round(ns)}ns" for name, ns in constants.items())
    return Setting((*setting.overrides, *own), setting.scale)


def _step(here: NDArray[np.float64], jacobian: NDArray[np.float64]) -> list[float]:
    damping = np.eye(jacobian.shape[1]) / _LONGEST**2
    step = -np.linalg.solve(jacobian.T @ jacobian + damping, jacobian.T @ here)
    return [float(each) for each in np.clip(step, -_LONGEST, _LONGEST)]


def _judged(constants: Constants, setting: Setting, without: str | None, workers: int) -> Fitted:
    here, jacobian = _linearised(constants, setting, without, workers)
    felt = np.abs(jacobian).max(axis=0) > _FELT
    covariance = np.full((len(FREE), len(FREE)), np.nan)
    figures, known = len(here), int(felt.sum())
    unexplained = max(1.0, float(here @ here) / max(1, figures - known))
    inverse = np.linalg.pinv(jacobian[:, felt].T @ jacobian[:, felt])
    covariance[np.ix_(felt, felt)] = unexplained * inverse
    deviations = np.sqrt(np.diag(covariance))
    errors = {
        name: float(each) if math.isfinite(each) else math.inf
        for name, each in zip(FREE, deviations, strict=True)
    }
    (outcomes,) = run_cases([_with(setting, constants)], workers)
    return Fitted(constants, errors, covariance / np.outer(deviations, deviations), tuple(outcomes))
