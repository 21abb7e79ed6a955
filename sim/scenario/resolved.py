"""A resolved scenario: what one simulation is built from, in integer nanoseconds and bytes.

Law: everything is decided here. Defaults are filled in, profiles are looked up, ``auto`` is left
only where the answer needs data of the run itself (a workload's regions, the length of a warm-up).
Values are frozen, compare by content and travel between processes; nothing here reads a file.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.scenario.schema.arrival import Workload
from sim.scenario.schema.hardware import Hardware
from sim.scenario.schema.operations import Operation
from sim.scenario.schema.run import Run, Topology
from sim.scenario.schema.tikv import Tikv


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One variant at one point of a study."""

    about: str
    run: Run
    cluster: Topology
    hardware: Hardware
    tikv: Tikv
    workload: Workload
    operations: tuple[Operation, ...] = ()
