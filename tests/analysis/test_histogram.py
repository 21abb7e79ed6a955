"""Values read off a histogram, against the order statistics that went into it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from analysis.statistics.histogram import place_of, value_at
from sim.record.histogram import BASE, RELATIVE_ERROR, bucket_of


def test_the_values_of_a_bucket_divide_it() -> None:
    assert place_of(1, {7: 1}) == (7, 0.5)
    assert place_of(2, {3: 1, 7: 2}) == (7, 0.25)
    assert place_of(3, {3: 1, 7: 2}) == (7, 0.75)
    assert value_at(1, {7: 1}) == pytest.approx(BASE**6.5)


def test_a_value_is_less_than_a_bucket_off_and_nothing_on_average() -> None:
    draws = np.random.Generator(np.random.PCG64(4))
    errors = []
    for _ in range(300):
        values = np.sort(draws.lognormal(12, 1, 500).astype(np.int64))
        read = value_at(0.99 * 500, Counter(map(bucket_of, values.tolist())))
        errors.append(read / values[494] - 1)
    assert max(map(abs, errors)) < BASE - 1
    assert abs(float(np.mean(errors))) < 0.1 * RELATIVE_ERROR
