"""Courses: an axis for what there is, events above them, gaps where nothing was seen."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from analysis.metrics.study_tables import Course
from analysis.plots import course, style
from analysis.plots.course import over_time
from analysis.plots.timeline import LANE, EventMark, lane_counts, marks

VARIANTS = ["pipelined", "in_memory"]
LOOKS = style.variant_looks(VARIANTS)
NONE = pd.DataFrame(columns=["kind", "detail", "from_ns", "until_ns", "times", "units"])


def happened(*rows: tuple[str, str, float, float, int]) -> pd.DataFrame:
    """Returns happenings of four units, given as kind, detail, from, until (s) and times."""
    return pd.DataFrame(
        [
            {
                "kind": kind, "detail": detail, "from_ns": int(from_s * 1e9),
                "until_ns": int(until_s * 1e9), "times": times, "units": 4,
            }
            for kind, detail, from_s, until_s, times in rows
        ]
    )  # fmt: skip


def series(
    variant: str, metric: str, stat: str, values: dict[int, float], path: str = "all"
) -> pd.DataFrame:
    """Returns rows of a course in bins of 0.1 s."""
    rows = [
        {"bin": place, "value": value, "low": value / 2, "high": value * 2}
        for place, value in values.items()
    ]
    head = {"variant": variant, "metric": metric, "stat": stat, "class": path, "bin_s": 0.1}
    return pd.DataFrame([head | row for row in rows])


def drawn(*more: pd.DataFrame, happenings: pd.DataFrame = NONE) -> Course:
    """Returns a course of 10 s with a lock latency of 2 ms and 600 commits/s."""
    bins = dict.fromkeys(range(100), 2e6)
    parts = [
        part
        for variant in VARIANTS
        for part in (
            series(variant, "lock_latency", "p50", bins, variant),
            series(variant, "lock_latency", "p99", bins, variant),
            series(variant, "txns", "mean", dict.fromkeys(range(100), 600.0)),
            series(variant, "txn_latency", "p50", bins),
        )
    ]
    units = pd.DataFrame({"variant": VARIANTS, "window_ns": 100_000_000, "simulated_s": 10.0})
    return Course(
        pd.concat([*parts, *more]),
        units.assign(warmup_windows=15),
        happenings,
    )


def panels(of: Course) -> dict[str, Axes]:
    return {axes.get_title(loc="left"): axes for axes in over_time(of, LOOKS, "stub").figure.axes}


def test_a_quiet_study_has_locks_by_variant_transactions_and_throughput() -> None:
    found = panels(drawn())
    assert list(found) == [
        "Lock requests, pipelined",
        "Lock requests, in_memory",
        "Transactions",
        "Throughput",
    ]
    locks = found["Lock requests, in_memory"]
    assert "(ms)" in locks.get_ylabel()
    line = next(line for line in locks.lines if line.get_label() == "in_memory")
    assert line.get_ydata()[0] == pytest.approx(2.0)  # type: ignore[index]
    rates = found["Throughput"].lines[0].get_ydata()
    assert rates[0] == pytest.approx(600)  # type: ignore[index]
    assert locks.patches, "the warm-up is shaded"


def test_the_legend_names_only_strokes_that_are_drawn() -> None:
    said = str(over_time(drawn(), LOOKS, "stub").figure.get_label())
    assert "thick: p50, thin: p99\nbands: lowest to highest replication; blue: warm-up" in said
    longest = series("pipelined", "txn_latency", "max", {5: 9e6})
    rare = series("pipelined", "lock_latency", "p999", {5: 9e6}, "pipelined")
    said = str(over_time(drawn(longest, rare), LOOKS, "stub").figure.get_label())
    assert "thin: p99, thinnest: p99.9, dots: longest\n" in said
    alone = drawn()
    table = alone.table.assign(low=alone.table["value"], high=alone.table["value"])
    said = str(over_time(replace(alone, table=table), LOOKS, "stub").figure.get_label())
    assert "thin: p99\nblue: warm-up\n" in said


def test_ticks_set_thousands_apart() -> None:
    throughput = panels(drawn(series("sync", "txns", "mean", {5: 20_000.0})))["Throughput"]
    assert "1,000" in [label.get_text() for label in throughput.get_yticklabels()]


def test_without_locks_there_is_no_panel_of_them_and_words_are_of_transactions() -> None:
    locked = drawn(series("pipelined", "txn_latency", "p99", {5: 3e6, 6: 4e6}))
    free = replace(locked, table=locked.table[locked.table["metric"] != "lock_latency"])
    assert list(panels(free)) == ["Transactions", "Throughput"]
    assert "pipelined p99 of txn latency 3 to 4 ms" in over_time(free, LOOKS, "").alt
    assert "pipelined p99 of lock latency 2 ms" in over_time(locked, LOOKS, "").alt


def test_errors_fallback_and_table_have_an_axis_when_there_are_any() -> None:
    fell = series("in_memory", "fallback_share", "mean", {50: 0.25})
    errors = series("in_memory", "region_errors", "mean", {50: 10.0})
    table = series("in_memory", "lock_table_bytes", "max", {50: 2048.0})
    found = panels(drawn(fell, errors, table))
    assert len(found) == 7
    fallback = found["Lock requests that could not stay in memory"]
    assert np.nanmax(np.asarray(fallback.lines[0].get_ydata())) == pytest.approx(25)
    none = series("in_memory", "fallback_share", "mean", {50: 0.0})
    assert len(panels(drawn(none))) == 4


def test_a_path_of_some_seconds_is_a_line_with_gaps_around_it() -> None:
    path = series(
        "in_memory", "lock_latency", "mean", dict.fromkeys(range(40, 60), 4e6), "fallback"
    )
    line = drawn(path).line("in_memory", "lock_latency", "mean", "fallback")
    assert len(line) == 100
    assert line["value"].notna().sum() == 20
    assert line["at_s"][40] == pytest.approx(4.05)


def test_the_last_bin_is_left_out_if_it_is_cut() -> None:
    extra = series("pipelined", "txns", "mean", {100: 1.0})
    assert len(drawn(extra).line("pipelined", "txns", "mean")) == 100


def test_variants_have_one_scale_and_paths_their_own_colours() -> None:
    high = series("in_memory", "lock_latency", "p99", {50: 4e9}, "fallback")
    found = panels(drawn(high))
    one, other = (found[f"Lock requests, {variant}"] for variant in VARIANTS)
    assert one.get_ylim() == other.get_ylim()
    for told in ("colour", "line", "marker"):
        assert len({getattr(look, told) for look in course.PATHS.values()}) == len(course.PATHS)


def test_a_happening_with_an_end_is_a_bar() -> None:
    shown = marks(
        happened(
            ("evict_leader", "store 1", 6, 6, 4),
            ("stop", "store 1", 11, 11, 4),
            ("start", "store 1", 15, 15.02, 4),
            ("evict_leader_end", "store 1", 15, 15.02, 4),
        ),
        60.0,
    )
    assert shown == [
        EventMark("evict_leader", "store 1", 6, 15.02, 1, ended=True),
        EventMark("down", "store 1", 11, 15.02, 1, ended=True),
    ]


def test_an_end_belongs_to_what_it_is_about() -> None:
    shown = marks(
        happened(
            ("slow_disk", "store 1", 1, 1, 4),
            ("slow_disk", "store 2", 20, 20, 4),
            ("slow_disk_end", "store 1", 30, 30, 4),
        ),
        60.0,
    )
    assert [(mark.detail, mark.until_s) for mark in shown] == [("store 1", 30), ("store 2", 60)]


def test_an_end_that_says_less_is_found_and_what_has_none_lasts_to_the_end() -> None:
    shown = marks(
        happened(
            ("partition", "store-1 | store-2", 1, 1, 4),
            ("partition_end", "", 2, 2, 4),
            ("slow_disk", "store 1 by 1000", 3, 3, 4),
            ("slow_disk", "store 11 by 9", 3, 3, 4),
            ("slow_disk_end", "store 11", 4, 4, 4),
            ("transfer_leader", "region 1 to 2", 5, 5, 4),
        ),
        60.0,
    )
    assert [(mark.lane, mark.detail, mark.from_s, mark.until_s) for mark in shown] == [
        ("partition", "store-1 | store-2", 1, 2),
        ("slow_disk", "store 1 by 1000", 3, 60),
        ("slow_disk", "store 11 by 9", 3, 4),
        ("transfer_leader", "region 1 to 2", 5, 5),
    ]


def test_a_restart_ends_a_crash_and_is_told_of_itself() -> None:
    crashes = [("crash_store", "store 1", at_s, at_s, 4) for at_s in (1, 20)]
    restart = ("restart_store", "store 1", 10, 10, 4)
    shown = marks(happened(*crashes, restart), 60.0)
    assert [(mark.lane, mark.from_s, mark.until_s) for mark in shown] == [
        ("crash_store", 1, 10), ("crash_store", 20, 60), ("restart_store", 10, 10)
    ]  # fmt: skip


def test_what_was_done_to_two_stores_at_once_names_both() -> None:
    rows = [("restart_store", f"store {store}", 1, 1, 4) for store in (1, 2)]
    assert [mark.text for mark in marks(happened(*rows), 60.0)] == ["store 1", "store 2"]


def test_where_runs_differ_a_lane_says_whose_marks_it_shows() -> None:
    rows = [("transfer_leader", f"region {place}", place, place, 1) for place in range(1, 37)]
    course = drawn(happenings=happened(*rows))
    told = "9 a run; marks of 4 runs"
    picture = over_time(course, LOOKS, "stub")
    assert lanes(picture.figure.axes[0]) == [f"transfer leader, {told}"]
    assert f"transfer leader {told} from 1 s to 36 s" in picture.alt


def test_what_happens_again_and_again_is_one_mark_with_its_number() -> None:
    rows = [("balance_leader", "", 10 + step / 10, 10 + step / 10, 8) for step in range(5)]
    (mark,) = marks(happened(*rows), 60.0)
    assert (mark.from_s, mark.until_s, mark.times) == (10, 10.4, 10)
    assert mark.text == "10 in a row"
    assert lane_counts([mark]) == {"balance_leader": 10}


def lanes(strip: Axes) -> list[str]:
    """Returns the names of a strip's lanes."""
    return [text.get_text() for text in strip.texts if text.get_gid() == LANE]


def test_a_lane_says_how_often_it_happened_however_many_marks_it_has() -> None:
    """Ten merges in a run, of which two follow each other so closely that they share a mark."""
    at_s = (1.0, 2.0, 3.0, 4.0, 4.05, 5.0, 6.0, 7.0, 8.0, 9.0)
    rows = [("merge_region", f"region {place}", at, at, 4) for place, at in enumerate(at_s)]
    course = drawn(happenings=happened(*rows))
    picture = over_time(course, LOOKS, "stub")
    assert lanes(picture.figure.axes[0]) == ["merge region, 10 times"]
    assert "merge region 10 times from 1 s to 9 s" in picture.alt


def test_texts_meet_neither_each_other_nor_the_edge() -> None:
    rows = [
        ("transfer_leader", f"region {place} to 2", at_s, at_s, 4)
        for place, at_s in enumerate((0.1, 0.6, 4.0, 4.5, 9.8))
    ]
    figure = over_time(drawn(happenings=happened(*rows)), LOOKS, "stub").figure
    figure.canvas.draw()
    strip = figure.axes[0]
    boxes = sorted(
        (text.get_window_extent().x0, text.get_window_extent().x1)
        for text in strip.texts
        if text.get_gid() != LANE
    )
    assert len(boxes) >= 3
    assert all(left[1] <= right[0] for left, right in pairwise(boxes))
    assert boxes[-1][1] <= strip.get_window_extent().x1


def test_lanes_are_named_and_guides_go_through_every_panel() -> None:
    of = drawn(happenings=happened(("transfer_leader", "region 1 from store 1 to 2", 4, 4, 4)))
    strip, *rest = over_time(of, LOOKS, "stub").figure.axes
    assert lanes(strip) == ["transfer leader, once"]
    assert "region 1 from store 1 to 2" in [text.get_text() for text in strip.texts]
    for axes in rest:
        assert any(list(np.asarray(line.get_xdata())) == [4, 4] for line in axes.lines)
