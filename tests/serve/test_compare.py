"""Studies over one another: what moved, as diff judges it, served and as one file."""

from __future__ import annotations

import html
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.failures import CommandError
from analysis.cli.study_app import DiffCommand
from analysis.comparison.results import read_results
from analysis.comparison.study_diff import study_diff
from analysis.metrics.row_table import RowTable
from analysis.page.formats import CHART_SCRIPTS, library
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.program import called
from analysis.report.summary import write_summary
from analysis.serve.compare import MOST_STUDIES, comparison, comparison_file, shipped
from analysis.serve.courses import COURSES
from analysis.study.units import AskedUnits, write_plan
from tests.page import hostile
from tests.page.browser import chromium, look
from tests.planned import plan_units
from tests.serve.made_studies import study, summed_up
from tests.serve.served import Served, served
from tests.serve.tab import open_tab
from tests.stub_model import run_settings, stub_study

ODD = '"><img src=x onerror=alert(1)>'


def rows(scale: float) -> RowTable:
    more = [
        hostile.row(variant, "lock_latency_ms", value * scale, stat=stat)
        for variant in ("pipelined", "in_memory")
        for stat, value in (("p50", 1.0), ("p99", 5.0))
    ]
    moved = [row | {"value": row["value"] * scale, "ci_low": row["ci_low"] * scale,
                    "ci_high": row["ci_high"] * scale} for row in hostile.ROWS]  # fmt: skip
    return RowTable.from_rows([*moved, *more], [{}])


@pytest.fixture(name="results")
def three_studies(tmp_path: Path) -> Path:
    results = tmp_path / "results"
    for name, scale in (("a", 1.0), ("b", 2.0), (ODD, 1.0)):
        write_summary(summed_up(results, name), hostile.summary() | {"rows": rows(scale)})
    text = (results / "b" / "scenario.yaml").read_text()
    (results / "b" / "scenario.yaml").write_text(text.replace("100/s", "200/s"))
    return results


@pytest.fixture(name="server")
def a_server(results: Path) -> Iterator[Served]:
    with served(results) as server:
        yield server


def found(results: Path, *names: str) -> dict[str, Any]:
    return comparison([(name, read_results(results / name)) for name in names])


def test_verdicts_are_those_of_diff(results: Path) -> None:
    (pair,) = found(results, "a", "b")["pairs"]
    diff = study_diff(*(read_results(results / name) for name in ("a", "b")))
    assert pair["moved"] == len(diff.moved) > 0
    assert [row[0].text for row in pair["changes"].rows] == [one.key for one in diff.scenario]
    told = {(row[0].text, row[1].text): row[-1].verdict for row in pair["moves"].rows}
    assert told["in_memory", "lock latency, mean (ms)"] == "worse"
    assert told["in_memory", "transactions (1/s)"] == "better"
    same = found(results, "a", ODD)["pairs"][0]
    assert (same["moved"], same["changes"].rows) == (0, ())
    assert {row[-1].verdict for row in same["moves"].rows} <= {"did not move", "not judged"}


def test_each_study_is_held_against_the_first(results: Path) -> None:
    made = found(results, "b", "a", ODD)
    assert [(pair["a"], pair["b"]) for pair in made["pairs"]] == [("b", "a"), ("b", ODD)]
    (chart,) = made["charts"]
    assert len(chart["views"][0]["series"]) == 6
    assert chart["x"] == [2, 100]


def test_a_bound_is_no_point_of_a_curve(results: Path) -> None:
    bound = hostile.row("pipelined", "lock_latency_ms", 9000.0, stat="p999") | {
        "ci_low": None, "ci_high": None, "at_least": True,
    }  # fmt: skip
    table = RowTable.from_rows([*map(dict, rows(1.0)), bound], [{}])
    write_summary(results / "b", hostile.summary() | {"rows": table})
    (chart,) = found(results, "a", "b")["charts"]
    assert chart["x"] == [2, 100]


@pytest.mark.parametrize(
    "names",
    [[], ["a"], ["a", "a"], ["a", "none"], ["a", "bare"],
     [str(number) for number in range(MOST_STUDIES + 1)]],
)  # fmt: skip
def test_what_cannot_be_compared_is_said(server: Served, results: Path, names: list[str]) -> None:
    study(results, "bare")
    answer = server.get("/compare?" + "&".join(f"study={name}" for name in names))
    assert answer.status in {200, 404}
    assert 'role="alert"' in answer.text


def test_a_study_that_has_not_ended_is_said_to_be_so(server: Served, results: Path) -> None:
    (results / "b" / "manifest.json").unlink()
    answer = server.get("/compare?study=a&study=b")
    assert answer.status == 200
    assert "b has not ended: it has no manifest.json yet. Continue it, then compare." in answer.text


def test_a_ratio_that_is_not_known_is_not_said_to_have_stayed(results: Path) -> None:
    wide = [
        hostile.row("pipelined", "txn_per_s", 50.0) | {"ci_low": -900.0, "ci_high": 1000.0},
        *(row for row in rows(1.0) if row["metric"] != "txn_per_s"),
    ]
    table = RowTable.from_rows(wide, [{}])
    write_summary(results / "b", hostile.summary() | {"rows": table})
    (pair,) = found(results, "a", "b")["pairs"]
    told = {(row[-1].text, row[-1].verdict) for row in pair["moves"].rows}
    assert ("not known yet", "") in told
    assert ("not known yet", "did not move") not in told


def test_a_link_among_the_results_is_not_read(server: Served, results: Path) -> None:
    secret = results.parent / "secret.parquet"
    secret.write_bytes((results / "b" / "summary.parquet").read_bytes())
    (results / "b" / "summary.parquet").unlink()
    (results / "b" / "summary.parquet").symlink_to(secret)
    assert server.get("/compare?study=a&study=b").status == 404


def simulated(results: Path, name: str, replications: int = 2) -> Path:
    """Makes the folder of a study of one point whose units are done."""
    folder = summed_up(results, name)
    ran = stub_study(run=run_settings(measure_ns=1_000_000_000, replications=replications))
    units = plan_units(ran)
    write_plan(folder, AskedUnits(list(ran.points), units))
    for unit in units:
        job = UnitJob(ran, str(folder / "units"), "tests.stub_model:run_unit")
        assert run_unit_task(job, Attempt(unit, {})) is None
    return folder


def over_time(results: Path, *names: str) -> dict[str, list[Any]]:
    """Returns the lines of each chart over time, each with its points in ``line``."""
    return {
        chart["title"]: [
            one | {"line": list(zip(chart["x"], one["v"], one["lo"], one["hi"], strict=True))}
            for one in chart["views"][0]["series"]
        ]
        for chart in found(results, *names)["charts"]
        if "over time" in chart["title"]
    }


def test_courses_are_laid_over_one_another_where_they_are_recorded(results: Path) -> None:
    simulated(results, "c")
    simulated(results, "d")
    charts = over_time(results, "c", "d", "a")
    assert list(charts) == list(COURSES.values())
    names = [series["name"] for series in charts["Lock latency over time, mean (ms)"]]
    assert names == [f"{study}, {variant}" for study in ("c", "d")
                     for variant in ("pipelined", "sync", "in_memory")]  # fmt: skip
    by_name = {series["name"]: series["line"] for series in charts[COURSES["lock_latency"]]}
    for slow, quick in zip(by_name["c, pipelined"], by_name["c, in_memory"], strict=True):
        at_s, mean, low, high = slow
        assert (at_s, quick[1]) == (quick[0], pytest.approx(mean / 2, rel=1e-3))
        assert low < mean < high
    rate = charts[COURSES["txns"]][0]["line"]
    assert rate[0][1] < rate[-1][1], "the warm-up carries fewer"
    assert all(low >= 0 for _, _, low, _ in rate)


def test_one_replication_has_a_course_without_a_band(results: Path) -> None:
    simulated(results, "c", replications=1)
    line = over_time(results, "a", "c")[COURSES["txns"]][0]["line"]
    assert all(mean == low == high for _, mean, low, high in line)


@pytest.mark.parametrize(
    "damage", ["[]", "{", '{"window_ns": 0, "simulated_ns": 1}', '{"window_ns": "x"}']
)
def test_a_record_of_somebody_else_has_no_course(results: Path, damage: str) -> None:
    for record in simulated(results, "c").glob("units/*/unit.json"):
        record.write_text(damage)
    assert over_time(results, "a", "c") == {}


def test_a_link_among_the_facts_has_no_course(server: Served, results: Path) -> None:
    folder = simulated(results, "c")
    assert "over time" in server.get("/compare?study=a&study=c").text
    for facts in folder.glob("units/*/moments.parquet"):
        facts.rename(results.parent / facts.parent.name)
        facts.symlink_to(results.parent / facts.parent.name)
    page = server.get("/compare?study=a&study=c")
    assert (page.status, "over time" in page.text) == (200, False)


def test_the_page_names_the_command_as_it_was_called(server: Served, results: Path) -> None:
    text = html.unescape(server.get("/compare?study=a&study=b").text)
    folders = shlex.join([str(results / "a"), str(results / "b")])
    assert f"<code>{called()} diff {folders} --html comparison.html</code>" in text


def test_markup_stays_text_in_the_file(results: Path) -> None:
    manifest = results / ODD / "manifest.json"
    manifest.write_text(json.dumps({"seed": hostile.SCRIPT, "units": [], "digests": {}}))
    text = comparison_file([(name, read_results(results / name)) for name in ("a", ODD)])
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    for told in (library()["home"], *map(shipped, CHART_SCRIPTS)):
        text = text.replace(told, "")
    assert "http://" not in text
    assert "https://" not in text


def test_diff_writes_the_same_as_a_file(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert DiffCommand(a=results / "a", b=results / "b", html=file)() == 0
    served_words = [row[1].text for row in found(results, "a", "b")["pairs"][0]["moves"].rows]
    text = html.unescape(file.read_text()).replace("\N{NO-BREAK SPACE}", " ")
    assert [word for word in served_words if word not in text] == []
    file.write_text(file.read_text() + "<!-- older -->")
    assert DiffCommand(a=results / "a", b=results / "b", html=file)() == 0
    assert "older" not in file.read_text()
    nowhere = tmp_path / "none" / "page.html"
    with pytest.raises(CommandError, match=r"none/page.html: cannot be written"):
        DiffCommand(a=results / "a", b=results / "b", html=nowhere)()


def test_diff_writes_over_no_file_of_another(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("workload: {}")
    with pytest.raises(CommandError, match=r"mine.yaml: exists, and this command has not written"):
        DiffCommand(a=results / "a", b=results / "b", html=file)()
    assert file.read_text() == "workload: {}"


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="chromium is not installed: .ci/test_tools.sh")
def test_the_page_in_a_browser(server: Served, results: Path, tmp_path: Path) -> None:
    with open_tab(tmp_path) as tab:
        for width_px, dark in ((1280, False), (390, False), (1280, True), (390, True)):
            tab.resize(width_px, dark=dark)
            tab.show(f"{server.address}/?q=nothing")
            for number in (1, 2, 3):
                tab.tab_to(f"#choose-{number}")
                tab.press(" ")
            tab.tab_to("form[action$=compare] .tools button")
            tab.press("Enter")
            tab.wait_for("document.querySelectorAll('#charts .legend button').length === 6")
            assert tab.too_wide() == []
            all_six = tab.drawing("#charts")
            tab.tab_to(".legend button")
            tab.press("Enter")
            assert tab.drawing("#charts") != all_six
            tab.press("Enter")
            assert tab.drawing("#charts") == all_six
            tab.tab_to(".chart-canvas")
            tab.press("ArrowRight")
            assert "one in" in tab.text(".told")
            assert "b, pipelined 10.0" in tab.text(".told")
            whole = tab.drawing("#charts")
            for word in ("zoom in", "show all"):
                tab.value(f"[...document.querySelectorAll('.buttons button')].find("
                          f"(one) => one.textContent === '{word}').click()")  # fmt: skip
                assert (tab.drawing("#charts") == whole) == (word == "show all")
        assert tab.console == []
    file = tmp_path / "file" / "page.html"
    file.parent.mkdir()
    names = ("a", ODD, "b")
    file.write_text(comparison_file([(name, read_results(results / name)) for name in names]))
    for width_px in (1280, 390):
        seen = look(file, width_px, tmp_path)
        assert (seen.console, seen.found["tooWide"]) == ([], [])
        assert seen.found["scrollWidth"] <= width_px
