"""One unit over simulated time: happenings, and what facts say of locks around them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.study.parquet_sink import ParquetSink
from analysis.study.units import AskedUnits, Unit, write_plan
from sim.record.facts import COUNTER, EVENT, MOMENTS
from tests.page.browser import chromium
from tests.page.hostile import SCRIPT
from tests.serve.made_studies import study
from tests.serve.served import Served, served
from tests.serve.tab import open_tab

WINDOW_NS = 100_000_000
WINDOWS = 30
STANDS_STILL = range(25, 28)
UNIT = "a" * 64
SHOWN = "document.querySelector('#event h2')?.innerText ?? ''"


def counters() -> dict[str, list[int] | list[str]]:
    rows = [(window, "txns", "move", 2) for window in range(WINDOWS) if window not in STANDS_STILL]
    rows += [(0, "leaders_gained", "store-1", 3), (0, "leaders_gained", "store-2", 1)]
    rows += [(10, "leaders_lost", "store-1", 1), (10, "leaders_gained", "store-2", 1)]
    rows += [(10, "lock_fates", "migrated:split", 7), (16, "lock_fates", "migrated:split", 1)]
    rows += [(20, "locks_lost", SCRIPT, 4)]
    names = ("window", "metric", "class", "value")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@pytest.fixture(name="folder")
def a_study_with_happenings(tmp_path: Path) -> Path:
    folder = study(tmp_path / "results", "moved")
    write_plan(folder, AskedUnits([{}], [Unit(UNIT, 0, "in_memory", 0), Unit("b", 0, "sync", 0)]))
    (folder / "units" / UNIT).mkdir()
    with ParquetSink(folder / "units" / UNIT) as sink:
        sink.write(EVENT, {
            "at_ns": [1_050_000_000, 2_000_000_000], "kind": ["split_region", "crash_store"],
            "detail": ["region 4", SCRIPT],
        })  # fmt: skip
        sink.write(COUNTER, counters())
        windows = [window for window in range(WINDOWS) if window != 5]
        sink.write(MOMENTS, {
            "window": windows, "metric": ["lock_latency"] * len(windows),
            "class": ["in_memory"] * len(windows), "count": [2] * len(windows),
            "sum": [2_000_000 if window < 10 else 6_000_000 for window in windows],
            "max": [4_000_000] * len(windows),
        })  # fmt: skip
    record = {"window_ns": WINDOW_NS, "simulated_ns": WINDOWS * WINDOW_NS, "warmup_windows": 3}
    (folder / "units" / UNIT / "unit.json").write_text(json.dumps(record))
    return folder


@pytest.fixture(name="server")
def a_server(folder: Path) -> Iterator[Served]:
    with served(folder.parent) as server:
        yield server


def test_a_happening_has_what_was_counted_from_its_window_on(server: Served) -> None:
    split, crash = server.get(f"/api/time/moved/{UNIT}").json["events"]
    counted = {(one["what"], one["class"]): one["count"] for one in split["counts"]}
    assert counted == {("locks", "migrated:split"): 7, ("transactions committed", "move"): 10}
    assert split["latency_ms"] == {"before": 1.0, "after": 3.0}
    assert {one["what"] for one in crash["counts"]} == {"locks lost", "transactions committed"}


def test_leaders_are_gained_less_lost_and_a_gap_is_none(server: Served) -> None:
    found = {
        chart["title"]: chart for chart in server.get(f"/api/time/moved/{UNIT}").json["charts"]
    }
    charts = {
        title: {line["name"]: line["v"] for line in chart["views"][0]["series"]}
        for title, chart in found.items()
    }
    leaders = charts["Leaders by store"]
    assert [leaders["store-1"][at] for at in (0, 9, 10, 29)] == [3, 3, 2, 2]
    assert [leaders["store-2"][at] for at in (0, 9, 10, 29)] == [1, 1, 2, 2]
    latency = charts["Lock latency, mean (ms)"]["all locks"]
    assert [latency[at] for at in (4, 5, 10)] == [1.0, None, 3.0]
    assert len(charts) == 3
    ends = [chart["x"][0] / (WINDOW_NS / 1e9) for chart in found.values()]
    assert ends == [0.5, 0.5, 1.0]  # leaders are counted when a window ends


def test_a_standstill_is_a_rate_of_zero(server: Served) -> None:
    chart, *_ = server.get(f"/api/time/moved/{UNIT}").json["charts"]
    assert chart["title"] == "Transactions (1/s)"
    (line,) = chart["views"][0]["series"]
    assert [line["v"][at] for at in (24, *STANDS_STILL, 28)] == [20, 0, 0, 0, 20]


@pytest.mark.parametrize("unit", ["none", "..", "%2e%2e", "b", "..%2F..%2Fother"])
def test_another_unit_is_not_read(server: Served, unit: str) -> None:
    assert server.get(f"/api/time/moved/{unit}").status in {400, 404}


@pytest.mark.parametrize("table", ["event", "counter", "moments"])
def test_facts_of_somebody_else_break_nothing(folder: Path, server: Served, table: str) -> None:
    file = folder / "units" / UNIT / f"{table}.parquet"
    content = file.read_bytes()
    for broken in (b"", b"PAR1" + b"\0" * 100 + b"PAR1", content[:-9]):
        file.write_bytes(broken)
        assert "cannot be read" in server.get(f"/api/time/moved/{UNIT}").json["problem"]
    file.unlink()
    (folder.parent.parent / "away").write_bytes(content)
    file.symlink_to(folder.parent.parent / "away")
    assert "problem" in server.get(f"/api/time/moved/{UNIT}").json


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="chromium is not installed: .ci/test_tools.sh")
def test_the_page_with_the_keyboard(server: Served, tmp_path: Path) -> None:
    with open_tab(tmp_path) as tab:
        for width_px, dark in ((1280, False), (390, False), (1280, True), (390, True)):
            tab.resize(width_px, dark=dark)
            tab.show(f"{server.address}/study/moved/time")
            tab.wait_for("document.body.getAttribute('data-answered')")
            assert tab.value("document.querySelectorAll('.lane').length") == 2
            assert tab.too_wide() == []
        tab.tab_to("#later")
        tab.press("Enter")
        tab.wait_for(f"({SHOWN}).includes('split region: region 4')")
        assert "locks, migrated:split: 7" in tab.text("#event")
        tab.press("Enter")
        tab.wait_for(f"({SHOWN}).includes('crash store')")
        assert "<script>" in tab.text("#event")
        assert tab.value("document.querySelectorAll('#charts .now').length") == 3
        assert tab.too_wide() == []
        tab.tab_to(".happening")
        tab.press("Enter")
        tab.wait_for(f"({SHOWN}).includes('split region')")
        assert tab.value("document.activeElement.getAttribute('aria-pressed')") == "true"
        tab.tab_to("#sooner")
        tab.press("Enter")
        assert tab.console == []
