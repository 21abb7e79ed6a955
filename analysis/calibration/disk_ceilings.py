"""What a disk can carry: measured by a stream of large writes, or taken from a machine's profile.

Law: jobs that wait for each answer never reach a ceiling, so no multiple of what they wrote bounds
a disk. Without a stream the ceilings are those of a profile, and marked as assumed. What is assumed
is never below what the shortest measured latency allows, or it would slow what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.calibration.fio_file import FioRun
from analysis.calibration.refusal import CalibrationError
from analysis.study.interpolation import rounded
from analysis.study.load import load_study
from sim.scenario import ScenarioError
from sim.scenario.profiles import DEFAULT_MACHINE
from sim.scenario.schema.hardware import Hardware
from sim.units import NS_PER_S, ceil_div

STREAM: Final = (
    "fio --name=stream --rw=write --bs=1m --direct=1 --size=4g --runtime=10 --time_based "
    "--output-format=json+ --output=stream.json"
)
"""Measures the bandwidth."""
_STREAM_BYTES: Final = 64 * 1024
"""Writes shorter than this show latency, not bandwidth."""
_LEAST_BYTES_PER_S: Final = 100_000
_DIGITS: Final = 3
"""More are noise."""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Bandwidth and I/Os per second, and which of the two are assumed."""

    bytes_per_s: int
    iops: int
    assumed: tuple[str, ...]
    machine: str
    """The profile from which what is assumed was taken."""


def ceilings_of(runs: Sequence[FioRun], machine: str | None = None) -> Ceilings:
    """Returns what a disk can carry; what no run shows is that of a machine's profile.

    Raises:
        CalibrationError: if there is no such profile.
    """
    machine = machine or DEFAULT_MACHINE
    disk = _hardware_of(machine).raft_disk
    appends = [run for run in runs if run.kind == "append"]
    streams = [run for run in runs if run.kind == "stream" and run.size_bytes >= _STREAM_BYTES]
    rates = [(run, run.in_flight * NS_PER_S / max(1, run.latency.min_ns)) for run in appends]
    least_ios = [rate * ceil_div(run.size_bytes, disk.io_bytes) for run, rate in rates]
    iops = max(disk.write_iops, *least_ios, *(run.per_s for run in (*appends, *streams)))
    if streams:
        bytes_per_s = max(run.bytes_per_s for run in streams)
    else:
        bytes_per_s = max(disk.write_bytes_per_s, *(rate * run.size_bytes for run, rate in rates))
    return Ceilings(
        bytes_per_s=max(_LEAST_BYTES_PER_S, int(rounded(bytes_per_s, _DIGITS))),
        iops=int(rounded(iops, _DIGITS)),
        assumed=("write_iops",) if streams else ("write_bandwidth", "write_iops"),
        machine=machine,
    )


def _hardware_of(machine: str) -> Hardware:
    """Returns what a machine's profile has."""
    workload = {"kind": "tpcc", "warehouses": 1, "threads": 1}
    try:
        study = load_study({"hardware": {"profile": machine}, "workload": workload})
    except ScenarioError as error:
        raise CalibrationError(Path("init"), machine, error.problems[0].message) from None
    return next(iter(study.variants.values())).hardware
