"""What the project's documents contain: fenced blocks, and the files that they show."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


def blocks(document: Path) -> list[Block]:
    """Returns the fenced blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    return [
        Block(document, found[1], found[2], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def lines_in_words(block: Block) -> list[list[str]]:
    """Returns the words of each line of a shell's block, a line that goes on in the next as one."""
    text = block.text.replace("\\\n", " ")
    return [shlex.split(line, comments=True) for line in text.splitlines()]


def written_files(document: Path) -> dict[str, str]:
    """Returns the scenario files that a document shows: YAML that begins with ``# name.yaml``."""
    shown = [block.text for block in blocks(document) if block.language == "yaml"]
    return {named[1]: text for text in shown if (named := _NAMED.match(text))}
