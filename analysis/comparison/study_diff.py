"""Two studies compared: what was changed between them, and which numbers moved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from analysis.comparison.moves import Matched, Move, matched, moves
from analysis.comparison.results import StudyResults
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
    """Keys of the resolved scenarios that differ, in the order of the files."""
    maker: list[Change]
    """What made the numbers and differs: the model's source, the commit, packages."""
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
    variants, points = (_pairs(what, a, b) for what in ("variants", "points"))
    numbers = matched(a.numbers, b.numbers, variants, points)
    mine, theirs = a.manifest.get("digests", {}), b.manifest.get("digests", {})
    same = sum(digests == theirs.get(unit) for unit, digests in mine.items())
    return StudyDiff(
        a=a,
        b=b,
        scenario=_changes(dict(_flat(a.scenario)), dict(_flat(b.scenario))),
        maker=_changes(_maker(a), _maker(b)),
        facts=SameFacts(len(mine), len(theirs), same),
        variants=variants,
        points=points,
        numbers=numbers,
        moves=moves(numbers.both),
    )


def _pairs(what: Literal["variants", "points"], a: StudyResults, b: StudyResults) -> dict[str, str]:
    """Returns what is called alike in both; a study's only one is compared with the other's."""
    mine, theirs = (of.variants if what == "variants" else of.points for of in (a, b))
    alike = {name: name for name in mine if name in theirs}
    if alike:
        return alike
    if len(mine) == len(theirs) == 1:
        return {mine[0]: theirs[0]}
    shown = _axes if what == "points" else _names
    raise StudyFolderError(
        f"no {what.removesuffix('s')} is in both studies, so nothing can be compared: "
        f"{a.folder} {shown(mine)}, {b.folder} {shown(theirs)}"
    )


def _names(names: tuple[str, ...]) -> str:
    return f"has {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"


def _axes(points: tuple[str, ...]) -> str:
    axes = dict.fromkeys(key for point in points for key in json.loads(point))
    return f"sweeps {', '.join(axes)}" if axes else "sweeps nothing"
