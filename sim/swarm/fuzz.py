"""Many seeds, in as many processes as wanted.

Law: outcomes come in the order of their seeds, whatever process has run them and when it was done.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from multiprocessing import get_context

from sim.swarm.coverage import add_hits, never_hit, shown
from sim.swarm.draw import recipe_of
from sim.swarm.outcome import Outcome, outcome_of
from sim.swarm.shrink import shrunk

__all__ = [
    "Outcome",
    "add_hits",
    "never_hit",
    "outcomes",
    "run_seed",
    "shown",
    "smallest_failure",
]

_CHUNK = 4
"""Seeds that a process takes at once."""


def outcomes(
    start: int, seeds: int | None, workers: int, ablations: tuple[str, ...] = ()
) -> Iterator[Outcome]:
    """Yields the outcomes of ``seeds`` seeds from ``start`` on; of endlessly many if None.

    Args:
        start: the first seed.
        seeds: how many.
        workers: processes; 1: this one.
        ablations: protections to leave out.
    """
    numbers = count(start) if seeds is None else iter(range(start, start + seeds))
    jobs = ((seed, ablations) for seed in numbers)
    if workers == 1:
        yield from map(run_seed, jobs)
        return
    with get_context("spawn").Pool(workers) as pool:
        if seeds is not None:
            yield from pool.imap(run_seed, jobs, _CHUNK)
            return
        while True:  # A pool reads all its jobs at once: give it a few at a time.
            some = [next(jobs) for _ in range(workers * _CHUNK)]
            yield from pool.imap(run_seed, some)


def run_seed(job: tuple[int, tuple[str, ...]]) -> Outcome:
    """Runs one seed, without some protections."""
    seed, ablations = job
    return outcome_of(recipe_of(seed).without(ablations))


def smallest_failure(seed: int, ablations: tuple[str, ...] = ()) -> tuple[str, Outcome]:
    """Returns the shrunk recipe of a failing seed, as text, and what comes of it."""
    recipe = shrunk(recipe_of(seed).without(ablations))
    return str(recipe), outcome_of(recipe)
