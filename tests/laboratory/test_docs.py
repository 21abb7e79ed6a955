"""docs/SCRIPTS.md is the grammar: every command is in it as it is written, every example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sim.laboratory import run_text
from sim.laboratory.script import ALIASES, COMMANDS
from sim.laboratory.waiting import CONDITIONS
from sim.protocol.ablations import ABLATIONS
from sim.raftstore.failpoints import POINTS
from sim.transport.filters import KINDS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "SCRIPTS.md").read_text()
PLAIN = TEXT.replace("\\|", "|").replace("` or `", " | ").replace("`, `", " | ")
EXAMPLES = re.findall(r"```script\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_as_it_is_written(name: str) -> None:
    assert COMMANDS[name].usage in PLAIN


@pytest.mark.parametrize(
    "words",
    [
        "[store=STORE] [region=REGION] [epoch=CONF_VER:VERSION] [context=NAME] [as NAME]",
        "[within=10s] [as NAME]",
    ],
)
def test_shared_words_are_documented(words: str) -> None:
    assert words in PLAIN


@pytest.mark.parametrize("name", [*POINTS, *KINDS, *CONDITIONS, *ABLATIONS])
def test_every_name_is_documented(name: str) -> None:
    assert f"`{name}" in TEXT


@pytest.mark.parametrize("alias", ALIASES)
def test_other_names_mean_a_command(alias: str) -> None:
    assert ALIASES[alias] in COMMANDS
    assert alias not in COMMANDS


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_prints_what_it_says(number: int) -> None:
    result = run_text(EXAMPLES[number], "docs/SCRIPTS.md")
    assert not result.problem
    assert not "\n".join(result.differences)
