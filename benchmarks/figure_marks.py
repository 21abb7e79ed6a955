"""Places in the documents that figures are written into: comments, unseen where Markdown is shown.

``<!--= rfc77: txn_per_s in_memory/pipelined gain -->29 %<!--/-->`` is a number in a sentence, with
the study and how it is read there (``figure_readings``). It does not begin a line, which would end
the paragraph. ``<!-- table: rfc77 -->`` and ``<!-- end of table -->`` are lines around a table, and
what a command printed is quoted in the block below it, a choice of its lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

_NUMBER_MARK: Final = re.compile(r"(<!--= (\w+): ([^>]*?) -->)(.*?)(<!--/-->)", re.DOTALL)
_TABLE_MARK: Final = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
_NUMBER: Final = re.compile(r"[<>]?(?<![\w.])\d[\d,]*(?:\.\d+)?")


class Mark(NamedTuple):
    """A number's place: ``study``, how it is ``read``, and the ``text`` that is there now."""

    study: str
    reading: str
    text: str


class TableMark(NamedTuple):
    """A table's place, and the lines that are there now."""

    name: str
    text: str


def marks(document: str) -> list[Mark]:
    """Returns the places for numbers, in order."""
    return [Mark(*found.group(2, 3, 4)) for found in _NUMBER_MARK.finditer(document)]


def tables(document: str) -> list[TableMark]:
    """Returns the places for tables, in order."""
    return [TableMark(*found.group(2, 3)) for found in _TABLE_MARK.finditer(document)]


def with_numbers(document: str, text_of: Callable[[Mark], str]) -> str:
    """Returns a document with other texts in its places for numbers."""

    def written(found: re.Match[str]) -> str:
        return found[1] + text_of(Mark(*found.group(2, 3, 4))) + found[5]

    return _NUMBER_MARK.sub(written, document)


def with_tables(document: str, text_of: Callable[[TableMark], str]) -> str:
    """Returns a document with other lines in its places for tables."""

    def written(found: re.Match[str]) -> str:
        return found[1] + text_of(TableMark(*found.group(2, 3))) + found[4]

    return _TABLE_MARK.sub(written, document)


def quoted_again(quoted: str, printed: str) -> tuple[str, list[str]]:
    """Returns a quotation with the lines that were printed now, and lines that were not.

    A line is known by its text if it is no row, or by its words, whatever its numbers, or else by
    what stands before its first gap, as the label of a table's row does. Lines are looked for in
    their order, so that a row is that of the table whose head is quoted. What is not printed any
    more stays as it is.
    """
    left = [line.rstrip() for line in printed.splitlines() if line.strip()]
    lines: list[str] = []
    missing: list[str] = []
    for line in quoted.splitlines():
        place = _place_of(line, left)
        if place is None:
            lines.append(line)
            if line.strip() not in {"", "..."}:
                missing.append(line)
        else:
            lines.append(left[place])
            left = left[place + 1 :] + left[:place]
    return "".join(f"{line}\n" for line in lines), missing


def _place_of(line: str, left: Sequence[str]) -> int | None:
    """Returns where a line was printed, among those that are left, the next ones first."""
    for known_by in (_caption, _row, _words, _label):
        wanted = known_by(line)
        for place, candidate in enumerate(left):
            if wanted and known_by(candidate) == wanted:
                return place
    return None


def _caption(line: str) -> str:
    """Returns a line that is no row of a table."""
    return "" if _label(line) else line.strip()


def _row(line: str) -> str:
    """Returns the label of a table's row, and the words behind it."""
    label = _label(line)
    return f"{label}: {_words(line.strip().removeprefix(label))}" if label else ""


def _words(line: str) -> str:
    """Returns a line without its numbers and its widths."""
    return " ".join(_NUMBER.sub("#", line).split())


def _label(line: str) -> str:
    """Returns what stands before the first gap of two spaces; empty if there is no gap."""
    label, gap, _ = line.strip().partition("  ")
    return label if gap else ""
