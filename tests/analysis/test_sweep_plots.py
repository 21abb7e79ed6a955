"""Axes of a sweep, and which figures it gets; what they show is what the summary says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure

from analysis.plots.axes import axes_of, is_scattered, place_words
from analysis.plots.sweep import amount_text, sweep_pictures
from tests.analysis.sweeps import APPEND, THREADS, VARIANTS, Point, grid, sweep_summary


def sweep_drawn(
    summary: Mapping[str, Any],
    variants: Sequence[str],
    points: Sequence[Point],
    contours: Mapping[str, float],
) -> dict[str, Figure]:
    pictures = sweep_pictures(summary, variants, points, contours)
    return {picture.name: picture.figure for picture in pictures}


def numbers(data: Any) -> list[float]:
    return list(np.asarray(data, dtype=float))


def test_values_are_ordered_by_amount_and_labelled_as_written() -> None:
    (axis,) = axes_of(grid(append=["1ms", "500us", "2000us"]))
    assert axis.labels == ("500us", "1ms", "2000us")
    assert numbers(axis.amounts) == [500_000, 1_000_000, 2_000_000]
    assert axis.place({APPEND: "1ms"}) == 1_000_000
    assert axis.name == "append.mean"


def test_what_has_no_amount_keeps_the_files_order() -> None:
    key = "hardware.profile"
    (axis,) = axes_of([{key: "i3.4xlarge"}, {key: "gp3_max"}])
    assert (axis.labels, axis.amounts) == (("i3.4xlarge", "gp3_max"), None)
    assert axis.place({key: "gp3_max"}) == 1.0


def test_a_mapping_is_told_by_its_first_entry_that_varies() -> None:
    key = "hardware.disk.raft.append"
    points = [
        {key: {"p50": p50, "p99": p99}} for p50, p99 in (("662us", "1438us"), ("89us", "158us"))
    ]
    (axis,) = axes_of(points)
    assert (axis.name, axis.labels) == ("append p50", ("89us", "662us"))
    assert axis.index(points[0]) == 1


def test_only_keys_that_vary_are_axes_and_missing_ones_count() -> None:
    points: list[dict[str, Any]] = [{"a": 1, "b": 2}, {"a": 1, "b": 3}, {"a": 1}]
    (axis,) = axes_of(points)
    assert (axis.key, axis.labels, axis.amounts) == ("b", ("2", "3", "-"), None)


def test_names_are_as_long_as_it_takes_to_tell_keys_apart() -> None:
    one, other = "hardware.disk.raft.write_iops", "hardware.disk.kv.write_iops"
    points = [{one: 1, other: 1}, {one: 2, other: 2}]
    assert [axis.name for axis in axes_of(points)] == ["raft.write_iops", "kv.write_iops"]


def test_a_place_in_time_says_of_what() -> None:
    points = [{"operations.cut.at": "1s"}, {"operations.cut.at": "2s"}]
    assert place_words(axes_of(points), points[0]) == "cut.at 1s"


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [([10, 25, 50, 100, 200, 400], True), ([10, 110, 210, 310, 400], False), ([1, 2, 4], False)],
)
def test_the_scale_follows_the_values(values: list[int], logarithmic: bool) -> None:
    (axis,) = axes_of(grid(threads=values))
    assert axis.logarithmic == logarithmic


def cloud(count: int) -> Sequence[Point]:
    return [
        {APPEND: f"{100 + place}us", THREADS: 10 + (7 * place) % count} for place in range(count)
    ]


def test_a_hypercube_is_no_grid() -> None:
    filled, ordered = cloud(20), grid(append=["1ms", "2ms"], threads=[1, 2, 3])
    assert is_scattered(filled, axes_of(filled))
    assert not is_scattered(ordered, axes_of(ordered))


def names(points: Sequence[Point]) -> set[str]:
    return set(sweep_drawn(sweep_summary(points), VARIANTS, points, {}))


def test_each_kind_of_sweep_has_its_figures() -> None:
    lines = {
        "sweep_lock_latency", "sweep_lock_latency_p99", "sweep_disk_bytes_per_txn",
        "sweep_txn_per_s",
    }  # fmt: skip
    maps = {"map_lock_latency", "map_disk_bytes_per_txn", "map_txn_per_s"}
    assert names(grid(threads=[10, 50, 400])) == lines
    assert names(cloud(20)) == lines
    assert names(grid(append=["1ms", "2ms"], threads=[1, 2, 3])) == lines | maps
    assert (
        names(grid(append=["1ms", "2ms", "3ms"], threads=[1, 2, 3], amplification=[1, 3])) == maps
    )
    assert names([{}]) == set()


def test_of_too_many_columns_of_words_there_are_clouds() -> None:
    kinds = [f"oltp_{name}" for name in ("insert", "delete", "read_write", "write_only")]
    points = [
        {"workload.kind": kind, "tikv.behaviour": version, THREADS: threads}
        for kind in kinds
        for version in ("v6.0", "v8.5")
        for threads in (300, 900)
    ]
    drawn = sweep_drawn(sweep_summary(points), VARIANTS, points, {})
    first, *_ = drawn["sweep_lock_latency"].axes
    tilted = {label.get_text() for label in first.get_xticklabels() if label.get_rotation() == 45}
    assert tilted == set(kinds)
    alone = sweep_drawn(sweep_summary(points, variants=["sync"]), ["sync"], points, {})
    panels = [
        axes.get_title(loc="left").replace("\n", " ") for axes in alone["sweep_lock_latency"].axes
    ]
    assert panels[0] == "kind oltp_insert, behaviour v6.0"
    assert len(panels) == 8


def test_a_panel_without_any_value_is_left_out() -> None:
    points = [{"workload.kind": kind, THREADS: 10 * n} for kind in ("tpcc", "b") for n in (1, 2)]
    summary = sweep_summary(points)
    for rows in (summary["rows"], summary["comparisons"]):
        rows[:] = [
            row
            for row in rows
            if row["metric"] != "lock_latency_ms" or row["point"]["workload.kind"] == "tpcc"
        ]
    drawn = sweep_drawn(summary, VARIANTS, points, {})
    assert len(drawn["sweep_lock_latency"].axes) == 2
    assert len(drawn["sweep_txn_per_s"].axes) == 4


def test_lines_show_values_ratios_and_the_level() -> None:
    points = grid(threads=[10, 50, 400])
    figure = sweep_drawn(sweep_summary(points), VARIANTS, points, {"lock_latency_ms": 0.5})[
        "sweep_lock_latency"
    ]
    values, ratios = figure.axes
    drawn = {line.get_color(): numbers(line.get_ydata()) for line in values.lines}
    assert drawn == {"#0072B2": [2.0, 2.0, 2.0], "#D55E00": [1.0, 1.0, 1.0]}
    assert numbers(values.lines[0].get_xdata()) == [10, 50, 400]
    across = [set(numbers(line.get_ydata())) for line in ratios.lines]
    assert {0.5} in across
    assert {1.0} in across
    assert ratios.get_xscale() == "log"


def test_a_refused_value_is_a_gap_with_a_cross() -> None:
    points = grid(threads=[10, 50, 400])

    def overloaded(point: Point, variant: str) -> bool:
        return point[THREADS] == 400 and variant == "pipelined"

    figure = sweep_drawn(sweep_summary(points, refused=overloaded), VARIANTS, points, {})[
        "sweep_lock_latency"
    ]
    values = figure.axes[0]
    assert np.isnan(numbers(values.lines[0].get_ydata())[2])
    crosses = [line for line in values.lines if line.get_marker() == "x"]
    assert [numbers(line.get_xdata()) for line in crosses] == [[400.0]]


def test_a_bound_is_no_value_of_a_line() -> None:
    points = grid(threads=[10, 50, 400])

    def stopped(point: Point, variant: str) -> bool:
        return point[THREADS] == 400 and variant == "in_memory"

    figure = sweep_drawn(sweep_summary(points, at_least=stopped), VARIANTS, points, {})[
        "sweep_lock_latency"
    ]
    values = figure.axes[0]
    assert np.isnan(numbers(values.lines[1].get_ydata())[2])
    assert values.get_ylim()[1] < 900
    crosses = [line for line in values.lines if line.get_marker() == "x"]
    assert [numbers(line.get_xdata()) for line in crosses] == [[400.0]]


def rising(point: Point) -> float:
    return {10: 0.9, 50: 0.505, 400: 0.3}[int(point[THREADS])]


def map_axes(level: float | None) -> Axes:
    points = grid(append=["100us", "1ms"], threads=[10, 50, 400])
    contours = {} if level is None else {"lock_latency_ms": level}
    figures = sweep_drawn(sweep_summary(points, rising), VARIANTS, points, contours)
    return figures["map_lock_latency"].axes[0]


def test_a_map_writes_each_ratio_where_it_belongs() -> None:
    axes = map_axes(None)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10", "50", "400"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["100us", "1ms"]
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written == {(x, y): ("0.90", "0.51", "0.30")[x] for x in range(3) for y in range(2)}
    assert not axes.patches


def test_the_contour_lies_where_the_level_is_and_open_cells_are_framed() -> None:
    axes = map_axes(0.5)
    assert sorted({patch.get_x() + 0.44 for patch in axes.patches}) == [1.0]  # type: ignore[attr-defined]
    assert len(axes.patches) == 2
    (contour,) = [one for one in axes.collections if isinstance(one, QuadContourSet)]
    across = np.asarray(contour.get_paths()[0].vertices)[:, 0]
    # Between 0.505 and 0.3, on logarithms: 1 + ln(0.505 / 0.5) / ln(0.505 / 0.3).
    assert across == pytest.approx(np.full(len(across), 1.0191), abs=1e-3)


def test_cells_that_may_be_alike_are_hatched_and_a_legend_says_what_is_drawn() -> None:
    points = grid(append=["100us", "1ms"], threads=[10, 50, 400])

    def drawn(ratio: Callable[[Point], float], level: float | None) -> tuple[int, list[str]]:
        contours = {} if level is None else {"lock_latency_ms": level}
        figures = sweep_drawn(sweep_summary(points, ratio), VARIANTS, points, contours)
        figure = figures["map_lock_latency"]
        patches = figure.axes[0].patches
        said = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        return sum(bool(patch.get_hatch()) for patch in patches), said

    assert drawn(rising, None) == (0, [])
    assert drawn(lambda point: rising(point) if point[THREADS] == 10 else 1.01, None) == (
        4, ["no clear difference"],
    )  # fmt: skip
    assert drawn(rising, 0.2) == (0, [])
    assert drawn(rising, 0.5) == (0, ["ratio 0.5", "interval includes 0.5"])


def test_a_level_that_is_never_passed_has_no_contour() -> None:
    assert not [one for one in map_axes(0.2).collections if isinstance(one, QuadContourSet)]


@pytest.mark.parametrize(
    ("amount", "like", "text"),
    [
        (200_000, "1ms", "200us"),
        (2e6, "10us", "2ms"),
        (50, 7, "50"),
        (12e3, "3/s", "12000/s"),
        (1e8, "1MiB/s", "100MB/s"),
    ],
)
def test_amounts_on_a_scale_have_the_files_units(amount: float, like: object, text: str) -> None:
    assert amount_text(amount, like) == text


def test_the_lowest_map_of_each_column_names_its_axis() -> None:
    points = grid(
        append=["1ms", "2ms", "3ms", "4ms"], threads=[1, 2, 3, 4], amplification=[1, 3, 9]
    )
    figures = sweep_drawn(sweep_summary(points), VARIANTS, points, {})
    (figure,) = (figure for name, figure in figures.items() if name == "map_lock_latency")
    maps = [axes for axes in figure.axes[:4] if axes.get_visible()]
    assert len(maps) == 3
    assert [axes.get_xlabel() for axes in maps] == ["", "threads", "threads"]
