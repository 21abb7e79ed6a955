"""Shell completion, asked through the shells themselves."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.cli.app import main
from analysis.cli.completion import completion_script, prepare, settings, study_folders
from analysis.cli.failures import ExitStatus
from tests.cli.stub_runs import DEADLINE_S

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ["run", "status", "check"]
BASH = """
COMP_WORDBREAKS='='; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
{last}
_run_sim_completion "${{COMP_WORDS[0]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(shell: str, line: str) -> list[str]:
    """Returns what a shell proposes for the last word of a line."""
    script = completion_script(shell)
    if shell == "bash":
        last = "COMP_WORDS+=(''); COMP_CWORD=$((COMP_CWORD + 1))" if line.endswith(" ") else ""
        # As readline cuts it: what stands beside a = is a word of its own, and so is the =.
        words = re.sub(r"(\S)=(\S*)", r"\1 = \2", line)
        script += BASH.format(words=words, line=line, last=last)
    else:
        script += f"complete -C'{line}'\n"
    said = subprocess.run(
        [shell, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE_S,
    )
    return [text.split("\t")[0] for text in said.stdout.splitlines() if text]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("run_sim.py stat", ["status"]),
        ("python run_sim.py stat", ["status"]),
        (".venv/bin/python ./run_sim.py run --fail-f", ["--fail-fast"]),
        ("run_sim.py check scenarios/quick", ["scenarios/quickstart.yaml"]),
        ("run_sim.py scenarios/rfc77.yaml --replica", ["--replications"]),
        ("run_sim.py scenarios/rfc77.yaml --set workload.thr", ["workload.threads="]),
        ("run_sim.py scenarios/rfc77.yaml --set tikv.behaviour=v6.", [f"v6.{n}" for n in range(7)]),
        ("run_sim.py check a.yaml --set tikv.pessimistic-txn.pipelined=", ["false", "true"]),
        ("run_sim.py calibrate n", ["network"]),
        ("run_sim.py init --machine gp3_b", ["gp3_base"]),
        ("run_sim.py export results/a --format c", ["csv"]),
        ("run_sim.py completion b", ["bash"]),
    ],
)
def test_bash_completes(line: str, expected: list[str]) -> None:
    assert completed("bash", line) == expected


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes() -> None:
    assert completed("fish", "run_sim.py check scenarios/quick") == ["scenarios/quickstart.yaml"]
    assert completed("fish", "python run_sim.py stat") == ["status"]


def test_bash_lists_all_commands_and_leaves_other_programs_alone() -> None:
    assert {"run", "diff", "completion"} <= set(completed("bash", "run_sim.py "))
    assert completed("bash", "python other.py sta") == []


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_asks_with_its_own_words() -> None:
    script = 'compdef() {}; _arguments() { print -r -- "$@" }\n' + completion_script("zsh")
    line = "words=(python run_sim.py stat); CURRENT=3; _run_sim_completion\n"
    said = subprocess.run(
        ["zsh", "-f", "-c", script + line],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=DEADLINE_S,
    )  # fmt: skip
    assert '"status"' in said.stdout


def test_the_script_names_this_python_by_its_whole_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["completion", "bash"]) == ExitStatus.FINE
    assert f"{sys.executable} {ROOT / 'run_sim.py'}" in capsys.readouterr().out


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "csh"]) == ExitStatus.BAD_INPUT
    assert "no completion for 'csh'; write bash, zsh or fish" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "place", "expected", "then"),
    [
        ("run_sim.py sta", 1, "run_sim.py sta", 1),
        ("run_sim.py x.yaml --se", 2, "run_sim.py run x.yaml --se", 3),
        ("run_sim.py check x.yaml", 2, "run_sim.py check x.yaml", 2),
        ("python3 ./run_sim.py check x", 3, "./run_sim.py check x", 2),
        ("run_sim.py check x --set a = b", 6, "run_sim.py check x --set a=b", 4),
        ("run_sim.py check x --set a =", 5, "run_sim.py check x --set a=", 4),
    ],
)
def test_what_is_left_unsaid_on_a_line_is_said(
    words: str, place: int, expected: str, then: int
) -> None:
    environment = {"COMP_WORDS": "\n".join(words.split()), "COMP_CWORD": str(place)}
    prepare(COMMANDS, environment)
    assert environment == {"COMP_WORDS": expected, "COMP_CWORD": str(then)}


def test_study_folders_are_told_from_the_way_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results" / "one").mkdir(parents=True)
    (tmp_path / "results" / "one" / "scenario.yaml").write_text("")
    (tmp_path / "results" / "old").mkdir()
    monkeypatch.chdir(tmp_path)
    assert study_folders("") == ["results/old/", "results/one"]
    assert study_folders("results/on") == ["results/one"]


def test_keys_are_those_that_hold_values() -> None:
    assert settings("tikv.raftstore.store-pool") == ["tikv.raftstore.store-pool-size="]
    assert "workload=" not in settings("w")


def test_help_does_not_wait_for_what_completion_needs() -> None:
    code = (
        "import sys; from analysis.cli.app import main; main(['--help']); "
        "sys.exit('sim.scenario' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
