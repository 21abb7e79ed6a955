"""All that two studies have to say of each other."""

from __future__ import annotations

import json
from dataclasses import dataclass

from analysis.comparison.changes import (
    Change,
    SameFacts,
    maker_changes,
    same_facts,
    scenario_changes,
)
from analysis.comparison.moves import Matched, Move, matched, moves
from analysis.comparison.results import StudyResults
from analysis.study.study_folder import StudyFolderError


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
