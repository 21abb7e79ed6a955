"""Axes of a sweep's pictures: no labels meet, and no interval hides what is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from matplotlib.figure import Figure

from analysis.plots.sweep import sweep_pictures
from tests.analysis.sweeps import AMPLIFICATION, THREADS, VARIANTS, Point, grid, sweep_summary

CLOSE = (3, 7, 11, 13, 22, 32, 45)
CLOUD = [{THREADS: each, AMPLIFICATION: 50 - each} for each in CLOSE]
LINE = grid(threads=(10, 11, 50, 400))


@pytest.mark.parametrize(
    ("points", "ends"), [(CLOUD, {"3", "45"}), (LINE, {"10", "400"})], ids=["cloud", "line"]
)
def test_labels_of_close_values_do_not_meet(points: list[dict[str, int]], ends: set[str]) -> None:
    figure = next(sweep_pictures(sweep_summary(points), VARIANTS, points, {})).figure
    figure.draw_without_rendering()
    (axes,) = [axes for axes in figure.axes if axes.get_xlabel() == "threads"]
    labels = [label for label in axes.get_xticklabels() if label.get_text()]
    boxes = sorted((box.x0, box.x1) for box in (each.get_window_extent() for each in labels))
    assert all(right < left for (_, right), (left, _) in pairwise(boxes))
    assert ends <= {label.get_text() for label in labels}


def wide(points: Sequence[Point]) -> Figure:
    """Returns the first picture of a sweep with a ratio of which nothing is known."""
    summary = sweep_summary(points)
    for row in summary["comparisons"][::3]:
        row |= {"ci_low": 0.006, "ci_high": 87.0}
    return next(sweep_pictures(summary, VARIANTS, points, {})).figure


def test_an_interval_that_says_nothing_leaves_ratios_readable() -> None:
    profiles = ("gp3_max", "i3.4xlarge", "i3.2xlarge")
    points = [{**point, "hardware.profile": name} for name in profiles for point in LINE]
    axes = wide(points).axes
    below = [*axes[2:4], axes[6]]
    assert len([one for one in axes if one.get_visible()]) == 6
    assert [one.get_ylabel() for one in below] == ["ratio to pipelined", "", "ratio to pipelined"]
    for one in [*below, *wide(CLOUD).axes]:
        low, high = one.get_ylim()
        assert one.get_yscale() == "log"
        assert 0.1 < low < 0.5
        assert 1 < high < 4
    assert all(one.xaxis.get_tick_params()["labelbottom"] for one in below)
