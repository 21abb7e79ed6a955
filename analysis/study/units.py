"""Units by point, name and hash, for code that does not load the scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

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
