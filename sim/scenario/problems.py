"""What is wrong with a scenario, where, and how to fix it.

Law: one line a problem, ``file:line:col: path: what; how to fix it``; every problem of a file is
found before the first is reported. A value that came from the command line has no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

_LONGEST_SHOWN = 60
_LONGEST_LIST = 400
_VERY_CLOSE: Final = 0.75
_CLOSE: Final = 0.65
"""How alike two words are, of 1; in between, the one name that begins with the word is likelier."""


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """Where something is written; ``line`` and ``column`` count from 1, 0: there is none."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Returns ``file:line:col``, as editors understand it."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing to fix."""

    mark: Mark
    path: str
    """Dotted path of the key; empty for the file as a whole."""
    message: str
    """What is wrong; how to fix it."""

    def __str__(self) -> str:
        """Returns the line a user reads."""
        return ": ".join(str(part) for part in (self.mark, self.path, self.message) if str(part))


class ScenarioError(Exception):
    """A scenario cannot be used; ``problems`` has all the reasons, in the order of the file.

    What is said of one line several times, as of a swept key at each of its values, counts once.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        first: dict[tuple[str, int, str, str], Problem] = {}
        for each in sorted(problems):
            first.setdefault((each.mark.file, each.mark.line, each.path, each.message), each)
        self.problems = list(first.values())
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[list[Problem]]]:
        """Keeps the problems when the error travels between processes."""
        return type(self), (self.problems,)


def suggestion(word: str, words: Sequence[str], listed_by: str = "docs/REFERENCE.md") -> str:
    """Returns ``did you mean x?`` for the closest of ``words``, or which words there are.

    Args:
        word: what was written.
        words: what could have been meant.
        listed_by: where a reader finds them if they are too many for a line.
    """
    by_folded = {known.lower(): known for known in words}
    folded = word.lower()[:_LONGEST_SHOWN]
    begins = [known for known in by_folded if folded and known.startswith(f"{folded}_")]
    close = (
        get_close_matches(folded, by_folded, n=1, cutoff=_VERY_CLOSE)
        or (begins if len(begins) == 1 else [])
        or get_close_matches(folded, by_folded, n=1, cutoff=_CLOSE)
    )
    if close:
        return f"did you mean {by_folded[close[0]]}?"
    ends = [known for known in words if word and known.endswith((f".{word}", f"-{word}"))]
    if ends:
        return f"did you mean {min(ends, key=len)}?"
    listed = f"use one of {', '.join(words)}" if words else "remove it"
    return listed if len(listed) <= _LONGEST_LIST else f"{listed_by} lists what there is"


def shown(value: object) -> str:
    """Returns a value as a message shows it: short, and in YAML's words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case dict():
            return "a mapping" if value else "empty"
        case list():
            return "a list"
        case str():
            text = value if len(value) <= _LONGEST_SHOWN else value[: _LONGEST_SHOWN - 1] + "…"
            return repr(text)
        case _:
            text = str(value)
            return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
