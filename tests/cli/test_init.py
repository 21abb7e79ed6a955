"""``init`` as it is typed: a scenario from what was measured, and nothing lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from analysis.calibration import disk_fit, first_scenario
from analysis.cli.app import main, with_an_option_a_file
from analysis.cli.failures import ExitStatus
from analysis.study.load import load_study
from sim.distributions import LognormalMean
from tests.calibration.fio_documents import one_job, written

TESTDATA = Path(__file__).resolve().parents[1] / "testdata"
FIO = [str(file) for file in sorted((TESTDATA / "fio").glob("seqwrite_4k*.json"))]
SAMPLES = TESTDATA / "calibration"
PING, TUNED = str(SAMPLES / "ping.txt"), str(SAMPLES / "tikv_tuned.toml")
STAGES = str(SAMPLES / "stages.json")


@pytest.fixture
def known_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the cluster's load for known, which is estimated else: for tests of other things."""
    load = first_scenario._Load(now=600, low=300, high=6_000, promise_ms=100)
    monkeypatch.setattr(first_scenario, "_load", lambda *_: load)


@pytest.fixture
def few_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holds disks against the model in few accesses: for tests that ask for no error of a fit."""
    monkeypatch.setattr(disk_fit, "_ACCESSES", 1_000)


@pytest.fixture(scope="module", name="whole")
def scenario_from_all_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the file that ``init`` makes of everything that can be measured."""
    out = tmp_path_factory.mktemp("init") / "my.yaml"
    words = ["--fio", *FIO, "--ping", PING, "--tikv", TUNED, "--prometheus", STAGES]
    assert main(["init", *words, "--out", str(out)]) == ExitStatus.FINE
    return out


def _comments(file: Path) -> str:
    lines = (line.strip() for line in file.read_text().splitlines())
    return " ".join(line.strip("# ") for line in lines if line.startswith("#"))


def test_real_files_make_a_capacity_study(whole: Path) -> None:
    study = load_study(whole)
    assert list(study.variants) == ["pipelined", "in_memory"]
    scenario = study.variants["in_memory"]
    assert scenario.hardware.raft_disk.name == "own_overwriting", "as the raft log is written"
    assert scenario.hardware.network.same_zone == LognormalMean(150_000, 0.2)
    assert scenario.hardware.cpu.store_message_ns == 37_500
    assert scenario.tikv.store_io_pool_size == 2
    assert study.capacity is not None
    assert study.capacity.low < (scenario.workload.rate_per_s or 0) < study.capacity.high
    assert main(["check", str(whole), "--strict"]) == ExitStatus.FINE


def test_every_figure_says_where_it_is_from(whole: Path) -> None:
    for source in (
        "seqwrite_4k_fdatasync_qd1_overwrite.json: fio-3.33", "ping.txt: ping, 10,000 round trips",
        "tikv_tuned.toml: 19 of", "not modelled: gc.enable-compaction-filter. Old versions",
        "store_message: CPU of the store pollers", "ASSUMED: TPC-C stands in",
    ):  # fmt: skip
        assert source in _comments(whole)


@pytest.mark.parametrize(
    ("toml", "disk"),
    [
        ("[raft-engine]\nenable = false\n", "own_growing"),
        ("[raft-engine]\nenable = true\nenable-log-recycle = false\n", "own"),
        ("[raft-engine]\nenable = true\n", "own_overwriting"),
    ],
)
@pytest.mark.usefixtures("known_load", "few_accesses")
def test_the_disk_is_the_one_that_was_written_as_the_raft_log_is(
    tmp_path: Path, toml: str, disk: str
) -> None:
    out, file = tmp_path / "my.yaml", written(tmp_path, toml, "tikv.toml")
    assert main(["init", "--fio", *FIO, "--tikv", str(file), "--out", str(out)]) == 0
    assert load_study(out).variants["in_memory"].hardware.raft_disk.name == disk


@pytest.mark.usefixtures("known_load", "few_accesses")
def test_another_way_of_writing_is_assumed(tmp_path: Path) -> None:
    out = tmp_path / "my.yaml"
    assert main(["init", "--fio", str(written(tmp_path, one_job())), "--out", str(out)]) == 0
    assert "ASSUMED: the log is overwriting, which no run with one job shows" in _comments(out)


def test_a_ping_alone_is_enough_and_goes_to_standard_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["init", "--ping", PING, "--machine", "gp3_base", "--rate", "300/s"]) == 0
    printed = capsys.readouterr()
    made = yaml.safe_load(printed.out)
    assert made["hardware"]["profile"] == "gp3_base"
    assert made["workload"]["rate"] == "300/s"
    assert "round trip of ping.txt" in printed.err


@pytest.mark.usefixtures("known_load")
def test_locks_that_are_written_first_are_compared_too(tmp_path: Path) -> None:
    out = tmp_path / "my.yaml"
    toml = written(tmp_path, "[pessimistic-txn]\npipelined = false\n", "tikv.toml")
    assert main(["init", "--tikv", str(toml), "--out", str(out)]) == ExitStatus.FINE
    modes = {name: each.tikv.lock_mode for name, each in load_study(out).variants.items()}
    assert modes == {"sync": "sync", "pipelined": "pipelined", "in_memory": "in_memory"}


@pytest.mark.usefixtures("known_load")
def test_what_exists_is_neither_replaced_nor_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "my.yaml"
    words = ["init", "--ping", PING, "--out", str(out)]
    assert main(words) == ExitStatus.FINE
    assert main(words) == ExitStatus.FINE, "the same text changes nothing"
    mine = out.read_text() + "# mine\n"
    out.write_text(mine)
    capsys.readouterr()
    assert main(words) == ExitStatus.BAD_INPUT
    said = capsys.readouterr().err
    assert said.startswith(f"{out}: exists, and your changes in it would be lost; ")
    assert out.read_text() == mine
    assert main([*words, "--force"]) == ExitStatus.FINE
    assert out.read_text() != mine
    assert (tmp_path / "my.yaml.bak").read_text() == mine
    assert f"kept: {out}.bak" in " ".join(capsys.readouterr().out.split())
    out.write_text("# again\n")
    assert main([*words, "--force"]) == ExitStatus.FINE
    assert (tmp_path / "my.yaml.bak").read_text() == mine
    assert (tmp_path / "my.yaml.bak1").read_text() == "# again\n"


def test_a_measurement_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ping = tmp_path / "ping.txt"
    ping.write_text(Path(PING).read_text())
    words = ["init", "--ping", str(ping), "--out", str(ping), "--force"]
    assert main(words) == ExitStatus.BAD_INPUT
    assert "is one of the files given; name another --out" in capsys.readouterr().err
    assert ping.read_text() == Path(PING).read_text()


def test_the_report_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--ping", PING, "--tikv", TUNED, "--json"]) == ExitStatus.FINE
    report = json.loads(capsys.readouterr().out)
    assert report["network"]["round_trips"] == 10_000
    assert report["tikv"]["not_modelled"]["gc.enable-compaction-filter"].startswith("Old versions")
    assert yaml.safe_load(report["scenario"])["capacity"]["load"] == "workload.rate"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no measurements; give --fio, --ping or --tikv"),
        (["--prometheus", STAGES], "metrics need the cluster's tikv.toml; add --tikv"),
        (["--tikv", TUNED, "--tikv", TUNED], f"{TUNED}: 2 are given; write one tikv.toml"),
        (["--ping", PING, "--rate", "fast"], "--rate: "),
        (["--ping", PING, "--rate", "0/s"], "--rate: 0/s is too small; write 0.01/s or more"),
        (["--ping", PING, "--rate", "9e9/s"], "--rate: 9e9/s is too large"),
        (["--ping", PING, "--machine", "gp3"], "gp3: no profile 'gp3' in machines.yaml"),
        (["--ping", TUNED], "has no round trips"),
        (["--fio", "none.json"], "check the name"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["init", *words]) == ExitStatus.BAD_INPUT
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


def test_an_option_takes_all_files_that_follow() -> None:
    words = ["init", "--fio", "a", "b", "--tikv", "t", "--ping", "c", "d", "--out", "o"]
    assert with_an_option_a_file(words) == [
        "init", "--fio", "a", "--fio", "b", "--tikv", "t", "--ping", "c", "--ping", "d",
        "--out", "o",
    ]  # fmt: skip
    assert with_an_option_a_file(["run", "--fio", "a", "b"]) == ["run", "--fio", "a", "b"]
