"""What the project's documents contain: commands, YAML, quoted output, links."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import dropwhile, zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SETTING = re.compile(r"[A-Z_]+=")
_NAMED = re.compile(r"# (\S+\.yaml)\n")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, and the line on which it begins."""

    document: Path
    language: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class DocumentCommand:
    """One command line of a document, and the output quoted below it, if any."""

    block: Block
    words: tuple[str, ...]
    quoted: str

    def __str__(self) -> str:
        return f"{self.block} {' '.join(self.words)}"


def blocks(document: Path) -> list[Block]:
    """Returns the fenced blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    return [
        Block(document, found[1], found[2], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


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


def lines_in_words(block: Block) -> list[list[str]]:
    """Returns the words of each line of a shell's block, a line that goes on in the next as one."""
    text = block.text.replace("\\\n", " ")
    return [shlex.split(line, comments=True) for line in text.splitlines()]


def _without_settings(words: list[str]) -> list[str]:
    """Returns a command without the variables that are set for it."""
    return list(dropwhile(_SETTING.match, words))


def run_sim_words(words: tuple[str, ...]) -> list[str] | None:
    """Returns the words after ``run_sim.py`` or ``pessim``, None for another program's command."""
    for place, word in enumerate(words[:2]):
        if word == "run_sim.py" or (word == "pessim" and not place):
            return list(words[place + 1 :])
    return None


def written_files(document: Path) -> dict[str, str]:
    """Returns the scenario files that a document shows: YAML that begins with ``# name.yaml``."""
    shown = [block.text for block in blocks(document) if block.language == "yaml"]
    return {named[1]: text for text in shown if (named := _NAMED.match(text))}
