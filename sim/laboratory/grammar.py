"""A script as text: blocks of commands, ``----``, what they print, and a blank line.

A block begins after a blank line and ends before the next; ``#`` at the start of a line is prose.
Nothing is known here of what a command means. A block that is written back differs from the block
that was read in its expectation only.

Source of the idea: cockroachdb/datadriven.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SEPARATOR = "----"

_WORD = re.compile(
    r"""\s*(?:
        (?P<comment>\#.*) |
        (?P<range>[\[(]\s*[^\s,\[\]()]*\s*,\s*[^\s,\[\]()]*\s*[)\]]) |
        (?P<word>(?:"[^"]*"|[^\s"])+)
    )""",
    re.VERBOSE,
)
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]*=")


class ScriptProblem(Exception):
    """A command cannot be understood or carried out: one line, ``file:line: what; remedy``.

    What the model answers, refusals included, is output and never a problem. Lines count from 1;
    0 means the whole file.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line

    def at(self, line: int) -> ScriptProblem:
        """Returns this problem with its line, if it has none yet."""
        return self if self.line else ScriptProblem(self.message, line)

    def in_file(self, name: str) -> str:
        """Returns the line a user reads."""
        return f"{name}:{self.line}: {self.message}" if self.line else f"{name}: {self.message}"


@dataclass(frozen=True, slots=True)
class Line:
    """One command line: its number in the file, and its words."""

    number: int
    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Some prose and commands, and what these are expected to print."""

    head: tuple[str, ...]
    """The lines above ``----``, as written."""
    first: int
    """Number of the first line."""
    has_separator: bool
    expected: tuple[str, ...]

    @property
    def expected_from(self) -> int:
        """Number of the first expected line."""
        return self.first + len(self.head) + 1

    def commands(self) -> list[Line]:
        """Returns the command lines.

        Raises:
            ScriptProblem: if a line cannot be cut into words.
        """
        lines = enumerate(self.head, self.first)
        cut = [(number, words_of(text, number)) for number, text in lines]
        return [Line(number, words[0], tuple(words[1:])) for number, words in cut if words]

    def printed(self, output: list[str]) -> str:
        """Returns the block's text with ``output`` as its expectation."""
        if output or self.has_separator:
            return "\n".join([*self.head, SEPARATOR, *output])
        return "\n".join(self.head)


def words_of(text: str, number: int = 0) -> list[str]:
    """Returns the words of a line, quotes kept; a ``#`` word and what follows are dropped.

    Raises:
        ScriptProblem: for a quote that is not closed.
    """
    words: list[str] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _WORD.match(text, place)
        if found is None:
            raise ScriptProblem('a quote is not closed; write a second " behind the text', number)
        place = found.end()
        if found["comment"] is not None:
            break
        words.append(found["word"] or "".join(found["range"].split()))
    return words


def is_option(word: str) -> bool:
    """Returns whether a word is ``name=value``; a quoted word never is."""
    return _OPTION.match(word) is not None


def unquoted(word: str) -> str:
    """Returns a word without its quotes."""
    return word.replace('"', "")


def blocks_of(text: str) -> list[Block]:
    """Returns the blocks of a script, in order.

    Raises:
        ScriptProblem: for a second ``----`` in a block, or one without commands.
    """
    blocks: list[Block] = []
    lines: list[str] = []
    first = 1
    for number, raw in enumerate([*text.splitlines(), ""], 1):
        line = raw.rstrip()
        if line:
            if not lines:
                first = number
            lines.append(line)
        elif lines:
            blocks.append(_block(lines, first))
            lines = []
    return blocks


def _block(lines: list[str], first: int) -> Block:
    places = [place for place, line in enumerate(lines) if line == SEPARATOR]
    if len(places) > 1:
        message = f"a second {SEPARATOR} in one block; put a blank line between two blocks"
        raise ScriptProblem(message, first + places[1])
    cut = places[0] if places else len(lines)
    if places and not any(words_of(line, first) for line in lines[:cut]):
        message = f"{SEPARATOR} without a command above it; write one, or remove the blank line"
        raise ScriptProblem(message, first + cut)
    return Block(tuple(lines[:cut]), first, bool(places), tuple(lines[cut + 1 :]))
