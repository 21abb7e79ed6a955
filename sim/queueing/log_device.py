"""What one small append + sync writes to the device: the log engine alone, a payload at a time."""

from types import SimpleNamespace
from typing import Final

from sim.distributions import Constant
from sim.engine import LeanEnv
from sim.hardware import Disk, DiskSpec
from sim.hardware.file_system import FileSystemName, LogFile
from sim.protocol.encoding import (
    ENTRY_OVERHEAD_BYTES,
    RAFT_ENGINE_BATCH_BYTES,
    RAFT_ENGINE_ITEM_BYTES,
)
from sim.protocol.write_batch import CAUSE_NAMES
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.log_engine import LogEngine, LogFormat
from sim.record import MemorySink, Recorder
from sim.streams import Streams
from sim.units import NS_PER_S

SYNCS: Final = 3_100
_FRAMING: Final = ENTRY_OVERHEAD_BYTES + RAFT_ENGINE_ITEM_BYTES + RAFT_ENGINE_BATCH_BYTES


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
    batch = SimpleNamespace(cause=0, raft_bytes=payload_bytes - _FRAMING)
    entry = SimpleNamespace(payload=[SimpleNamespace(batch=batch)])
    written = []
    for sync in range(SYNCS):
        before = disk.written_bytes
        engine.write([entry], _nobody, None)  # type: ignore[list-item]
        env.run_until((sync + 1) * NS_PER_S)
        written.append(disk.written_bytes - before)
    return written


def _nobody(_: object) -> None:
    """Nobody waits for these appends."""
