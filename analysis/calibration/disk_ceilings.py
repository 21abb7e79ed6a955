"""What a disk can carry, from fio's runs: bandwidth and I/Os per second.

Law: jobs that wait for each answer never reach a ceiling, so no multiple of what they wrote bounds
a disk: its bandwidth is measured by a stream of large writes. Without one the ceilings are those of
a machine's profile, marked as assumed, and never below what the shortest measured latency allows,
or they would slow what was measured. Of reads it is the same, but that without a stream of large
reads there are no ceilings: reads do not use the disk up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.calibration.fio_file import FioRun, Kind
from analysis.calibration.refusal import CalibrationError
from analysis.study.interpolation import rounded
from sim.scenario import ScenarioError
from sim.scenario.profiles import DEFAULT_MACHINE, hardware_of
from sim.scenario.schema.hardware import Hardware
from sim.units import NS_PER_S, ceil_div

STREAM: Final = (
    "fio --name=stream --rw=write --bs=1m --direct=1 --size=4g --runtime=10 --time_based "
    "--output-format=json+ --output=stream.json"
)
"""Measures the bandwidth."""
_STREAM_BYTES: Final = 64 * 1024
"""Accesses shorter than this show latency, not bandwidth."""
_LEAST_BYTES_PER_S: Final = 100_000
_DIGITS: Final = 3
"""More are noise."""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Bandwidth and I/Os per second, and which of them are assumed."""

    bytes_per_s: int
    iops: int
    read_bytes_per_s: int | None
    read_iops: int | None
    """None: nobody measured the bandwidth of reads, which do not use the disk up then."""
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
    appends, fetches = _of_kind(runs, "append"), _of_kind(runs, "fetch")
    writes, reads = _streams(runs, "stream"), _streams(runs, "read_stream")
    streamed = max((run.per_s for run in writes), default=0.0)
    allowed = [_allowed_per_s(run) * run.size_bytes for run in appends]
    rates = [run.bytes_per_s for run in writes] or [disk.write_bytes_per_s, *allowed]
    read_iops = max(disk.read_iops or disk.write_iops, _allowed_iops(fetches, disk.io_bytes))
    assumed = {"write_bandwidth": not writes, "write_iops": True, "read_iops": bool(reads)}
    return Ceilings(
        bytes_per_s=_bandwidth(rates),
        iops=_rounded(max(disk.write_iops, _allowed_iops(appends, disk.io_bytes), streamed)),
        read_bytes_per_s=_read_bandwidth(reads, fetches) if reads else None,
        read_iops=_rounded(read_iops) if reads else None,
        assumed=tuple(key for key, is_assumed in assumed.items() if is_assumed),
        machine=machine,
    )


def _of_kind(runs: Sequence[FioRun], kind: Kind) -> list[FioRun]:
    return [run for run in runs if run.kind == kind]


def _streams(runs: Sequence[FioRun], kind: Kind) -> list[FioRun]:
    return [run for run in _of_kind(runs, kind) if run.size_bytes >= _STREAM_BYTES]


def _allowed_per_s(run: FioRun) -> float:
    """Returns the accesses a second that its shortest latency allows, or that it made."""
    return max(run.per_s, run.in_flight * NS_PER_S / max(1, run.latency.min_ns))


def _allowed_iops(runs: Sequence[FioRun], largest_io_bytes: int) -> float:
    ios = (_allowed_per_s(run) * ceil_div(run.size_bytes, largest_io_bytes) for run in runs)
    return max(ios, default=0.0)


def _read_bandwidth(streams: Sequence[FioRun], fetches: Sequence[FioRun]) -> int:
    """Returns what was read at most, but no less than the quickest single read needs."""
    read = [run.bytes_per_s for run in (*streams, *fetches)]
    alone = [run.size_bytes * NS_PER_S / max(1, run.latency.min_ns) for run in fetches]
    return _bandwidth([*read, *alone])


def _bandwidth(rates: Sequence[float]) -> int:
    return max(_LEAST_BYTES_PER_S, _rounded(max(rates)))


def _rounded(rate: float) -> int:
    return int(rounded(rate, _DIGITS))


def _hardware_of(machine: str) -> Hardware:
    """Returns what a machine's profile has."""
    try:
        return hardware_of({"profile": machine}, machine)
    except ScenarioError as error:
        raise CalibrationError(Path("init"), machine, error.problems[0].message) from None
