"""MSER: cuts a transient, leaves a settled series, and says when there is no settled part."""

from __future__ import annotations

from fractions import Fraction
from statistics import fmean

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from analysis.statistics.warmup import mser_cut


def noise(length: int, seed: int = 1) -> np.ndarray:
    return np.random.Generator(np.random.PCG64(seed)).normal(100, 5, length)


def test_a_transient_is_cut_where_it_ends() -> None:
    series = noise(300)
    series[:40] -= np.linspace(80, 20, 40)
    cut = mser_cut(series)
    assert 35 <= cut.observations <= 60
    assert cut.settled


def least_of_the_formula(series: list[float]) -> int:
    """Looks at every place in plain Python: White 1997, sum((x - mean)^2) / (n - d)^2, of ranks."""
    means = [fmean(series[first : first + 5]) for first in range(0, len(series) - 4, 5)]
    ranks = [
        Fraction(sum(other < mean for other in means)) + Fraction(means.count(mean) + 1, 2)
        for mean in means
    ]
    errors = []
    for start in range(len(ranks) // 2 + 1):
        rest = ranks[start:]
        middle = sum(rest, Fraction()) / len(rest)
        errors.append(sum((rank - middle) ** 2 for rank in rest) / len(rest) ** 2)
    return 5 * errors.index(min(errors))


@given(st.lists(st.integers(0, 30).map(float), min_size=50, max_size=90))
def test_the_cut_is_the_least_of_the_formula(series: list[float]) -> None:
    cut = mser_cut(np.array(series)).observations
    least = least_of_the_formula(series)
    errors_agree = abs(error_at(series, cut) - error_at(series, least)) < 1e-9
    assert cut == least or errors_agree


def error_at(series: list[float], cut: int) -> float:
    means = np.array(series[: len(series) // 5 * 5]).reshape(-1, 5).mean(axis=1)
    ranks = rankdata(means)[cut // 5 :]
    return float(np.var(ranks) / len(ranks))


def test_a_burst_is_not_cut_for_its_size() -> None:
    # Skewed upwards or evened out, the order of windows is the same, and so is the cut.
    settled = np.random.Generator(np.random.PCG64(2)).normal(0, 1, 49)
    settled[:4] += 1.5
    assert mser_cut(np.exp(3 * settled)) == mser_cut(settled)


def test_a_trend_is_not_settled() -> None:
    assert not mser_cut(np.linspace(0, 100, 200)).settled


def test_a_constant_needs_no_warmup() -> None:
    assert mser_cut(np.full(100, 3.0)).observations == 0


def test_short_series_are_taken_without_batches() -> None:
    assert mser_cut(np.array([9.0, 1, 1, 1, 1, 1, 1, 1])).observations == 1
    assert not mser_cut(np.array([1.0])).settled
    assert not mser_cut(np.array([])).settled
