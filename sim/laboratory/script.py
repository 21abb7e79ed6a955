"""Runs scripts: each block's commands, compared with what the block expects, or written over it.

A script has a laboratory of its own. The first command that cannot be understood ends it; a block
that prints something else does not, so one run shows every difference. The table of commands is the
grammar: docs/SCRIPTS.md is held to it by a test.
"""

from dataclasses import dataclass
from difflib import ndiff
from pathlib import Path
from typing import Final

from sim.laboratory import (
    clients,
    faults,
    regions,
    resolution,
    setup_commands,
    shows,
    transactions,
    waiting,
)
from sim.laboratory.grammar import Block, Line, ScriptProblem, blocks_of
from sim.laboratory.laboratory import Command, Laboratory
from sim.laboratory.words import Words, plain, suggestion

COMMANDS: Final[dict[str, Command]] = {
    command.usage.partition(" ")[0]: command
    for command in (
        *setup_commands.COMMANDS,
        *transactions.COMMANDS,
        *resolution.COMMANDS,
        *clients.COMMANDS,
        *regions.COMMANDS,
        *faults.COMMANDS,
        *waiting.COMMANDS,
        *shows.COMMANDS,
    )
}
"""By name, the first word of their usage."""

ALIASES: Final = {
    "acquire": "lock",
    "pessimistic-lock": "lock",
    "acquire-pessimistic-lock": "lock",
    "batch-get": "get",
    "txn-heart-beat": "heartbeat",
    "batch-rollback": "rollback",
    "scan-lock": "scan-locks",
    "table": "tables",
    "write": "writes",
    "sleep": "advance",
    "split": "split-region",
    "merge": "merge-region",
    "move-leader": "transfer-leader",
    "kill": "crash",
    "pause": "hold",
    "resume": "release",
}
"""Other names; ``show locks`` is ``locks``."""


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """What a script has done.

    Attributes:
        commands: how many were carried out.
        differences: one text for each block that printed something else than it expects.
        problem: why the script could not be carried out, or empty.
        text: the script with what it has printed.
    """

    name: str
    commands: int
    differences: tuple[str, ...]
    problem: str
    text: str


def run_script(path: Path, *, rewrite: bool = False) -> ScriptResult:
    """Runs a script file; with ``rewrite`` its expectations become what it printed."""
    name = str(path)
    try:
        written = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return _refused(name, "no such file; check its name")
    except IsADirectoryError:
        return _refused(name, "is a folder; name the scripts in it, as in scripts/*.txt")
    except (OSError, UnicodeDecodeError) as error:
        return _refused(name, f"cannot be read ({error}); save it as UTF-8 text")
    result = run_text(written, name)
    if rewrite and not result.problem and result.text != written:
        path.write_text(result.text, encoding="utf-8")
    return result


def run_text(written: str, name: str) -> ScriptResult:
    """Runs a script's text; ``name`` is what problems call it."""
    lab = Laboratory()
    printed: list[str] = []
    differences: list[str] = []
    commands = 0
    line = Line(0, "", ())
    try:
        for block in blocks_of(written):
            output: list[str] = []
            for line in block.commands():
                output += execute(lab, line).splitlines()
                commands += 1
            if output != list(block.expected):
                differences.append(_difference(name, block, output))
            printed.append(block.printed(output))
    except ScriptProblem as problem:
        return ScriptResult(name, commands, tuple(differences), problem.in_file(name), written)
    except Exception as error:
        broken = ScriptProblem(
            f"the simulator broke: {type(error).__name__}: {error}; please report this script",
            line.number,
        )
        return ScriptResult(name, commands, tuple(differences), broken.in_file(name), written)
    if not commands:
        return _refused(name, "has no command; write some, as docs/SCRIPTS.md shows")
    text = "\n\n".join(printed) + "\n"
    return ScriptResult(name, commands, tuple(differences), "", text)


def _refused(name: str, message: str) -> ScriptResult:
    return ScriptResult(name, 0, (), f"{name}: {message}", "")


def _difference(name: str, block: Block, output: list[str]) -> str:
    """Returns where a block differs, and how: ``-`` is expected, ``+`` was printed."""
    compared = [line for line in ndiff(block.expected, output) if not line.startswith("?")]
    lines = "\n".join(f"    {line}" for line in compared)
    return f"{name}:{block.expected_from}: not as expected\n{lines}"


def execute(lab: Laboratory, line: Line) -> str:
    """Carries out one command and returns what it prints.

    Raises:
        ScriptProblem: with its line, if the command cannot be understood or carried out.
    """
    name, words = plain(line.name), line.words
    if name == "show" and words:
        name, words = plain(words[0]), words[1:]
    name = ALIASES.get(name, name)
    command = COMMANDS.get(name)
    if command is None:
        hint = suggestion(name, [*COMMANDS, *ALIASES], "a command of docs/SCRIPTS.md")
        raise ScriptProblem(f"no command {line.name}; {hint}", line.number)
    try:
        read = Words(words, command.usage)
        printed = command.run(lab, read)
        read.done()
    except ScriptProblem as problem:
        raise problem.at(line.number) from None
    return printed or ""
