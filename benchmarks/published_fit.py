"""Fits costs of CPU to published figures.

The simulation says how far the model is off; the estimate of ``explain``, which is smooth and takes
milliseconds, says what to change. Each round runs all cases, takes what the estimate misses as
given, finds the best costs on the two together, and begins again there; where the simulation says
that it went too far, it goes back half of the way.

Best is most probable: each figure counts by its own spread, and each cost by how far it is from
what was guessed before any figure was looked at, good to a factor of two. The guesses decide where
figures do not, above all when a workload is left out.

Source: Bandler et al., Space Mapping: The State of the Art, IEEE Trans. MTT 52 (2004).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import qmc

from benchmarks.published_cases import (
    CASES,
    TPMC_PER_TXN_PER_S,
    Case,
    Outcome,
    Overrides,
    run_cases,
    scenario_of,
    spread_of,
)
from sim.estimate import Footprint, estimate, footprint_of
from sim.scenario.resolved import Scenario

GUESSES_US: Final = {
    "tidb_statement": 40.0, "tikv_key": 20.0, "store_visit": 23.0, "apply_record": 3.0,
    "thread_run": 170.0,
}  # fmt: skip
"""The costs that are fitted, a quarter of the figures, and what they would be without these.

A point select's share of a TiDB node that does nothing else leaves 109 us for statement and
request, a quarter of them to Go's collector; a key is two or three seeks in RocksDB; TiKV's
documentation has 20 to 40 us a raftstore message, of which the message itself and a record of
raftdb are some 7; what TiKV does with a record before RocksDB has
it, half a dozen allocations, copies and comparisons, takes 3 us at most; threads of two loaded
TiKVs ran for 173 us from switch to switch (``perf sched latency`` in tikv/tikv issue 2473 and
siddontang's notes on perf sched, 49.3 s of CPU in 285,000 switches).
"""

_FACTOR: Final = math.log(2)
"""Standard deviation of a guess's logarithm."""

_STEP: Final = 0.05
"""For derivatives of the estimate, whose fixed points are good to a thousandth."""

_POINTS_LOG2: Final = 5
_APART: Final = 2 * _FACTOR
"""How many places a fit looks at, and how far from the guesses, besides where it is."""

_TAIL: Final = 0.12
"""What a p95 is uncertain by besides: the estimate knows means only."""

Constants = Mapping[str, float]
"""Microseconds by name."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Constants with what is known of them."""

    constants: Constants
    errors: Mapping[str, float]
    """Standard errors of the logarithms; those of guesses that no figure says more about: 0.69."""
    correlations: NDArray[np.float64]
    """In the order of ``GUESSES_US``."""
    determined: float
    """How many constants the figures determine, of all: the trace of the hat matrix."""
    outcomes: Sequence[Outcome]
    """With these constants, what was left out included."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a fit begins: some constants, with what the cases give then."""

    constants: Constants
    outcomes: Sequence[Outcome]

    @classmethod
    def at(cls, constants: Constants, overrides: Overrides, workers: int) -> Self:
        """Runs all cases with some constants."""
        return cls(constants, run_cases(_with(overrides, constants), workers))


def own_constants(overrides: Overrides) -> dict[str, float]:
    """Returns the free constants as the model has them, or as the overrides say."""
    costs = scenario_of(CASES[0], overrides).hardware.cpu
    return {name: getattr(costs, f"{name}_ns") / 1_000 for name in GUESSES_US}


def fit(
    overrides: Overrides,
    without: str | None,
    rounds: int,
    workers: int,
    start: Start | None = None,
) -> Fitted:
    """Fits the free constants to all workloads but one.

    Args:
        overrides: what is not fitted.
        without: the workload that is left out, to be predicted; None: all count.
        rounds: how often all cases are run before the last time.
        workers: processes.
        start: where the fit begins; None: at the model's own costs.
    """
    surrogate = _Surrogate(overrides, without)
    start = start or Start.at(own_constants(overrides), overrides, workers)
    best, tried, lowest = start, start, math.inf
    for number in range(1, rounds + 1):
        chi2 = surrogate.look(tried.outcomes, tried.constants)
        print(f"round {number}: chi2 {chi2:.1f} before", flush=True)
        if chi2 < lowest:
            best, lowest = tried, chi2
            constants = surrogate.best(tried.constants)
        else:  # The step was too long for what the estimate does not know.
            constants = _between(best.constants, tried.constants)
        tried = Start.at(constants, overrides, workers)
    if surrogate.look(tried.outcomes, tried.constants) < lowest:
        best = tried
    surrogate.look(best.outcomes, best.constants)
    return surrogate.judge(best.constants, best.outcomes)


def _between(some: Constants, others: Constants) -> dict[str, float]:
    return {name: math.sqrt(us * others[name]) for name, us in some.items()}


def residuals(outcomes: Sequence[Outcome], without: str | None) -> NDArray[np.float64]:
    """Returns log(ours / theirs) of every figure that counts, in its spreads."""
    off, spreads = _off(outcomes), _spreads()
    return np.array((off / spreads)[_counting(without)])


class _Surrogate:
    """The estimate of all cases, with what it misses."""

    def __init__(self, overrides: Overrides, without: str | None) -> None:
        self._scenarios = [scenario_of(case, overrides) for case in CASES]
        self._footprints = [footprint_of(scenario) for scenario in self._scenarios]
        self._counts = _counting(without)
        self._missed = np.zeros(len(self._counts))

    def look(self, outcomes: Sequence[Outcome], constants: Constants) -> float:
        """Compares with a simulation; returns how improbable that is, as ``chi2``."""
        self._missed = _off(outcomes) - self._estimated(constants)
        return self.chi2(constants)

    def best(self, start: Constants) -> dict[str, float]:
        """Returns the most probable constants; valleys may begin far from the start."""
        apart = min(_spread_guesses(), key=self.chi2)
        return min(map(self._descend, (start, apart)), key=self.chi2)

    def _descend(self, start: Constants) -> dict[str, float]:
        def misfit(logs: NDArray[np.float64]) -> NDArray[np.float64]:
            return self._misfit(_constants(logs))

        found = least_squares(
            misfit,
            np.log([start[name] for name in GUESSES_US]),
            method="trf",
            diff_step=[_STEP] * len(GUESSES_US),
            xtol=3e-3,
            ftol=1e-3,
            max_nfev=20,
        )
        return _constants(found.x)

    def chi2(self, constants: Constants) -> float:
        """Returns how improbable constants are: the sum of squares that a fit makes small."""
        misfit = self._misfit(constants)
        return float(misfit @ misfit)

    def judge(self, constants: Constants, outcomes: Sequence[Outcome]) -> Fitted:
        """Returns constants with their standard errors, as a regression has them."""
        names, figures = list(GUESSES_US), int(self._counts.sum())
        here = self._misfit(constants)
        moved = [{**constants, name: constants[name] * math.exp(_STEP)} for name in names]
        jacobian = np.stack([(self._misfit(each) - here) / _STEP for each in moved], axis=1)
        by_figures = jacobian[:figures].T @ jacobian[:figures]
        inverse = np.linalg.inv(jacobian.T @ jacobian)
        determined = float(np.trace(inverse @ by_figures))
        left = here[:figures]
        unexplained = max(1.0, float(left @ left) / (figures - determined))
        covariance = unexplained * inverse @ by_figures @ inverse + inverse @ inverse / _FACTOR**2
        deviations = np.sqrt(np.diag(covariance))
        return Fitted(
            constants,
            dict(zip(names, map(float, deviations), strict=True)),
            covariance / np.outer(deviations, deviations),
            determined,
            tuple(outcomes),
        )

    def _misfit(self, constants: Constants) -> NDArray[np.float64]:
        off = (self._estimated(constants) + self._missed) / _spreads()
        guesses = [math.log(constants[name] / us) / _FACTOR for name, us in GUESSES_US.items()]
        return np.concatenate([off[self._counts], guesses])

    def _estimated(self, constants: Constants) -> NDArray[np.float64]:
        ns = {f"{name}_ns": round(1_000 * us) for name, us in constants.items()}
        logs: list[float] = []
        for case, scenario, made in zip(CASES, self._scenarios, self._footprints, strict=True):
            hardware = scenario.hardware
            costs = replace(hardware.cpu, **ns)
            logs += _expected(case, replace(scenario, hardware=replace(hardware, cpu=costs)), made)
        return np.array(logs)


def _spread_guesses() -> list[dict[str, float]]:
    """Returns some constants that lie evenly around the guesses."""
    places = qmc.Sobol(len(GUESSES_US), scramble=False).random_base2(_POINTS_LOG2)
    logs = np.log(list(GUESSES_US.values())) + _APART * (2 * places - 1)
    return [_constants(each) for each in logs]


def _expected(case: Case, scenario: Scenario, made: Footprint) -> list[float]:
    """Returns log(estimated / theirs) of a case's figures; p95 is taken to go with the mean."""
    expected = estimate(scenario, made)
    ours = {
        "txn_per_s": expected.txn_per_s,
        "tpmc": expected.txn_per_s * TPMC_PER_TXN_PER_S,
        "p95_ms": expected.response_ms,
        "mean_ms": expected.response_ms,
    } | {f"{kind}_service_ms": mean_ms for kind, mean_ms in expected.request_service_ms.items()}
    return [
        math.log(value / theirs.value)
        for name, theirs in case.theirs.items()
        if (value := ours[name]) is not None
    ]


def _off(outcomes: Sequence[Outcome]) -> NDArray[np.float64]:
    return np.array(
        [
            math.log(outcome.ours[name] / theirs.value)
            for outcome in outcomes
            for name, theirs in outcome.case.theirs.items()
        ]
    )


def _spreads() -> NDArray[np.float64]:
    return np.array(
        [
            math.hypot(spread_of(case, theirs), _TAIL if name == "p95_ms" else 0.0)
            for case in CASES
            for name, theirs in case.theirs.items()
        ]
    )


def _counting(without: str | None) -> NDArray[np.bool_]:
    return np.array([case.workload != without for case in CASES for _ in case.theirs])


def _constants(logs: Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    return {name: math.exp(log) for name, log in zip(GUESSES_US, logs, strict=True)}


def _with(overrides: Overrides, constants: Constants) -> Overrides:
    own = tuple(f"hardware.cpu.{name}={round(1_000 * us)}ns" for name, us in constants.items())
    return (*overrides, *own)
