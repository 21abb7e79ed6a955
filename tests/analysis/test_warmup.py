"""MSER: cuts a transient, leaves a settled series, and says when there is no settled part."""

from __future__ import annotations

import numpy as np

from analysis.statistics.warmup import mser_cut


def noise(length: int, seed: int = 1) -> np.ndarray:
    return np.random.Generator(np.random.PCG64(seed)).normal(100, 5, length)


def test_a_transient_is_cut_where_it_ends() -> None:
    series = noise(300)
    series[:40] -= np.linspace(80, 20, 40)
    cut = mser_cut(series)
    assert 35 <= cut.observations <= 60
    assert cut.settled


def test_the_cut_is_the_least_of_the_formula() -> None:
    # White 1997: minimise sum((x - mean)^2) / (n - d)^2 over the batch means left.
    series = noise(100, seed=4)
    series[:10] += 50
    batches = series.reshape(-1, 5).mean(axis=1)
    errors = [((batches[d:] - batches[d:].mean()) ** 2).sum() / (20 - d) ** 2 for d in range(11)]
    assert mser_cut(series).observations == 5 * int(np.argmin(errors))


def test_a_trend_is_not_settled() -> None:
    assert not mser_cut(np.linspace(0, 100, 200)).settled


def test_a_constant_needs_no_warmup() -> None:
    assert mser_cut(np.full(100, 3.0)).observations == 0


def test_short_series_are_taken_without_batches() -> None:
    assert mser_cut(np.array([9.0, 1, 1, 1, 1, 1, 1, 1])).observations == 1
    assert not mser_cut(np.array([1.0])).settled
    assert not mser_cut(np.array([])).settled
