"""Units by point, name and hash, for code that does not load the scenario; ``plan.json`` has them.

The file is replaced whole before each round of units, so it lists what was asked for so far.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from analysis.study.study_folder import StudyFolderError, no_study, write_text_whole

Point = Mapping[str, Any]
"""Values of keys as a file would write them, beside those of the variant."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One (point, variant, replication); ``unit_hash`` names its folder."""

    unit_hash: str
    point_index: int
    variant: str
    replication: int


@dataclass(slots=True)
class AskedUnits:
    """Units that were asked for, and the points they lie at."""

    points: list[dict[str, Any]] = field(default_factory=list)
    """Settings by which units differ beside variant and replication."""
    units: list[Unit] = field(default_factory=list)
    """In the order in which they were asked for."""

    def words(self, unit: Unit) -> str:
        """Returns the words by which a user knows a unit: its settings, its number."""
        point = point_words(self.points[unit.point_index])
        return f"{unit.variant}{', ' if point else ''}{point}, replication {unit.replication}"


def units_digest(units: Iterable[Unit]) -> str:
    """Returns a digest of what some units are, in their order."""
    return sha256("".join(unit.unit_hash for unit in units).encode()).hexdigest()


def point_words(point: Point) -> str:
    """Returns ``workload.threads = 50, hardware.profile = i3.4xlarge``, as a file says each value.

    A mapping is written on a line: ``hardware.network.same_zone = {p50: 60us, p99: 200us}``.
    """
    return ", ".join(f"{key} = {_written(value)}" for key, value in point.items())


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_written(each)}' for name, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    return str(value)


def at_point(name: str, point: Point) -> str:
    """Returns ``in_memory at workload.threads = 50``; the name alone for the only point."""
    return f"{name} at {point_words(point)}" if point else name


PLAN_FILE: Final = "plan.json"


def write_plan(folder: Path, plan: AskedUnits) -> None:
    """Replaces the plan of a study's folder.

    Raises:
        OSError: if it cannot be written.
    """
    units = [
        [unit.unit_hash, unit.point_index, unit.variant, unit.replication] for unit in plan.units
    ]
    content = {"points": [dict(point) for point in plan.points], "units": units}
    write_text_whole(folder / PLAN_FILE, json.dumps(content, separators=(",", ":")) + "\n")


def read_plan(folder: Path) -> AskedUnits:
    """Returns the plan of a study's folder.

    Raises:
        StudyFolderError: if there is none, or it is not whole.
    """
    try:
        content = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8"))
        points = [dict(point) for point in content["points"]]
        units = [_unit(row, len(points)) for row in content["units"]]
    except OSError as error:
        raise StudyFolderError(
            no_study(folder, f"{PLAN_FILE} that can be read: {error.strerror}")
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise StudyFolderError(
            f"{folder / PLAN_FILE}: is not a plan ({error}); the run's command writes a new "
            "one and "
            "keeps what is done"
        ) from error
    return AskedUnits(points, units)


def _unit(row: Any, points: int) -> Unit:
    unit_hash, point_index, variant, replication = row
    kinds = (type(unit_hash), type(point_index), type(variant), type(replication))
    if kinds != (str, int, str, int) or not 0 <= point_index < points:
        raise ValueError(f"{row} is not a unit of {points} points")
    return Unit(unit_hash, point_index, variant, replication)
