"""Seeds that between them take every branch that has a mark: the swarm of every test run.

When a change of the model moves what a seed does, ``covering_set`` of the marks of some thousand
outcomes is a new list.
"""

from __future__ import annotations

from typing import Final

COVERING: Final = (7, 8, 70, 90, 200, 253, 365, 548, 807)

RARE: Final[dict[str, str]] = {
    "fallback.term": "the term changes within the CPU time of one command; none in 120 seeds",
    "propose.stale_term": "two elections while a command waits in one mailbox",
}
"""Marks that no seed is asked to hit, and why; scripts of the laboratory may."""


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
