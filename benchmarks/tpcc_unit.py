"""The unit that the benchmarks of the simulator run: ``tpcc.yaml``, without a warm-up of its own.

Facts go nowhere: what a sink does with them is the pipeline's cost, not the unit's.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Final

from sim.record.facts import Columns
from sim.scenario import load_study
from sim.simulation import Unit

_FILE: Final = Path(__file__).with_name("tpcc.yaml")


class Nowhere:
    """A sink that forgets."""

    def write(self, table: str, columns: Columns) -> None:
        """Takes facts and drops them."""


def tpcc_unit(until_ns: int = 0) -> Unit:
    """Returns the unit, run to ``until_ns``.

    As in ``Unit.run`` no cycles are searched for from here on; the process is the benchmark's own.
    """
    gc.disable()
    study = load_study(_FILE)
    unit = Unit(study.scenario({}, next(iter(study.variants))), 0, Nowhere())
    unit.env.run_until(until_ns)
    return unit
