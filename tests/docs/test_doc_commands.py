"""Every command in the documents can be given: quick ones are run, long ones are only parsed.

A document may show a scenario file of its own, as YAML that begins with ``# name.yaml``; its
commands find it. ``my.yaml``, ``my.txt`` and study folders stand for a reader's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile, zip_longest
from pathlib import Path

import pytest
import typer

from analysis.cli.app import app, main, with_default_command
from analysis.cli.failures import ExitStatus
from analysis.study.load import load_study
from benchmarks.documents import DOCUMENTS, ROOT, Block, blocks, lines_in_words, written_files

_SETTING = re.compile(r"[A-Z_]+=")


@dataclass(frozen=True)
class DocumentCommand:
    """One command line of a document, and the output quoted below it, if any."""

    block: Block
    words: tuple[str, ...]
    quoted: str

    def __str__(self) -> str:
        return f"{self.block} {' '.join(self.words)}"


def commands(document: Path) -> list[DocumentCommand]:
    """Returns the command lines of a document's shell blocks, without comments.

    A block of one command may have its output quoted in the next block, if that has no language.
    """
    found = []
    inside = blocks(document)
    for block, after in zip_longest(inside, inside[1:]):
        if block.language != "sh":
            continue
        lines = [words for words in map(_without_settings, lines_in_words(block)) if words]
        is_quoted = len(lines) == 1 and after is not None and not after.language
        quoted = after.text if after is not None and is_quoted else ""
        found += [DocumentCommand(block, tuple(words), quoted) for words in lines]
    return found


def _without_settings(words: list[str]) -> list[str]:
    """Returns a command without the variables that are set for it."""
    return list(dropwhile(_SETTING.match, words))


COMMANDS = [command for document in DOCUMENTS for command in commands(document)]


def run_sim_words(words: tuple[str, ...]) -> list[str] | None:
    """Returns the words after ``run_sim.py`` or ``pessim``, None for another program's command."""
    for place, word in enumerate(words[:2]):
        if word == "run_sim.py" or (word == "pessim" and not place):
            return list(words[place + 1 :])
    return None


OURS = [command for command in COMMANDS if run_sim_words(command.words) is not None]
OTHERS = [command for command in COMMANDS if run_sim_words(command.words) is None]
QUICK = ("check", "schema", "scenarios", "reference", "explain")
READERS_OWN = ("my.yaml", "my.txt")
RUN_FILES = re.compile(r"^(scenarios|tests|benchmarks|docs)/")


def words_of(command: DocumentCommand) -> list[str]:
    words = run_sim_words(command.words)
    assert words is not None
    return with_default_command(words)


def parsed(words: list[str]) -> dict[str, object]:
    """Returns a command's parameters, or raises what the command line would say."""
    group = typer.main.get_command(app)
    name, *rest = words
    command = group.commands[name]  # type: ignore[attr-defined] # a group has commands
    with command.make_context(name, list(rest)) as context:
        return dict(context.params)


def lines_of(text: str) -> list[str]:
    """Returns lines that are not empty, whatever the widths of their columns."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def is_quick(command: DocumentCommand) -> bool:
    words = words_of(command)
    return words[0] in QUICK and not {"--verify", "--help", *READERS_OWN} & set(words)


@pytest.fixture
def in_its_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Goes to a folder with the project's scenarios and the files that the document shows."""
    command: DocumentCommand = request.getfixturevalue("command")
    for folder in ("scenarios", "tests", "docs", "benchmarks"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for name, text in written_files(command.block.document).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop/conf")  # a command for YARN needs one
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_commands_in_every_guide() -> None:
    having = {command.block.document.name for command in OURS}
    assert having >= {"README.md", "TUTORIAL.md", "COOKBOOK.md", "STUDIES.md", "SCRIPTS.md"}
    assert any(is_quick(command) for command in OURS)


@pytest.mark.parametrize("command", [c for c in OURS if words_of(c)[0] != "--help"], ids=str)
@pytest.mark.usefixtures("in_its_folder")
def test_a_command_can_be_given(command: DocumentCommand) -> None:
    words = words_of(command)
    if "--help" in words:
        words.remove("--help")
        assert words[0] in {each.name for each in app.registered_commands}
        return
    given = parsed(words)
    check_files(words[0], [word for word in words[1:] if RUN_FILES.search(word)])
    if words[0] in ("run", "check", "explain"):
        files = given.get("files") or [given["file"]]
        check_scenarios(files, given.get("set_") or ())  # type: ignore[arg-type]


def check_files(command: str, words: list[str]) -> None:
    for word in words:
        assert list(Path().glob(word)), f"{command}: there is no {word}"


def check_scenarios(files: list[Path], overrides: list[str]) -> None:
    for file in files:
        if file.name in (*READERS_OWN, "typo.yaml"):
            continue
        assert "*" in file.name or load_study(file, tuple(overrides)).variants


@pytest.mark.parametrize("command", [c for c in OURS if is_quick(c)], ids=str)
@pytest.mark.usefixtures("in_its_folder")
def test_a_quick_command_prints_what_is_quoted(
    command: DocumentCommand, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(words_of(command))
    printed = capsys.readouterr()
    said = lines_of(printed.out + printed.err)
    assert status == (2 if "typo.yaml" in command.words else 0)
    missing = [line for line in lines_of(command.quoted) if line not in said]
    assert not missing, "the output has other lines; quote it again"


@pytest.mark.parametrize("command", OTHERS, ids=str)
def test_another_program_is_named_with_what_exists(command: DocumentCommand) -> None:
    words = [word for word in command.words if "=" not in word]
    if words[0] == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(words[1:]) <= set(targets)
    for word in words:
        if RUN_FILES.search(word) and not word.startswith(("-", "/")):
            assert (ROOT / word).exists(), f"there is no {word}"


VARIATIONS = [
    (section.partition("run_sim.py ")[2].split()[0], said.strip('"'))
    for section in (ROOT / "docs" / "COOKBOOK.md").read_text(encoding="utf-8").split("\n## ")
    for said in re.findall(r'--set ("[^"]+"|[^`\s]+)`', section.partition("Vary:")[2])
]


@pytest.mark.parametrize(("file", "said"), VARIATIONS)
def test_a_variation_of_the_cookbook_is_a_scenario(file: str, said: str) -> None:
    assert load_study(ROOT / file, (said,)).variants


def test_every_recipe_has_a_variation_and_its_question() -> None:
    text = (ROOT / "docs" / "COOKBOOK.md").read_text(encoding="utf-8")
    for file in sorted((ROOT / "scenarios" / "cookbook").glob("*.yaml")):
        assert f"run_sim.py scenarios/cookbook/{file.name}" in text
        assert f"*{load_study(file).about}*" in text
    assert len({file for file, _ in VARIATIONS}) == 10


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("shared_session")
def test_the_tutorials_first_run_prints_what_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tutorial = commands(ROOT / "docs" / "TUTORIAL.md")
    first = next(each for each in tutorial if "scenarios/quickstart.yaml" in each.words)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")  # At 80 the ratios are a table of their own.
    assert main([*words_of(first), "--out", str(tmp_path / "quickstart")]) == ExitStatus.FINE
    printed = capsys.readouterr()
    said = "\n".join(lines_of(printed.out + printed.err))
    for line in lines_of(first.quoted):
        assert line in said or line.startswith("report:"), (
            "the output has other lines; quote it again"
        )
