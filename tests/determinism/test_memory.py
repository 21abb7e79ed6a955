"""A unit takes no more memory when it runs longer."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from statistics import median

import pytest

from sim.record.facts import Columns
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS
from tests.scenes import IN_MEMORY, scenario


class Nowhere:
    """A sink that forgets."""

    def write(self, table: str, columns: Columns) -> None:
        """Takes facts and drops them."""

    def reached(self, now_ns: int) -> None:
        """Does nothing."""


@pytest.fixture
def no_collector() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    yield
    if was_on:
        gc.enable()


def blocks_over_time(of: Scenario, until_ns: int, step_ns: int) -> list[int]:
    """Returns the memory blocks of a unit at each step, without facts that wait for their batch."""
    before = sys.getallocatedblocks()
    unit = SimulatedUnit(of, 0, Nowhere())
    blocks = []
    for now_ns in range(step_ns, until_ns + 1, step_ns):
        unit.env.run_until(now_ns)
        unit.recorder.close(now_ns)
        blocks.append(sys.getallocatedblocks() - before)
    return blocks


def test_memory_does_not_grow_with_simulated_time(no_collector: None) -> None:
    # Blocks in use vary with what is under way (a Delivery locks 130 rows): medians of phases.
    of = scenario("quickstart", tikv=IN_MEMORY, workload={"warehouses": 10, "threads": 20})
    blocks = blocks_over_time(of, 2400 * NS_PER_MS, 50 * NS_PER_MS)
    phase = len(blocks) // 8
    after_one_part = median(blocks[phase : 2 * phase])
    after_four_parts = median(blocks[-phase:])
    assert after_four_parts < 1.25 * after_one_part
