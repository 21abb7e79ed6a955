"""When closed-loop clients begin: somewhere in a think time, not all at once."""

from __future__ import annotations

import numpy as np
import pytest

from sim.client.arrivals import residual_ns
from sim.distributions import Constant, Distribution, Exponential, Sampler
from sim.streams import Streams
from sim.units import NS_PER_MS

THINK_NS = 1000 * NS_PER_MS


def residuals(think: Distribution) -> np.ndarray:
    found = []
    for client in range(4000):
        streams = Streams(1, client)
        times = Sampler(think, streams.stream("think"))
        found.append(residual_ns(times, streams.stream("start")))
    return np.array(found)


@pytest.mark.parametrize(
    ("think", "mean", "deviation"),
    [
        (Constant(THINK_NS), 0.5, 1 / np.sqrt(12)),  # uniform
        (Exponential(THINK_NS), 1.0, 1.0),  # has no memory
    ],
)
def test_what_is_left_of_a_think_time_is_as_renewal_theory_has_it(
    think: Distribution, mean: float, deviation: float
) -> None:
    left = residuals(think) / THINK_NS
    assert left.mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(len(left)))
    assert left.std() == pytest.approx(deviation, rel=0.06)
    assert left.min() >= 0


def test_no_think_time_leaves_nothing() -> None:
    assert residuals(Constant(0)).max() == 0
