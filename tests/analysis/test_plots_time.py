"""Figures over time beside the course: heat map, memory of the lock table, leaders of stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm

from analysis.metrics.study_tables import Course
from analysis.plots import style
from analysis.plots.latency_heat import latency_heat
from analysis.plots.lock_memory import METRIC, lock_memory, size_text
from analysis.plots.store_timeline import leaders_by_store, something_moves, store_timeline
from sim.record.histogram import bucket_of
from tests.analysis.test_plots_course import NONE, happened, lanes, series
from tests.stub_model import quickstart

NAMES = [f"v{number}" for number in range(8)]
LOOKS = style.variant_looks(["pipelined", "in_memory"])
TIKV = quickstart().tikv


def heat(variant: str, longest_ms: float = 64.0) -> pd.DataFrame:
    """Returns ten columns of 0.5 s: nine requests of 1 ms, and one that is longer each time."""
    rows = []
    for column in range(10):
        for latency_ms, count in ((1.0, 9), (longest_ms * 2.0 ** (column - 9), 1)):
            bucket = -(-bucket_of(int(latency_ms * 1e6)) // 16) * 16
            rows.append({"column": column, "bucket": bucket, "count": count})
    return pd.DataFrame(rows).assign(variant=variant, column_s=0.5)


def meshes(figure: Any) -> list[QuadMesh]:
    return [each for axes in figure.axes for each in axes.collections if isinstance(each, QuadMesh)]


def test_a_heat_map_a_variant_whose_columns_add_up_to_one() -> None:
    table = pd.concat([heat("pipelined"), heat("in_memory", 4.0)])
    picture = latency_heat(table, NONE, LOOKS, 5.0, "stub")
    figure, words = picture.figure, picture.alt
    one, other = meshes(figure)[:2]
    for mesh in (one, other):
        shares: Any = mesh.get_array()
        assert np.allclose(np.ma.filled(shares, 0.0).reshape(-1, 10).sum(axis=0), 1.0)
        assert isinstance(mesh.norm, LogNorm)
        assert mesh.get_rasterized()
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert "(ms)" in figure.axes[0].get_ylabel()
    assert "in_memory nine of ten from 0.131 to 1.05 ms, none longer than 4.19 ms" in words
    assert "none longer than 67.1 ms" in words.partition("in_memory")[0]


def test_a_heat_map_darkens_steadily() -> None:
    mesh = meshes(latency_heat(heat("pipelined"), NONE, LOOKS, 5.0, "stub").figure)[0]
    red, green, blue, _ = mesh.get_cmap()(np.linspace(0.0, 1.0, 50)).T
    grey = 0.299 * red + 0.587 * green + 0.114 * blue
    assert (np.diff(grey) < 0).all()


def test_a_variant_without_locks_has_no_heat_map_and_events_are_marked() -> None:
    what = happened(("transfer_leader", "region 1", 2, 2, 4))
    figure = latency_heat(heat("pipelined"), what, LOOKS, 5.0, "stub").figure
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles.count("pipelined") == 1
    assert "in_memory" not in titles
    assert lanes(figure.axes[0]) == ["transfer leader, once"]
    assert any(list(np.asarray(line.get_xdata())) == [2, 2] for line in figure.axes[1].lines)


def test_eight_variants_and_one_request_make_a_heat_map() -> None:
    one = heat("v0").iloc[:1]
    looks = style.variant_looks(NAMES)
    table = pd.concat([one.assign(variant=name) for name in NAMES])
    figure = latency_heat(table, NONE, looks, 5.0, "stub").figure
    figure.draw_without_rendering()
    assert len(meshes(figure)) == 9  # with that of the colour bar


def filled(levels: dict[int, float]) -> Course:
    table = series("in_memory", "lock_table_bytes", "max", levels)
    units = pd.DataFrame(
        {"variant": ["in_memory"], "window_ns": 10**8, "simulated_s": 10.0, "warmup_windows": 0}
    )
    return Course(table, units, NONE)


def test_the_lock_table_is_drawn_below_both_limits() -> None:
    course = filled(dict.fromkeys(range(100), 2048.0) | {50: 4096.0})
    picture = lock_memory(course, LOOKS, TIKV, "stub")
    (axes,) = picture.figure.axes
    across = {float(np.asarray(line.get_ydata())[0]) for line in axes.lines[1:]}
    assert across == {512 * 1024, 100 * 1024**2}
    assert axes.get_ylim()[1] > 100 * 1024**2
    assert {text.get_text() for text in axes.texts} == {
        "limit of a store, 100 MiB", "limit of one region, 512 KiB",
    }  # fmt: skip
    assert "in_memory at most 4 KiB, 0.00391 % of a store's" in picture.alt
    assert "pipelined" not in picture.alt


def test_gaps_and_zeros_of_the_lock_table_are_not_drawn() -> None:
    (axes,) = lock_memory(filled({3: 0.0, 50: 100.0}), LOOKS, TIKV, "stub").figure.axes
    assert np.isfinite(np.asarray(axes.lines[0].get_ydata(), dtype=float)).sum() == 1
    assert Course(filled({50: 100.0}).table, NONE, NONE).has(METRIC)
    assert not Course(filled({50: 0.0}).table, NONE, NONE).has(METRIC)


def test_a_size_is_in_the_unit_with_the_fewest_digits() -> None:
    assert [size_text(size) for size in (12, 2048, 1.5 * 1024**2, 1024**3)] == [
        "12 B", "2 KiB", "1.5 MiB", "1 GiB",
    ]  # fmt: skip


def moved(*rows: tuple[str, str, int, float]) -> pd.DataFrame:
    """Returns what changed in bins of 0.1 s, given as metric, class, bin and value."""
    columns = ["metric", "class", "bin", "value"]
    return pd.DataFrame(rows, columns=columns).assign(variant="in_memory", bin_s=0.1)


EVICTED = moved(
    ("leaders_gained", "store-1", 0, 20.0),
    ("leaders_gained", "store-2", 0, 20.0),
    ("leaders_lost", "store-1", 40, 15.0),
    ("leaders_gained", "store-2", 40, 15.0),
    ("leaders_lost", "store-1", 60, 5.0),
    ("leader_transfers", "all", 40, 15.0),
    ("splits", "all", 70, 1.0),
)


def test_leaders_are_what_was_gained_less_what_was_lost() -> None:
    stores = leaders_by_store(EVICTED, 10.0)
    assert list(stores) == ["store-1", "store-2"]
    assert stores["store-1"]["at_s"].tolist() == pytest.approx([0.0, 4.1, 6.1, 10.0])
    assert stores["store-1"]["leaders"].tolist() == [20.0, 5.0, 0.0, 0.0]
    assert stores["store-2"]["leaders"].tolist() == [20.0, 35.0, 35.0]


def test_stores_are_ordered_by_their_number() -> None:
    many = moved(*(("leaders_gained", f"store-{number}", 0, 1.0) for number in (10, 2, 1)))
    assert list(leaders_by_store(many, 1.0)) == ["store-1", "store-2", "store-10"]


def test_a_store_timeline_has_a_line_a_store_and_marks_of_changes() -> None:
    what = happened(("crash_store", "store 1", 6, 6, 4))
    picture = store_timeline(EVICTED, what, LOOKS, 10.0, "stub")
    strip, panel = picture.figure.axes
    assert lanes(strip) == ["crash store, once"]
    stores = [line for line in panel.lines if str(line.get_label()).startswith("store-")]
    assert len({line.get_linestyle() for line in stores}) == 2
    changes = {
        line.get_label(): np.asarray(line.get_xdata()).tolist()
        for line in panel.lines
        if line.get_label() in {"leader moved", "split", "merge"}
    }
    assert changes == {"leader moved": pytest.approx([4.05]), "split": pytest.approx([7.05])}
    assert "store-1 from 20 to 0 (least 0)" in picture.alt
    assert "crash store once, store 1 at 6 s" in picture.alt
    assert "15 leader transfers" in picture.alt


def test_only_what_moves_has_a_timeline() -> None:
    assert something_moves(EVICTED)
    assert not something_moves(EVICTED[EVICTED["bin"] == 0])
    assert not something_moves(EVICTED.iloc[:0])
