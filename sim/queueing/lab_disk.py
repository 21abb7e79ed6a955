"""The profile of the measured disk under jobs that wait for each sync, as fio runs them."""

from functools import cache
from pathlib import Path
from typing import Final

from sim.hardware import DiskSpec
from sim.hardware.closed_loop import closed_loop
from sim.scenario import load_study

_SCENARIO: Final = Path(__file__).resolve().parents[2] / "scenarios" / "etcd_loopback.yaml"
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
    study = load_study(_SCENARIO)
    return study.scenario(study.points[0], next(iter(study.variants))).hardware.raft_disk
