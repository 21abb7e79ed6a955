"""Many seeds, in as many processes as wanted; a seed that fails is made smaller.

Outcomes come in the order of their seeds, whatever process has run them and when it was done. A
smaller recipe is kept as long as it fails in the same way: its first violation is of the same law.
What is tried is decided by the recipe alone, so a seed always shrinks to the same recipe.

Source of the idea: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from multiprocessing import get_context
from typing import Final

from sim.protocol.marks import MARKS
from sim.swarm.recipe import Recipe, recipe_of
from sim.swarm.unit import Outcome, outcome_of
from sim.units import NS_PER_MS

__all__ = ["Outcome", "add_hits", "never_hit", "outcomes", "shown", "smallest_failure"]

_CHUNK: Final = 4
"""Seeds that a process takes at once."""

MOST_TRIES: Final = 60
"""Runs that one shrinking may take."""

_TAIL_NS: Final = 200 * NS_PER_MS


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


def smallest_failure(seed: int, ablations: tuple[str, ...]) -> tuple[str, Outcome]:
    """Returns the shrunk recipe of a failing seed, as text, and what comes of it."""
    recipe = shrunk(recipe_of(seed).without(ablations))
    return str(recipe), outcome_of(recipe)


def law_of(violations: tuple[str, ...]) -> str:
    """Returns what the first violation is about."""
    return violations[0].partition(":")[0] if violations else ""


def shrunk(recipe: Recipe) -> Recipe:
    """Returns the smallest recipe found that fails as ``recipe`` does."""
    law = law_of(outcome_of(recipe).violations)
    tries = 0
    smaller = True
    while smaller and tries < MOST_TRIES:
        smaller = False
        for candidate in _candidates(recipe):
            if tries >= MOST_TRIES:
                break
            tries += 1
            if law_of(outcome_of(candidate).violations) == law:
                recipe, smaller = candidate, True
                break
    return recipe


def _candidates(recipe: Recipe) -> Iterator[Recipe]:
    """Yields smaller recipes, the much smaller ones first."""
    faults = recipe.faults
    half = len(faults) // 2
    if half:
        yield replace(recipe, faults=faults[half:])
        yield replace(recipe, faults=faults[:half])
    if recipe.clients > 1:
        yield replace(recipe, clients=recipe.clients // 2)
    yield from _shorter(recipe)
    for left_out in range(len(faults)):
        yield replace(recipe, faults=faults[:left_out] + faults[left_out + 1 :])
    for smaller in (
        replace(recipe, clients=max(1, recipe.clients - 1)),
        replace(recipe, regions=1),
        replace(recipe, tidb_nodes=1),
        replace(recipe, stores=3),
    ):
        if smaller != recipe:
            yield smaller


def _shorter(recipe: Recipe) -> Iterator[Recipe]:
    last_ns = recipe.faults[-1].at_ns if recipe.faults else 0
    if last_ns + _TAIL_NS < recipe.busy_ns:
        yield replace(recipe, busy_ns=last_ns + _TAIL_NS)
    elif not recipe.faults and recipe.busy_ns > _TAIL_NS:
        yield replace(recipe, busy_ns=recipe.busy_ns // 2)


def add_hits(total: dict[str, int], hits: dict[str, int]) -> None:
    """Adds one run's hits to those of all."""
    for name, times in hits.items():
        total[name] = total.get(name, 0) + times


def never_hit(total: dict[str, int]) -> list[str]:
    """Returns the marks that no run has hit."""
    return [name for name in MARKS if not total.get(name)]


def shown(total: dict[str, int]) -> list[str]:
    """Returns one line for each mark, in the order in which they are listed."""
    width = max(map(len, MARKS))
    return [f"{name:<{width}}  {total.get(name, 0):>7}  {about}" for name, about in MARKS.items()]
