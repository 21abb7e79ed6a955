"""``--fail-on``: which numbers must not become worse, and where they did."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from analysis.comparison.moves import Move
from analysis.comparison.study_diff import StudyDiff
from analysis.metrics.catalogue import MetricKey
from analysis.metrics.numbers import NumberKey, StudyNumber

_LIMIT: Final = re.compile(r"(?P<key>.*):(?P<share>\d+(\.\d+)?)(?P<percent> ?%)?")


@dataclass(frozen=True, slots=True)
class Guard:
    """A number that must not become worse by more than a share; if neither is, must not rise."""

    key: MetricKey
    limit: float
    """0.05 for 5 %; 0: any move beyond noise is one too many."""

    @classmethod
    def parse(cls, text: str) -> Guard:
        """Returns what ``lock_latency_ms.p99:5%`` means.

        Raises:
            ValueError: if there is no such number, or the limit is no percentage.
        """
        said = _LIMIT.fullmatch(text.strip())
        if said is None and ":" in text:
            key, _, limit = text.strip().rpartition(":")
            raise ValueError(f"{limit!r} is no percentage; write {key}:5%")
        if said is None:
            return cls(MetricKey.parse_reported(text.strip()), 0.0)
        if said["percent"] is None:
            raise ValueError(f"{text!r} has no unit; write {said['key']}:{said['share']}%")
        return cls(MetricKey.parse_reported(said["key"]), float(said["share"]) / 100)

    def __str__(self) -> str:
        """Returns the text that ``parse`` turns into this guard again."""
        return f"{self.key}:{100 * self.limit:g}%" if self.limit else str(self.key)


@dataclass(frozen=True, slots=True)
class Breach:
    """A guarded number that became worse, or that cannot be judged."""

    guard: Guard
    key: NumberKey
    reason: str


def breaches(guard: Guard, diff: StudyDiff) -> list[Breach]:
    """Returns where a number became worse beyond noise and limit; what cannot be judged counts.

    Raises:
        ValueError: if neither study has the number.
    """
    repeats = diff.numbers.repeats
    moves = [
        move
        for move in diff.moves
        if any(key.figure == guard.key for key in (move.key, *repeats.get(move.key, ())))
    ]
    refused = [each for each in diff.numbers.refused if each[0].figure == guard.key]
    gone = [key for key in diff.numbers.only_a if key.figure == guard.key]
    if not (moves or refused or gone):
        new = any(key.figure == guard.key for key in diff.numbers.only_b)
        which = f"{diff.a.folder} has" if new else "neither study has"
        raise ValueError(f"{which} {'no ' if new else ''}{guard.key}; name a number of both")
    found = [Breach(guard, move.key, why) for move in moves if (why := _worse(guard, move))]
    found += [Breach(guard, key, _refused(a, b)) for key, a, b in refused]
    return found + [Breach(guard, key, "is not in B") for key in gone]


def _worse(guard: Guard, move: Move) -> str:
    if move.bounded:
        return f"{move.words} cannot be judged: something had not ended"
    if not move.judged:
        return f"{move.words} cannot be judged: run at least two replications of both"
    rises = move.b.value > move.a.value
    if not move.moved or move.better or (move.better is None and not rises):
        return ""
    if math.isnan(move.ratio):
        return move.words
    if abs(move.ratio - 1) <= guard.limit:
        return ""
    return f"{move.words}, {100 * (move.ratio - 1):+.1f} %"


def _refused(a: StudyNumber, b: StudyNumber) -> str:
    """Returns why a number counts that is refused in either study: nothing can be said of it."""
    if not b.refused:
        return f"cannot be judged: it is refused in A: {a.refused}"
    both = " and in A" if a.refused else ""
    return f"is refused in B{both}: {b.refused}"
