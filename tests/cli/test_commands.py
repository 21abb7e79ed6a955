"""Commands as a user meets them: exit status, one message a mistake, no traceback."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.cli import spark, study_run
from analysis.cli.app import main, with_default_command
from analysis.cli.failures import ExitStatus
from analysis.report.table import ReportTable, texts
from analysis.report.terminal import print_tables
from analysis.terminal.console import output, say
from analysis.terminal.progress import UnitProgress, remaining_text
from tests.cli.stub_runs import DEADLINE_S

ROOT = Path(__file__).resolve().parents[2]


def run_sim(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "run_sim.py"), *words]
    env = os.environ | environment
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=DEADLINE_S, env=env
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["--help"]),
        (["a.yaml", "--seed", "2"], ["run", "a.yaml", "--seed", "2"]),
        (["check", "a.yaml"], ["check", "a.yaml"]),
        (["--help"], ["--help"]),
    ],
)
def test_a_bare_file_means_run(words: list[str], expected: list[str]) -> None:
    assert with_default_command(words) == expected


@pytest.mark.parametrize(
    "command", ["run", "check", "schema", "scenarios", "status", "report", "bench"]
)
def test_every_command_has_help_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == ExitStatus.FINE
    assert f"Example: python run_sim.py {command}" in capsys.readouterr().out


def test_short_help_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-h"]) == ExitStatus.FINE
    short = capsys.readouterr().out
    assert main(["run", "--help"]) == ExitStatus.FINE
    assert capsys.readouterr().out == short
    assert main(["-h"]) == ExitStatus.FINE


def test_a_check_takes_what_a_run_would_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = str(ROOT / "scenarios" / "quickstart.yaml")
    assert main(["check", scenario, "--set", "run.replications=5"]) == ExitStatus.FINE
    assert "fine, 10 units" in capsys.readouterr().out
    assert main(["check", scenario, "--set", "run.replications=many"]) == ExitStatus.BAD_INPUT
    assert "run.replications" in capsys.readouterr().err


def test_a_check_says_how_long_a_long_study_takes(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = str(ROOT / "scenarios" / "quickstart.yaml")
    assert main(["check", scenario, "--set", "run.measure=1h"]) == ExitStatus.FINE
    assert re.search(
        r"4 units; these units take about [\d.]+ h on \d+ core", capsys.readouterr().out
    )


def test_a_cluster_of_yarn_needs_its_addresses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert main(["run", "a.yaml", "--master", "yarn"]) == ExitStatus.BAD_INPUT
    said = capsys.readouterr().err
    assert "--master yarn needs HADOOP_CONF_DIR or YARN_CONF_DIR" in said
    assert "Java" not in said
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop")
    assert main(["run", "none.yaml", "--master", "yarn"]) == ExitStatus.BAD_INPUT
    assert "none.yaml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "Missing argument 'FILE'"),
        (["run", "a.yaml", "--sed", "3"], "No such option: --sed"),
        (["run", "a.yaml", "--replications", "0"], "'--replications': must be greater than"),
        (["run", "a.yaml", "--seed", "one"], "'--seed': must be a valid integer."),
        (["run", "a.yaml", "--master", "locl[2]"], "'locl[2]' is not a Spark master"),
        (
            ["run", "a.yaml", "--master", "sc://host:15002"],
            "name the master of its cluster: spark://",
        ),
        (["run", "a.yaml", "--out", ""], "'--out': is empty; name a folder, such as results/mine"),
        (["reports", "results/rfc77"], "no command 'reports'; did you mean report."),
    ],
)
def test_a_wrong_command_line_is_one_message(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == ExitStatus.BAD_INPUT
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert message in said[0]


def test_a_folder_that_is_no_study_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("status", "report"):
        assert main([command, str(tmp_path)]) == ExitStatus.BAD_INPUT
        assert "is not a study folder" in capsys.readouterr().err


def test_plain_output_has_no_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    console = output()
    assert (console.width, console.color_system) == (100, None)


@pytest.mark.parametrize(("columns", "width"), [("40", 60), ("0", 100), ("80", 80), ("x", 100)])
def test_results_are_never_too_narrow_to_be_read(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert output().width == width


def test_numbers_are_whole_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    cells = ("lock latency, mean (ms) of all", *["123,456,789 ± 25 of 987,654,321"] * 2)
    print_tables(output(), [ReportTable("", ("", "pipelined", "in_memory"), (texts(*cells),))])
    assert capsys.readouterr().out.count("123,456,789 ± 25 of 987,654,321") == 2
    say(output(), "a:x:b")
    assert capsys.readouterr().out == "a:x:b\n"


def test_time_left_is_told_from_finished_units() -> None:
    assert remaining_text(0, 10, 5.0) == ""
    assert remaining_text(2, 10, 30.0) == "2:00"
    assert remaining_text(10, 10, 30.0) == ""


def test_progress_is_plain_lines_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with UnitProgress(output(), 3) as progress:
        for finished in (0, 1, 3, 3):
            progress.update(finished)
    assert capsys.readouterr().out == "units: 3 of 3 in 0 s\n"


@pytest.mark.slow
def test_a_missing_file_ends_at_once_and_leaves_no_jvm() -> None:
    result = run_sim("no/such/file.yaml")
    assert result.returncode == ExitStatus.BAD_INPUT
    assert "no/such/file.yaml" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_an_unwritable_folder_is_one_message(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    scenario = ROOT / "scenarios" / "quickstart.yaml"
    result = run_sim(str(scenario), "--out", str(in_the_way / "study"))
    assert result.returncode == ExitStatus.BAD_INPUT
    assert "cannot be written" in result.stderr
    assert "Traceback" not in result.stderr
    assert os.environ.get("NO_COLOR") is not None or "\x1b" not in result.stderr


@pytest.mark.slow
def test_without_java_one_message_says_what_to_install(tmp_path: Path) -> None:
    scenario = ROOT / "scenarios" / "quickstart.yaml"
    result = run_sim(str(scenario), "--out", str(tmp_path / "study"), JAVA_HOME=str(tmp_path))
    assert result.returncode == ExitStatus.UNITS_FAILED
    assert "Java 17" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_its_packages_one_message_says_how_to_set_up() -> None:
    command = [sys.executable, "-S", str(ROOT / "run_sim.py"), "check", "x.yaml"]  # -S: no packages
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == ExitStatus.BAD_INPUT
    assert "has no package typer" in result.stderr
    assert "make setup" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} {ROOT / 'run_sim.py'} schema | head -n 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("{\n", "")


class NoSpark:
    """A session that nobody asks for."""

    def __init__(self, master: str, *, shares_folder: bool) -> None:
        self.master, self.shares_folder = master, shares_folder


@pytest.mark.parametrize(
    ("told", "where"),
    [(("results/x/summary.json",), "results/x/summary.json"), ((), "{folder}")],
    ids=["a file", "a write that names none"],
)
def test_a_full_disk_is_one_message(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    told: tuple[str, ...],
    where: str,
) -> None:
    def no_space(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *told)

    monkeypatch.setattr(spark, "SparkStarter", NoSpark)
    monkeypatch.setattr(spark, "stop_spark", lambda _: None)
    monkeypatch.setattr(study_run, "complete_study", no_space)
    scenario = ROOT / "scenarios" / "quickstart.yaml"
    assert main([str(scenario), "--out", str(tmp_path)]) == ExitStatus.UNITS_FAILED
    assert capsys.readouterr().err == (
        f"{where.format(folder=tmp_path)}: No space left on device; units that are done are kept, "
        "the same command continues\n"
    )
