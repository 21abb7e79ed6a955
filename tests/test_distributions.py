"""Distributions: draws have the mean and the quantiles that the spec says."""

from statistics import fmean, quantiles, stdev

import pytest

from sim.distributions import (
    Constant,
    Distribution,
    Empirical,
    Exponential,
    Lognormal,
    LognormalMean,
    Sampler,
    Spiky,
    mean_ns,
)
from sim.streams import Streams
from sim.units import NS_PER_MS, NS_PER_US

SPECS: list[Distribution] = [
    Constant(5),
    Exponential(40 * NS_PER_US),
    Lognormal(89 * NS_PER_US, 158 * NS_PER_US),
    LognormalMean(341 * NS_PER_US, 0.5),
    Empirical(((0.0, 1000), (0.5, 2000), (0.99, 9000), (1.0, 20_000))),
    Spiky(Exponential(100 * NS_PER_US), 0.01, 2 * NS_PER_MS, 10 * NS_PER_MS),
]


def sample(spec: Distribution, count: int = 100_000) -> list[int]:
    sampler = Sampler(spec, Streams(1, 0).stream("x"))
    return [sampler.draw() for _ in range(count)]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: type(spec).__name__)
def test_draws_are_whole_and_have_the_exact_mean(spec: Distribution) -> None:
    draws = sample(spec)
    assert all(draw >= 0 for draw in draws)
    assert {type(draw) for draw in draws} == {int}
    assert abs(fmean(draws) - mean_ns(spec)) <= 4 * stdev(draws) / len(draws) ** 0.5 + 0.5


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: type(spec).__name__)
def test_scaled_draws_have_the_asked_mean(spec: Distribution) -> None:
    sampler = Sampler(spec, Streams(1, 0).stream("x"))
    draws = [sampler.scaled(1e9) for _ in range(100_000)]
    assert abs(fmean(draws) - 1e9) <= 4 * stdev(draws) / len(draws) ** 0.5 + 1


def test_lognormal_meets_both_published_quantiles() -> None:
    cuts = quantiles(sample(Lognormal(662_000, 1_438_000)), n=100)
    assert cuts[49] == pytest.approx(662_000, rel=0.01)
    assert cuts[98] == pytest.approx(1_438_000, rel=0.02)


def test_empirical_is_flat_beyond_its_quantiles() -> None:
    draws = sample(Empirical(((0.5, 100), (0.9, 500))))
    assert (min(draws), max(draws)) == (100, 500)
    assert mean_ns(Empirical(((0.5, 100), (0.9, 500)))) == pytest.approx(50 + 120 + 50)


def test_variants_with_other_means_share_their_luck() -> None:
    slow, fast = sample(Exponential(2_000_000), 500), sample(Exponential(1_000_000), 500)
    assert all(abs(a - 2 * b) <= 2 for a, b in zip(slow, fast, strict=True))


def test_a_spec_that_says_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="p50 <= p99"):
        Lognormal(200, 100)
    with pytest.raises(ValueError, match="ascend"):
        Empirical(((0.5, 100), (0.9, 50)))
    with pytest.raises(ValueError, match="at least one"):
        Empirical(())
    with pytest.raises(ValueError, match="mean 0"):
        Sampler(Constant(0), Streams(1, 0).stream("x")).scaled(10.0)
