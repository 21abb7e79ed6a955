"""The unit that the benchmarks of the simulator run: ``tpcc.yaml``, without a warm-up of its own.

Facts go nowhere: what a sink does with them is the pipeline's cost, not the unit's.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from analysis.study.load import load_study
from sim.record import NoSink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.unit_result import run_until

_FILE: Final = Path(__file__).with_name("tpcc.yaml")


def tpcc_unit(
    until_ns: int = 0, *, checks: bool = False, overrides: Sequence[str] = ()
) -> SimulatedUnit:
    """Returns the unit, run to ``until_ns``, with or without the checkers.

    ``overrides`` change the scenario, as ``--set`` does.

    As in ``Unit.run`` no cycles are searched for from here on; the process is the benchmark's own.
    """
    gc.disable()
    scenario = tpcc_scenario(overrides)
    unit = SimulatedUnit(replace(scenario, run=replace(scenario.run, checks=checks)), 0, NoSink())
    run_until(unit.env, until_ns)
    return unit


def tpcc_scenario(overrides: Sequence[str] = ()) -> Scenario:
    """Returns what ``tpcc.yaml`` says, and what is said instead."""
    study = load_study(_FILE, overrides)
    return study.scenario({}, next(iter(study.variants)))
