"""The profile of the measured disk under jobs that wait for each sync, as fio runs them."""

from __future__ import annotations

from functools import cache
from typing import Final

from sim.hardware import DiskSpec
from sim.hardware.closed_loop import closed_loop
from sim.scenario.problems import Mark, Problem, ScenarioError
from sim.scenario.profiles import expanded
from sim.scenario.schema.hardware import Hardware
from sim.scenario.section import validated
from sim.scenario.tree import node_of

_MACHINE: Final = {"hardware": {"profile": "lab_2vcpu"}}
_PAUSE_NS: Final = 11_000
"""What a job does between two syncs: the write itself, and fio."""
_APPENDS: Final = 60_000


def append_times(jobs: int, size_bytes: int) -> list[int]:
    """Returns the latencies of appends with their sync, of all jobs together, in ns."""
    latencies, _ = closed_loop(
        lab_disk(), "append", jobs=jobs, size_bytes=size_bytes, pause_ns=_PAUSE_NS, count=_APPENDS
    )
    return latencies


@cache
def lab_disk() -> DiskSpec:
    """Returns the measured disk of ``scenarios/profiles``."""
    problems: list[Problem] = []
    tree = expanded(node_of(_MACHINE, Mark("lab_2vcpu")), problems)
    hardware = validated(tree, ("hardware",), Hardware, problems)
    if hardware is None:
        raise ScenarioError(problems)
    return hardware.raft_disk
