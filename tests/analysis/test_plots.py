"""Figures: what is drawn, how it is told apart in grey, with which units; files stay light."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from PIL import Image

from analysis.plots import distribution, stacks, style
from analysis.plots.drawn import Picture
from sim.record.histogram import bucket_of

VARIANTS = ["pipelined", "sync", "in_memory"]
LOOKS = style.variant_looks(VARIANTS)
LOCKS = distribution.TAILS[0]
NAMES = [*VARIANTS, *(f"mine {number}" for number in range(5))]


def test_locking_modes_have_their_colours_in_any_order() -> None:
    looks = style.variant_looks(["in_memory", "mine", "sync"])
    assert {name: look.colour for name, look in looks.items()} == {
        "in_memory": "#D55E00",
        "mine": style.OTHERS[0],
        "sync": "#777777",
    }


@pytest.mark.parametrize("names", [NAMES, NAMES[3:], NAMES[1:6]])
def test_eight_variants_differ_in_colour_in_line_and_in_marker(names: list[str]) -> None:
    looks = style.variant_looks(names).values()
    for told in ("colour", "line", "marker"):
        assert len({getattr(look, told) for look in looks}) == len(names)


def test_lines_of_one_variant_keep_its_colour_and_differ_in_the_rest() -> None:
    looks = style.line_looks(["sync", "in_memory", "sync", "in_memory"])
    assert [look.colour for look in looks] == ["#777777", "#D55E00"] * 2
    assert len({(look.line, look.marker) for look in looks}) == 4
    assert style.line_looks(["sync", "in_memory"]) == list(
        style.variant_looks(["sync", "in_memory"]).values()
    )


def test_no_part_of_a_whole_has_a_variants_colour() -> None:
    assert not set(style.PARTS) & {*style.OTHERS, *(look.colour for look in style.FIXED.values())}


def test_neighbouring_parts_differ_in_hatch() -> None:
    hatches = style.part_hatches([str(part) for part in range(9)])
    assert len(set(hatches.values())) == 9


def test_ink_is_read_on_any_part() -> None:
    assert style.ink_on("#332288") == "white"
    assert style.ink_on("#DDCC77") == "black"


def tails(deviation: float | None = 0.001, count: int = 3000) -> pd.DataFrame:
    """Returns tails of a lognormal, the same for every variant."""
    values = np.random.Generator(np.random.PCG64(1)).lognormal(13.5, 0.5, count)
    bucket = np.arange(bucket_of(int(values.min())), bucket_of(int(values.max())) + 8, 8)
    above = np.array([(values > 2.0 ** (bound / 64)).sum() for bound in bucket])
    table = pd.DataFrame(
        {
            "bucket": bucket,
            "share": above / count,
            "deviation": np.nan if deviation is None else deviation,
            "replications": 1 if deviation is None else 5,
            "above": above,
            "unended": 0,
        }
    )
    return pd.concat([table.assign(variant=variant) for variant in VARIANTS])


def bands(axes: Axes) -> list[Any]:
    return [each for each in axes.collections if isinstance(each, FillBetweenPolyCollection)]


def test_the_tail_ends_where_ten_values_are_left() -> None:
    band = distribution.tail_band(tails().query("variant == 'sync'"))
    assert band["share"].min() >= 10 / 3000
    # t quantile of four degrees of freedom, over the root of five replications.
    assert (band["share"] - band["low"]).iloc[-1] == pytest.approx(2.776 * 0.001 / 5**0.5, rel=1e-3)
    assert band["high"].max() <= 1.0


def test_a_curve_a_variant_on_log_axes_in_its_band() -> None:
    figure = distribution.latency_ccdf(tails(), LOCKS, LOOKS, "stub")
    (axes,) = figure.axes
    curves = {line.get_label(): line for line in axes.lines if line.get_label() in LOOKS}
    assert {name: line.get_color() for name, line in curves.items()} == {
        name: look.colour for name, look in LOOKS.items()
    }
    assert {line.get_marker() for line in curves.values()} == {"o", "s", "^"}
    assert len(bands(axes)) == 3
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlabel() == "lock latency (ms)"
    assert "95 % interval" in figure.get_suptitle()


def test_one_replication_has_no_band_and_says_so() -> None:
    figure = distribution.latency_ccdf(tails(deviation=None), LOCKS, LOOKS, "stub")
    assert not bands(figure.axes[0])
    assert "no intervals" in figure.get_suptitle()


def test_a_variant_without_locks_has_no_curve() -> None:
    table = tails().query("variant == 'sync'")
    (axes,) = distribution.latency_ccdf(table, LOCKS, LOOKS, "stub").axes
    assert [line.get_label() for line in axes.lines if line.get_label() in LOOKS] == ["sync"]


def writes(sizes: dict[str, float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"variant": variant, "class": part, "value": size * 1e6}
            for variant in VARIANTS
            for part, size in sizes.items()
        ]
    )


def test_stacks_have_variants_in_order_totals_and_hatches() -> None:
    rows = writes({"raft_log": 3.0, "flush": 1.0, "lock": 1.0, "commit": 3.0})
    of_txn = rows.assign(value=rows["value"] * 1024 / 1e6)
    picture = stacks.disk_writes(of_txn, rows, VARIANTS, "stub")
    figure, words = picture.figure, picture.alt
    for axes in figure.axes:
        assert [label.get_text() for label in axes.get_yticklabels()] == VARIANTS
        assert axes.get_ylim()[0] > axes.get_ylim()[1]
        assert [text.get_text() for text in axes.texts].count("4") == 3
        parts: Any = axes.containers
        assert len({bars[0].get_hatch() for bars in parts}) == len(parts) == 2
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes]
    units = [re.search(r"\((.*)\)", title) for title in titles]
    assert [unit and unit[1] for unit in units] == ["KiB", "KiB", "MB/s"]
    assert "sync 4 KiB (raft_log 3, flush 1)" in words
    assert "sync 4 MB/s (raft_log 3, flush 1)" in words


def test_a_variant_whose_writes_are_missing_has_an_empty_row() -> None:
    rows = writes({"raft_log": 3.0, "lock": 3.0}).query("variant != 'sync'")
    for axes in stacks.disk_writes(rows, rows, VARIANTS, "stub").figure.axes:
        assert [text.get_text() for text in axes.texts].count("no value") == 1


def way(refused: tuple[str, ...] = ()) -> pd.DataFrame:
    times = {"request": 0.1, "scheduler": 0.4, "replicate": 3.0, "reply": 0.1}
    skipped = {"in_memory": {"replicate"}}
    return pd.DataFrame(
        [
            {
                "variant": variant, "class": station,
                "value": np.nan if variant in refused else value,
                "ci_low": value - 0.02, "ci_high": value + 0.02,
            }
            for variant in VARIANTS
            for station, value in times.items()
            if station not in skipped.get(variant, ())
        ]
    )  # fmt: skip


def test_a_waterfall_goes_on_where_the_last_bar_ended() -> None:
    picture = stacks.lock_waterfall(way(), LOOKS, "stub")
    figure = picture.figure
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "pipelined: 3.6 ms", "sync: 3.6 ms", "in_memory: 0.6 ms",
    ]  # fmt: skip
    axes = figure.axes[1]
    bars: Any = [bar for container in axes.containers for bar in container]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "request", "scheduler", "replicate", "reply",
    ]  # fmt: skip
    for bar, after in pairwise(bars):
        assert bar.get_x() + bar.get_width() == pytest.approx(after.get_x())
        assert bar.get_y() < after.get_y()
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(3.6)
    assert [text.get_text() for text in axes.texts][2] == "3.00 ± 0.02"
    assert [text.get_text() for text in figure.axes[2].texts][2] == "not passed"
    assert len({bar.get_hatch() for bar in bars}) == 4
    assert "in_memory 0.6 ms (scheduler 0.4" in picture.alt


def test_a_refused_variant_has_no_panel() -> None:
    figure = stacks.lock_waterfall(way(refused=("sync",)), LOOKS, "stub").figure
    assert len(figure.axes) == 2


def test_no_text_of_a_waterfall_leaves_the_axes() -> None:
    figure = stacks.lock_waterfall(way(), LOOKS, "stub").figure
    figure.canvas.draw()
    for axes in figure.axes:
        boxes = [text.get_window_extent() for text in axes.texts]
        assert all(box.x1 <= figure.bbox.x1 for box in boxes)
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_files_are_the_same_bytes_twice_and_light(tmp_path: Path) -> None:
    for name in ("one", "two"):
        style.save(distribution.latency_ccdf(tails(), LOCKS, LOOKS, "stub"), tmp_path, name)
    for ending in ("png", "svg"):
        content = (tmp_path / f"one.{ending}").read_bytes()
        assert content == (tmp_path / f"two.{ending}").read_bytes()
        assert len(content) < 60_000
    with Image.open(tmp_path / "one.png") as picture:
        assert picture.size[0] == pytest.approx(144 * style.WIDTH_IN)


def test_numbers_in_an_svg_keep_their_decimals_and_places_do_not(tmp_path: Path) -> None:
    figure = style.new_figure(3.0, 2.0)
    figure.add_subplot().text(0.123456, 0.5, "0.000625 per 1,000")
    style.save(figure, tmp_path, "one")
    text = (tmp_path / "one.svg").read_text()
    assert "0.000625 per 1,000" in text
    assert not any(len(place) > 8 for place in text.split('d="M ')[1].split('"')[0].split())


def test_a_picture_is_titled_by_the_first_line_of_its_heading() -> None:
    figure = distribution.latency_ccdf(tails(), LOCKS, LOOKS, "stub, threads = 5")
    picture = Picture("lock_latency", "latency", figure, "words 1 ms")
    drawn = picture.drawn("lock_latency_3")
    assert (drawn.title, drawn.name) == ("Lock latency, as TiDB sees it", "lock_latency_3")
    assert (drawn.section, drawn.alt) == ("latency", "words 1 ms")
