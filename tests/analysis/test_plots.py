"""Figures: what is drawn, in which colours, with which units; files are the same bytes twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.plots import distribution, stacks, style
from sim.record.histogram import bucket_of

VARIANTS = ["pipelined", "sync", "in_memory"]
COLOURS = style.variant_colours(VARIANTS)


def test_locking_modes_have_their_colours_in_any_order() -> None:
    assert style.variant_colours(["in_memory", "mine", "sync"]) == {
        "in_memory": "#D55E00",
        "mine": style.OTHERS[0],
        "sync": "#777777",
    }


def test_no_part_of_a_whole_has_a_variants_colour() -> None:
    assert not set(style.PARTS) & {*style.FIXED.values(), *style.OTHERS}


def test_ink_is_read_on_any_part() -> None:
    assert style.ink_on("#332288") == "white"
    assert style.ink_on("#DDCC77") == "black"


def test_the_tail_is_the_share_above_each_bucket() -> None:
    rows = pd.DataFrame({"bucket": [bucket_of(10**6), bucket_of(2 * 10**6)], "count": [75, 25]})
    latency_ms, share = distribution.tail_shares(rows)
    assert share.tolist() == [0.25]
    assert latency_ms[0] == pytest.approx(1.0, rel=0.011)


def latencies() -> pd.DataFrame:
    values = np.random.Generator(np.random.PCG64(1)).lognormal(13.5, 0.5, 3000)
    buckets = pd.Series([bucket_of(int(value)) for value in values]).value_counts()
    table = pd.DataFrame({"bucket": buckets.index, "count": buckets.to_numpy()})
    return pd.concat([table.assign(variant=variant) for variant in VARIANTS])


def test_a_curve_a_variant_on_log_axes() -> None:
    (axes,) = distribution.latency_ccdf(latencies(), COLOURS, "stub").axes
    curves = [line for line in axes.lines if line.get_label() in COLOURS]
    assert {line.get_label(): line.get_color() for line in curves} == COLOURS
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlabel() == "lock latency (ms)"


def test_stacks_have_variants_in_order_and_totals() -> None:
    rows = pd.DataFrame(
        [
            {"variant": variant, "class": place, "value": size * 1e6}
            for variant in VARIANTS
            for place, size in (("raft_log", 3.0), ("flush", 1.0), ("lock", 1.0), ("commit", 3.0))
        ]
    )
    figure = stacks.disk_writes(rows, VARIANTS, "stub")
    left, _ = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == VARIANTS
    assert left.get_ylim()[0] > left.get_ylim()[1]
    assert [text.get_text() for text in left.texts].count("4") == 3


def test_files_are_the_same_bytes_twice(tmp_path: Path) -> None:
    for name in ("one", "two"):
        style.save(distribution.latency_ccdf(latencies(), COLOURS, "stub"), tmp_path, name)
    for ending in ("png", "svg"):
        assert (tmp_path / f"one.{ending}").read_bytes() == (
            tmp_path / f"two.{ending}"
        ).read_bytes()
