"""``diff`` as a user meets it: what changed, what moved, exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from analysis.study.units import AskedUnits, write_plan
from tests.cli.test_json import documented
from tests.comparison.folders import SCENARIO, row, study_folder

LATENCY, RATE = "lock_latency_ms/all/mean", "txn_per_s/all/mean"
A = [
    row(LATENCY, 2.0, 0.02),
    row("lock_latency_ms/all/p99", 8.0, 0.4),
    row(RATE, 1000.0, 5.0),
    row("txn_aborts/all/mean", 0.0),
    row("splits/all/mean", 4.0),
    row(LATENCY, 1.0, 0.01, variant="in_memory"),
]
B = [
    row(LATENCY, 2.5, 0.02),
    row("lock_latency_ms/all/p99", 8.1, 0.4),
    row(RATE, 900.0, 5.0),
    row("txn_aborts/all/mean", 0.0),
    row("merges/all/mean", 4.0),
    row(LATENCY, 1.0, 0.01, variant="in_memory"),
]
THREADS = SCENARIO | {"workload": {"kind": "tpcc", "threads": 100}}


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    """Two studies with different threads."""
    a = study_folder(tmp_path / "a", A)
    b = study_folder(tmp_path / "b", B, THREADS, commit="def", digests={"22": {"counter": "bb"}})
    return str(a), str(b)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_says_what_changed_and_what_moved(
    two: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *two]) == ExitStatus.FINE
    text = said(capsys)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "workload.threads 50 100" in lines
    assert "commit abc def" in lines
    moved = "pipelined lock latency, mean (ms) 2.00 2.50 1.25 ["
    assert any(line.startswith(moved) for line in lines)
    assert any(line.startswith("pipelined transactions (1/s) 1,000 900 0.90") for line in lines)
    unmoved = lines.index("Main numbers that did not move beyond noise")
    (p99,) = (place for place, line in enumerate(lines) if "lock latency, p99 (ms) 8.00" in line)
    assert p99 > unmoved > max(i for i, line in enumerate(lines) if line.startswith(moved))
    assert "2 of 5 numbers moved beyond noise (Welch's t, 5 % false discoveries); 3 did not" in text
    assert "only in A: splits" in lines
    assert "only in B: merges" in lines
    assert not any("facts" in line for line in lines)


def test_fits_80_columns(
    two: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["diff", *two]) == ExitStatus.FINE
    tables = [line for line in said(capsys).splitlines() if "[" in line and "]" in line]
    assert tables
    assert max(map(len, tables)) <= 80


def test_the_same_facts_are_said_to_be_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = study_folder(tmp_path / "a", A), study_folder(tmp_path / "b", A)
    assert main(["diff", str(a), str(b)]) == ExitStatus.FINE
    assert said(capsys).splitlines()[2:] == [
        "scenario: the same",
        "made by: the same",
        "facts: the same, byte for byte, in all 1 units",
        "0 of 6 numbers moved beyond noise (Welch's t, 5 % false discoveries); 6 did not",
    ]


@pytest.mark.parametrize(
    ("guard", "status", "told"),
    [
        ("lock_latency_ms", 1, "worse: pipelined: lock_latency_ms 2 to 2.5, +25.0 %"),
        ("lock_latency_ms:5%", 1, "+25.0 %"),
        ("lock_latency_ms:30%", 0, "fine: lock_latency_ms:30%"),
        ("lock_latency_ms.p99", 0, "fine: lock_latency_ms.p99"),
        ("txn_per_s:5%", 1, "worse: pipelined: txn_per_s 1,000 to 900, -10.0 %"),
        ("txn_aborts", 0, "fine: txn_aborts"),
        ("splits", 1, "worse: pipelined: splits is not in B"),
    ],
)
def test_a_guarded_number_that_became_worse_is_exit_status_1(
    guard: str,
    status: int,
    told: str,
    two: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["diff", *two, "--fail-on", guard]) == status
    assert told in said(capsys)


@pytest.mark.parametrize(
    ("guard", "told"),
    [
        ("lock_latency", "--fail-on: no metric 'lock_latency'; did you mean lock_latency_ms?"),
        ("lock_latency_ms.p98", "--fail-on: no statistic 'p98'; did you mean p99"),
        ("txn_per_s:5", "--fail-on: 'txn_per_s:5' has no unit; write txn_per_s:5%"),
        ("txn_per_s:-5%", "--fail-on: '-5%' is no percentage; write txn_per_s:5%"),
        ("tpmc", "--fail-on: neither study has tpmc; name a number of both"),
    ],
)  # fmt: skip
def test_a_guard_that_means_nothing_is_refused(
    guard: str, told: str, two: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *two, "--fail-on", guard]) == ExitStatus.BAD_INPUT
    assert capsys.readouterr().err.startswith(told)


def test_better_is_not_worse(two: tuple[str, str]) -> None:
    assert main(["diff", two[1], two[0], "--fail-on", "lock_latency_ms:1%"]) == ExitStatus.FINE


def test_what_is_refused_or_has_no_interval_cannot_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = study_folder(tmp_path / "a", [row(LATENCY, 2.0, 0.1), row(RATE, 9.0, 0.1)])
    b = study_folder(
        tmp_path / "b",
        [row(LATENCY, None, refused="1 of 5 are overloaded"), row(RATE, 9.0, replications=1)],
    )
    guards = ["--fail-on", "lock_latency_ms", "--fail-on", "txn_per_s"]
    assert main(["diff", str(a), str(b), *guards]) == ExitStatus.CLAIM_FAILED
    text = said(capsys)
    assert "refused in B: pipelined, lock_latency_ms: 1 of 5 are overloaded" in text
    assert "worse: pipelined: lock_latency_ms is refused in B: 1 of 5 are overloaded" in text
    assert "worse: pipelined: txn_per_s 9 to 9 cannot be judged: run at least two" in text


@pytest.mark.parametrize("also_in_b", [False, True])
def test_what_a_refused_before_cannot_be_judged(
    also_in_b: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    no_number = row(LATENCY, None, refused="1 of 5 are overloaded")
    a = study_folder(tmp_path / "a", [no_number])
    b = study_folder(tmp_path / "b", [no_number if also_in_b else row(LATENCY, 2.0, 0.1)])
    assert main(["diff", str(a), str(b), "--fail-on", "lock_latency_ms"]) == 1
    why = "is refused in B and in A" if also_in_b else "cannot be judged: it is refused in A"
    text = said(capsys)
    assert f"worse: pipelined: lock_latency_ms {why}: 1 of 5 are overloaded" in text
    assert "fine:" not in text


def test_a_bound_is_said_to_be_one_and_what_a_study_came_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = study_folder(tmp_path / "a", [row(LATENCY, 2.0, 0.1), row(RATE, 9.0, 0.1)])
    bound = row(LATENCY, 2951.0) | {"at_least": True, "ci_low": None, "ci_high": None}
    b = study_folder(tmp_path / "b", [bound, row(RATE, 4.0, 0.1)])
    (b / "answer.json").write_text('{"outcome": "outage"}', encoding="utf-8")
    assert main(["diff", str(a), str(b), "--fail-on", "lock_latency_ms"]) == 1
    text = said(capsys)
    assert "; OUTAGE" in text
    told = "not judged, since something had not ended: pipelined, lock_latency_ms: "
    assert f"{told}2 to more than 2,951" in text
    assert "lock_latency_ms 2 to more than 2,951 cannot be judged: something had not ended" in text
    assert "run at least two replications" not in text


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        ("passed", "outage", ExitStatus.CLAIM_FAILED),
        ("passed", "degraded", ExitStatus.CLAIM_FAILED),
        ("overloaded", "degraded", ExitStatus.CLAIM_FAILED),
        ("outage", "outage", ExitStatus.FINE),
        ("outage", "passed", ExitStatus.FINE),
        ("passed", "", ExitStatus.FINE),
    ],
)
def test_a_guard_does_not_hold_in_a_study_that_came_to_worse(
    before: str, after: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [study_folder(tmp_path / name, [row(LATENCY, 2.0, 0.1)]) for name in "ab"]
    for folder, outcome in zip(folders, (before, after), strict=True):
        if outcome:
            (folder / "answer.json").write_text(f'{{"outcome": "{outcome}"}}', encoding="utf-8")
    names = [str(folder) for folder in folders]
    assert main(["diff", *names, "--fail-on", "lock_latency_ms:5%"]) == status
    text = said(capsys)
    came = f"worse: A came to {before}, B to {after}, whatever its numbers say"
    assert (came in text, "fine: " in text) == (status != 0, status == 0)
    assert ("verdict not known" in text) == (not after)
    assert main(["diff", *names]) == ExitStatus.FINE


def test_variants_of_one_study_alone_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = study_folder(tmp_path / "a", A)
    b = study_folder(tmp_path / "b", [*B, row(LATENCY, 9.0, 0.1, variant="sync")])
    assert main(["diff", str(a), str(b)]) == ExitStatus.FINE
    assert "variants only in B: sync; the 2 in both are compared" in said(capsys)


def test_the_only_variants_are_compared_whatever_they_are_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = study_folder(tmp_path / "a", [row(LATENCY, 2.0, 0.1)])
    b = study_folder(tmp_path / "b", [row(LATENCY, 1.0, 0.1, variant="in_memory")])
    assert main(["diff", str(a), str(b)]) == ExitStatus.FINE
    text = said(capsys)
    assert "variants: pipelined of A is compared with in_memory of B" in text
    assert "0.50 [0.4" in text


def test_studies_without_a_point_in_common_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swept = [row(LATENCY, 2.0, point={"workload.threads": threads}) for threads in (1, 2)]
    a, b = study_folder(tmp_path / "a", swept), study_folder(tmp_path / "b", A)
    assert main(["diff", str(a), str(b)]) == ExitStatus.BAD_INPUT
    told = capsys.readouterr().err
    assert "a sweeps workload.threads" in told
    assert "b sweeps nothing" in told


@pytest.mark.parametrize("lost", ["scenario.yaml", "manifest.json", "summary.parquet"])
def test_a_folder_that_cannot_be_read_is_one_message(
    lost: str, two: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(two[0]) / lost).unlink()
    (Path(two[0]) / "units" / "11").mkdir(parents=True)
    assert main(["diff", *two]) == ExitStatus.BAD_INPUT
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert lost in told
    assert two[0] in told


@pytest.mark.parametrize("asked", ["diff", "report"])
def test_a_study_without_a_finished_unit_is_to_be_run(
    asked: str, two: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(two[0])
    (folder / "manifest.json").unlink()
    (folder / "scenario.yaml").write_text("extends: pessim:quickstart\n")
    write_plan(folder, AskedUnits([{}], []))
    assert main(["diff", *two] if asked == "diff" else ["report", two[0]]) == ExitStatus.BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{folder}: no unit is finished; ")
    assert line.endswith(f"run {folder}/scenario.yaml --out {folder} runs them")


def test_json_is_one_document_with_all_numbers(
    two: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    guard = ["--fail-on", "txn_per_s:5%"]
    assert main(["diff", *two, *guard, "--json"]) == ExitStatus.CLAIM_FAILED
    document: dict[str, Any] = documented(json.loads(said(capsys)))
    assert document["scenario"] == [{"key": "workload.threads", "a": 50, "b": 100}]
    assert (document["judged"], document["not_judged"]) == (5, 0)
    assert [move["metric"] for move in document["moved"]] == ["lock_latency_ms", "txn_per_s"]
    assert document["moved"][0]["ratio"] == pytest.approx(1.25)
    (worse,) = document["worse"]
    assert worse["fail_on"] == "txn_per_s:5%"
    assert document["facts"] == {"a": 1, "b": 1, "same": 0, "all_same": False}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("manifest.json", b"[]", "manifest.json is not a mapping"),
        ("manifest.json", b"{", "its results cannot be read (Expecting property name"),
        ("scenario.yaml", b"hello", "scenario.yaml is not a mapping"),
        ("summary.parquet", b"PAR1", "its results cannot be read (Parquet file size is 4 bytes"),
    ],
)
def test_a_damaged_file_is_one_message(
    name: str, content: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = study_folder(tmp_path / "a", A), study_folder(tmp_path / "b", A)
    (b / name).write_bytes(content)
    assert main(["diff", str(a), str(b)]) == ExitStatus.BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert line.endswith("makes them again")
