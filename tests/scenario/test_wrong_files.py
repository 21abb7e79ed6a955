"""Files that are hardly scenarios: encodings, tabs, other formats, huge ones, folders, pipes.

``tests/testdata/scenario/bytes.txt`` says how each is made, ``----``, and what ``check`` prints of
it. ``write TEXT [ENCODING]`` and ``repeat TIMES TEXT`` have the text in JSON's spelling, so that
tabs and the like can be seen.
"""

from __future__ import annotations

import ast
import inspect
import os
from pathlib import Path

import pytest

from analysis.cli.app import app, main
from tests.datadriven import TESTDATA

FILE = TESTDATA / "scenario" / "bytes.txt"
BLOCKS = FILE.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
FINE = "workload: {kind: tpcc, warehouses: 1, threads: 1}\n"


def make(words: str, path: Path) -> None:
    """Makes what one line of the table says."""
    verb, _, rest = words.partition(" ")
    match verb:
        case "write":
            end = rest.rindex('"') + 1
            path.write_bytes(ast.literal_eval(rest[:end]).encode(rest[end:].strip() or "utf-8"))
        case "repeat":
            times, _, text = rest.partition(" ")
            path.write_text(ast.literal_eval(text) * int(times), encoding="utf-8")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to(path if rest == "to itself" else path.with_suffix(".none"))
        case _:
            assert verb == "missing"


def told(folder: Path, capsys: pytest.CaptureFixture[str], command: str) -> str:
    """Returns what a command says about the file, the same in every folder."""
    assert main([command, str(folder / "x.yaml")]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert "Traceback" not in printed.err
    return printed.err.replace(f"{folder}/", "").rstrip("\n")


def test_check_tells_each_what_to_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, rewrite: bool
) -> None:
    blocks = []
    for number, block in enumerate(BLOCKS):
        words = block.partition("\n----")[0]
        folder = tmp_path / str(number)
        folder.mkdir()
        make(words.strip(), folder / "x.yaml")
        blocks.append(f"{words}\n----\n{told(folder, capsys, 'check')}")
    printed = "\n\n".join(blocks) + "\n"
    if rewrite:
        FILE.write_text(printed, encoding="utf-8")
    assert printed == FILE.read_text(encoding="utf-8")


def commands_on(metavar: str) -> list[str]:
    """Returns the names of all commands whose first argument is a file, or a study's folder."""
    found = []
    for command in app.registered_commands:
        assert command.callback is not None
        first = next(iter(inspect.signature(command.callback).parameters.values()), None)
        if first is not None and metavar in str(first.annotation):
            found.append(str(command.name))
    return found


@pytest.mark.parametrize("made", ["folder", "missing", "pipe", 'write "[\\0"', 'write "a: b: c"'])
@pytest.mark.parametrize("command", sorted({*commands_on("ScenarioFile")} - {"script"}))
def test_every_command_on_a_scenario_refuses_what_is_none(
    command: str, made: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(made, tmp_path / "x.yaml")
    said = told(tmp_path, capsys, command)
    assert said.startswith("x.yaml:")
    assert "; " in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("made", ["folder", "missing", "pipe", 'write "{}"'])
@pytest.mark.parametrize("command", commands_on("StudyFolder"))
def test_every_command_on_a_folder_refuses_what_is_none(
    command: str, made: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(made, tmp_path / "x.yaml")
    more = {"replay": ["3f9a1c"], "diff": [str(tmp_path / "x.yaml")]}.get(command, [])
    assert main([command, str(tmp_path / "x.yaml"), *more]) == 2
    said = capsys.readouterr().err.replace(f"{tmp_path}/", "")
    assert said.startswith("x.yaml: ")
    assert "; " in said
    assert len(said.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.yaml").write_text(FINE, encoding="utf-8")
    (tmp_path / "x.yaml").chmod(0)
    assert told(tmp_path, capsys, "check") == (
        "x.yaml: cannot be read (Permission denied); check its name and permissions"
    )


def test_there_are_more_than_fifty_wrong_scenarios() -> None:
    tables = (TESTDATA / "scenario").glob("*.txt")
    assert sum(table.read_text(encoding="utf-8").count("\n----\n") for table in tables) >= 50
