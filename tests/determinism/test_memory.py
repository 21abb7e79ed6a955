"""A unit takes no more memory when it runs longer."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Final

from sim.checks import isolation, reads
from sim.record import NoSink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS
from tests.scenes import IN_MEMORY, scenario

ROOT: Final = Path(__file__).resolve().parents[2]
DEADLINE_S: Final = 300


def blocks_over_time(of: Scenario, until_ns: int, step_ns: int) -> list[int]:
    """Returns the memory blocks of a unit at each step, without facts that wait for their batch."""
    before = sys.getallocatedblocks()
    unit = SimulatedUnit(of, 0, NoSink())
    blocks = []
    for now_ns in range(step_ns, until_ns + 1, step_ns):
        unit.env.run_until(now_ns)
        unit.recorder.close(now_ns)
        blocks.append(sys.getallocatedblocks() - before)
    return blocks


def phases() -> tuple[float, float]:
    """Returns the median blocks in the second and in the last eighth of a unit's time.

    Blocks in use vary with what is under way: a Delivery locks 130 rows.
    """
    gc.disable()
    for checker in (isolation, reads):  # They forget by thousands of keys, too rarely for a second.
        vars(checker)["_FORGET_EVERY"] = 512
    of = scenario("quickstart", tikv=IN_MEMORY, workload={"warehouses": 10, "threads": 20})
    blocks = blocks_over_time(of, 1200 * NS_PER_MS, 25 * NS_PER_MS)
    phase = len(blocks) // 8
    return median(blocks[phase : 2 * phase]), median(blocks[-phase:])


def test_memory_does_not_grow_with_simulated_time() -> None:
    # In a process of its own: other tests' threads allocate, too.
    program = "from tests.determinism.test_memory import phases; print(*phases())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, cwd=ROOT, timeout=DEADLINE_S,
    )  # fmt: skip
    after_one_part, after_four_parts = map(float, done.stdout.split())
    assert after_four_parts < 1.14 * after_one_part
