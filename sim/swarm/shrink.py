"""A failing recipe made smaller, as long as it fails in the same way.

Law: what is tried is decided by the recipe alone, so a seed always shrinks to the same recipe. A
failure is the same if its first violation names the same law.

Source of the idea: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sim.swarm.outcome import outcome_of
from sim.swarm.recipe import Recipe
from sim.units import NS_PER_MS

MOST_TRIES: Final = 60
"""Runs that one shrinking may take."""

_TAIL_NS: Final = 200 * NS_PER_MS


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
