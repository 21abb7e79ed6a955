"""Effects and indices of functions whose answers are known, with noise and without variance."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.statistics.sensitivity import (
    effect_of_noise,
    morris_effects,
    morris_trajectories,
    over_true_steps,
    sobol_blocks,
    sobol_indices,
)

Array = NDArray[np.float64]
WEIGHTS = np.array([4.0, -2.0, 0.0])


def linear(shares: Array) -> Array:
    return np.asarray(shares @ WEIGHTS)


def ishigami(shares: Array) -> Array:
    """Ishigami and Homma's function with a = 7, b = 0.1, on [-pi, pi]."""
    x = (2 * shares - 1) * math.pi
    first, second, third = x[..., 0], x[..., 1], x[..., 2]
    return np.asarray(np.sin(first) * (1 + 0.1 * third**4) + 7 * np.sin(second) ** 2)


def noise(shape: tuple[int, ...], deviation: float, seed: int = 5) -> Array:
    return deviation * np.random.Generator(np.random.PCG64(seed)).standard_normal(shape)


def test_trajectories_change_one_factor_a_step_and_follow_the_seed() -> None:
    walks = morris_trajectories(5, 4, 4, seed=3)
    assert walks.shape == (4, 6, 5)
    steps = np.diff(walks, axis=1)
    assert (np.count_nonzero(steps, axis=2) == 1).all()
    assert np.unique(walks * 3).round(9).tolist() == [0, 1, 2, 3]
    assert (walks == morris_trajectories(5, 4, 4, seed=3)).all()
    assert (walks != morris_trajectories(5, 4, 4, seed=4)).any()


def test_effects_of_a_linear_function_are_its_weights() -> None:
    walks = morris_trajectories(3, 5, 4, seed=1)
    effects = morris_effects(walks, linear(walks), 4, seed=1)
    assert effects.mu == pytest.approx(WEIGHTS)
    assert effects.mu_star == pytest.approx(np.abs(WEIGHTS))
    assert effects.sigma == pytest.approx(np.zeros(3))
    assert (effects.used, effects.varies) == (5, True)


def test_a_switch_is_moved_over_its_whole_range() -> None:
    shares = morris_trajectories(3, 8, 4, seed=2)
    switched = shares.copy()
    switched[..., 0] = np.round(switched[..., 0])
    found = morris_effects(shares, linear(switched), 4, seed=1)
    assert over_true_steps(found, shares, switched).mu == pytest.approx(WEIGHTS)
    assert found.mu[0] == pytest.approx(1.5 * WEIGHTS[0])


def test_an_effect_that_depends_on_others_has_a_sigma() -> None:
    walks = morris_trajectories(3, 20, 4, seed=1)
    effects = morris_effects(walks, ishigami(walks), 4, seed=1)
    assert effects.sigma[2] > 1
    assert abs(effects.mu[2]) < effects.mu_star[2]


def test_a_trajectory_with_a_missing_value_is_left_out() -> None:
    walks = morris_trajectories(3, 5, 4, seed=1)
    values = linear(walks)
    values[2, 1] = np.nan
    effects = morris_effects(walks, values, 4, seed=1)
    assert effects.used == 4
    assert effects.mu == pytest.approx(WEIGHTS)


def test_noise_alone_stays_below_the_floor_in_nineteen_of_twenty_studies() -> None:
    above = 0
    for seed in range(400):
        walks = morris_trajectories(1, 6, 4, seed=seed)
        effects = morris_effects(walks, noise((6, 2), 0.3, seed), 4, seed=seed)
        above += int(effects.mu_star[0] > effect_of_noise(0.3, 6, 4))
    assert 8 <= above <= 36


def test_a_factor_above_the_floor_is_told_from_noise() -> None:
    walks = morris_trajectories(3, 6, 4, seed=1)
    effects = morris_effects(walks, linear(walks) + noise((6, 4), 0.2), 4, seed=1)
    floor = effect_of_noise(0.2, 6, 4)
    assert (effects.mu_star > floor).tolist() == [True, True, False]


def test_blocks_exchange_one_factor_after_the_other() -> None:
    blocks = sobol_blocks(3, 8, seed=1)
    assert blocks.shape == (8, 5, 3)
    one, other = blocks[:, 0], blocks[:, -1]
    for factor in range(3):
        expected = one.copy()
        expected[:, factor] = other[:, factor]
        assert (blocks[:, factor + 1] == expected).all()


@pytest.mark.parametrize(
    ("function", "first", "total"),
    [
        (linear, [0.8, 0.2, 0.0], [0.8, 0.2, 0.0]),
        (ishigami, [0.3139, 0.4424, 0.0], [0.5576, 0.4424, 0.2437]),
    ],
)
def test_indices_of_known_functions(
    function: Callable[[Array], Array], first: list[float], total: list[float]
) -> None:
    found = sobol_indices(function(sobol_blocks(3, 2048, seed=1)), seed=1)
    assert found.own == pytest.approx(first, abs=0.03)
    assert found.total == pytest.approx(total, abs=0.03)
    assert (np.abs(found.total - total) <= 1.5 * found.total_conf + 1e-9).all()


def test_noise_goes_into_the_total_indices() -> None:
    blocks = sobol_blocks(3, 1024, seed=1)
    deviation = math.sqrt(20 / 12)
    found = sobol_indices(linear(blocks) + noise((1024, 5), deviation), seed=1)
    assert found.own == pytest.approx([0.4, 0.1, 0.0], abs=0.06)
    assert found.total == pytest.approx([0.9, 0.6, 0.5], abs=0.06)


def test_a_block_with_a_missing_value_is_left_out() -> None:
    values = linear(sobol_blocks(3, 64, seed=1))
    values[5, 2] = np.nan
    found = sobol_indices(values, seed=1)
    assert found.used == 63
    assert found.total == pytest.approx([0.8, 0.2, 0.0], abs=0.15)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_gives_the_same_intervals(seed: int) -> None:
    values = ishigami(sobol_blocks(3, 32, seed=seed))
    one, two = (sobol_indices(values, seed=seed) for _ in range(2))
    assert (one.total_conf == two.total_conf).all()
    assert (sobol_blocks(2, 8, seed) == sobol_blocks(2, 8, seed)).all()


@pytest.mark.parametrize("constant", [0.0, 0.359, -7e9])
def test_an_output_that_does_not_vary_has_zero_indices(constant: float) -> None:
    walks = morris_trajectories(2, 3, 4, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        effects = morris_effects(walks, np.full((3, 3), constant), 4, seed=1)
        found = sobol_indices(np.full((8, 4), constant), seed=1)
    assert not effects.varies
    assert not found.varies
    for array in (effects.mu_star, effects.sigma, found.own, found.total, found.total_conf):
        assert array.tolist() == [0.0, 0.0]


def test_too_little_that_was_seen_gives_no_index() -> None:
    values = np.full((8, 4), np.nan)
    values[0] = 1.0
    found = sobol_indices(values, seed=1)
    assert found.used == 1
    assert np.isnan(found.total).all()
