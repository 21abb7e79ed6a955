"""Both files of a report: nothing hostile gets through, and what has to be said is said."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from analysis.metrics.row_table import RowTable
from analysis.page.study_page import HTML, MARKDOWN, write_page
from analysis.study.load import load_study
from tests.page import hostile

REFUSED = "1 of 2 replications is overloaded: transactions pile up"


class Reader(HTMLParser):
    """Collects elements with their attributes, and text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts.append(data)
        elif inside != "style":
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def write(folder: Path, run: Any = None, **more: Any) -> tuple[str, str]:
    run = run or hostile.finished(folder)
    drawn = [hostile.picture(folder)]
    summary = hostile.summary(**more)
    write_page(run, summary, hostile.tables(), drawn)
    page, text = ((folder / name).read_text(encoding="utf-8") for name in (HTML, MARKDOWN))
    return page, text


def claim(**more: Any) -> dict[str, Any]:
    return {
        "point": {}, "metric": "lock_latency_ms", "class": hostile.MARKUP, "stat": "mean",
        "variant": "in_memory", "against": "pipelined", "below": 0.4, "above": None, "value": 0.5,
        "holds": False, "refuted": True, "reason": "0.5 [0.48, 0.52] is not below 0.4",
    } | more  # fmt: skip


def test_nothing_of_a_scenario_becomes_markup(tmp_path: Path) -> None:
    page, _ = write(
        tmp_path,
        expectations=[claim()],
        warnings=[{"kind": "x", "text": hostile.MARKUP}],
    )
    reader = Reader(page)
    assert [script for script in reader.scripts if script.startswith("alert")] == []
    assert len(reader.all("script")) == 4  # data, the library, charts, where they stand
    assert reader.all("b") == []
    for name, attributes in reader.elements:
        assert not [key for key in attributes if key.startswith("on")], (name, attributes)
        assert str(attributes.get("href", "#")).startswith("#")
        assert str(attributes.get("src", "data:image/")).startswith("data:image/")
    assert hostile.SCRIPT in reader.text.replace("\N{NO-BREAK SPACE}", " ")
    assert "\u202e" not in page
    assert "\x07" not in page


def test_nothing_of_a_scenario_becomes_markdown(tmp_path: Path) -> None:
    _, text = write(
        tmp_path,
        expectations=[claim()],
        warnings=[{"kind": "x", "text": hostile.MARKUP}],
    )
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    flat = [*tokens, *(child for token in tokens for child in token.children or [])]
    assert {token.type for token in flat} & {"html_inline", "html_block", "link_open", "em_open",
                                             "code_inline", "s_open", "fence"} == set()  # fmt: skip
    images = [token.attrs["src"] for token in flat if token.type == "image"]
    assert images == ["plots/over_time.png"]
    widths = {line.count("|") - line.count("\\|") for line in text.splitlines()
              if line.startswith("| lock latency")}  # fmt: skip
    assert len(widths) == 1
    outside_code = [line for line in text.splitlines() if not line.startswith("    ")]
    assert not re.search(r"(?<!\\)://", "\n".join(outside_code))


def test_a_page_loads_nothing_and_says_so(tmp_path: Path) -> None:
    page, _ = write(tmp_path)
    reader = Reader(page)
    [policy] = [one["content"] for one in reader.all("meta")
                if one.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.partition("script-src")[2]
    assert reader.all("link") == []
    for script in reader.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "url(" not in page.partition("<style>")[2].partition("</style>")[0]
    assert "sourceMappingURL" not in page


def test_headings_are_in_order_and_named_once(tmp_path: Path) -> None:
    page, text = write(tmp_path)
    reader = Reader(page)
    levels = [int(name[1]) for name, _ in reader.elements if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [str(one["href"])[1:] for one in reader.all("a")]
    assert set(targets) <= set(ids)
    assert [line for line in text.splitlines() if line.startswith("# ")] == [text.splitlines()[0]]


def test_cells_have_their_headings(tmp_path: Path) -> None:
    page, _ = write(tmp_path)
    assert all(one.get("scope") in ("row", "col") for one in Reader(page).all("th"))


def test_the_answer_has_numbers_and_intervals(tmp_path: Path) -> None:
    page, text = write(tmp_path, hostile.finished(tmp_path, "Is it faster?"))
    said = " ".join(Reader(page).text.replace("\N{NO-BREAK SPACE}", " ").split())
    latency = "With in_memory, a lock request takes 1.00 ms on average instead of 2.00 ms with "
    latency += "pipelined: 50 % [48, 52] less."
    for shown in (said, text):
        assert latency in shown
        assert "Disk writes per transaction cannot be told apart (0 % [−3, +3])" in shown
        assert "20.0 % [19.0, 21.0] more transactions a second (120 instead of 100)" in shown
    assert "limited by the station “store pollers”, 97 % busy" in said
    assert "no station is full; the busiest station is “store pollers”, 31 % busy" in said


def test_a_ratio_has_its_verdict_in_words_and_its_interval(tmp_path: Path) -> None:
    page, text = write(tmp_path, hostile.finished(tmp_path, "Is it faster?"))
    interval = '<span class="interval">[0.48,\N{NO-BREAK SPACE}0.52]</span>'
    assert f'<td class="number better">0.50 better {interval}</td>' in page
    assert "| 0.50 better [0.48, 0.52] |" in text


def test_a_failed_transaction_is_told_first_and_a_rollback_is_none(tmp_path: Path) -> None:
    operations = "operations: [{at: 1s, do: transfer_leader, region: random}]\n"
    run = hostile.finished(tmp_path, "What is lost?", extra=operations)
    _, text = write(tmp_path, run)
    told = text.split("\n\n")[2]
    assert told == (
        "In a run, on average, with in_memory no lock was lost and no transaction failed; with "
        "pipelined no lock was lost and 2 transactions failed. All had ended with the run."
    )


def test_that_nobody_asks_for_a_lock_is_told_first(tmp_path: Path) -> None:
    free = [
        hostile.row(variant, metric, value)
        for variant in ("pipelined", "in_memory")
        for metric, value in (("txn_latency_ms", 3.0), ("lock_rpcs_per_txn", 0.0),
                              ("disk_write_bytes_per_txn", 0.0), ("txn_per_s", 100.0))
    ]  # fmt: skip
    same = [hostile.ratio("txn_latency_ms", 1.0, 0.99, 1.01)]
    rows, ratios = RowTable.from_rows(free, [{}]), RowTable.from_rows(same, [{}])
    page, text = write(tmp_path, hostile.finished(tmp_path, "Is it faster?"), rows=rows,
                       comparisons=ratios)  # fmt: skip
    first, then = text.split("\n\n")[2:4]
    assert first == "No transaction asks for a lock."
    assert then.startswith("With in_memory, a transaction takes 3.00 ms on average, 3.00 ms")
    assert "nan" not in Reader(page).text.lower().split()
    _, locked = write(tmp_path)
    assert "asks for a lock" not in locked


def test_what_is_refused_is_refused_everywhere(tmp_path: Path) -> None:
    rows = [dict(one) for one in hostile.ROWS]
    rows[1] |= {"value": None, "ci_low": None, "ci_high": None, "refused": REFUSED}
    table = RowTable.from_rows(rows, [{}])
    run = hostile.finished(tmp_path, "Is it faster?")
    page, text = write(tmp_path, run, rows=table)
    assert f"Latencies of in_memory are refused: {REFUSED}." in text
    assert '<td class="number refused">refused</td>' in page
    assert "1.00 ms" not in text


def test_missing_units_and_broken_claims_are_told_at_the_top(tmp_path: Path) -> None:
    run = hostile.finished(tmp_path, "Is it faster?", missing=1)
    violations = {"checked": 3, "violations": [
        {"unit": "a", "variant": "in_memory", "replication": 1, "point": {}, "what": "two holders"},
    ]}  # fmt: skip
    page, text = write(
        tmp_path, run, expectations=[claim(**{"class": "all"})], invariants=violations
    )
    top = page.partition("</header>")[0]
    assert "1 of 4 units are missing" in top
    assert "two holders" in top
    assert "should be below 0.4; found: 0.5" in top.replace("\N{NO-BREAK SPACE}", " ")
    assert "> 1 of 4 units are missing" in text


def test_words_among_numbers_may_wrap(tmp_path: Path) -> None:
    page, _ = write(tmp_path, expectations=[claim(reason=f"refused, pipelined: {REFUSED}")])
    assert f'<td class="words">refused, pipelined: {REFUSED}</td>' in page
    page, _ = write(tmp_path, expectations=[claim()])
    assert '<td class="number">0.5' in page


def test_a_claim_about_many_points_is_one_notice_and_so_are_many_notes(tmp_path: Path) -> None:
    claims = [
        claim(**{"class": "all"}, point={"workload.threads": threads}, holds=threads > 7,
              refuted=threads < 3)
        for threads in range(1, 10)
    ]  # fmt: skip
    other = claim(**{"class": "all"}, metric="txn_per_s", point={"workload.threads": 1})
    warned = [{"kind": "mechanism", "text": f"only {number} splits"} for number in range(1, 11)]
    warned.append({"kind": "unasked", "text": "a rough number"})
    page, _ = write(tmp_path, expectations=[*claims, other], warnings=warned)
    top, _, rest = page.replace("\N{NO-BREAK SPACE}", " ").partition("</header>")
    assert top.count("Expectation ") == 2
    assert (
        "Expectation not met at 2 and not shown at 5 of 9 points: lock_latency_ms mean, in_memory "
        "/ pipelined should be below 0.4; “Comparison” says what was found at each." in top
    )
    assert "txn_per_s mean, in_memory / pipelined at workload.threads = 1 should be" in top
    assert "only 1 splits. “How far to trust it” has 9 more notes of this kind." in top
    assert "only 2 splits" not in top
    assert "a rough number." in top
    assert all(f"<li>only {number} splits.</li>" in rest for number in range(1, 11))


def test_one_replication_has_no_interval_and_says_so(tmp_path: Path) -> None:
    rows = [dict(one) | {"ci_low": None, "ci_high": None, "replications": 1} for one in
            hostile.ROWS]  # fmt: skip
    ratios = [dict(one) | {"ci_low": None, "ci_high": None} for one in hostile.RATIOS]
    _, text = write(
        tmp_path,
        hostile.finished(tmp_path, "Is it faster?"),
        rows=RowTable.from_rows(rows, [{}]),
        comparisons=RowTable.from_rows(ratios, [{}]),
    )
    assert "With one replication no number here has an interval" in text
    assert "50 % (n=1) less" in text


def test_the_data_of_charts_has_gaps_and_events(tmp_path: Path) -> None:
    page, _ = write(tmp_path)
    charts = json.loads(Reader(page).scripts[0])
    assert list(charts) == ["time-0-locks"]
    chart = charts["time-0-locks"]
    mean, p99 = chart["views"]
    assert (mean["name"], p99["name"]) == ("mean", "p99")
    assert [line["name"] for line in mean["series"]] == ["pipelined", "in_memory"]
    assert mean["series"][0]["v"] == [1, 2, 3, 4, None, 6, 7, 8, 9, 10]
    assert mean["series"][0]["hi"][0] == 20
    assert "lo" not in p99["series"][0]
    assert chart["warmup"] == 1.0
    assert chart["marks"] == [[1, 3, f"slow disk: {hostile.SCRIPT}"]]
    dashes = [tuple(line["dash"]) for line in mean["series"]]
    assert len(set(dashes)) == 2


def test_a_question_that_nobody_asked_has_a_heading_all_the_same(tmp_path: Path) -> None:
    run = hostile.finished(tmp_path, "x")
    file = tmp_path / "odd.yaml"
    file.write_text(file.read_text().partition("\n")[2])
    _, text = write(tmp_path, replace(run, study=load_study(file)))
    assert text.startswith("# Study odd\n")


@pytest.mark.parametrize("name", ["1.1", "2.3", "3.4", "4.1", "5.2", "6.1"])
def test_the_checklist_is_filled_in(tmp_path: Path, name: str) -> None:
    _, text = write(tmp_path, hostile.finished(tmp_path, "Is it faster?"))
    [line] = [line for line in text.splitlines() if line.startswith(f"| {name} ")]
    assert len(line.split("|")[2].strip()) > 10
