"""Latin hypercube samples: even in each dimension, and the same every time."""

from __future__ import annotations

import pytest

from analysis.study.sweep import latin_hypercube


@pytest.mark.parametrize(("samples", "dimensions"), [(2, 1), (40, 3), (7, 20)])
def test_each_part_of_each_range_has_one_point(samples: int, dimensions: int) -> None:
    points = latin_hypercube(samples, dimensions, 1)
    assert len(points) == samples
    for shares in zip(*points, strict=True):
        assert sorted(int(share * samples) for share in shares) == list(range(samples))


def test_a_seed_gives_its_points_and_another_gives_others() -> None:
    assert latin_hypercube(10, 2, 1) == latin_hypercube(10, 2, 1)
    assert latin_hypercube(10, 2, 1) != latin_hypercube(10, 2, 2)
