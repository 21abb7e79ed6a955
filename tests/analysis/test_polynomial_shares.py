"""Shares of variance from few samples, on functions whose shares are known."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.polynomial_shares import polynomial_shares
from analysis.statistics.sensitivity import sobol_blocks, sobol_indices

BLOCKS = sobol_blocks(3, 16, seed=1)


def test_a_linear_function_is_exact_from_sixteen_blocks() -> None:
    fit = polynomial_shares(BLOCKS, BLOCKS @ np.array([4.0, -2.0, 0.0]), seed=1)
    assert fit is not None
    assert fit.own == pytest.approx([0.8, 0.2, 0.0])
    assert fit.total == pytest.approx([0.8, 0.2, 0.0])
    assert fit.q2 == pytest.approx(1.0)
    assert fit.total_conf == pytest.approx([0, 0, 0], abs=1e-9)


def test_many_factors_are_no_more_terms_than_there_are() -> None:
    blocks = sobol_blocks(16, 8, seed=1)
    fit = polynomial_shares(blocks, blocks @ np.arange(16.0), seed=1)
    assert fit is not None
    assert fit.own == pytest.approx(np.arange(16.0) ** 2 / (np.arange(16.0) ** 2).sum())


def test_an_interaction_is_in_the_totals_of_both() -> None:
    x = 2 * BLOCKS - 1
    # Variances 1/3 of x0 and 1/9 of x0 x1: shares 3/4 and 1/4.
    fit = polynomial_shares(BLOCKS, x[..., 0] + x[..., 0] * x[..., 1], seed=1)
    assert fit is not None
    assert fit.own == pytest.approx([0.75, 0.0, 0.0], abs=1e-9)
    assert fit.total == pytest.approx([1.0, 0.25, 0.0], abs=1e-9)


def test_noise_is_nobodys_share() -> None:
    noise = np.random.Generator(np.random.PCG64(2)).standard_normal(BLOCKS.shape[:2])
    values = BLOCKS @ np.array([4.0, -2.0, 0.0]) + np.sqrt(20 / 12) * noise
    fit = polynomial_shares(BLOCKS, values, seed=1)
    assert fit is not None
    assert fit.total.sum() == pytest.approx(0.5, abs=0.15)
    assert fit.q2 == pytest.approx(0.5, abs=0.2)


def test_it_is_far_more_certain_than_the_blocks_themselves() -> None:
    values = np.exp(
        -1.2 * BLOCKS[..., 0] + 0.6 * BLOCKS[..., 1] + 0.3 * BLOCKS[..., 0] * BLOCKS[..., 2]
    )
    fit, plain = polynomial_shares(BLOCKS, values, seed=1), sobol_indices(values, seed=1)
    many = sobol_blocks(3, 4096, seed=2)
    truth = sobol_indices(
        np.exp(-1.2 * many[..., 0] + 0.6 * many[..., 1] + 0.3 * many[..., 0] * many[..., 2]), seed=2
    )
    assert fit is not None
    assert fit.total == pytest.approx(truth.total, abs=0.02)
    assert (5 * fit.total_conf[:2] < plain.total_conf[:2]).all()


def test_what_is_not_smooth_is_not_trusted() -> None:
    fit = polynomial_shares(BLOCKS, np.sin(40 * BLOCKS[..., 0]), seed=1)
    assert fit is not None
    assert fit.q2 < 0.5


def test_missing_blocks_are_left_out_and_too_few_give_nothing() -> None:
    values = BLOCKS @ np.array([4.0, -2.0, 0.0])
    values[3, 1] = np.nan
    fit = polynomial_shares(BLOCKS, values, seed=1)
    assert fit is not None
    assert fit.own == pytest.approx([0.8, 0.2, 0.0])
    values[1:] = np.nan
    assert polynomial_shares(BLOCKS, values, seed=1) is None
