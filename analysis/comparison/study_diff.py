"""All that two studies have to say of each other.

What two studies were asked, and by what they were answered: which keys differ.

``--fail-on``: which numbers must not become worse, and did they?
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from analysis.comparison.moves import Matched, Move, matched, moves
from analysis.comparison.results import StudyResults, SummaryKey, SummaryNumber
from analysis.metrics.catalogue import MetricKey
from analysis.study.study_folder import StudyFolderError

_ABOUT_VARIANTS: Final = ("compare",)


class Change(NamedTuple):
    """A key with two values; None: it is not there."""

    key: str
    a: Any
    b: Any


class SameFacts(NamedTuple):
    """How many units of each study there are, and how many have the same facts in both."""

    a: int
    b: int
    same: int

    @property
    def all_same(self) -> bool:
        """Whether both studies are made of the very same bytes."""
        return self.a == self.b == self.same > 0


def scenario_changes(a: StudyResults, b: StudyResults) -> list[Change]:
    """Returns the keys of the resolved scenarios that differ, in the order of the files."""
    return _changes(dict(_flat(a.scenario)), dict(_flat(b.scenario)))


def maker_changes(a: StudyResults, b: StudyResults) -> list[Change]:
    """Returns what made the numbers and differs: the model's source, the commit, packages."""
    return _changes(_maker(a), _maker(b))


def same_facts(a: StudyResults, b: StudyResults) -> SameFacts:
    """Counts the units whose facts are the same bytes."""
    mine, theirs = a.manifest.get("digests", {}), b.manifest.get("digests", {})
    same = sum(digests == theirs.get(unit) for unit, digests in mine.items())
    return SameFacts(len(mine), len(theirs), same)


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Change]:
    keys = dict.fromkeys([*a, *b])
    return [Change(key, a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key)]


def _maker(of: StudyResults) -> dict[str, Any]:
    manifest = of.manifest
    made: dict[str, Any] = {"model": of.model[:12], "commit": manifest.get("commit", "")}
    return made | dict(manifest.get("versions", {}))


def _flat(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields dotted keys with their values; keys of variants and points stay whole."""
    for key, value in section.items():
        name = f"{prefix}{key}"
        whole = prefix.partition(".")[0] in _ABOUT_VARIANTS and prefix.count(".") > 1
        if isinstance(value, dict) and value and not whole:
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


@dataclass(frozen=True, slots=True)
class StudyDiff:
    """A and B."""

    a: StudyResults
    b: StudyResults
    scenario: list[Change]
    maker: list[Change]
    facts: SameFacts
    variants: dict[str, str]
    """Those that are compared, A's name to B's."""
    points: dict[str, str]
    numbers: Matched
    moves: list[Move]

    @property
    def moved(self) -> list[Move]:
        """The numbers that moved beyond noise."""
        return [move for move in self.moves if move.moved]

    @property
    def judged(self) -> int:
        """How many numbers could be judged."""
        return sum(move.judged for move in self.moves)


def study_diff(a: StudyResults, b: StudyResults) -> StudyDiff:
    """Compares two studies.

    Raises:
        StudyFolderError: if they have nothing in common that could be compared.
    """
    variants = _pairs("variant", a, b, a.variants, b.variants)
    points = _pairs("point", a, b, a.points, b.points)
    numbers = matched(a.numbers, b.numbers, variants, points)
    return StudyDiff(
        a=a,
        b=b,
        scenario=scenario_changes(a, b),
        maker=maker_changes(a, b),
        facts=same_facts(a, b),
        variants=variants,
        points=points,
        numbers=numbers,
        moves=moves(numbers.both),
    )


def _pairs(
    what: str,
    a: StudyResults,
    b: StudyResults,
    mine: tuple[str, ...],
    theirs: tuple[str, ...],
) -> dict[str, str]:
    """Returns what is called alike in both; a study's only one is compared with the other's."""
    alike = {name: name for name in mine if name in theirs}
    if alike:
        return alike
    if len(mine) == len(theirs) == 1:
        return {mine[0]: theirs[0]}
    shown = _axes if what == "point" else _names
    raise StudyFolderError(
        f"no {what} is in both studies, so nothing can be compared: {a.folder} {shown(mine)}, "
        f"{b.folder} {shown(theirs)}"
    )


def _names(names: tuple[str, ...]) -> str:
    return f"has {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"


def _axes(points: tuple[str, ...]) -> str:
    axes = dict.fromkeys(key for point in points for key in json.loads(point))
    return f"sweeps {', '.join(axes)}" if axes else "sweeps nothing"


_LIMIT: Final = re.compile(r"(?P<key>.*):(?P<share>\d+(\.\d+)?)(?P<percent> ?%)?")


@dataclass(frozen=True, slots=True)
class Guard:
    """A number that must not become worse by more than a share."""

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
            return cls(MetricKey.parse(text.strip()), 0.0)
        if said["percent"] is None:
            raise ValueError(f"{text!r} has no unit; write {said['key']}:{said['share']}%")
        return cls(MetricKey.parse(said["key"]), float(said["share"]) / 100)

    def __str__(self) -> str:
        """Returns the text that ``parse`` turns into this guard again."""
        return f"{self.key}:{100 * self.limit:g}%" if self.limit else str(self.key)


@dataclass(frozen=True, slots=True)
class Breach:
    """A guarded number that became worse, or that cannot be judged."""

    guard: Guard
    key: SummaryKey
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
    found += [Breach(guard, key, why) for key, a, b in refused if (why := _refused(a, b))]
    return found + [Breach(guard, key, "is not in B") for key in gone]


def _worse(guard: Guard, move: Move) -> str:
    a, b = move.a.value, move.b.value
    if move.bounded:
        return f"{move.a.words} to {move.b.words} cannot be judged: something had not ended"
    if not move.judged:
        return f"{a:.4g} to {b:.4g} cannot be judged: run at least two replications of both"
    if not move.moved or not move.worse:
        return ""
    if math.isnan(move.ratio):
        return f"{a:.4g} to {b:.4g}"
    if abs(move.ratio - 1) <= guard.limit:
        return ""
    return f"{a:.4g} to {b:.4g}, {100 * (move.ratio - 1):+.1f} %"


def _refused(a: SummaryNumber, b: SummaryNumber) -> str:
    """Returns why it counts; a number that was refused before as well is no worse now."""
    return f"is refused in B: {b.refused}" if b.refused and not a.refused else ""
