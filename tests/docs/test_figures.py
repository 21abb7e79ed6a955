"""The documents' figures are those of the present model, and are what was written there.

``python -m benchmarks figures`` mends what fails here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analysis.metrics.catalogue import METRICS
from analysis.study.study import Study as AskedStudy
from benchmarks import figure_studies, figures
from benchmarks.documents import DOCUMENTS, blocks
from benchmarks.figure_marks import marks, quoted_again, tables, with_numbers
from benchmarks.figure_readings import ReadingError, metric_words, read
from benchmarks.figure_studies import STUDIES, Study, asked_studies, digest
from benchmarks.figure_tables import Table

OTHERWISE_MADE = {
    "validation.png": "run_sim.py validate --write",
    "calibrate_disk.png": "run_sim.py calibrate disk, from a measurement that stays",
}
"""Pictures that no study of the list makes."""

TABLES = {name for study in STUDIES.values() for name in study.tables}
RECORD = figures.recorded()


@pytest.mark.parametrize("name", STUDIES)
def test_a_studys_figures_are_of_the_present_model(name: str, tmp_path: Path) -> None:
    assert RECORD.get(name, {}).get("digest") == digest(STUDIES[name], tmp_path), (
        f"python -m benchmarks figures --only {name}"
    )
    said = set(RECORD[name]["figures"]) - {f"table {table}" for table in STUDIES[name].tables}
    assert set(figures.wanted(name)) == said


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_marked_figure_is_what_its_study_said(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for mark in marks(text):
        assert mark.study in STUDIES, f"no study {mark.study}"
        said = RECORD.get(mark.study, {}).get("figures", {})
        assert said.get(mark.reading) == mark.text, mark
    for table in tables(text):
        assert table.name in TABLES, f"no table {table.name}"
        studies = [name for name, study in STUDIES.items() if table.name in study.tables]
        for name in studies:
            said = RECORD.get(name, {}).get("figures", {})
            assert said.get(f"table {table.name}") == table.text


FOUND_ELSEWHERE = ("capacity", "cost", "sensitivity", "validation")
"""Beginnings of readings that are not of a row of a summary."""


def rows_of_all(study: AskedStudy, metric: str) -> dict[str, Any]:
    """Returns a summary with a number of one metric for every variant at every point."""
    name, class_, stat = metric_words(metric)
    of = {"metric": name, "class": class_, "stat": stat, "replications": 3}
    baseline, *others = study.variants
    value = of | {"value": 1.0, "ci_low": 0.9, "ci_high": 1.1}
    ratio = of | {"ratio": 1.0, "ci_low": 0.9, "ci_high": 1.1, "baseline": baseline}
    at = study.points
    return {
        "rows": [value | {"variant": v, "point": p} for v in study.variants for p in at],
        "comparisons": [ratio | {"variant": v, "point": p} for v in others for p in at],
    }


@pytest.mark.parametrize("name", STUDIES)
def test_what_the_documents_ask_of_a_study_it_will_say(name: str, tmp_path: Path) -> None:
    readings = [each for each in figures.wanted(name) if not each.startswith(FOUND_ELSEWHERE)]
    cells = [
        f"{row} {column}"
        for table in STUDIES[name].tables.values()
        if isinstance(table, Table)
        for row in table.rows.values()
        for column in table.columns.values()
    ]
    for reading in readings + cells:
        (metric,) = (word for word in reading.split() if word.partition(".")[0] in METRICS)
        asked = asked_studies(STUDIES[name], tmp_path)[-1]
        assert read(rows_of_all(asked, metric), reading)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_marks_do_not_show(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert not [block for block in blocks(document) if marks(block.text)], "code shows comments"
    assert not re.findall(r"^ *<!--=.*", text, re.MULTILINE), "the line would be no paragraph's"
    closed = len(marks(text)), len(tables(text))
    assert closed == (text.count("<!--= "), text.count("<!-- table: ")), "a mark is not closed"
    assert closed == (text.count("<!--/-->"), text.count("<!-- end of table -->"))


def test_every_picture_is_a_studys() -> None:
    shown = {
        found
        for document in DOCUMENTS
        for found in re.findall(r"img/([\w.]+)\)", document.read_text(encoding="utf-8"))
    }
    made = {picture: name for name, study in STUDIES.items() for picture in study.pictures}
    assert shown == made.keys() | OTHERWISE_MADE.keys()
    for picture, name in made.items():
        assert RECORD[name]["pictures"][picture] == figures.picture_digest(picture)


SUMMARY: dict[str, Any] = {
    "rows": [
        {"variant": who, "metric": "lock_latency_ms", "class": "all", "stat": stat,
         "point": {"workload.threads": 50}, "replications": 5, "unit": "ms",
         "value": value, "ci_low": value - 0.01, "ci_high": value + 0.01}
        for who, value in (("a", 2.0), ("b", 0.8))
        for stat in ("mean", "p99")
    ],
    "comparisons": [
        {"variant": "b", "baseline": "a", "metric": "lock_latency_ms", "class": "all",
         "stat": "mean", "point": {"workload.threads": 50},
         "ratio": 0.4, "ci_low": 0.396, "ci_high": 0.404},
    ],
    "capacity": {"cases": [{"load": 1234.5, "says": "pollers"}]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("reading", "text"),
    [
        ("lock_latency_ms b", "0.800"),
        ("b us ± lock_latency_ms", "800 ± 10"),
        ("lock_latency_ms.p99 a threads=50 []", "2.00 [1.99, 2.01]"),
        ("lock_latency_ms b sum", "4"),
        ("lock_latency_ms.p99 b threads=51 sum", "0"),
        ("lock_latency_ms b/a", "0.400 [0.396, 0.404]"),
        ("lock_latency_ms b/a ratio", "0.400"),
        ("lock_latency_ms b/a saved", "60 %"),
        ("lock_latency_ms b/a change[]", "−60.0 % [−60.4, −59.6]"),
        ("capacity.cases.0.load whole", "1,234"),
        ("capacity.cases.0.says", "pollers"),
    ],
)
def test_a_reading(reading: str, text: str) -> None:
    assert read(SUMMARY, reading) == text


@pytest.mark.parametrize(
    "reading",
    [
        "lock_latency_ms c",
        "lock_latency_ms b threads=51",
        "lock_latency_ms b gain",
        "lock_latency_ms b/a gain",
        "lock_latency_ms a/b",
        "lock_latency_ms b/a ±",
        "txn_per_s b",
        "txn_per_s b sum",
        "lock_latency_ms sum",
        "capacity.cases.1.load",
    ],
)
def test_a_reading_without_an_answer_is_refused(reading: str) -> None:
    with pytest.raises(ReadingError, match=re.escape(reading.partition(" ")[0])):
        read(SUMMARY, reading)


def test_a_quotation_takes_the_same_lines_with_their_new_numbers() -> None:
    quoted = "\n    a   b\n p50 of a  1.0   2.0\n p99 of a  3.0   4.0\nwarning: 3 left\ngone\n"
    printed = (
        "start\n    a    b  \n p50 of a  9.0  not known yet\n p99 of a  7   8\nwarning: 4 left\n"
    )
    fresh, missing = quoted_again(quoted, printed)
    assert fresh.splitlines() == [
        "", "    a    b", " p50 of a  9.0  not known yet", " p99 of a  7   8",
        "warning: 4 left", "gone",
    ]  # fmt: skip
    assert missing == ["gone"]


def test_a_quoted_row_is_of_the_table_whose_head_is_quoted() -> None:
    printed = "x = 1  a\n p99  10\nx = 20  a\n p99  20\n p50  5\n"
    assert quoted_again("x = 20  a\n p99  0\n", printed)[0] == "x = 20  a\n p99  20\n"
    assert quoted_again(" p50  0\n p99  0\n", printed)[0] == " p50  5\n p99  10\n"
    printed = "x = 1\n  a\n p99  10\nx = 20\n  a\n p99  20\n"
    assert quoted_again("x = 20\n  a\n p99  10\n", printed)[0] == "x = 20\n  a\n p99  20\n"


def test_a_digest_changes_with_the_question_and_the_model_and_not_with_a_comment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = tmp_path / "one.yaml"
    text = "about: Is it?\nworkload: {kind: tpcc, warehouses: 5, threads: 2}\n"
    one, other = Study(("one.yaml",)), Study(("one.yaml --set workload.threads=3",))
    scenario.write_text(text)
    before = digest(one, tmp_path)
    assert digest(other, tmp_path) != before
    scenario.write_text(f"# A comment.\n{text}")
    assert digest(one, tmp_path) == before
    scenario.write_text(text.replace("5", "6"))
    assert digest(one, tmp_path) != before
    scenario.write_text(text)
    monkeypatch.setattr(figure_studies, "GOLDEN", tmp_path)
    (tmp_path / "other.txt").write_text("other facts")
    assert digest(one, tmp_path) != before


def test_one_command_writes_what_changed_and_only_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "DOC.md"
    document.write_text(
        "It is <!--= one: lock_latency_ms b -->9.9<!--/--> ms, <!--= two: x -->1<!--/-->.\n\n"
        "```sh\nrun_sim.py quickstart.yaml\n```\n```\nlatency 9 ms\nfound 1\n```\n"
    )
    folder = tmp_path / "work"
    study = Study(("quickstart.yaml",), "one")
    runs: list[list[str]] = []

    def run(words: list[str]) -> str:
        runs.append(words)
        (folder / "results" / "one").mkdir(parents=True, exist_ok=True)
        (folder / "results" / "one" / "summary.json").write_text(json.dumps(SUMMARY))
        return "found 2\nlatency 8 ms\n"

    for name, value in {
        "DOCUMENTS": [document], "FOLDER": folder, "RECORD": tmp_path / "figures.json",
        "STUDIES": {"one": study}, "_run": run, "digest": lambda *_: "d1",
    }.items():  # fmt: skip
        monkeypatch.setattr(figures, name, value)
    monkeypatch.setattr("sys.argv", ["figures"])
    assert figures.main() == 0
    written = document.read_text()
    assert "-->0.800<!--/--> ms, <!--= two: x -->1<!--/-->" in written
    assert "```\nlatency 8 ms\nfound 2\n```\n" in written
    assert "lock_latency_ms b: 9.9 -> 0.800" in capsys.readouterr().out
    assert figures.main() == 0
    assert len(runs) == 1, "what is up to date is not run again"
    monkeypatch.setattr(figures, "digest", lambda *_: "d2")
    assert figures.main() == 0
    assert len(runs) == 2
    assert document.read_text() == written


def test_a_figure_that_is_not_there_keeps_its_study_stale_and_the_others_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "DOC.md"
    document.write_text(
        "It is <!--= one: lock_latency_ms b -->9<!--/-->, <!--= one: txn_per_s b -->1<!--/-->.\n"
    )
    folder = tmp_path / "work"
    (folder / "results" / "one").mkdir(parents=True)
    (folder / "results" / "one" / "summary.json").write_text(json.dumps(SUMMARY))
    for name, value in {
        "DOCUMENTS": [document], "FOLDER": folder, "RECORD": tmp_path / "figures.json",
        "STUDIES": {"one": Study(("one.yaml",), "one")}, "_run": lambda _: "",
        "digest": lambda *_: "d1",
    }.items():  # fmt: skip
        monkeypatch.setattr(figures, name, value)
    monkeypatch.setattr("sys.argv", ["figures"])
    assert figures.main() == 1
    assert "-->0.800<!--/-->" in document.read_text()
    assert "txn_per_s b -->1<" in document.read_text()
    assert "no figure: txn_per_s b" in capsys.readouterr().out
    assert not figures.is_current("one")


def test_numbers_are_put_in_place() -> None:
    text = "a <!--= s: x y -->1<!--/--> b <!--= s: z -->2<!--/-->"
    assert [mark.reading for mark in marks(text)] == ["x y", "z"]
    assert with_numbers(text, lambda mark: mark.text) == text
    assert "-->z!<!--/-->" in with_numbers(text, lambda mark: f"{mark.reading}!")
