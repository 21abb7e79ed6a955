"""``explain`` as a user meets it: tables, warnings, verification, JSON, exit status, work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from analysis.study.load import load_study
from tests.cli.stub_runs import DEADLINE_S

ROOT = Path(__file__).resolve().parents[2]
CRASH = str(ROOT / "scenarios" / "crash.yaml")
MAP = str(ROOT / "scenarios" / "rfc77_map.yaml")


def row(
    variant: str, metric: str, value: float, class_: str = "all", half: float | None = None
) -> dict[str, Any]:
    low, high = (None, None) if half is None else (value - half, value + half)
    return {
        "point": {}, "variant": variant, "metric": metric, "class": class_, "stat": "mean",
        "value": value, "ci_low": low, "ci_high": high, "replications": 4, "unit": "",
    }  # fmt: skip


@pytest.fixture
def crash_study(tmp_path: Path) -> Path:
    """A finished study of crash.yaml, as far as ``--verify`` looks at it."""
    rows = [
        row(variant, metric, value, class_, half)
        for variant in ("pipelined", "in_memory", "sync")
        for metric, class_, value, half in (
            ("txn_per_s", "all", 300.0, 1.0),
            ("lock_latency_ms", "all", 0.4, 0.01),
            ("disk_write_bytes_per_txn", "all", 120_000.0, None),
            ("cpu_busy", "apply", 0.04, 0.001),
            ("disk_busy", "raft_log", 0.2, 0.001),
        )
    ]
    folder = tmp_path / "crash"
    folder.mkdir()
    (folder / "summary.json").write_text(json.dumps({"rows": rows}), encoding="utf-8")
    scenario = load_study(Path(CRASH)).resolved_yaml()
    (folder / "scenario.yaml").write_text(scenario, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["capacity_gp3_vs_nvme", "rfc77", "sweep_threads"])
def test_the_units_are_those_that_check_names(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for command, words in (("check", "units"), ("explain", "units of about")):
        assert main([command, str(ROOT / "scenarios" / f"{name}.yaml")]) == ExitStatus.FINE
        told.append(re.findall(rf"([\d,]+) {words}", capsys.readouterr().out))
    assert told[0][:1] == told[1] != []


def test_says_what_to_expect_within_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["explain", CRASH]) == ExitStatus.FINE
    said = capsys.readouterr().out
    # Sentences are left to the terminal to wrap; tables must fit.
    rows = [line for line in said.splitlines() if line.rstrip()[-1:].isdigit()]
    assert len(rows) > 15
    assert max(len(line.rstrip()) for line in rows) <= 80
    for words in (
        "lock latency, mean (ms)", "disk writes per txn (KiB)", "store_poller x2",
        "busiest station", "12 regions", "12 units of about", "not simulated",
    ):  # fmt: skip
        assert words in said
    assert "…" not in said


def test_points_that_are_left_out_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", MAP]) == ExitStatus.FINE
    said = capsys.readouterr().out
    assert said.count("busiest station") == 3
    assert "45 more points are not shown" in said
    assert "--set workload.threads=..." in said


def test_variants_may_have_different_stations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "volumes.yaml"
    file.write_text(
        "extends: pessim:quickstart\n"
        "compare:\n"
        "  pipelined: {tikv.raftstore.apply-pool-size: 2}\n"
        "  in_memory: {hardware.disk.kv: aws_gp3_base, tikv.raftstore.apply-pool-size: 5}\n",
        encoding="utf-8",
    )
    assert main(["explain", str(file)]) == ExitStatus.FINE
    lines = capsys.readouterr().out.splitlines()
    (kv_disk,) = [line.split() for line in lines if line.split()[:1] == ["kv_disk"]]
    assert kv_disk[2] == "–"
    assert kv_disk[3].endswith("%")
    assert any("apply x2/5" in line for line in lines)


def test_verify_holds_estimate_and_simulation_side_by_side(
    crash_study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", CRASH, "--verify", "--out", str(crash_study)]) == ExitStatus.FINE
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "transactions (1/s) 300 300 ± 1 +0.0%" in lines
    assert any(line.startswith("raft_log busy (%)") and "points" in line for line in lines)
    assert any("117 (n=1)" in line for line in lines)  # 120,000 B without an interval
    assert sum(line.startswith("estimate simulation") for line in lines) == 3


def test_verify_without_a_study_says_which_command_makes_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none"
    assert main(["explain", CRASH, "--verify", "--out", str(missing)]) == ExitStatus.BAD_INPUT
    said = capsys.readouterr()
    assert said.out == ""
    assert f"python run_sim.py run {CRASH} --out {missing}" in said.err


def test_verify_refuses_the_study_of_another_scenario(
    crash_study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", str(ROOT / "scenarios" / "tikv_v8.yaml"), "--verify", "--out"]
    assert main([*words, str(crash_study)]) == ExitStatus.BAD_INPUT
    assert "of another scenario (it has no variant in_memory_sync_io)" in capsys.readouterr().err


def test_verify_refuses_the_study_of_the_same_variants_with_another_load(
    crash_study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", CRASH, "--set", "workload.rate=7/s", "--verify", "--out"]
    assert main([*words, str(crash_study)]) == ExitStatus.BAD_INPUT
    said = capsys.readouterr()
    assert said.out == ""
    where = f"{crash_study}: is of another scenario (its pipelined has workload.rate: '300/s')"
    assert where in said.err
    assert f"run {CRASH} --set workload.rate=7/s --out {crash_study}" in said.err


def test_json_is_one_document(crash_study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", CRASH, "--json", "--verify", "--out", str(crash_study)]
    assert main(words) == ExitStatus.FINE
    document = json.loads(capsys.readouterr().out)
    found = document["points"][0]["variants"]["pipelined"]
    assert found["bottleneck"] == "store_cpu"
    assert found["write_bytes_per_txn"]["all"] == pytest.approx(
        sum(size for place, size in found["write_bytes_per_txn"].items() if place != "all")
    )
    assert {"figure", "estimate", "simulation"} == set(found["verified"][0])
    assert document["points_left_out"] == 0


def test_a_wrong_scenario_gets_the_problems_that_check_finds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong = ["explain", CRASH, "--set", "workload.thraeds=3"]
    assert main(wrong) == ExitStatus.BAD_INPUT
    assert "did you mean threads?" in capsys.readouterr().err


PROGRAM = """
import sys
from analysis.cli.app import main
from tests.call_count import calls_of
calls = calls_of(lambda: print(main(["explain", sys.argv[1]]), file=sys.stderr))
heavy = {"pandas", "pyarrow", "pyspark", "matplotlib", "scipy"} & set(sys.modules)
print(sorted(heavy), calls, file=sys.stderr)
"""


def test_is_little_work_and_loads_nothing_heavy() -> None:
    scenario = str(ROOT / "scenarios" / "rfc77.yaml")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, scenario],
        capture_output=True, text=True, check=True, cwd=ROOT, timeout=DEADLINE_S,
    )  # fmt: skip
    status, heavy, calls = done.stderr.split()
    assert (status, heavy) == ("0", "[]")
    assert int(calls) < 1_150_000
