"""Short runs of a busy cluster, with a mistake planted in the model; and what the checkers said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.record.facts import MemorySink
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS
from tests.scenes import scenario

Plant = Callable[[SimulatedUnit], None]


def busy_unit(
    tikv: dict[str, Any],
    *,
    measure_ms: int = 400,
    at_start: Plant | None = None,
    at_end: Plant | None = None,
) -> SimulatedUnit:
    """Returns a unit that has run twenty clients on one warehouse, which meet all the time."""
    run = {"warmup_ns": 0, "measure_ns": measure_ms * NS_PER_MS, "checks": True}
    load = {"warehouses": 1, "threads": 20}
    unit = SimulatedUnit(scenario("quickstart", run=run, tikv=tikv, workload=load), 0, MemorySink())
    if at_start is not None:
        at_start(unit)
    unit.run()
    if at_end is not None:
        at_end(unit)
    return unit


def laws_broken(unit: SimulatedUnit) -> set[str]:
    """Returns the names of the laws that the checkers of a unit saw broken."""
    return {line.partition(":")[0] for line in unit.result().violations}
