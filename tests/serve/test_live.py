"""How far a run is, as its folder says it; stopping and going on."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.parquet_sink import PROGRESS_FILE
from analysis.study.study_folder import folder_lock
from analysis.study.unit_folder import TEMPORARY_PREFIX
from analysis.study.units import AskedUnits, Unit, write_plan
from tests.page.browser import chromium
from tests.page.hostile import SCRIPT
from tests.planned import plan_units
from tests.serve.made_studies import study
from tests.serve.served import Served, served
from tests.serve.tab import open_tab
from tests.stub_model import run_settings, stub_study

STUDY = stub_study(run=run_settings(measure_ns=300_000_000, replications=3))
UNITS = [unit for unit in plan_units(STUDY) if unit.variant in list(STUDY.variants)[:2]]
"""Two variants in turn."""

DEADLINE_S = 120.0
HOLDS = """
import sys, signal, time
from pathlib import Path
from analysis.study.study_folder import folder_lock
folder = Path(sys.argv[sys.argv.index("--out") + 1])
print("it begins", flush=True)
try:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with folder_lock(folder):
        (folder / "held").touch()
        time.sleep(300)
except KeyboardInterrupt:
    (folder / "stopped").touch()
"""


@pytest.fixture(name="folder")
def a_study_half_done(tmp_path: Path) -> Path:
    folder = study(tmp_path / "results", "half")
    write_plan(folder, AskedUnits(list(STUDY.points), UNITS))
    job = UnitJob(STUDY, str(folder / "units"), "tests.stub_model:run_unit")
    for unit in UNITS[:3]:
        assert run_unit_task(job, Attempt(unit, STUDY.points[0])) is None
    return folder


@pytest.fixture(name="server")
def a_server(folder: Path) -> Iterator[Served]:
    with served(folder.parent, (sys.executable, "-c", HOLDS)) as server:
        yield server


def test_units_are_counted_as_status_counts_them(folder: Path, server: Served) -> None:
    said = server.get("/api/live/half").json
    assert said["units"] == {"asked": 6, "done": 3, "failed": 0, "running": 0, "missing": 3}
    assert (said["running"], said["left_s"], said["now"]) == (False, None, [])
    (folder / "units" / f"{TEMPORARY_PREFIX}{UNITS[3].unit_hash}-1").mkdir()
    with folder_lock(folder):
        held = server.get("/api/live/half").json
        assert held["units"]["running"] == 1
        assert held["running"]
        (now,) = held["now"]
        assert UNITS[3].variant in now["words"]
        assert 0 <= now["share"] < 1
        assert "until_s" not in now
    assert server.get("/api/live/half").json["units"]["missing"] == 3


@pytest.mark.parametrize(
    ("told", "share"),
    [("250000000 1000000000", 0.25), ("1000000000 1000000000", 1.0), ("", None), ("12", None),
     ("2 1", None), ("0 0", None), ("-1 5", None), ("x y", None), ("1 " + "9" * 200, None)],
)  # fmt: skip
def test_a_unit_says_how_much_it_has_simulated(
    folder: Path, server: Served, told: str, share: float | None
) -> None:
    writing = folder / "units" / f"{TEMPORARY_PREFIX}{UNITS[3].unit_hash}-1"
    writing.mkdir()
    (writing / PROGRESS_FILE).write_text(told)
    with folder_lock(folder):
        (now,) = server.get("/api/live/half").json["now"]
    assert ("until_s" in now) == (share is not None)
    if share is not None:
        assert (now["share"], now["simulated_s"] / now["until_s"]) == (share, share)


def test_figures_narrow_with_the_units(server: Served) -> None:
    variants = server.get("/api/live/half").json["variants"]
    assert [len(one["course"]) for one in variants] == [2, 1]
    first, second = variants[0]["course"]
    assert first[2:] == [None, None]
    assert second[2] < second[1] < second[3]
    assert "±" in variants[0]["latency_ms"]
    assert "±" not in variants[1]["latency_ms"]


def test_a_sweep_says_why_its_variants_have_no_figures(folder: Path, server: Served) -> None:
    assert server.get("/api/live/half").json["no_figures"] == ""
    points = [dict(STUDY.points[0]), {"workload.threads": 99}]
    write_plan(folder, AskedUnits(points, UNITS))
    said = server.get("/api/live/half").json
    assert said["no_figures"].startswith("This study has 2 points, so a variant has no mean of its")
    assert [one["latency_ms"] for one in said["variants"]] == ["–", "–"]


def test_a_unit_is_read_once(folder: Path, server: Served) -> None:
    before = server.get("/api/live/half").json["variants"]
    for unit in UNITS[:3]:
        (folder / "units" / unit.unit_hash / "moments.parquet").write_bytes(b"PAR1, and gonePAR1")
    assert server.get("/api/live/half").json["variants"] == before


def test_a_plan_or_a_unit_of_somebody_else_breaks_nothing(folder: Path, server: Served) -> None:
    record = folder / "units" / UNITS[0].unit_hash / "unit.json"
    for content in (b"[]", b'{"wall_s": "x", "transactions": null}', b"1"):
        record.write_bytes(content)
        assert server.get("/api/live/half").json["units"]["done"] == 3
    for content in (b"", b"{", b"\xff"):
        record.write_bytes(content)
        units = server.get("/api/live/half").json["units"]
        assert (units["done"], units["missing"]) == (2, 4)
    away = [f"../../../{'x' * 9}", "/etc", "..", SCRIPT]
    write_plan(folder, AskedUnits([{SCRIPT: SCRIPT}], [Unit(name, 0, SCRIPT, 0) for name in away]))
    said = server.get("/api/live/half").json
    assert said["units"]["done"] == 0
    (folder / "plan.json").write_text(json.dumps({"points": 1}))
    assert "problem" in server.get("/api/live/half").json
    (folder / "plan.json").unlink()
    (folder / "plan.json").symlink_to("/etc/passwd")
    assert "problem" in server.get("/api/live/half").json


def test_what_nobody_holds_is_not_stopped(folder: Path, server: Served) -> None:
    (folder / ".lock").write_text('{"pid": 1, "host": "x", "since": "y"}')
    assert server.post("/study/half/stop").status == 303
    assert not (folder / "stopped").exists()


def wait_for(file: Path) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not file.exists():
        assert time.monotonic() < deadline_s, f"{file} never came"
        time.sleep(0.05)


def test_a_run_is_started_once_and_stopped(folder: Path, server: Served) -> None:
    assert server.post("/study/half/run").status == 303
    said = server.get("/api/live/half").json
    assert said["running"] or said["starting"]
    wait_for(folder / "held")
    said = server.get("/api/live/half").json
    assert (said["running"], said["starting"], said["said"]) == (True, False, ["it begins"])
    assert "running" in server.get("/").text
    server.post("/study/half/run")
    assert server.post("/study/half/stop").headers["location"].endswith("/study/half/live")
    wait_for(folder / "stopped")
    server.wait_for_run("half")
    assert not server.get("/api/live/half").json["running"]


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="chromium is not installed: .ci/test_tools.sh")
def test_the_page_follows_a_run_with_the_keyboard(
    folder: Path, server: Served, tmp_path: Path
) -> None:
    with open_tab(tmp_path) as tab:
        for width_px, dark in ((1280, False), (390, True)):
            tab.resize(width_px, dark=dark)
            tab.show(f"{server.address}/study/half/live")
            tab.wait_for("document.body.getAttribute('data-answered')")
            assert tab.too_wide() == []
        assert tab.text("#says") == "3 of 6 units are done; nothing is running."
        assert tab.value("document.getElementById('stop').disabled")
        tab.tab_to("#go")
        tab.press("Enter")
        tab.wait_for("document.getElementById('says').innerText.includes('running (pid')")
        assert "it begins" in tab.text("#said")
        job = UnitJob(STUDY, str(folder / "units"), "tests.stub_model:run_unit")
        assert run_unit_task(job, Attempt(UNITS[3], STUDY.points[0])) is None
        tab.wait_for("document.getElementById('says').innerText.startsWith('4 of 6')")
        assert "left" in tab.text("#says")
        assert tab.lines("#course") == [True, True]
        tab.tab_to("#course .legend button")
        tab.press(" ")
        assert tab.lines("#course") == [False, True]
        tab.tab_to("#stop")
        tab.press("Enter")
        tab.wait_for("document.getElementById('says')?.innerText.includes('nothing is running')")
        assert (folder / "stopped").exists()
        assert tab.too_wide() == []
        assert tab.console == []
