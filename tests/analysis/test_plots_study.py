"""Load curves, convergence, and all pictures of a study with their words."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.row_table import RowTable
from analysis.metrics.study_tables import StudyTables
from analysis.plots import style
from analysis.plots.drawn import Picture
from analysis.plots.load_curve import (
    SWEPT,
    Latency,
    LoadLine,
    load_curve,
    load_key,
    load_lines,
    with_capacity,
)
from analysis.plots.study_plots import DrawnPoint, point_pictures, write_study_plots
from analysis.study.finished_study import FinishedStudy
from analysis.study.plan import Plan
from tests.analysis.test_convergence_plot import replicated
from tests.analysis.test_plots import tails, way, writes
from tests.analysis.test_plots_course import happened, series
from tests.analysis.test_plots_time import EVICTED, heat
from tests.analysis.test_warmup_plot import series as warmup_series
from tests.stub_model import quickstart, stub_study

VARIANTS = ["pipelined", "sync", "in_memory"]
LOOKS = style.variant_looks(VARIANTS)
THREADS = "workload.threads"
PROFILE = "hardware.profile"
POINTS: list[dict[str, Any]] = [
    {PROFILE: profile, THREADS: threads}
    for profile in ("gp3", "nvme")
    for threads in (400, 10, 100)
]


def row(index: int, variant: str, metric: str, value: float, stat: str = "mean") -> dict[str, Any]:
    bounds = {"ci_low": value - 1, "ci_high": value + 1}
    head = {"point_index": index, "variant": variant, "metric": metric, "class": "all"}
    return head | {"stat": stat, "value": value} | bounds


def swept_rows(refused: tuple[int, ...] = ()) -> pd.DataFrame:
    rows = []
    for index, point in enumerate(POINTS):
        for variant in ("pipelined", "in_memory"):
            rows.append(row(index, variant, "txn_per_s", 5.0 * point[THREADS]))
            for metric, idle in (("lock_latency_ms", 4.0), ("txn_latency_ms", 40.0)):
                value = np.nan if index in refused else idle + point[THREADS] / 100
                rows.append(row(index, variant, metric, value, "p99"))
    return pd.DataFrame(rows)


def lines(refused: tuple[int, ...] = ()) -> list[LoadLine]:
    found = swept_rows(refused)
    return load_lines(RowTable(found, POINTS), POINTS, ["pipelined", "in_memory"], THREADS, SWEPT)


def test_what_makes_load_is_found_where_it_varies() -> None:
    assert load_key(POINTS) == THREADS
    assert load_key([{"workload.rate": "1/s"}, {"workload.rate": "2/s"}]) == "workload.rate"
    assert load_key([{THREADS: 5, "a": 1}, {THREADS: 5, "a": 2}]) is None


def test_a_curve_a_variant_and_setting_by_ascending_load() -> None:
    found = lines()
    assert [line.name for line in found] == [
        "pipelined on gp3", "in_memory on gp3", "pipelined on nvme", "in_memory on nvme",
    ]  # fmt: skip
    assert [point.done.value for point in found[0].points] == [50, 500, 2000]
    picture = load_curve(found, SWEPT)
    above, below = picture.figure.axes
    assert above.get_ylabel() == "lock latency p99 (ms)"
    assert "per second" in below.get_xlabel()
    curves = [line for line in above.lines if line.get_label() in {one.name for one in found}]
    assert len({(line.get_linestyle(), line.get_marker()) for line in curves}) == 4
    bars = [line for line in above.lines if line.get_alpha() == 0.7]
    assert len(bars) == 2 * 4 * 3, "an interval each way"
    assert "pipelined on gp3 4.1 ms at 50 per second, 8 ms at 2,000" in picture.alt


def test_an_overloaded_load_is_a_cross_and_one_without_any_latency_no_curve() -> None:
    figure = load_curve(lines(refused=(0,)), SWEPT).figure
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert [len(np.asarray(line.get_xdata())) for line in crosses] == [1, 1]
    assert [one.name for one in lines(refused=(0, 1, 2))] == [
        "pipelined on nvme", "in_memory on nvme",
    ]  # fmt: skip
    assert lines(refused=tuple(range(6))) == []


def test_where_nobody_asks_for_a_lock_the_curve_is_of_transactions() -> None:
    found = swept_rows()
    found = found[(found["metric"] != "lock_latency_ms") | (found["point_index"] > 2)]

    def of(points: list[int]) -> list[LoadLine]:
        rows = RowTable(found[found["point_index"].isin(points)], POINTS)
        return load_lines(rows, POINTS, ["pipelined"], THREADS, SWEPT)

    (line,) = of([0, 1, 2])
    (axes,) = load_curve([line], SWEPT).figure.axes
    assert axes.get_ylabel() == "txn latency p99 (ms)"
    picture = load_curve(of([0, 1, 2, 3, 4, 5]), SWEPT)
    above, below = picture.figure.axes
    assert [len(axes.lines) for axes in (above, below)] == [1 + 2 * 3, 2 * (1 + 2 * 3)]
    assert picture.alt == (
        "Curves of lock latency p99 over throughput: pipelined on nvme 4.1 ms at 50 per second, 8 "
        "ms at 2,000. Curves of txn latency p99 over throughput: pipelined on gp3 40.1 ms at 50 "
        "per second, 44 ms at 2,000."
    )


def test_capacity_and_promise_are_drawn_in() -> None:
    case = {
        "variant": "pipelined", "point": {PROFILE: "gp3"}, "status": "found",
        "txn_per_s": 1500.0, "txn_per_s_ci_low": 1400.0, "txn_per_s_ci_high": 1600.0,
    }  # fmt: skip
    missed = case | {"variant": "in_memory", "status": "above", "txn_per_s": None}
    found = with_capacity(lines(), {"cases": [case, missed]})
    assert [line.capacity for line in found] == [(1500.0, 1400.0, 1600.0), None, None, None]
    promised = (Latency(MetricKey("lock_latency_ms", stat="p99"), 6.0),)
    picture = load_curve(found, promised)
    (axes,) = picture.figure.axes
    assert any(list(np.asarray(line.get_xdata())) == [1500, 1500] for line in axes.lines)
    assert [text.get_text() for text in axes.texts] == ["promised: 6 ms"]
    assert "capacity 1,500" in picture.alt
    assert "Promised: lock latency p99 6 ms." in picture.alt


def point_drawn(refused: tuple[str, ...] = ()) -> DrawnPoint:
    units, sums = replicated(3)
    units = units.assign(
        unit_hash=units["variant"] + units["replication"].astype(str), warmup_windows=10,
        window_ns=100_000_000, simulated_s=10.0,
    )  # fmt: skip
    rows = [
        row(0, variant, "lock_latency_ms", np.nan if variant in refused else value, stat)
        for variant in VARIANTS
        for stat, value in (("p50", 1.0), ("p99", 7.0), ("mean", 2.0))
    ]
    stations = way(refused).assign(metric="lock_station_ms", stat="mean", point_index=0)
    disks = writes({"raft_log": 3.0, "lock": 3.0}).assign(
        metric="disk_write_bytes_per_s", stat="mean", point_index=0
    )
    bins = dict.fromkeys(range(100), 2e6)
    lines_ = [series(name, "lock_latency", "p99", bins, name) for name in VARIANTS]
    table = series("in_memory", "lock_table_bytes", "max", {50: 2048.0})
    tables = StudyTables(
        units=units,
        batches=units,
        sums=sums,
        tails=tails().assign(metric="lock_latency"),
        heat=heat("sync"),
        moves=EVICTED,
        courses=pd.concat([*lines_, table]),
        happenings=happened(("transfer_leader", "region 1", 4, 4, 4)),
        warmups=warmup_series(),
        facts_s=0.0,
    )
    return DrawnPoint(
        tables=tables,
        rows=pd.concat([pd.DataFrame(rows), stations, disks]),
        tikv=quickstart().tikv,
        targets=[],
        looks=LOOKS,
        subtitle="workload.threads = 50",
    )


@pytest.fixture(scope="module", name="pictures")
def pictures_of_a_point() -> dict[str, Picture]:
    """Returns the pictures by name, laid out."""
    pictures = {picture.name: picture for picture in point_pictures(point_drawn())}
    for picture in pictures.values():
        picture.figure.draw_without_rendering()
    return pictures


def test_every_picture_has_a_title_and_words_with_numbers(pictures: dict[str, Picture]) -> None:
    assert list(pictures) == [
        "lock_latency", "latency_heat", "over_time", "store_timeline", "lock_memory", "warmup",
        "disk_writes", "lock_stations", "convergence",
    ]  # fmt: skip
    for picture in pictures.values():
        assert picture.title
        assert "\n" not in picture.alt
        assert re.search(r"\d", picture.alt), picture.name
        assert "nan" not in picture.alt
    assert "sync p50 1 ms, p99 7 ms" in pictures["lock_latency"].alt


PHONE_PX = 348
"""Width of a picture where the page is 390 px wide."""


def test_every_letter_can_be_read_on_a_phone_and_none_is_cut_off(
    pictures: dict[str, Picture],
) -> None:
    for picture in pictures.values():
        figure = picture.figure
        shrunk = PHONE_PX / (72 * figure.get_figwidth())
        # A tick beyond the ends of its axis has a label that is not drawn.
        ticks = [
            label
            for axes in figure.axes
            for axis in (axes.xaxis, axes.yaxis)
            for label in axis.get_ticklabels(which="both")
        ]
        for text in figure.findobj(Text):
            box = text.get_window_extent()
            if text.get_text() and text.get_visible() and box.width > 0:
                assert float(text.get_fontsize()) * shrunk >= 9, (picture.name, text)
                whole = -2 <= box.x0 <= box.x1 <= figure.bbox.width + 2
                assert whole or text in ticks, (picture.name, text)


def test_what_is_refused_everywhere_has_no_picture() -> None:
    refused = point_drawn(refused=tuple(VARIANTS))
    bare = replace(
        refused.tables, moves=EVICTED.iloc[:0], heat=heat("sync").iloc[:0],
        tails=refused.tables.tails.iloc[:0],
    )  # fmt: skip
    names = [picture.name for picture in point_pictures(replace(refused, tables=bare))]
    assert names == ["over_time", "lock_memory", "warmup", "disk_writes", "convergence"]
    one = [picture.alt for picture in point_pictures(point_drawn(("sync",)))]
    assert "sync refused" in one[0]


def test_a_latency_that_is_refused_has_no_curve_and_no_band() -> None:
    of = point_drawn(("sync",))
    why = "overloaded: transactions pile up"
    refused = of.rows["variant"].eq("sync") & of.rows["metric"].eq("lock_latency_ms")
    of = replace(of, rows=of.rows.assign(refused=np.where(refused, why, "")))
    (axes,) = next(point_pictures(of)).figure.axes
    told = [line.get_label() for line in axes.lines if line.get_label() in LOOKS]
    assert told == [name for name in LOOKS if name != "sync"]
    assert len(axes.collections) == len(told)
    assert f"sync is not drawn: {why}" in str(axes.figure.get_label())
    every = of.rows["metric"].eq("lock_latency_ms")
    of = replace(of, rows=of.rows.assign(refused=np.where(every, why, "")))
    assert "lock_latency" not in [picture.name for picture in point_pictures(of)]


def of_a_study(of: StudyTables) -> StudyTables:
    """Returns the tables of a study of one point."""
    own: dict[str, Any] = {each.name: getattr(of, each.name) for each in fields(of)}
    placed = {
        name: table.assign(point_index=0)
        for name, table in own.items()
        if isinstance(table, pd.DataFrame) and name != "sums"
    }
    return StudyTables(**(own | placed))


def test_files_are_those_that_are_told_of_and_old_ones_go(tmp_path: Path) -> None:
    study = stub_study()
    run = FinishedStudy(study=study, name="stub", folder=tmp_path, plan=Plan(study), done={})
    of = point_drawn()
    (tmp_path / "old.png").touch()
    summary = {"rows": RowTable(of.rows.reset_index(drop=True), [{}])}
    tables = of_a_study(of.tables)
    drawn = write_study_plots(tmp_path, run, summary, tables)
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {f"{one.name}.{ending}" for one in drawn for ending in ("png", "svg")}
    assert "lock_memory" in {one.name for one in drawn}
    assert sum((tmp_path / f"{one.name}.png").stat().st_size for one in drawn) < 400_000
