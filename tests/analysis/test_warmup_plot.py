"""The cut is drawn: a line a replication, a dot where it begins to count."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.plots import style
from analysis.plots.warmup import warmup_cuts

VARIANTS = ["pipelined", "sync", "in_memory"]


def units() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "unit_hash": f"{variant}{replication}",
                "variant": variant,
                "warmup_windows": 10 * replication,
                "window_ns": 100_000_000,
                "simulated_s": 3.0,
            }
            for variant in VARIANTS
            for replication in range(3)
        ]
    )


def series() -> pd.DataFrame:
    at_s = np.arange(30) / 10 + 0.05
    return pd.concat(
        pd.DataFrame({"unit_hash": unit, "metric": metric, "at_s": at_s, "value": level + at_s})
        for unit in units()["unit_hash"]
        for metric, level in (("txns", 100.0), ("lock_latency", 1.0))
    )


def dots(axes: Axes) -> list[tuple[float, float]]:
    return [
        (float(x), float(y))
        for line in axes.lines
        if line.get_marker() == "o"
        for x, y in np.asarray(line.get_xydata())
    ]


def test_each_replication_has_its_cut_on_its_line() -> None:
    figure = warmup_cuts(series(), units(), style.variant_looks(VARIANTS), "stub").figure
    above, below = figure.axes[:3], figure.axes[3:]
    assert [axes.get_title(loc="left") for axes in above] == VARIANTS
    assert above[0].get_ylabel() == "commits (1/s)"
    assert below[0].get_ylabel() == "lock latency (ms)"
    for axes, level in ((above[1], 100.0), (below[2], 1.0)):
        assert np.allclose(dots(axes), [(0, level + 0.05), (1, level + 1), (2, level + 2)])


def test_what_is_cut_is_paler() -> None:
    figure = warmup_cuts(series(), units(), style.variant_looks(VARIANTS), "stub").figure
    lines = [line for line in figure.axes[0].lines if line.get_marker() != "o"]
    pale, strong = lines[4:6]
    assert float(pale.get_alpha() or 1) < float(strong.get_alpha() or 1)
    assert (len(np.asarray(pale.get_xdata())), len(np.asarray(strong.get_xdata()))) == (30, 10)


def test_many_variants_are_folded_and_one_without_facts_is_empty() -> None:
    names = [f"v{number}" for number in range(5)]
    table = pd.concat([units().assign(variant=name) for name in names])
    figure = warmup_cuts(series().iloc[:0], table, style.variant_looks(names), "stub").figure
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]
    assert [title for title in titles if title] == names
    assert sum(not axes.get_visible() for axes in figure.axes) == 2
