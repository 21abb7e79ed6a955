"""Runs one recipe and says what came of it: violations, a digest, marks, and what it took.

Law: an outcome is small and plain, so that it can travel between processes. An exception inside the
model is a violation like any other.
"""

from __future__ import annotations

import gc
import traceback
from dataclasses import dataclass
from typing import Final

from sim.protocol.percolator.lookup import newest_data
from sim.swarm.recipe import Recipe
from sim.swarm.scene import SwarmUnit
from sim.swarm.workload import account_key

_FRAMES_SHOWN: Final = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one run."""

    seed: int
    violations: tuple[str, ...]
    digest: str
    """Equal for equal runs."""
    marks: dict[str, int]
    committed: int
    aborted: int
    simulated_ns: int
    events: int


def outcome_of(recipe: Recipe) -> Outcome:
    """Runs a recipe to its end."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        unit = SwarmUnit(recipe)
        crashed: list[str] = []
        try:
            unit.run()
        except Exception as error:
            crashed.append(_shown(error))
        return _judged(unit, crashed)
    finally:
        if was_on:
            gc.enable()


def _judged(unit: SwarmUnit, crashed: list[str]) -> Outcome:
    violations = list(crashed)
    if not crashed:
        violations += unit.result().violations
        violations += _wrong_sums(unit)
    elif unit.checkers is not None:
        violations += unit.checkers.report.lines()
    unit.recorder.close(unit.env.now_ns)
    unit.sink.digest.update(repr((unit.env.now_ns, unit.env.events, violations)).encode())
    return Outcome(
        unit.recipe.seed,
        tuple(violations),
        unit.sink.digest.hexdigest()[:16],
        unit.coverage.hits,
        unit.stats.total_committed(),
        unit.stats.total_aborted(),
        unit.env.now_ns,
        unit.env.events,
    )


def _wrong_sums(unit: SwarmUnit) -> list[str]:
    """Returns what the rows themselves say about lost updates."""
    numbers = _numbers(unit)
    rows, tally = unit.recipe.rows, unit.workload.tally
    lines = []
    total = sum(numbers.get(account_key(row), 0) for row in range(rows))
    if total:
        lines.append(f"lost update: the accounts sum to {total}, not 0")
    for row, known, what in (
        (rows, tally.increments, "increments"),
        (rows + 1, tally.orders, "orders"),
    ):
        counted = numbers.get(account_key(row), 0)
        if not known <= counted <= known + unit.undetermined.count:
            lines.append(f"lost update: {known} {what} were committed, but the row says {counted}")
    return lines


def _numbers(unit: SwarmUnit) -> dict[bytes, int]:
    """Returns the committed number of every account."""
    numbers: dict[bytes, int] = {}
    for store in unit.cluster.stores.values():
        for peer in store.peers.values():
            if not peer.is_leader:
                continue
            for key, head in peer.state.mvcc.writes.items():
                newest = newest_data(head)
                if key.startswith(_PREFIX) and newest is not None and newest.value is not None:
                    assert isinstance(newest.value, int), "accounts hold numbers"
                    numbers[key] = newest.value
    return numbers


_PREFIX: Final = account_key(0)[:-8]


def _shown(error: Exception) -> str:
    """Returns an exception with the places it came from, without paths."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES_SHOWN:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames]
    return f"{type(error).__name__}: {error} ({' < '.join(reversed(places))})"
