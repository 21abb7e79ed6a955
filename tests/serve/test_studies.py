"""The index: what it shows, how little it reads, and that it reads nothing outside its folder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from analysis.serve.gate import report_key
from analysis.serve.studies import PAGE_STUDIES, NoStudyError, Studies
from analysis.study.study_folder import folder_lock
from analysis.study.study_outcome import ANSWER, StudyOutcome
from tests.page.hostile import MARKUP, SCRIPT
from tests.serve.made_studies import study, summed_up
from tests.serve.served import TOKEN, served

OUTSIDE = "what lies outside"
MANY = 10_000


@pytest.fixture(name="results")
def a_folder_beside_a_secret(tmp_path: Path) -> Path:
    (tmp_path / "secret").mkdir()
    for name in (ANSWER, "report.html", "scenario.yaml", "plan.json"):
        (tmp_path / "secret" / name).write_text(json.dumps({"question": OUTSIDE, "about": OUTSIDE}))
    return tmp_path / "results"


def names(studies: Studies, search: str = "", first: int = 0) -> list[str]:
    return [head.name for head in studies.page(search, first)[0]]


def test_no_folder_is_no_study(tmp_path: Path) -> None:
    assert Studies(tmp_path / "none").page("", 0) == ([], False)


def test_the_latest_is_first_and_words_are_searched(results: Path) -> None:
    for age, name in enumerate(("new", "middle", "old")):
        os.utime(study(results, name, outcome="failed" if age else "passed"), (0, 1000 - age))
    studies = Studies(results)
    assert names(studies) == ["new", "middle", "old"]
    assert names(studies, "failed") == ["middle", "old"]
    assert names(studies, "FAILED nothing OLD?") == ["old"]
    assert names(studies, "failed new") == []


def test_whatever_a_study_came_to_is_said(results: Path) -> None:
    for outcome in StudyOutcome:
        study(results, outcome, outcome=str(outcome))
        assert Studies(results).head(outcome).outcome == outcome


def test_a_study_that_has_not_ended_says_what_it_asks(results: Path) -> None:
    folder = study(results, "begun")
    (folder / ANSWER).unlink()
    assert names(Studies(results)) == []
    (folder / "plan.json").write_text("{}")
    (folder / "scenario.yaml").write_text("# x\nabout: >-\n  Is it\n  so?\nrun: {seed: 1}\n")
    head = Studies(results).head("begun")
    assert (head.question, head.outcome) == ("Is it so?", "unfinished")
    studies = Studies(results)
    assert not studies.is_held("begun")
    with folder_lock(folder):
        assert studies.is_held("begun")


def test_ten_thousand_studies_open_with_the_heads_of_one_page(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, opened = Studies.read, []

    def noted(self: Studies, study: str, file: str, most_bytes: int) -> bytes:
        opened.append(study)
        return read(self, study, file, most_bytes)

    monkeypatch.setattr(Studies, "read", noted)
    for number in range(MANY):
        folder = results / f"study{number:05d}"
        folder.mkdir(parents=True)
        (folder / ANSWER).write_text(f'{{"question": "q{number}", "outcome": "passed"}}')
    studies = Studies(results)
    heads, more = studies.page("", 0)
    assert (len(heads), more) == (PAGE_STUDIES, True)
    assert len(opened) == PAGE_STUDIES + 1
    studies.page("", 0)
    assert len(opened) == PAGE_STUDIES + 1
    having = {f"study{number:05d}" for number in range(MANY) if "q777" in f"q{number}"}
    assert set(names(studies, "q777")) == having
    assert len(opened) == MANY
    studies.page("q778", 0)
    assert len(opened) == MANY
    (results / "study00009" / "new").write_text("")
    assert names(studies)[0] == "study00009"
    assert len(opened) == MANY + 1


def test_pages_follow_one_another(results: Path) -> None:
    for number in range(PAGE_STUDIES + 3):
        os.utime(study(results, f"s{number}"), (0, number + 1))
    with served(results) as server:
        first = server.get("/")
        assert f"from={PAGE_STUDIES}" in first.text
        second = server.get(f"/?from={PAGE_STUDIES}")
        assert second.text.count('class="study"') == 3
        assert "from=0" in second.text
        beyond = server.get("/?from=99999999&q=s").text
        assert "There is no study from number 100000000 on with “s”." in beyond
        assert 'href="/the-token-of-this-test/?q=s">Show the newest' in beyond
        assert "yet" not in beyond
        for odd in ("-1", "x", "9" * 40, "%00", "1e3"):
            assert server.get(f"/?from={odd}").status == 200


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../secret", "/etc", "a/b", "a\0b", "secret\n", "x" * 5000, "none"]
)
def test_a_name_that_is_none_of_the_folder_is_no_study(results: Path, name: str) -> None:
    study(results, "mine")
    with pytest.raises(NoStudyError):
        Studies(results).folder(name)


@pytest.mark.parametrize(
    "file", ["../other/report.html", "../../secret/report.html", "/etc/passwd", "units", "none",
             "a\0b", "units/../../../secret/report.html"],
)  # fmt: skip
def test_a_file_that_is_none_of_the_study_is_not_read(results: Path, file: str) -> None:
    study(results, "mine")
    study(results, "other")
    with pytest.raises(NoStudyError):
        Studies(results).read("mine", file, 1000)


def test_links_lead_nowhere(results: Path) -> None:
    folder = study(results, "mine")
    for name in (ANSWER, "report.html", "scenario.yaml"):
        (folder / name).unlink()
        (folder / name).symlink_to(results.parent / "secret" / name)
    (folder / "plan.json").write_text("{}")
    (folder / "away").symlink_to(results.parent / "secret")
    (results / "linked").symlink_to(results.parent / "secret")
    studies = Studies(results)
    assert names(studies) == ["mine"]
    assert studies.head("mine").question == ""
    for file in (ANSWER, "report.html", "scenario.yaml", "away/report.html"):
        with pytest.raises(NoStudyError):
            studies.read("mine", file, 1000)
    with pytest.raises(NoStudyError):
        studies.folder("linked")
    with served(results) as server:
        key, linked = (report_key(TOKEN, name) for name in ("mine", "linked"))
        for path in (f"/report/{key}/mine/report.html", f"/report/{linked}/linked/report.html"):
            answer = server.ask("GET", path)
            assert (answer.status, OUTSIDE in answer.text) == (404, False)
        assert OUTSIDE not in server.get("/").text
        assert OUTSIDE not in server.get("/api/answer?base=study:mine").text


def test_a_study_with_links_is_not_run(results: Path) -> None:
    folder = study(results, "mine")
    (folder / "plots").symlink_to(results.parent / "secret")
    leaves = f"open({str(results.parent / 'has run')!r}, 'w')"
    with served(results, (sys.executable, "-c", leaves)) as server:
        answer = server.post("/study/mine/run")
        assert answer.status == 404
        assert "plots is a link" in answer.text
    assert not (results.parent / "has run").exists()


@pytest.mark.parametrize(
    "path",
    ["/study/../live", "/study/..%2Fsecret/live", "/study/%2e%2e/live", "/study/%2Fetc/live",
     "/explore?base=study:../secret", "/api/answer?base=study:..%2Fsecret",
     "/api/answer?base=scenario:../../../../etc/passwd", "/api/scenario?base=study:%00",
     "/assets/..%2Fsite.py", "/assets/../site.py", "/assets/%2Fetc%2Fpasswd"],
)  # fmt: skip
def test_no_address_leads_out_of_the_folder(results: Path, path: str) -> None:
    study(results, "mine")
    with served(results) as server:
        answer = server.get(path)
        assert OUTSIDE not in answer.text
        assert "root:" not in answer.text
        assert answer.status in {400, 403, 404} or "there is no" in answer.text


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff\xfe", b"{", b"[" * 100_000, b'{"question": 1, "answer": {"a": 1}}', b"null",
     b'{"question": ["x"], "outcome": {"a": 1}, "answer": [1, null]}',
     b'"' + b"x" * 200_000 + b'"'],
)  # fmt: skip
def test_an_answer_of_somebody_else_breaks_nothing(results: Path, content: bytes) -> None:
    folder = study(results, "theirs")
    (folder / ANSWER).write_bytes(content)
    (folder / "plan.json").write_text("{}")
    (folder / "scenario.yaml").write_bytes(content)
    with served(results) as server:
        answer = server.get("/")
        assert answer.status == 200
        assert "theirs" in answer.text
        assert server.get("/explore?base=study:theirs").status == 200
        assert "problem" in server.get("/api/answer?base=study:theirs").json


def test_a_pipe_is_not_waited_for(results: Path) -> None:
    folder = study(results, "theirs")
    for name in (ANSWER, "report.html"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
    with served(results) as server:
        assert server.get("/").status == 200
        key = report_key(TOKEN, "theirs")
        assert server.ask("GET", f"/report/{key}/theirs/report.html").status == 404


def test_markup_stays_text(results: Path) -> None:
    name = '"><img src=x onerror=alert(1)>'
    study(results, name, question=MARKUP, answer=[SCRIPT, "<b>bold</b>"], outcome="<i>fine</i>")
    with served(results) as server:
        text = server.get("/?q=alert").text
        for markup in ("<script>alert", "<img src=x", "<b>bold", "<i>fine", 'value=""><'):
            assert markup not in text
        assert "&lt;b&gt;bold" in text
        assert "\u202e" not in text
        searched = server.get("/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").text
        assert "<script>" not in searched
        explored = server.get("/explore?base=study:%3C/script%3E%3Cscript%3Ealert(1)%3C/script%3E")
        assert "<script>alert" not in explored.text


def test_a_scenario_with_markup_is_only_text(results: Path) -> None:
    summed_up(results, "odd")
    text = (results / "odd" / "scenario.yaml").read_text()
    (results / "odd" / "scenario.yaml").write_text(text.replace("What of locks?", f'"{SCRIPT}"'))
    with served(results) as server:
        page = server.get("/explore?base=study:odd")
        assert "<script>alert" not in page.text
        assert (
            server.get("/api/scenario?base=study:odd")
            .headers["content-type"]
            .startswith("text/plain")
        )
