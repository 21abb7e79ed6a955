"""How many seeds of the swarm a minute of CPU takes: clusters with faults, and all checkers.

The seeds are the same each time, since some take a hundred times as long as others.

Run it with ``python -m benchmarks.swarm``.
"""

from __future__ import annotations

from time import process_time
from typing import Final

from sim.swarm.recipe import recipe_of
from sim.swarm.unit import outcome_of

_SEEDS: Final = 60
_TINY_SEEDS: Final = 2


def measure(*, tiny: bool = False) -> dict[str, float]:
    """Returns ``swarm_seeds_per_cpu_min``, of one process."""
    seeds = _TINY_SEEDS if tiny else _SEEDS
    began_s = process_time()
    for seed in range(seeds):
        outcome_of(recipe_of(seed))
    return {"swarm_seeds_per_cpu_min": round(60 * seeds / (process_time() - began_s))}


if __name__ == "__main__":
    print(measure())
