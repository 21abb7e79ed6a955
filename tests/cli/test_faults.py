"""What is nobody's intention: faults of the program, streams that fail, interruptions."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from analysis.cli import check_command, fuzz_command
from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from tests.cli.stub_runs import DEADLINE_S, ROOT

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
QUICKSTART = str(ROOT / "scenarios" / "quickstart.yaml")


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash in which PESSIM is the command."""
    words = command.replace("PESSIM", f"{sys.executable} {ROOT / 'run_sim.py'}")
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", words],
        capture_output=True, text=True, check=False, timeout=DEADLINE_S,
    )  # fmt: skip


def test_a_fault_is_one_line_and_its_traceback_a_file(
    monkeypatch: Patch, capsys: Capture, tmp_path: Path
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("no such\nluck")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(check_command, "load_study", fails)
    assert main(["check", QUICKSTART]) == ExitStatus.FAULT
    assert int(ExitStatus.FAULT) == 70
    (file,) = tmp_path.iterdir()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("a fault of Pessim's, not of your input: ")
    assert line.endswith(f"; please report it with {file}")
    assert "ZeroDivisionError: no such\nluck" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["schema", f"check {QUICKSTART} --json", "scenarios"])
def test_output_that_cannot_be_written_is_named(command: str) -> None:
    done = shell(f"PESSIM {command} > /dev/full")
    assert done.returncode == ExitStatus.BAD_INPUT
    assert done.stderr == ("standard output: No space left on device; nothing was written there\n")


def test_output_that_is_closed_is_not_missed() -> None:
    done = shell("PESSIM scenarios >&- && PESSIM scenarios 2>&- | head -n 1")
    assert (done.stderr, done.stdout.count("\n")) == ("", 1)


FINISHES = """
import sys
from contextlib import nullcontext
from analysis.terminal.console import output, say
from analysis.terminal.streams import finished_unread
with finished_unread() if sys.argv[1] == "on" else nullcontext():
    for number in range(3_000):
        say(output(), "a line")
print("finished", file=sys.stderr)
"""


@pytest.mark.parametrize("goes_on", ["on", "not"])
def test_a_command_that_writes_files_goes_on_without_its_reader(goes_on: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FINISHES, goes_on],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert ("BrokenPipeError" in said, "finished" in said) == (goes_on == "not", goes_on == "on")


def test_an_interruption_is_told(monkeypatch: Patch, capsys: Capture) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check_command, "load_study", interrupted)
    assert main(["check", QUICKSTART]) == ExitStatus.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_an_interruption_of_the_first_moments_is_no_traceback(tmp_path: Path) -> None:
    package = tmp_path / "analysis" / "cli"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "app.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "run_sim.py").write_text((ROOT / "run_sim.py").read_text())
    done = subprocess.run(
        [sys.executable, "run_sim.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (ExitStatus.INTERRUPTED, "interrupted\n")


def test_a_protection_that_there_is_not_is_refused(capsys: Capture) -> None:
    assert main(["fuzz", "--ablate", "no_term_chek"]) == ExitStatus.BAD_INPUT
    said = capsys.readouterr().err
    assert "no protection 'no_term_chek'; did you mean no_term_check?" in said


@pytest.mark.parametrize(("asked", "cores", "taken"), [("100000", 4, 2), ("100000", 1, 1)])
def test_no_more_processes_than_seeds_or_cores(
    asked: str, cores: int, taken: int, monkeypatch: Patch, capsys: Capture
) -> None:
    seen = []

    def outcomes(_start: int, _seeds: int, workers: int, _names: object) -> list[object]:
        seen.append(workers)
        return []

    monkeypatch.setattr(fuzz_command, "cores", lambda: cores)
    monkeypatch.setattr("analysis.cli.fuzz_command.fuzz.outcomes", outcomes)
    assert main(["fuzz", "--workers", asked, "--seeds", "2"]) == ExitStatus.FINE
    assert seen == [taken]
    assert "PASSED 0 seeds" in capsys.readouterr().out


def test_what_is_no_regular_file_is_no_script(capsys: Capture) -> None:
    assert main(["script", "/dev/zero"]) == ExitStatus.BAD_INPUT
    assert capsys.readouterr().err == "/dev/zero: is not a regular file; name a script\n"
