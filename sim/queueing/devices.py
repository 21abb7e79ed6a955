"""Devices run alone: what small appends of a log write, and how long the measured disk takes.

An append of the log engine is synced by itself, a payload at a time. The measured disk runs under
jobs that wait for each sync, as fio runs them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import Final

from sim.distributions import Constant
from sim.engine import LeanEnv
from sim.hardware import Disk, DiskSpec
from sim.hardware.closed_loop import closed_loop
from sim.hardware.file_system import FileSystemName, LogFile
from sim.protocol.encoding import (
    ENTRY_OVERHEAD_BYTES,
    RAFT_ENGINE_BATCH_BYTES,
    RAFT_ENGINE_ITEM_BYTES,
)
from sim.protocol.raft.log import Entry
from sim.protocol.write_batch import CAUSE_NAMES
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.log_engine import LogEngine, LogFormat
from sim.record import MemorySink, Recorder
from sim.scenario.profiles import hardware_of
from sim.streams import Streams
from sim.units import KIB, NS_PER_S

SYNCS: Final = 3_100
_FRAMING: Final = ENTRY_OVERHEAD_BYTES + RAFT_ENGINE_ITEM_BYTES + RAFT_ENGINE_BATCH_BYTES

_MACHINE: Final = "lab_2vcpu"
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
    return hardware_of({"profile": _MACHINE}, _MACHINE).raft_disk


def device_bytes(
    payload_bytes: int,
    file: LogFile = "recycled",
    file_system: FileSystemName = "ext4-without-journal",
) -> list[int]:
    """Returns the bytes that each of many appends of ``payload_bytes`` writes, synced by itself.

    The payload is what is appended, framing included.

    Raises:
        ValueError: if the payload has no room for the framing of a group with one entry.
    """
    if payload_bytes <= _FRAMING:
        raise ValueError(f"needs more than the {_FRAMING} bytes of framing, is {payload_bytes}")
    env, recorder = LeanEnv(), Recorder(NS_PER_S, MemorySink())
    disk = Disk(DiskSpec("log", 10**12, 10**9, Constant(1)), Streams(1, 0).stream("log"))
    entry_bytes = [recorder.counter("raft_entry_bytes", cause) for cause in CAUSE_NAMES]
    log_format = LogFormat(
        raft_engine=True,
        file=file,
        file_system=file_system,
        compression=1.0,
        compress_above_bytes=0,
        rewrite=0.0,
    )
    engine = LogEngine(env, disk, log_format, DiskBytes(recorder), entry_bytes)
    size_bytes = payload_bytes - _FRAMING + ENTRY_OVERHEAD_BYTES
    batch = SimpleNamespace(cause=0)
    entry = Entry(1, 1, [SimpleNamespace(batch=batch)], size_bytes)
    written = []
    for sync in range(SYNCS):
        before = disk.written_bytes
        engine.write([entry], _nobody, None)
        env.run_until((sync + 1) * NS_PER_S)
        written.append(disk.written_bytes - before)
    return written


def _nobody(_: object) -> None:
    """Nobody waits for these appends."""


_LOG_PAYLOADS: Final = {"1k": KIB, "4k": 4 * KIB, "16k": 16 * KIB}
_LOG_FILES: Final[tuple[LogFile, ...]] = ("growing", "preallocated", "recycled")

DEVICE: Final[Mapping[str, Callable[[], Sequence[int]]]] = {
    **{
        f"log_{file}_{name}": partial(device_bytes, size, file)
        for name, size in _LOG_PAYLOADS.items()
        for file in _LOG_FILES
    },
    **{f"disk_{jobs}": partial(append_times, jobs, 4 * KIB) for jobs in (1, 2, 4)},
    "disk_16k_3": partial(append_times, 3, 16 * KIB),
}
"""Device bytes of a log's appends, and latencies of the measured disk in ns, by name."""
