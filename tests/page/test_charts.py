"""Charts over what is swept: amounts in the file's unit, its scale, its words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.page.charts import load_charts, sweep_title
from analysis.page.content import Charts, Page, section
from analysis.page.findings import Findings
from analysis.page.formats import CHART_SCRIPTS, asset, html_text
from tests.analysis.sweeps import AMPLIFICATION, APPEND, grid, sweep_summary
from tests.page import hostile
from tests.page.browser import chromium, look, run_scripts

DISK = "hardware: {disk: {raft: {append: {p50: null, p99: null, mean: 700us, cv: 0.35}}}}\n"


def findings(folder: Path, **axes: Sequence[Any]) -> Findings:
    """Returns a study that sweeps ``append`` and ``amplification``, with made-up values."""
    keys = {"append": APPEND, "amplification": AMPLIFICATION}
    grids = "".join(f"    {keys[name]}: [{', '.join(map(str, axes[name]))}]\n" for name in axes)
    run = hostile.finished(folder, "?", extra=f"{DISK}sweep:\n  grid:\n{grids}")
    return Findings(run, sweep_summary(grid(**axes)), hostile.tables(), [])


def test_a_swept_duration_has_unit_scale_and_words(tmp_path: Path) -> None:
    found = findings(tmp_path, append=["200us", "500us", "1ms", "3ms"])
    chart = load_charts(found)["load-lock_latency"]
    assert chart["x"] == [0.2, 0.5, 1, 3]
    assert chart["axis"] == "append mean (ms)"
    assert chart["xlog"]
    assert chart["ticks"]
    assert sweep_title(found) == "How the results change with append mean"


def test_close_values_stand_on_a_linear_scale(tmp_path: Path) -> None:
    chart = load_charts(findings(tmp_path, append=["100us", "200us", "300us"]))["load-txn_per_s"]
    assert (chart["x"], chart["axis"]) == ([100, 200, 300], "append mean (us)")
    assert not chart["xlog"]


def test_variants_differ_in_dash_as_well_as_in_colour(tmp_path: Path) -> None:
    chart = load_charts(findings(tmp_path, append=["100us", "200us", "300us"]))["load-txn_per_s"]
    (view,) = chart["views"]
    assert len({tuple(line["dash"]) for line in view["series"]}) == 2


def test_a_line_breaks_where_only_a_bound_is_known(tmp_path: Path) -> None:
    found = findings(tmp_path, append=["100us", "200us", "300us"])
    points = grid(append=["100us", "200us", "300us"])
    summary = sweep_summary(points, at_least=lambda point, _: point == points[1])
    found = Findings(found.run, summary, found.tables, [])
    (view,) = load_charts(found)["load-lock_latency"]["views"]
    assert [(line["v"][1], line["gaps"]) for line in view["series"]] == [(None, [1])] * 2


def test_the_heading_names_everything_that_is_swept(tmp_path: Path) -> None:
    found = findings(tmp_path, append=["1ms", "2ms"], amplification=[1, 3])
    assert sweep_title(found) == "How the results change with append mean and write amplification"


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="chromium is not installed: .ci/test_tools.sh")
@pytest.mark.parametrize("width_px", [1280, 390])
def test_a_browser_writes_the_swept_values_under_their_axis(tmp_path: Path, width_px: int) -> None:
    data = load_charts(findings(tmp_path, append=["200us", "500us", "1ms", "3ms"]))
    title = "How the results change with append mean"
    charts = section("load", title, [Charts(tuple(data), "")])
    page = Page("odd", "", (), (), (), charts)
    file = tmp_path / "report.html"
    file.write_text(html_text(page, data), encoding="utf-8")
    view = look(file, width_px, tmp_path)
    assert view.console == []
    assert view.found["stuck"] == []
    assert view.found["tooWide"] == []
    assert len(view.found["axes"]) == len(data)
    assert all(ticks.startswith("0.2,0.5,1,3,") for ticks in view.found["axes"])


def drawn(folder: Path, x: Sequence[float], line: dict[str, Any]) -> dict[str, Any]:
    """Returns what uPlot knows of a chart on a log axis with one line."""
    line = {"name": "sync", "colour": "#0072b2", "dash": []} | line
    chart = {"title": "", "axis": "", "joined": True, "log": True, "x": x,
             "views": [{"name": "", "series": [line]}]}  # fmt: skip
    script = """
        document.body.innerHTML += "<style>.chart-canvas { height: 260px }</style>";
        var made = new Pessim.Chart(document.body, CHART), plot = made.plot;
        requestAnimationFrame(function () { FOUND({
          data: plot.data.slice(1), least: plot.scales.y.min, most: plot.scales.y.max,
          end: plot.valToPos(-1, "y"), rim: plot.valToPos(plot.scales.y.min, "y"),
          ticks: plot.axes[1]._splits
        }); });
    """.replace("CHART", json.dumps(chart))
    found: dict[str, Any] = run_scripts([*map(asset, CHART_SCRIPTS), script], folder)
    return found


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="chromium is not installed: .ci/test_tools.sh")
def test_a_band_breaks_without_an_interval_and_reaches_the_rim_of_a_log_axis(
    tmp_path: Path,
) -> None:
    line = {"v": [4, 5, 6, None], "lo": [3, None, -1, None], "hi": [5, None, 13, None]}
    found = drawn(tmp_path, [1, 2, 3, 4], line)
    value, low, high = found["data"]
    assert value == [4, 5, 6, None]
    assert (low[:3], high[:3]) == ([3, None, -1], [5, None, 13])
    assert 2 < found["least"] < 3, "what lies below the axis does not stretch it"
    assert found["end"] > found["rim"]


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="chromium is not installed: .ci/test_tools.sh")
def test_the_upper_half_of_a_log_axis_has_ticks(tmp_path: Path) -> None:
    found = drawn(tmp_path, [1, 2, 3], {"v": [0.52, 0.9, 1.45]})
    assert found["ticks"] == [0.5, 0.6, 0.8, 1, 1.2, 1.5]
