"""What two studies were asked, and by what they were answered: which keys differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from analysis.comparison.results import StudyResults

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
