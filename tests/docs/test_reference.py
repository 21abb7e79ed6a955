"""docs/REFERENCE.md is what ``reference`` prints now, and leaves out no key, metric or profile."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from analysis.cli.app import main
from analysis.metrics.catalogue import METRICS
from analysis.report.reference import names, reference_text
from analysis.study.json_schema import json_schema
from sim.scenario.profiles import profiles
from sim.scenario.schema.operations import OPERATIONS

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "REFERENCE.md"
LINES = REFERENCE.read_text(encoding="utf-8").splitlines()
KEYS = {
    (section, key): said
    for section, schema in json_schema()["$defs"].items()
    for key, said in schema.get("properties", {}).items()
}


def test_the_committed_reference_is_the_present_one() -> None:
    remedy = "run: run_sim.py reference > docs/REFERENCE.md"
    assert reference_text().splitlines() == LINES, remedy


@pytest.mark.parametrize("place", KEYS, ids=".".join)
def test_every_key_has_a_row_with_its_meaning(place: tuple[str, str]) -> None:
    meaning = KEYS[place].get("description", "").partition("Source:")[0].strip()
    rows = [line for line in LINES if line.startswith(f"| `{place[1]}` |")]
    if place[1] != "do":
        assert any(meaning in row for row in rows)


def test_every_metric_operation_and_profile_is_there() -> None:
    known = set(names())
    for file in ("disks", "networks", "machines"):
        assert known.issuperset(profiles(file))
    assert known.issuperset(METRICS)
    assert {f"## do: {kind}" for kind in OPERATIONS} <= set(LINES)


def test_rows_have_as_many_cells_as_their_head() -> None:
    for before, line in pairwise(LINES):
        if line.startswith("|") and before.startswith("|"):
            assert len(re.split(r"(?<!\\)\|", line)) == len(re.split(r"(?<!\\)\|", before))


def test_contents_lead_to_headings() -> None:
    linked = re.findall(r"\]\(#([^)]+)\)", "\n".join(LINES))
    headings = {
        re.sub(r"[^a-z0-9 _-]", "", line.removeprefix("## ").lower()).replace(" ", "-")
        for line in LINES
        if line.startswith("## ")
    }
    assert headings <= set(linked)
    assert set(linked) <= headings


def test_a_default_that_changed_is_told_by_version() -> None:
    row = next(line for line in LINES if line.startswith("| `raftstore.store-io-pool-size`"))
    assert "| `0`, since v8.0 `1` |" in row


def test_the_command_prints_what_has_a_word_in_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reference", "store-pool-size"]) == 0
    printed = capsys.readouterr().out
    assert "| `raftstore.store-pool-size` | whole number, 1 to 1,024 | `2` |" in printed
    assert "apply-pool-size" not in printed


def test_a_name_is_found_in_any_case() -> None:
    for word in ("workload.tables.NAME.rows", "Workload.Tables.Name.Rows"):
        assert reference_text(word).startswith("## workload.tables.NAME\n")


def test_what_no_name_has_is_looked_for_in_the_meanings() -> None:
    assert "| `hot` |" in reference_text("skew")
    assert reference_text("without warning").startswith("## do: crash_store")


def test_a_name_that_is_not_there_has_a_mend(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reference", "in-memroy"]) == 2
    told = "nothing in the reference is called 'in-memroy'; did you mean"
    assert capsys.readouterr().err.startswith(told)


@pytest.mark.parametrize("kind", OPERATIONS)
def test_an_operation_is_found_by_its_name(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reference", kind]) == 0
    assert f"## do: {kind}\n" in capsys.readouterr().out


def test_a_misspelt_operation_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reference", "evict_leadr"]) == 2
    assert "did you mean evict_leader?" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["operations", "schedulers", "workload", "hardware", "Metrics"])
def test_a_section_is_found_whole(word: str) -> None:
    found = reference_text(word)
    for heading in re.findall(r"^## (.*)$", reference_text(), re.MULTILINE):
        if word.lower() in re.split(r"[ ,.:]+", heading.lower())[:2]:
            whole = reference_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
            assert whole.strip() in found


def test_all_operations_are_listed() -> None:
    listed = re.findall(r"^\| `do` \| (.*?) \|", reference_text("operations"), re.MULTILINE)
    assert set(re.findall(r"\w+", " ".join(listed))) == set(OPERATIONS)
