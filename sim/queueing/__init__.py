"""Stations of the model run by themselves, where the answer is known: derived, or measured.

Each begins from a fixed seed and returns a series whose mean is meant.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from sim.hardware.file_system import LogFile
from sim.queueing.catalogue import QUEUES, Queue
from sim.queueing.lab_disk import append_times
from sim.queueing.log_device import device_bytes
from sim.units import KIB

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

__all__ = ["DEVICE", "QUEUES", "Queue"]
