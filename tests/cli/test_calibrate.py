"""``calibrate`` as it is typed: files, standard output, and exit status."""

from __future__ import annotations

import json
from errno import ENOSPC
from pathlib import Path

import pytest
import yaml

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from analysis.cli.new_files import write_new
from tests.calibration.fio_documents import document, job, latencies, one_job, written


def test_a_disk_goes_to_its_file_and_the_report_to_the_reader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fio = written(tmp_path, one_job())
    growing = written(tmp_path, one_job(90, fallocate="none"), "growing.json")
    out, plot = tmp_path / "made" / "disk.yaml", tmp_path / "fit.png"
    words = ["calibrate", "disk", str(fio), str(growing), "--out", str(out), "--plot", str(plot)]
    assert main([*words, "--name", "mine"]) == ExitStatus.FINE
    printed = capsys.readouterr()
    assert "modelled, us" in printed.out
    assert max(map(len, printed.out.splitlines()[1:6])) <= 80
    assert yaml.safe_load(out.read_text())["hardware"]["disk"]["raft"]["name"] == "mine"
    assert (tmp_path / "made" / "disk_preallocated.yaml").exists()
    assert plot.stat().st_size > 5_000
    assert plot.with_suffix(".svg").read_text().count("modelled") >= 1


def test_without_a_file_the_profile_is_all_of_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "disk", str(written(tmp_path, one_job()))]) == ExitStatus.FINE
    printed = capsys.readouterr()
    assert yaml.safe_load(printed.out)["hardware"]["disk"]["raft"]["append"]["quantiles"]
    assert "error, %" in printed.err


def test_a_profile_replaces_nothing_that_somebody_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fio = written(tmp_path, one_job())
    before = fio.read_text()
    assert main(["calibrate", "disk", str(fio), "--out", str(fio)]) == ExitStatus.BAD_INPUT
    assert f"{fio}: is one of the files given; name another --out" in capsys.readouterr().err
    assert fio.read_text() == before
    out = tmp_path / "disk.yaml"
    words = ["calibrate", "disk", str(fio), "--out", str(out)]
    for _ in range(2):
        assert main(words) == ExitStatus.FINE
    mine = out.read_text() + "workload: {kind: tpcc, warehouses: 9, threads: 5}\n"
    out.write_text(mine)
    capsys.readouterr()
    assert main(words) == ExitStatus.BAD_INPUT
    assert f"{out}: exists, and your changes in it would be lost" in capsys.readouterr().err
    assert out.read_text() == mine
    assert main([*words, "--force"]) == ExitStatus.FINE
    assert out.with_name("disk.yaml.bak").read_text() == mine


def test_the_report_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "disk", str(written(tmp_path, one_job())), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["holds"] is True
    assert [each["p"] for each in report["fits"][0]["quantiles"]][-1] == pytest.approx(99.9)


def test_a_model_that_does_not_say_what_was_measured_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crowds = {"a": (180.0, "4k"), "b": (700.0, "16k")}
    files = [
        written(tmp_path, one_job(100), "alone.json"),
        written(tmp_path, one_job(150, bs="16k"), "longer.json"),
        *(
            written(
                tmp_path,
                document(
                    *(
                        job(latencies(median, name=f"{name}{i}"), {"numjobs": "2", "bs": size})
                        for i in range(2)
                    )
                ),
                f"{name}.json",
            )
            for name, (median, size) in crowds.items()
        ),
    ]
    status = main(["calibrate", "disk", *map(str, files), "--out", str(tmp_path / "disk.yaml")])
    assert status == ExitStatus.CLAIM_FAILED
    said = " ".join(capsys.readouterr().out.split())
    assert "BEYOND 5%: b.json. The model does not say what was measured there. Measure" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["disk", "text.txt"], "text.txt: line 1: is not JSON; run fio 3"),
        (["network", "text.txt"], "text.txt: has no round trips"),
        (["tikv", "text.txt"], "text.txt: "),
        (["tikv", "text.txt", "other.toml"], "write one tikv.toml"),
        (["disc", "text.txt"], "write disk, network or tikv"),
        (["disk", "text.txt", "--name", "my disk"], "use letters, digits"),
        (["disk", "none.json"], "check the name"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("fio-3.33 says hello = \n")
    assert main(["calibrate", *words]) == ExitStatus.BAD_INPUT
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


SAMPLES = Path(__file__).resolve().parents[1] / "testdata" / "calibration"


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (["network", "ping.txt", "iperf3.json"], {"hardware": {"network"}}),
        (
            ["tikv", "tikv.toml", "--prometheus", "stages.json"],
            {"tikv": None, "hardware": {"cpu", "store_core_speed"}},
        ),
    ],
)
def test_the_samples_of_the_guide_make_parts_of_a_scenario(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    made: dict[str, set[str] | None],
) -> None:
    monkeypatch.chdir(SAMPLES)
    out = tmp_path / "made.yaml"
    assert main(["calibrate", *words, "--out", str(out)]) == ExitStatus.FINE
    found = yaml.safe_load(out.read_text())
    assert set(found) == set(made)
    assert all(set(found[key]) == inner for key, inner in made.items() if inner is not None)


def test_a_file_that_cannot_be_written_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fio = written(tmp_path, one_job())
    assert main(["calibrate", "disk", str(fio), "--out", "/proc/none/disk.yaml"]) == 2
    assert "nothing was written there" in capsys.readouterr().err


def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    path = tmp_path / "disk.yaml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space left") as failed:
            write_new({path: "text"})
    assert failed.value.filename == str(path)
