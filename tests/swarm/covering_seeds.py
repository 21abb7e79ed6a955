"""Seeds that between them take every branch that has a mark: the swarm of every test run.

When a change of the model moves what a seed does, ``covering_set`` of the marks of some thousand
outcomes is a new list.
"""

from __future__ import annotations

from typing import Final

COVERING: Final = (2, 10, 11, 21, 145, 214, 222, 334, 375, 464, 516, 557, 637)


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
