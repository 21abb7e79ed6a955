"""Seeds that between them take every branch that has a mark: the swarm of every test run.

Law: when a change of the model moves what a seed does, the list is made anew:
``python -m sim.swarm.ci_seeds 1000`` prints a covering set of the first thousand seeds.
"""

from __future__ import annotations

from typing import Final

COVERING: Final = (0, 1, 2, 3, 4)

RARE: Final[dict[str, str]] = {}
"""Marks that no seed is asked to hit, and why."""


def covering_set(hits: dict[int, dict[str, int]]) -> list[int]:
    """Returns few seeds that hit all marks that any hits; the greedy choice."""
    missing = {mark: None for marks in hits.values() for mark in marks}
    chosen: list[int] = []
    while missing:
        best = max(hits, key=lambda seed: (sum(mark in missing for mark in hits[seed]), -seed))
        chosen.append(best)
        for mark in hits[best]:
            missing.pop(mark, None)
    return sorted(chosen)
