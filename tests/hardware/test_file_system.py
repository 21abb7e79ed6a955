"""What a sync writes besides the bytes of the file."""

from __future__ import annotations

import pytest

from sim.distributions import Constant
from sim.hardware import Disk, DiskSpec
from sim.hardware.file_system import FILE_SYSTEMS, NO_METADATA, Metadata, metadata_of
from sim.streams import Streams
from sim.units import KIB, MIB, NS_PER_MS, NS_PER_S, NS_PER_US

APPEND_NS = 100 * NS_PER_US


def disk(*, throttled: bool = False) -> Disk:
    """A device of 1,000 I/Os and 100 MiB a second."""
    spec = DiskSpec("disk", 100 * MIB, 1000, Constant(APPEND_NS), throttled=throttled, burst_ns=0)
    return Disk(spec, Streams(1, 0).stream("disk"))


@pytest.mark.parametrize("name", FILE_SYSTEMS)
def test_which_syncs_change_metadata(name: str) -> None:
    changed = FILE_SYSTEMS[name]  # type: ignore[index]
    assert metadata_of("growing", 0, name) == changed  # type: ignore[arg-type]
    assert metadata_of("preallocated", 1, name) == changed  # type: ignore[arg-type]
    assert metadata_of("preallocated", 0, name) == NO_METADATA  # type: ignore[arg-type]
    assert metadata_of("recycled", 9, name) == NO_METADATA  # type: ignore[arg-type]


def test_the_latency_that_was_measured_has_the_metadata_in_it() -> None:
    idle = disk()
    assert idle.sync_write(0, 4 * KIB, Metadata(12 * KIB, 2)) == 3 * NS_PER_MS
    quick = Disk(DiskSpec("quick", 10**10, 10**6, Constant(APPEND_NS)), Streams(1, 0).stream("d"))
    assert quick.sync_write(0, 4 * KIB, Metadata(12 * KIB, 2)) == APPEND_NS


def test_metadata_count_as_bytes_and_as_ios() -> None:
    device = disk()
    device.sync_write(0, 4 * KIB, Metadata(12 * KIB, 2))
    assert (device.written_bytes, device.ios, device.fsyncs) == (16 * KIB, 3, 1)


def test_metadata_use_up_the_ios_of_a_cloud_volume() -> None:
    device = disk(throttled=True)
    last_ns = 0
    for _ in range(334):
        last_ns = device.sync_write(0, 4 * KIB, Metadata(12 * KIB, 2)) - APPEND_NS
    assert last_ns == pytest.approx(NS_PER_S, rel=0.01)
    assert device.busy_until(2 * NS_PER_S) == pytest.approx(1.002 * NS_PER_S)


def test_a_cloud_volume_counts_every_byte_of_small_ios_once() -> None:
    device = disk(throttled=True)
    for _ in range(100):
        device.sync_write(0, MIB, Metadata(MIB, 1))
    assert device.busy_until(3 * NS_PER_S) == pytest.approx(2 * NS_PER_S)
