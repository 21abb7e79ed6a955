"""Runs scripts: each block's commands, compared with what the block expects, or written over it.

Law: a script has a laboratory of its own. The first command that cannot be understood ends it; a
block that prints something else does not, so one run tells of every difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import ndiff
from pathlib import Path

from sim.laboratory.commands import execute
from sim.laboratory.grammar import Block, Line, blocks_of
from sim.laboratory.laboratory import Laboratory
from sim.laboratory.problems import ScriptProblem


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
    text = "\n\n".join(printed) + "\n"
    return ScriptResult(name, commands, tuple(differences), "", text)


def _refused(name: str, message: str) -> ScriptResult:
    return ScriptResult(name, 0, (), f"{name}: {message}", "")


def _difference(name: str, block: Block, output: list[str]) -> str:
    """Returns where a block differs, and how: ``-`` is expected, ``+`` was printed."""
    compared = [line for line in ndiff(block.expected, output) if not line.startswith("?")]
    lines = "\n".join(f"    {line}" for line in compared)
    return f"{name}:{block.expected_from}: not as expected\n{lines}"
